//! BISG, BIFSG and voter BISG: a score is a product of factors for the surname, the first name and the place.
//!
//! Let r be a class, s a surname, f a first name, g a place, and P_sur the margin of the surname table:
//!
//! ```text
//! places as people N:           q(r) ∝ P(r|s) / P_sur(r) · P(f|r) · N_gr          correct for any area
//! places as P(g|r):             q(r) ∝ P(r|s) · P(f|r) · P(g|r)                   the prior is that of the surnames
//! voters, with shares c:        q(r) ∝ P(r|s) / P_sur(r) · P(f|r) · N_gr · c_r / N_r
//! the same, as published:       q(r) ∝ P(r|s) · P(f|r) · N_gr · c_r / N_r²        mixes the national prior with the state's people
//! ```
//!
//! With a table of middle names m, each formula has one more factor P(m|r).
//!
//! Each formula is the surname's numbers times a place factor, which is computed in advance. If a place is unknown,
//! or the product is zero for all classes, the next larger place is used. Missing factors are left out, and
//! [`MatchInfo`] reports this. The scores of a person depend on that person and the tables only.

mod factors;

pub use factors::{Factor, FactorKind, NameRole};

use super::gibbs::NAME_NOISE;
use crate::error::{Error, Result};
use crate::names::{NameChanges, NameId, NameMatch, NameTable, Scratch};
use crate::numbers::{Numbers, divide, normalize};
use crate::places::{Level, Place, PlaceTable};

/// The tables of a model.
#[derive(Clone, Debug)]
pub struct ModelTables {
    /// Surnames.
    pub surnames: NameTable,
    /// First names; with them, BISG becomes BIFSG.
    pub first_names: Option<NameTable>,
    /// Places, at most one table per level.
    pub places: Vec<PlaceTable>,
    /// P(class) if nothing else is known; required if all tables lack numbers of people.
    pub prior: Option<Vec<f64>>,
}

/// The population that the scores describe.
#[derive(Clone, Debug, PartialEq)]
pub enum Population {
    /// All people counted in the tables.
    Everybody,
    /// Registered voters with known shares of the classes.
    Voters {
        /// Shares of the classes among voters.
        shares: Vec<f64>,
        /// Whether to use the surname factor as published.
        as_published: bool,
    },
}

/// Which factors a person's scores are based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatchInfo {
    /// How the surname was found.
    pub surname: NameMatch,
    /// How the first name was found.
    pub first_name: NameMatch,
    /// How the middle name was found.
    pub middle_name: NameMatch,
    /// The parts that were dropped from the names before the lookup.
    pub changes: NameChanges,
    /// The index into [`Bisg::levels`] of the place factor.
    pub place: Option<u8>,
    /// The row of the place in the table of its level.
    pub place_row: u32,
    /// Whether the surname was not used.
    pub without_surname: bool,
    /// Whether the first name was not used, although the model has first names.
    pub without_first_name: bool,
    /// Whether the middle name was not used, although the model has middle names.
    pub without_middle_name: bool,
}

impl MatchInfo {
    fn new(person: &Person<'_>) -> MatchInfo {
        let Person { surname, first_name, middle_name, .. } = person;
        MatchInfo {
            surname: surname.kind,
            first_name: first_name.kind,
            middle_name: middle_name.kind,
            changes: surname.changes.union(first_name.changes).union(middle_name.changes),
            place: None,
            place_row: 0,
            without_surname: false,
            without_first_name: false,
            without_middle_name: false,
        }
    }
}

/// A person whose names were looked up.
#[derive(Clone, Copy, Debug)]
pub struct Person<'a> {
    /// The surname.
    pub surname: NameId,
    /// The first name.
    pub first_name: NameId,
    /// The middle name; [`NameId::MISSING`] if the model has no middle names.
    pub middle_name: NameId,
    /// The place.
    pub place: Place<'a>,
}

/// The first and middle names that a score uses.
#[derive(Clone, Copy, Debug, Default)]
struct GivenNames {
    first: Option<NameId>,
    middle: Option<NameId>,
}

/// Minimum size of a national table: the United States has more than 33,000 ZIP code tabulation areas, and each state
/// has fewer than 2,000.
const MANY_ZCTAS: usize = 10_000;

/// Number of people scored together.
const AT_ONCE: usize = 64;

