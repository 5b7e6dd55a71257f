//! Statistics of all people: how their names and places were found, and the sums of their scores.

use apportion::verify::{GRID, Grid};
use apportion_bisg::{Bisg, Level, MatchInfo, NameChanges, NameMatch};

use super::MatchCounts;
use crate::text::count;

/// The information that a score may not use.
const PARTS: [&str; 4] = ["surname", "first name", "middle name", "place"];

/// Counts that do not depend on the order in which they are added.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    pub(super) people: u64,
    surnames: [u64; NameMatch::ALL.len()],
    first_names: [u64; NameMatch::ALL.len()],
    middle_names: [u64; NameMatch::ALL.len()],
    /// People by the parts that were dropped from their names.
    changes: [u64; NameChanges::ALL.len()],
    /// People by the level of the place that was used; the last entry counts people without a place.
    places: Vec<u64>,
    levels: Vec<&'static str>,
    /// The places that were used, by level: a bit for each row of its table.
    places_seen: Vec<Vec<u64>>,
    dropped: [u64; PARTS.len()],
    /// Codes whose leading zeros were restored.
    pub(super) repaired: u64,
    /// Sums of the scores, in multiples of the grid's unit.
    sums: Vec<i128>,
    has_first_names: bool,
    has_middle_names: bool,
}

impl Tally {
    pub(super) fn new(bisg: &Bisg) -> Tally {
        let levels: Vec<&str> = bisg.levels().into_iter().map(Level::name).collect();
        Tally {
            people: 0,
            surnames: [0; NameMatch::ALL.len()],
            first_names: [0; NameMatch::ALL.len()],
            middle_names: [0; NameMatch::ALL.len()],
            changes: [0; NameChanges::ALL.len()],
            places: vec![0; levels.len() + 1],
            levels,
            places_seen: bisg.rows_by_level().into_iter().map(|rows| vec![0; rows.div_ceil(64)]).collect(),
            dropped: [0; PARTS.len()],
            repaired: 0,
            sums: vec![0; bisg.classes()],
            has_first_names: bisg.has_first_names(),
            has_middle_names: bisg.has_middle_names(),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, info: &MatchInfo, scores: &[f64]) {
        self.people += 1;
        self.surnames[info.surname as usize] += 1;
        self.first_names[info.first_name as usize] += 1;
        self.middle_names[info.middle_name as usize] += 1;
        if info.changes != NameChanges::NONE {
            let dropped = NameChanges::ALL.map(|(change, _)| info.changes.contains(change));
            self.changes.iter_mut().zip(dropped).for_each(|(count, dropped)| *count += u64::from(dropped));
        }
        self.places[info.place.map_or(self.levels.len(), usize::from)] += 1;
        if let Some(level) = info.place {
            let row = info.place_row as usize;
            self.places_seen[usize::from(level)][row / 64] |= 1 << (row % 64);
        }
        let dropped = [info.without_surname, info.without_first_name, info.without_middle_name, info.place.is_none()];
        self.dropped.iter_mut().zip(dropped).for_each(|(count, dropped)| *count += u64::from(dropped));
        self.sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += i128::from(GRID.round(*score)));
    }

    pub(super) fn merge(&mut self, other: &Tally) {
        let add = |own: &mut [u64], other: &[u64]| own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        self.people += other.people;
        self.repaired += other.repaired;
        add(&mut self.surnames, &other.surnames);
        add(&mut self.first_names, &other.first_names);
        add(&mut self.middle_names, &other.middle_names);
        add(&mut self.changes, &other.changes);
        add(&mut self.places, &other.places);
        add(&mut self.dropped, &other.dropped);
        for (own, other) in self.places_seen.iter_mut().zip(&other.places_seen) {
            own.iter_mut().zip(other).for_each(|(own, other)| *own |= other);
        }
        self.sums.iter_mut().zip(&other.sums).for_each(|(own, other)| *own += other);
    }

    /// Returns the means of the scores.
    pub(super) fn posterior(&self) -> Vec<f64> {
        let people = self.people.max(1) as f64 * Grid::UNIT as f64;
        self.sums.iter().map(|&sum| sum as f64 / people).collect()
    }

    /// Returns the shares of the classes among the people of the places that were used, each place counted once; `None` if
    /// the tables do not have people.
    pub(super) fn shares_in_places(&self, bisg: &Bisg) -> Option<Vec<f64>> {
        let mut sums = vec![0.0; bisg.classes()];
        for (level, seen) in self.places_seen.iter().enumerate() {
            let rows = (0..64 * seen.len()).filter(|row| seen[row / 64] >> (row % 64) & 1 == 1);
            for row in rows {
                let people = bisg.people_in(level, row)?;
                sums.iter_mut().zip(people).for_each(|(sum, people)| *sum += people);
            }
        }
        let all: f64 = sums.iter().sum();
        (all > 0.0).then(|| sums.iter().map(|sum| sum / all).collect())
    }

    /// Returns people by how their surname was found.
    pub(super) fn surname_match(&self) -> MatchCounts {
        name_counts(&self.surnames)
    }

    /// Returns people by how their first name was found, if first names are used.
    pub(super) fn first_name_match(&self) -> Option<MatchCounts> {
        self.has_first_names.then(|| name_counts(&self.first_names))
    }

    /// Returns people by how their middle name was found, if middle names are used.
    pub(super) fn middle_name_match(&self) -> Option<MatchCounts> {
        self.has_middle_names.then(|| name_counts(&self.middle_names))
    }

    /// Returns people by what was dropped from their names.
    pub(super) fn name_changes(&self) -> MatchCounts {
        MatchCounts(NameChanges::ALL.into_iter().map(|(_, name)| name).zip(self.changes).collect())
    }

    /// Returns people by the level of the place that was used.
    pub(super) fn place_used(&self) -> MatchCounts {
        MatchCounts(self.levels.iter().copied().chain(["none"]).zip(self.places.iter().copied()).collect())
    }

    /// Returns people by the information that their scores do not use.
    pub(super) fn dropped(&self) -> MatchCounts {
        let parts = PARTS.into_iter().zip(self.dropped);
        MatchCounts(parts.filter(|(part, _)| self.has_middle_names || *part != "middle name").collect())
    }

    /// Returns warnings if many places, or most surnames, are not in any table.
    pub(super) fn warnings(&self, closer_than_state: bool) -> Vec<String> {
        let is_wide = |level: &str| {
            ["nation", "all places", "none"].contains(&level) || closer_than_state && level == Level::State.name()
        };
        let wide = self.place_used().0.iter().filter(|(level, _)| is_wide(level)).map(|(_, people)| people).sum();
        let unnamed = self.surnames[NameMatch::None as usize];
        let of_all = |people: u64| format!("{} of {} people", count(people), count(self.people));
        let mut warnings = Vec::new();
        if !self.levels.is_empty() && 20 * wide > self.people {
            let people = of_all(wide);
            warnings.push(format!(
                "the places of {people} are not in any table, so larger areas are used; check the place columns"
            ));
        }
        if 2 * unnamed > self.people {
            warnings
                .push(format!("the surnames of {} are not in the table; check the surname column", of_all(unnamed)));
        }
        warnings
    }
}

fn name_counts(counts: &[u64; NameMatch::ALL.len()]) -> MatchCounts {
    MatchCounts(NameMatch::ALL.map(NameMatch::name).into_iter().zip(counts.iter().copied()).collect())
}
