//! What was found of all people together: how many names and places, and the sums of the scores.

use apportion::verify::GRID;
use apportion_bisg::{Bisg, Level, MatchInfo, NameMatch};
use serde_json::{Map, Value, json};

use crate::text;

/// Counts that add up, whatever the order.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    pub(super) people: u64,
    surnames: [u64; NameMatch::ALL.len()],
    first_names: [u64; NameMatch::ALL.len()],
    /// People by the level of the place that was used; the last is none.
    places: Vec<u64>,
    levels: Vec<&'static str>,
    without: [u64; 3],
    /// Codes that had lost a zero.
    pub(super) repaired: u64,
    /// Sums of the scores in whole units, so that they do not depend on the order.
    sums: Vec<i128>,
    has_first_names: bool,
}

impl Tally {
    pub(super) fn new(bisg: &Bisg) -> Tally {
        let levels: Vec<&str> = bisg.levels().into_iter().map(Level::name).collect();
        Tally {
            people: 0,
            surnames: [0; 5],
            first_names: [0; 5],
            places: vec![0; levels.len() + 1],
            levels,
            without: [0; 3],
            repaired: 0,
            sums: vec![0; bisg.classes()],
            has_first_names: bisg.has_first_names(),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, how: &MatchInfo, scores: &[f64]) {
        self.people += 1;
        self.surnames[how.surname as usize] += 1;
        self.first_names[how.first_name as usize] += 1;
        self.places[how.place.map_or(self.levels.len(), usize::from)] += 1;
        for (count, without) in
            self.without.iter_mut().zip([how.without_surname, how.without_first_name, how.place.is_none()])
        {
            *count += u64::from(without);
        }
        self.sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += i128::from(GRID.round(*score)));
    }

    pub(super) fn merge(&mut self, other: &Tally) {
        let add = |own: &mut [u64], other: &[u64]| own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        self.people += other.people;
        self.repaired += other.repaired;
        add(&mut self.surnames, &other.surnames);
        add(&mut self.first_names, &other.first_names);
        add(&mut self.places, &other.places);
        add(&mut self.without, &other.without);
        self.sums.iter_mut().zip(&other.sums).for_each(|(own, other)| *own += other);
    }

    /// What is worth a warning: many people's places are in no table, though a column names them, or most people's surnames are not.
    pub(super) fn warnings(&self, closer_than_state: bool) -> Vec<String> {
        let is_wide = |level: &str| {
            ["nation", "all places", "none"].contains(&level) || closer_than_state && level == Level::State.name()
        };
        let unknown: u64 = self.by_level().filter(|(level, _)| is_wide(level)).map(|(_, people)| people).sum();
        let unnamed = self.surnames[NameMatch::None as usize];
        let of_all = |people: u64| format!("{} of {} people", text::count(people), text::count(self.people));
        let mut warnings = Vec::new();
        if !self.levels.is_empty() && 20 * unknown > self.people {
            let people = of_all(unknown);
            warnings.push(format!(
                "the places of {people} are in no table, and their scores are by larger ones; check the column"
            ));
        }
        if 2 * unnamed > self.people {
            warnings.push(format!("the surnames of {} are in no table; check the column", of_all(unnamed)));
        }
        warnings
    }

    /// The mean of the scores.
    pub(super) fn posterior(&self) -> Vec<f64> {
        let people = self.people.max(1) as f64 * apportion::verify::Grid::UNIT as f64;
        self.sums.iter().map(|&sum| sum as f64 / people).collect()
    }

    fn by_level(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.levels.iter().copied().chain(["none"]).zip(self.places.iter().copied())
    }

    /// As JSON has it.
    pub(super) fn json(&self) -> Map<String, Value> {
        let matches = |counts: &[u64; 5]| -> Map<String, Value> {
            NameMatch::ALL.iter().zip(counts).map(|(how, &count)| (how.name().to_owned(), json!(count))).collect()
        };
        let mut all = Map::new();
        all.insert("people".into(), json!(self.people));
        all.insert("surname_match".into(), matches(&self.surnames).into());
        if self.has_first_names {
            all.insert("first_name_match".into(), matches(&self.first_names).into());
        }
        let places: Map<String, Value> = self.by_level().map(|(level, count)| (level.into(), json!(count))).collect();
        all.insert("place_used".into(), places.into());
        let [surname, first_name, place] = self.without;
        all.insert("dropped".into(), json!({"surname": surname, "first name": first_name, "place": place}));
        all.insert("repaired_codes".into(), json!(self.repaired));
        all.insert("posterior".into(), json!(self.posterior()));
        all
    }

    /// As people read it.
    pub(super) fn told(&self) -> String {
        let share = |count: u64| format!("{:.1}%", 100.0 * count as f64 / self.people.max(1) as f64);
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut push = |what: &str, how: &str, count: u64| {
            if count > 0 {
                rows.push(vec![what.into(), how.into(), text::count(count), share(count)]);
            }
        };
        for (how, &count) in NameMatch::ALL.iter().zip(&self.surnames) {
            push("surname", how.name(), count);
        }
        for (how, &count) in NameMatch::ALL.iter().zip(&self.first_names).filter(|_| self.has_first_names) {
            push("first name", how.name(), count);
        }
        self.by_level().for_each(|(level, count)| push("place", level, count));
        for (what, count) in ["surname", "first name", "place"].into_iter().zip(self.without) {
            push("left out", what, count);
        }
        text::columns(&["", "found", "people", ""], &rows)
    }
}