/// A model of names and places.
#[derive(Clone, Debug)]
pub struct Bisg {
    classes: usize,
    surnames: NameTable,
    first_names: Option<NameTable>,
    middle_names: Option<NameTable>,
    /// Place tables from the smallest level to the largest, as factors of the surname's numbers.
    layers: Vec<PlaceTable>,
    /// The factor if no place is known.
    without_place: Vec<f64>,
    /// Replaces the numbers of an unknown surname.
    without_name: Vec<f64>,
    margin: Option<Vec<f64>>,
    remarks: Vec<String>,
    /// Place tables in people by class as given, for fBISG.
    people: Vec<PlaceTable>,
    /// The people of each class in all places, if the tables have them.
    all_places: Option<Vec<f64>>,
    /// The population that the scores describe, with shares that sum to one.
    population: Population,
}

impl Bisg {
    /// Combines the tables.
    pub fn new(tables: ModelTables, population: &Population) -> Result<Bisg> {
        let classes = tables.surnames.classes();
        let same = tables.first_names.iter().all(|table| table.classes() == classes)
            && tables.places.iter().all(|table| table.classes() == classes)
            && tables.prior.iter().all(|prior| prior.len() == classes);
        if !same {
            return refuse("the tables have different numbers of classes; use the same classes in all tables");
        }
        let first_names = tables.first_names.map(|table| {
            let spread = table.of_first_names().into_key_given_class();
            spread.ok_or_else(|| Error::Model { problem: FIRST_WITHOUT_COUNTS.into() })
        });
        let mut layers = layers(tables.places)?;
        let mut bisg = Bisg {
            classes,
            first_names: first_names.transpose()?,
            middle_names: None,
            layers: Vec::new(),
            without_place: vec![1.0; classes],
            without_name: vec![1.0; classes],
            margin: None,
            remarks: Vec::new(),
            people: layers.iter().filter(|layer| layer.numbers() == Numbers::People).cloned().collect(),
            all_places: layers.last().filter(|all| all.numbers() == Numbers::People).map(PlaceTable::sums),
            population: population.clone(),
            surnames: tables.surnames,
        };
        let people = bisg.all_places.clone();
        bisg.margin = people.clone().or_else(|| bisg.surnames.margin().map(<[f64]>::to_vec)).map(normalized);
        bisg.prepare(&mut layers, people.as_deref(), tables.prior.map(normalized))?;
        if let Population::Voters { shares, as_published } = population {
            let (shares, as_published) = (normalized(shares.clone()), *as_published);
            bisg.prepare_voters(&mut layers, people.as_deref(), &shares, as_published)?;
            bisg.population = Population::Voters { shares, as_published };
        }
        bisg.layers = layers;
        Ok(bisg)
    }

    /// Adds middle names.
    ///
    /// # Errors
    /// If the table has other classes, or shares of the classes without the number of people per name.
    pub fn with_middle_names(mut self, table: NameTable) -> Result<Bisg> {
        if table.classes() != self.classes {
            return refuse("the tables have different numbers of classes; use the same classes in all tables");
        }
        let spread = table.of_first_names().into_key_given_class();
        self.middle_names = Some(spread.ok_or_else(|| Error::Model { problem: MIDDLE_WITHOUT_COUNTS.into() })?);
        Ok(self)
    }

    /// Converts the numbers of places into factors of the surname's numbers.
    fn prepare(&mut self, layers: &mut [PlaceTable], people: Option<&[f64]>, prior: Option<Vec<f64>>) -> Result<()> {
        let own = self.surnames.margin().map(<[f64]>::to_vec);
        let known = prior.or_else(|| own.clone()).or_else(|| people.map(<[f64]>::to_vec)).map(normalized);
        let others = self.surnames.others().filter(|_| !self.surnames.is_key_given_class());
        let prior = known.or_else(|| others.map(|row| self.surnames.row(row).to_vec()));
        if self.surnames.is_key_given_class() {
            for layer in layers.iter_mut().filter(|layer| layer.numbers() == Numbers::KeyGivenClass) {
                let Some(prior) = &prior else { return Err(Error::NoClassTotals) };
                scale(layer, prior, |value, by| value * by);
            }
            self.without_place = match prior {
                Some(prior) => prior,
                None => return Err(Error::NoClassTotals),
            };
            return Ok(());
        }
        for layer in layers.iter_mut() {
            match (layer.numbers(), own.as_deref(), people) {
                (Numbers::People | Numbers::Shares, Some(own), _) => scale(layer, own, quotient),
                (Numbers::People, None, Some(people)) => scale(layer, people, quotient),
                (Numbers::KeyGivenClass, ..) => {}
                (Numbers::People, None, None) | (Numbers::Shares, None, _) => return refuse(SURNAMES_WITHOUT_COUNTS),
            }
        }
        self.warn_of_prior(layers, own.is_some());
        self.without_name = match own.or(prior) {
            Some(known) => known,
            None => return Err(Error::NoClassTotals),
        };
        Ok(())
    }

    /// Adds a remark if the national prior of the surnames is applied to the people of one state.
    fn warn_of_prior(&mut self, layers: &[PlaceTable], has_counts: bool) {
        for layer in layers {
            let states = layer.states().len();
            let is_whole = layer.sums().iter().all(|sum| (sum - 1.0).abs() < 0.01);
            let of_one = match layer.level() {
                // ZIP codes and place names do not contain a state; a table much shorter than the
                // national list covers a part of the nation.
                Level::Zcta => layer.places() < MANY_ZCTAS,
                Level::Own => true,
                Level::State => false,
                Level::BlockGroup | Level::Tract | Level::County | Level::Nation | Level::All => states == 1,
                Level::ZipPrefix => false,
            };
            if of_one
                && (layer.numbers() == Numbers::KeyGivenClass && is_whole
                    || layer.numbers() == Numbers::People && !has_counts)
            {
                let name = layer.level().name();
                self.remarks.push(format!(
                    "the {name} table seems to cover one state or another part of the nation, so the class shares of the surname \
                     table are applied to a different area; use people by class, and a surname table with counts"
                ));
            }
        }
    }

    /// Converts the factors into factors for voters.
    fn prepare_voters(
        &mut self,
        layers: &mut [PlaceTable],
        people: Option<&[f64]>,
        shares: &[f64],
        as_published: bool,
    ) -> Result<()> {
        if shares.len() != self.classes {
            return refuse("the margin has a different number of classes; use the same classes");
        }
        let Some(people) = people else { return Err(Error::VotersWithoutPeople) };
        let own = self.surnames.margin().map(<[f64]>::to_vec);
        let is_key_given_class = self.surnames.is_key_given_class();
        if own.is_none() && !is_key_given_class && !as_published {
            return refuse(SURNAMES_WITHOUT_COUNTS);
        }
        if layers.iter().any(|layer| layer.numbers() != Numbers::People) {
            return Err(Error::VotersWithoutPeople);
        }
        // The multipliers of N. N has been divided by P_sur or, if that is unknown, by all people.
        let mut weights = shares.to_vec();
        divide(&mut weights, people);
        if as_published && !is_key_given_class {
            if let Some(own) = &own {
                divide(&mut weights, people);
                multiply(&mut weights, own);
            }
            self.without_name = people.to_vec();
        }
        layers.iter_mut().for_each(|layer| scale(layer, &weights, |value, by| value * by));
        self.without_place = shares.to_vec();
        match own.filter(|_| !as_published) {
            Some(own) => divide(&mut self.without_place, &own),
            None if !is_key_given_class => divide(&mut self.without_place, people),
            None => {}
        }
        Ok(())
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the levels with place factors, the smallest first.
    pub fn levels(&self) -> Vec<Level> {
        self.layers.iter().map(PlaceTable::level).collect()
    }

    /// Returns P(class) among the people of all places or, without them, of all surnames.
    pub fn margin(&self) -> Option<&[f64]> {
        self.margin.as_deref()
    }

    /// Returns whether that margin comes from places rather than surnames.
    pub fn has_people(&self) -> bool {
        !self.people.is_empty()
    }

    /// Returns remarks for the user about how the tables fit together.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Returns whether first names are used.
    pub fn has_first_names(&self) -> bool {
        self.first_names.is_some()
    }

    /// Returns whether middle names are used.
    pub fn has_middle_names(&self) -> bool {
        self.middle_names.is_some()
    }

    /// Finds a surname. Reuse `scratch` between names.
    #[inline]
    pub fn find_surname(&self, name: &str, scratch: &mut Scratch) -> NameId {
        self.surnames.find(name, scratch)
    }

    /// Finds a first name.
    #[inline]
    pub fn find_first_name(&self, name: &str, scratch: &mut Scratch) -> NameId {
        self.first_names.as_ref().map_or(NameId::MISSING, |table| table.find(name, scratch))
    }

    /// Finds a middle name.
    #[inline]
    pub fn find_middle_name(&self, name: &str, scratch: &mut Scratch) -> NameId {
        self.middle_names.as_ref().map_or(NameId::MISSING, |table| table.find(name, scratch))
    }

    /// Finds many surnames, faster than one by one.
    pub fn find_surnames<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
        scratch: &mut Scratch,
        ids: &mut Vec<NameId>,
    ) {
        self.surnames.find_all(names, scratch, ids);
    }

    /// Finds many first names.
    pub fn find_first_names<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
        scratch: &mut Scratch,
        ids: &mut Vec<NameId>,
    ) {
        match &self.first_names {
            Some(table) => table.find_all(names, scratch, ids),
            None => ids.extend(names.into_iter().map(|_| NameId::MISSING)),
        }
    }

    /// Finds many middle names.
    pub fn find_middle_names<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
        scratch: &mut Scratch,
        ids: &mut Vec<NameId>,
    ) {
        match &self.middle_names {
            Some(table) => table.find_all(names, scratch, ids),
            None => ids.extend(names.into_iter().map(|_| NameId::MISSING)),
        }
    }

    /// Writes the scores of a person without a middle name; see [`Bisg::score_person`].
    pub fn score(&self, surname: NameId, first_name: NameId, place: &Place<'_>, scores: &mut [f64]) -> MatchInfo {
        self.score_person(&Person { surname, first_name, middle_name: NameId::MISSING, place: *place }, scores)
    }

    /// Writes the scores of a person, which sum to one, and returns which factors were used.
    pub fn score_person(&self, person: &Person<'_>, scores: &mut [f64]) -> MatchInfo {
        let mut info = MatchInfo::new(person);
        let place = &person.place;
        let given = GivenNames { first: Some(person.first_name), middle: Some(person.middle_name) };
        if self.place_scores(person.surname, given, place, scores, &mut info) {
            return info;
        }
        // The names exclude every class. The middle name is dropped first, then the first name, then the surname.
        info.without_middle_name = self.middle_names.is_some();
        if info.without_middle_name
            && self.place_scores(person.surname, GivenNames { middle: None, ..given }, place, scores, &mut info)
        {
            return info;
        }
        for surname in [person.surname, NameId::MISSING] {
            info.without_first_name = self.first_names.is_some();
            if self.place_scores(surname, GivenNames::default(), place, scores, &mut info) {
                return info;
            }
        }
        // Place and prior exclude every class: the scores are uniform.
        scores.fill(1.0 / self.classes as f64);
        info
    }

    /// Writes the scores of many people, row by row. The result is the same as one by one; it is faster because
    /// memory is accessed for many people at once.
    pub fn score_all(&self, people: &[Person<'_>], scores: &mut [f64], infos: &mut Vec<MatchInfo>) {
        let k = self.classes;
        assert_eq!(scores.len(), people.len() * k, "a score for each class of each person");
        let mut rows = Vec::with_capacity(AT_ONCE);
        for (people, scores) in people.chunks(AT_ONCE).zip(scores.chunks_mut(AT_ONCE * k)) {
            let first = infos.len();
            rows.clear();
            rows.extend(people.iter().map(|person| self.smallest(&person.place)));
            for (person, scores) in people.iter().zip(scores.chunks_exact_mut(k)) {
                let mut info = MatchInfo::new(person);
                let given = GivenNames { first: Some(person.first_name), middle: Some(person.middle_name) };
                self.name_scores(person.surname, given, scores, &mut info);
                infos.push(info);
            }
            for (((person, scores), row), info) in
                people.iter().zip(scores.chunks_exact_mut(k)).zip(&rows).zip(&mut infos[first..])
            {
                let known = row.is_some_and(|(layer, row)| {
                    (info.place, info.place_row) = (Some(layer), row);
                    multiply(scores, self.layers[usize::from(layer)].row(row as usize));
                    normalize(scores)
                });
                if !known {
                    *info = self.score_person(person, scores);
                }
            }
        }
    }

    /// Finds the smallest known place, by level and row.
    #[inline]
    fn smallest(&self, place: &Place<'_>) -> Option<(u8, u32)> {
        self.layers.iter().enumerate().find_map(|(layer, table)| Some((layer as u8, table.find(place)?)))
    }

    /// Looks up the names and scores a person; empty texts are unknown.
    pub fn predict(
        &self,
        surname: &str,
        first_name: &str,
        place: &Place<'_>,
        scratch: &mut Scratch,
        scores: &mut [f64],
    ) -> MatchInfo {
        let (surname, first_name) = (self.find_surname(surname, scratch), self.find_first_name(first_name, scratch));
        self.score(surname, first_name, place, scores)
    }

    /// Returns the ID of the smallest known place among the tables in people by class.
    pub fn place_of(&self, place: &Place<'_>) -> Option<u64> {
        let found = self.people.iter().enumerate().find_map(|(layer, table)| Some((layer, table.find(place)?)))?;
        Some((found.0 as u64) << 32 | u64::from(found.1))
    }

    /// Returns the code of a person's county, if it is in a table.
    pub fn county_of(&self, place: &Place<'_>) -> Option<u64> {
        self.layers.iter().find(|layer| layer.level() == Level::County)?.code_of(place)
    }

    /// Returns the index into [`Bisg::levels`] and the row of a place ID.
    pub fn level_at(&self, place: u64) -> Option<(u8, u32)> {
        let level = self.people.get((place >> 32) as usize)?.level();
        let layer = self.layers.iter().position(|layer| layer.level() == level)?;
        Some((layer as u8, place as u32))
    }

    /// Returns the number of rows of each table of [`Bisg::levels`].
    pub fn rows_by_level(&self) -> Vec<usize> {
        self.layers.iter().map(PlaceTable::rows).collect()
    }

    /// Returns the people by class in a row of the table of a level; `None` if the table does not have people.
    pub fn people_in(&self, level: usize, row: usize) -> Option<&[f64]> {
        let level = self.layers.get(level)?.level();
        Some(self.people.iter().find(|table| table.level() == level)?.row(row))
    }

    /// Returns the people by class of a place ID.
    pub fn people_at(&self, place: u64) -> Option<&[f64]> {
        Some(self.people.get((place >> 32) as usize)?.row(place as u32 as usize)).filter(|row| !row.is_empty())
    }

    /// Returns P(name | class) for fBISG. The tables must have the number of people per name, and places in
    /// people by class.
    pub fn likelihoods(&self) -> Result<NameLikelihoods<'_>> {
        if self.people.is_empty() {
            return Err(Error::FbisgWithoutPeople);
        }
        let Some(surnames) = self.surnames.clone().into_key_given_class() else {
            return refuse(SURNAMES_WITHOUT_COUNTS);
        };
        let (first_names, middle_names) = (self.first_names.as_ref(), self.middle_names.as_ref());
        Ok(NameLikelihoods { surnames, first_names, middle_names })
    }

    /// Scores by the smallest place that allows any class; returns whether there is one.
    #[inline]
    fn place_scores(
        &self,
        surname: NameId,
        given: GivenNames,
        place: &Place<'_>,
        scores: &mut [f64],
        info: &mut MatchInfo,
    ) -> bool {
        for (layer, table) in self.layers.iter().enumerate() {
            let Some(row) = table.find(place) else { continue };
            self.name_scores(surname, given, scores, info);
            multiply(scores, table.row(row as usize));
            if normalize(scores) {
                (info.place, info.place_row) = (Some(layer as u8), row);
                return true;
            }
        }
        (info.place, info.place_row) = (None, 0);
        self.name_scores(surname, given, scores, info);
        multiply(scores, &self.without_place);
        normalize(scores)
    }

    /// Writes the name factors.
    #[inline]
    fn name_scores(&self, surname: NameId, given: GivenNames, scores: &mut [f64], info: &mut MatchInfo) {
        info.without_surname = !into_scores(&self.surnames, surname, scores, |score, value| *score = value);
        if info.without_surname {
            scores.copy_from_slice(&self.without_name);
        }
        if let (Some(table), Some(first_name)) = (&self.first_names, given.first) {
            info.without_first_name = !into_scores(table, first_name, scores, |score, value| *score *= value);
        }
        if let (Some(table), Some(middle_name)) = (&self.middle_names, given.middle) {
            info.without_middle_name = !into_scores(table, middle_name, scores, |score, value| *score *= value);
        }
    }
}

/// P(name | class) of the names of a model.
#[derive(Clone, Debug)]
pub struct NameLikelihoods<'a> {
    surnames: NameTable,
    first_names: Option<&'a NameTable>,
    middle_names: Option<&'a NameTable>,
}

impl NameLikelihoods<'_> {
    /// Writes the product of P(name | class) + [`NAME_NOISE`] over a person's known names: surname, first name and
    /// middle name.
    pub fn of(&self, names: [NameId; 3], likelihoods: &mut [f64]) {
        likelihoods.fill(1.0);
        for (role, name) in NameRole::ALL.into_iter().zip(names) {
            self.multiply(role, name, likelihoods);
        }
    }

    /// Multiplies by P(name | class) + [`NAME_NOISE`] of one name, and returns whether it is known.
    fn multiply(&self, role: NameRole, name: NameId, likelihoods: &mut [f64]) -> bool {
        let table = match role {
            NameRole::Surname => Some(&self.surnames),
            NameRole::First => self.first_names,
            NameRole::Middle => self.middle_names,
        };
        table.is_some_and(|table| table.multiply_likelihoods(name, NAME_NOISE, likelihoods))
    }
}

/// Combines scores with the numbers of a name, the mean of its parts, or the numbers of all other names. Returns
/// whether any of these exist.
#[inline]
fn into_scores(table: &NameTable, id: NameId, scores: &mut [f64], put: impl Fn(&mut f64, f64)) -> bool {
    let Some([first, second]) = table.rows_of(id) else { return false };
    let values = table.row(first);
    if first == second {
        scores.iter_mut().zip(values).for_each(|(score, value)| put(score, *value));
    } else {
        let pairs = values.iter().zip(table.row(second));
        scores.iter_mut().zip(pairs).for_each(|(score, (one, other))| put(score, (one + other) / 2.0));
    }
    true
}

#[inline]
fn multiply(scores: &mut [f64], by: &[f64]) {
    scores.iter_mut().zip(by).for_each(|(score, by)| *score *= by);
}

/// Orders tables by level and adds sums for the missing larger levels.
fn layers(mut tables: Vec<PlaceTable>) -> Result<Vec<PlaceTable>> {
    tables.sort_by_key(PlaceTable::level);
    if let Some(pair) = tables.windows(2).find(|pair| pair[0].level() == pair[1].level()) {
        return refuse(format!("there are two {} tables; use one", pair[0].level().name()));
    }
    for level in [Level::Tract, Level::County, Level::ZipPrefix, Level::State, Level::All] {
        let index = tables.partition_point(|table| table.level() < level);
        let smaller = tables[..index].iter().rev();
        let mut smaller = smaller.filter(|table| match level {
            Level::All => true,
            // Sums of P(ZIP code | class) would be usable, but the tools that use such tables do not.
            Level::ZipPrefix => table.level() == Level::Zcta && table.numbers() == Numbers::People,
            _ => table.level().is_nested(),
        });
        if tables.get(index).is_none_or(|table| table.level() != level)
            && let Some(wide) = smaller.next().and_then(|table| table.widened(level))
        {
            tables.insert(index, wide);
        }
    }
    Ok(tables)
}

fn scale(layer: &mut PlaceTable, by: &[f64], f: impl Fn(f64, f64) -> f64) {
    layer.rows_mut().for_each(|row| row.iter_mut().zip(by).for_each(|(value, by)| *value = f(*value, *by)));
}

/// Divides two numbers; classes without people stay at zero.
fn quotient(value: f64, by: f64) -> f64 {
    if by > 0.0 { value / by } else { 0.0 }
}

fn normalized(mut shares: Vec<f64>) -> Vec<f64> {
    normalize(&mut shares);
    shares
}

fn refuse<T>(problem: impl Into<String>) -> Result<T> {
    Err(Error::Model { problem: problem.into() })
}

const FIRST_WITHOUT_COUNTS: &str = "the first names have shares of the classes but no number of people; add a column named count, \
     or use P(name | class)";
const MIDDLE_WITHOUT_COUNTS: &str = "the middle names have shares of the classes but no number of people; add a column named count, \
     or use P(name | class)";
const SURNAMES_WITHOUT_COUNTS: &str = "the surnames have no number of people, which these places require; add a column named count to \
     the surnames, or use places as people by class or as P(place | class)";
