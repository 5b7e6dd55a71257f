//! The people: which columns hold their names and places, and what the model makes of a batch of them.

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use apportion_bisg::{
    Bisg, Cells, KnownMargins, Level, MarginRows, Margins, MatchInfo, NameId, Person, Place, RakedCells, Scratch,
};
use apportion_io::{PlaceCode, closest_match, rank_of_column, same_name};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int32Type};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::counties::code_of_county;
use super::tally::Tally;

/// What a column of surnames may be called.
const SURNAMES: [&str; 11] = [
    "surname",
    "last_name",
    "lastname",
    "family_name",
    "lname",
    "name_last",
    "last",
    "voters_lastname",
    "vb_tsmart_last_name",
    "tsmart_last_name",
    "voter_last_name",
];
/// What a column of first names may be called.
const FIRST_NAMES: [&str; 11] = [
    "first_name",
    "firstname",
    "given_name",
    "fname",
    "name_first",
    "first",
    "forename",
    "voters_firstname",
    "vb_tsmart_first_name",
    "tsmart_first_name",
    "voter_first_name",
];
/// What a column of counties' names may be called.
const COUNTY_NAMES: [&str; 4] = ["county", "county_name", "county_desc", "countyname"];
/// What the name of a column of places has in it.
const OF_PLACES: [&str; 8] = ["zip", "zcta", "county", "state", "tract", "block", "fips", "geoid"];

/// The columns that are read.
#[derive(Clone, Debug, Default)]
pub(super) struct PeopleColumns {
    pub(super) surname: String,
    pub(super) first_name: Option<String>,
    /// Names of places of the user's own.
    pub(super) own: Option<String>,
    /// Codes of places, the smallest first.
    pub(super) codes: Vec<(Level, String)>,
    /// The state that all people are in, where the command line says so.
    pub(super) within: Option<u64>,
    /// Columns that look like places and are not used, in words.
    pub(super) not_used: Option<String>,
}

/// What the command line says of the columns.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) surname: Option<&'a str>,
    pub(super) first_name: Option<&'a str>,
    pub(super) own: Option<&'a str>,
    pub(super) codes: [(Level, &'static str, Option<&'a str>); 5],
}

impl Named<'_> {
    fn says_no_place(&self) -> bool {
        self.own.is_none() && self.codes.iter().all(|(.., name)| name.is_none())
    }
}

impl PeopleColumns {
    /// The columns of a file, by what the command line says and else by their names.
    pub(super) fn find(
        names: &[String],
        named: &Named<'_>,
        first_names: bool,
        places: bool,
        within: Option<u64>,
    ) -> Result<PeopleColumns> {
        let surname = match named.surname {
            Some(name) => position(names, name, "--surname")?,
            None => called(names, &SURNAMES).ok_or_else(|| {
                anyhow!("no column of surnames was recognised among {}; name it with --surname", names.join(", "))
            })?,
        };
        let first_name = match (named.first_name, first_names) {
            (Some(name), true) => Some(position(names, name, "--first-name")?),
            (None, true) => Some(called(names, &FIRST_NAMES).ok_or_else(|| {
                anyhow!("no column of first names was recognised among {}; name it with --first-name", names.join(", "))
            })?),
            (_, false) => None,
        };
        let own = named.own.map(|name| position(names, name, "--place")).transpose()?;
        let mut codes = Vec::new();
        for (level, option, name) in named.codes {
            match name {
                Some(name) => codes.push((level, position(names, name, option)?)),
                // What is found by its name is used where nothing else is said.
                None if places && named.says_no_place() => {
                    let ranked = names.iter().filter_map(|name| Some((rank_of_column(name, level)?, name)));
                    codes.extend(ranked.min_by_key(|(rank, _)| *rank).map(|(_, name)| (level, name.clone())));
                }
                None => {}
            }
        }
        let mut found = PeopleColumns { surname, first_name, own, codes, within, not_used: None };
        if places && named.says_no_place() {
            found.add_county_names(names);
        }
        if places {
            found.not_used = found.told_not_used(names);
        }
        Ok(found)
    }

    /// A column that is called county may hold names, or parts of codes: both will do where the state is known.
    fn add_county_names(&mut self, names: &[String]) {
        let has = |wanted: Level| self.codes.iter().any(|(level, _)| *level == wanted);
        if !has(Level::County) && (has(Level::State) || self.within.is_some()) {
            let place = self.codes.iter().position(|(level, _)| *level == Level::State).unwrap_or(self.codes.len());
            let name = called(names, &COUNTY_NAMES).map(|name| (Level::County, name));
            name.into_iter().for_each(|found| self.codes.insert(place, found));
        }
    }

    fn told_not_used(&self, names: &[String]) -> Option<String> {
        let used = self.all();
        let is_of_places = |name: &&String| OF_PLACES.iter().any(|word| name.to_ascii_lowercase().contains(word));
        // Names of counties beside their codes say nothing more.
        let has_codes = self.codes.iter().any(|(level, _)| *level == Level::County);
        let says_more = |name: &&String| !has_codes || !COUNTY_NAMES.iter().any(|own| same_name(own, name));
        let left = names.iter().filter(|name| !used.contains(name)).filter(is_of_places).filter(says_more);
        let left: Vec<&str> = left.map(String::as_str).collect();
        let needs_state = called(names, &COUNTY_NAMES).is_some_and(|name| left.contains(&name.as_str()))
            && !self.codes.iter().any(|(level, _)| level.is_nested());
        let more = if needs_state { "; names of counties need a state: --state COL, or --within NC" } else { "" };
        (!left.is_empty()).then(|| format!("not used: {}{more}", left.join(", ")))
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<String> {
        let mut all: Vec<String> = vec![self.surname.clone()];
        all.extend(self.first_name.iter().chain(&self.own).cloned());
        all.extend(self.codes.iter().map(|(_, name)| name.clone()));
        all.sort();
        all.dedup();
        all
    }

    /// Whether anything says where people are.
    pub(super) fn has_places(&self) -> bool {
        self.own.is_some() || !self.codes.is_empty()
    }

    /// Whether something says where people are, more closely than by their state.
    pub(super) fn is_closer_than_state(&self) -> bool {
        self.own.is_some() || self.codes.iter().any(|(level, _)| *level != Level::State)
    }

    /// As JSON has them.
    pub(super) fn json(&self) -> Value {
        let mut all = Map::new();
        all.insert("surname".into(), json!(self.surname));
        all.extend(self.first_name.iter().map(|name| ("first name".into(), json!(name))));
        all.extend(self.own.iter().map(|name| ("place".into(), json!(name))));
        all.extend(self.codes.iter().map(|(level, name)| (level.name().into(), json!(name))));
        all.into()
    }

    /// What is read of people, in words.
    pub(super) fn told(&self) -> String {
        let mut parts = vec![format!("surname in {:?}", self.surname)];
        parts.extend(self.first_name.iter().map(|name| format!("first name in {name:?}")));
        parts.extend(self.own.iter().map(|name| format!("place in {name:?}")));
        parts.extend(self.codes.iter().map(|(level, name)| format!("{} in {name:?}", level.name())));
        parts.join(", ")
    }
}

fn called(names: &[String], known: &[&str]) -> Option<String> {
    known.iter().find_map(|known| names.iter().find(|name| same_name(name, known)).cloned())
}

fn position(names: &[String], name: &str, option: &str) -> Result<String> {
    let found = names.iter().find(|own| *own == name).or_else(|| names.iter().find(|own| same_name(own, name)));
    match found {
        Some(found) => Ok(found.clone()),
        None => {
            let near =
                closest_match(name, names.iter().map(String::as_str)).map(|near| format!(" (did you mean {near:?}?)"));
            bail!(
                "{option}: there is no column {name:?}{}; the columns are {}",
                near.unwrap_or_default(),
                names.join(", ")
            )
        }
    }
}

/// People whose scores are made at a time, by one thread.
const CHUNK: usize = 4096;

/// What was made of some people: their scores, row by row, and how.
pub(super) struct Scored {
    pub(super) scores: Vec<f64>,
    pub(super) how: Vec<MatchInfo>,
    pub(super) tally: Tally,
}

/// A batch's columns, ready to be read.
pub(super) struct People {
    surname: Names,
    first_name: Option<Names>,
    own: Option<StringArray>,
    codes: Vec<Codes>,
    within: Option<u64>,
    /// Surnames as a margin by surname has them.
    in_margin: Option<Names>,
}

/// A column of names: as the file has it or, where it has codes and words, with each word found already.
enum Names {
    Texts(StringArray),
    Found(Int32Array, Arc<Vec<NameId>>),
}

/// A column of codes of places, in the same ways.
struct Codes {
    level: Level,
    values: CodeValues,
}

enum CodeValues {
    Texts(StringArray),
    Numbers(Float64Array),
    /// Words, and the codes that they are.
    Read(Int32Array, StringArray, Vec<Option<PlaceCode>>),
}

/// Words that were found already: files have the same ones batch after batch.
#[derive(Default)]
pub(super) struct Known {
    surnames: Option<(ArrayRef, Arc<Vec<NameId>>)>,
    first_names: Option<(ArrayRef, Arc<Vec<NameId>>)>,
    in_margin: Option<(ArrayRef, Arc<Vec<NameId>>)>,
}

/// Where people's names and places are looked up.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'a> {
    pub(super) columns: &'a PeopleColumns,
    pub(super) bisg: &'a Bisg,
    /// Margins by surname or place that people are raked to.
    pub(super) margins: Option<&'a KnownMargins>,
}

impl People {
    pub(super) fn of(batch: &RecordBatch, lookup: Lookup<'_>, known: &mut Known) -> apportion_io::Result<People> {
        let Lookup { columns, bisg, margins } = lookup;
        let column = |name: &String| {
            let column = batch.column_by_name(name);
            column.ok_or_else(|| apportion_io::Error::Options(format!("the column {name:?} is gone; try again")))
        };
        let surname = Names::of(column(&columns.surname)?, &columns.surname, &mut known.surnames, |name, room| {
            bisg.find_surname(name, room)
        })?;
        let first_name = columns.first_name.as_ref().map(|name| {
            Names::of(column(name)?, name, &mut known.first_names, |name, room| bisg.find_first_name(name, room))
        });
        let in_margin = margins.map(|margins| {
            Names::of(column(&columns.surname)?, &columns.surname, &mut known.in_margin, |name, room| {
                margins.find_name(name, room)
            })
        });
        let codes = |(level, name): &(Level, String)| Codes::of(column(name)?, name, *level);
        Ok(People {
            surname,
            first_name: first_name.transpose()?,
            own: columns.own.as_ref().map(|name| texts(column(name)?, name)).transpose()?,
            codes: columns.codes.iter().map(codes).collect::<apportion_io::Result<_>>()?,
            within: columns.within,
            in_margin: in_margin.transpose()?,
        })
    }

    pub(super) fn len(&self) -> usize {
        match &self.surname {
            Names::Texts(texts) => texts.len(),
            Names::Found(codes, _) => codes.len(),
        }
    }

    /// Scores them, some thousand at a time, by all threads.
    pub(super) fn score(&self, bisg: &Bisg, change: Change<'_>) -> Vec<Scored> {
        self.in_chunks(|start, end| {
            let (mut scored, people) = self.score_some(bisg, start, end);
            self.change(bisg, change, start, &people, &mut scored);
            let rows = scored.how.iter().zip(scored.scores.chunks_exact(bisg.classes()));
            rows.for_each(|(how, scores)| scored.tally.add(how, scores));
            scored
        })
    }

    /// Something made of some thousand people at a time, by all threads, in order.
    fn in_chunks<T: Send>(&self, make: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
        let starts: Vec<usize> = (0..self.len()).step_by(CHUNK).collect();
        starts.into_par_iter().map(|start| make(start, self.len().min(start + CHUNK))).collect()
    }

    /// What raking adds up of them at some weights.
    pub(super) fn margins(&self, bisg: &Bisg, weights: &[f64]) -> Vec<Margins> {
        self.in_chunks(|start, end| {
            let (scored, _) = self.score_some(bisg, start, end);
            let mut margins = Margins::new(bisg.classes());
            scored.scores.chunks_exact(bisg.classes()).for_each(|scores| margins.add(scores, weights));
            margins
        })
    }

    /// What raking to margins by surname and place counts: who is alike in these and in scores.
    pub(super) fn cells(&self, bisg: &Bisg, margins: &KnownMargins) -> Vec<Cells> {
        self.in_chunks(|start, end| {
            let (scored, people) = self.score_some(bisg, start, end);
            let mut cells = Cells::default();
            let rows = self.margin_rows(start, &people, margins);
            rows.into_iter()
                .zip(scored.scores.chunks_exact(bisg.classes()))
                .for_each(|(rows, scores)| cells.add(rows, scores));
            cells
        })
    }

    /// What fBISG needs of them: their names, and the number of the place that they are in.
    pub(super) fn draws_from(&self, bisg: &Bisg) -> Vec<Vec<(NameId, NameId, u64)>> {
        self.in_chunks(|start, end| {
            let people = self.people(bisg, start, end, &mut Tally::new(bisg));
            let place = |person: &Person<'_>| bisg.place_of(&person.place).unwrap_or(NOWHERE);
            people.iter().map(|person| (person.surname, person.first_name, place(person))).collect()
        })
    }

    /// Some of them, with their names found.
    fn people(&self, bisg: &Bisg, start: usize, end: usize, tally: &mut Tally) -> Vec<Person<'_>> {
        let mut room = Scratch::default();
        let surnames = self.surname.hits(start, end, |names, hits| bisg.find_surnames(names, &mut room, hits));
        let first_names = match &self.first_name {
            Some(names) => names.hits(start, end, |names, hits| bisg.find_first_names(names, &mut room, hits)),
            None => vec![NameId::MISSING; end - start],
        };
        let places = (start..end).map(|row| self.place(row, tally));
        let named = surnames.into_iter().zip(first_names).zip(places);
        named.map(|((surname, first_name), place)| Person { surname, first_name, place }).collect()
    }

    /// Whom people from a row on are counted with in margins by surname and place.
    fn margin_rows(&self, start: usize, people: &[Person<'_>], margins: &KnownMargins) -> Vec<MarginRows> {
        let (mut room, end) = (Scratch::default(), start + people.len());
        let names = match &self.in_margin {
            Some(names) => names.hits(start, end, |names, hits| margins.find_names(names, &mut room, hits)),
            None => vec![NameId::MISSING; people.len()],
        };
        names.into_iter().zip(people).map(|(name, person)| margins.rows(name, &person.place)).collect()
    }

    /// Scores by names and places.
    fn score_some(&self, bisg: &Bisg, start: usize, end: usize) -> (Scored, Vec<Person<'_>>) {
        let mut scored = Scored {
            scores: vec![0.0; (end - start) * bisg.classes()],
            how: Vec::with_capacity(end - start),
            tally: Tally::new(bisg),
        };
        let people = self.people(bisg, start, end, &mut scored.tally);
        bisg.score_all(&people, &mut scored.scores, &mut scored.how);
        (scored, people)
    }

    /// What becomes of scores, where the model looks at all people.
    fn change(&self, bisg: &Bisg, change: Change<'_>, start: usize, people: &[Person<'_>], scored: &mut Scored) {
        let k = bisg.classes();
        let rows = scored.scores.chunks_exact_mut(k);
        match change {
            Change::None => {}
            Change::Weights(weights) => rows.for_each(|scores| reweigh(scores, weights)),
            Change::Draws(draws) => {
                let draws = draws.get(start * k..).unwrap_or_default().chunks_exact(k);
                for (((scores, draws), person), how) in rows.zip(draws).zip(people).zip(&mut scored.how) {
                    if as_drawn(scores, draws) {
                        how.place = bisg.place_of(&person.place).and_then(|place| bisg.level_at(place));
                    }
                }
            }
            Change::RakingStatus(raked, margins) => {
                let alike = self.margin_rows(start, people, margins);
                rows.zip(alike).for_each(|(scores, alike)| raked.apply(alike, scores));
            }
        }
    }

    /// Where a person is. Larger places come first: codes of smaller ones may be parts that go behind theirs.
    #[inline]
    fn place(&self, row: usize, tally: &mut Tally) -> Place<'_> {
        let mut place = Place { own: self.own.as_ref().map(|names| at(names, row)), ..Place::default() };
        let (mut state, mut county) = (self.within, None);
        for codes in self.codes.iter().rev() {
            let (level, Some(code)) = (codes.level, codes.at(row, state)) else { continue };
            let code = match (level, code.code) {
                (Level::County, part @ 0..1_000) => state.map(|state| state * 1_000 + part),
                (Level::Tract, part @ 0..1_000_000) => county.map(|county: u64| county * 1_000_000 + part),
                (_, whole) => {
                    tally.repaired += u64::from(code.repaired);
                    Some(whole)
                }
            };
            let Some(code) = code else { continue };
            match level {
                Level::Zcta => place.zcta = Some(code),
                Level::State => state = Some(code),
                Level::County => county = Some(code),
                _ => {}
            }
            if level.is_nested() {
                place.wider.rotate_right(1);
                place.wider[0] = place.code.replace((level, code));
            }
        }
        place
    }
}

/// The place of people who are nowhere.
pub(super) const NOWHERE: u64 = u64::MAX;

/// What becomes of scores by names and places.
#[derive(Clone, Copy)]
pub(super) enum Change<'a> {
    /// Nothing.
    None,
    /// They are multiplied by the classes' weights.
    Weights(&'a [f64]),
    /// They are how often each class was drawn, for each of the people at hand.
    Draws(&'a [u16]),
    /// They are those of all who are alike, raked to margins by surname and place.
    RakingStatus(&'a RakedCells, &'a KnownMargins),
}

/// Scores are how often each class was drawn; those of people who are nowhere stay as they are. Says whether somebody is.
fn as_drawn(scores: &mut [f64], draws: &[u16]) -> bool {
    let sum: f64 = draws.iter().copied().map(f64::from).sum();
    if sum > 0.0 {
        scores.iter_mut().zip(draws).for_each(|(score, &count)| *score = f64::from(count) / sum);
    }
    sum > 0.0
}

/// Multiplies scores by the classes' weights; where nothing is left, they stay as they are.
fn reweigh(scores: &mut [f64], weights: &[f64]) {
    let sum: f64 = scores.iter().zip(weights).map(|(score, weight)| score * weight).sum();
    if sum > 0.0 {
        scores.iter_mut().zip(weights).for_each(|(score, weight)| *score *= weight / sum);
    }
}

impl Names {
    /// Where some rows' names stand in a table.
    fn hits(
        &self,
        start: usize,
        end: usize,
        find: impl FnOnce(&mut dyn Iterator<Item = &str>, &mut Vec<NameId>),
    ) -> Vec<NameId> {
        let mut all = Vec::with_capacity(end - start);
        match self {
            Names::Texts(texts) => find(&mut (start..end).map(|row| at(texts, row)), &mut all),
            Names::Found(codes, hits) => {
                all.extend((start..end).map(|row| at_code(codes, hits, row).unwrap_or(NameId::MISSING)));
            }
        }
        all
    }

    /// A column of names. Words are found by all threads, and once as long as the words are the same.
    fn of(
        column: &ArrayRef,
        name: &str,
        known: &mut Option<(ArrayRef, Arc<Vec<NameId>>)>,
        find: impl Fn(&str, &mut Scratch) -> NameId + Sync,
    ) -> apportion_io::Result<Names> {
        let Some((codes, words)) = coded(column) else { return Ok(Names::Texts(texts(column, name)?)) };
        if let Some((_, hits)) = known.as_ref().filter(|(own, _)| are_one(own.as_string(), words.as_string())) {
            return Ok(Names::Found(codes, hits.clone()));
        }
        let all: &StringArray = words.as_string();
        let starts: Vec<usize> = (0..all.len()).step_by(CHUNK).collect();
        let chunk = |start: usize| -> Vec<NameId> {
            let mut room = Scratch::default();
            (start..all.len().min(start + CHUNK)).map(|word| find(at(all, word), &mut room)).collect()
        };
        let hits: Vec<Vec<NameId>> = starts.into_par_iter().map(chunk).collect();
        let hits = Arc::new(hits.concat());
        *known = Some((words, hits.clone()));
        Ok(Names::Found(codes, hits))
    }
}

impl Codes {
    fn of(column: &ArrayRef, name: &str, level: Level) -> apportion_io::Result<Codes> {
        Ok(Codes { level, values: CodeValues::of(column, name, level)? })
    }

    /// The code of a row; by the name of a county, that of the state must be known.
    #[inline]
    fn at(&self, row: usize, state: Option<u64>) -> Option<PlaceCode> {
        let code = match &self.values {
            CodeValues::Numbers(numbers) if numbers.is_null(row) => None,
            CodeValues::Numbers(numbers) => PlaceCode::from_number(numbers.value(row), self.level),
            CodeValues::Texts(texts) => PlaceCode::from_text(at(texts, row), self.level),
            CodeValues::Read(codes, _, read) => at_code(codes, read, row).flatten(),
        };
        code.or_else(|| self.by_name(row, state))
    }

    /// The code of a county by its name.
    fn by_name(&self, row: usize, state: Option<u64>) -> Option<PlaceCode> {
        let name = match &self.values {
            CodeValues::Texts(texts) => at(texts, row),
            CodeValues::Read(codes, words, _) if !codes.is_null(row) => at(words, codes.value(row) as usize),
            _ => return None,
        };
        let code = code_of_county(state?, name).filter(|_| self.level == Level::County)?;
        Some(PlaceCode { code, repaired: false })
    }
}

impl CodeValues {
    fn of(column: &ArrayRef, name: &str, level: Level) -> apportion_io::Result<CodeValues> {
        if column.data_type().is_numeric() {
            let numbers = cast(column, &DataType::Float64).map_err(|_| unread(name))?;
            return Ok(CodeValues::Numbers(numbers.as_primitive::<Float64Type>().clone()));
        }
        let Some((codes, words)) = coded(column) else { return Ok(CodeValues::Texts(texts(column, name)?)) };
        let words: &StringArray = words.as_string();
        // A file may have as many words as rows, and then nothing is gained.
        if words.len() > codes.len() {
            return Ok(CodeValues::Texts(texts(column, name)?));
        }
        let read = (0..words.len()).map(|word| PlaceCode::from_text(at(words, word), level)).collect();
        Ok(CodeValues::Read(codes, words.clone(), read))
    }
}

/// A column's codes and the words that they stand for, where it has such.
fn coded(column: &ArrayRef) -> Option<(Int32Array, ArrayRef)> {
    let DataType::Dictionary(_, words) = column.data_type() else { return None };
    if !words.is_string() {
        return None;
    }
    let as_codes = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let column = cast(column, &as_codes).ok()?;
    let column = column.as_dictionary_opt::<Int32Type>()?;
    Some((column.keys().clone(), column.values().clone()))
}

/// Whether two arrays are the same words in memory: those of a row group are shared by its batches. An array that is held
/// keeps its memory, so that no other can be there.
fn are_one(a: &StringArray, b: &StringArray) -> bool {
    a.len() == b.len()
        && a.value_offsets().as_ptr() == b.value_offsets().as_ptr()
        && a.value_data().as_ptr() == b.value_data().as_ptr()
}

/// What stands for a row's code, where it has one.
#[inline]
fn at_code<T: Copy>(codes: &Int32Array, values: &[T], row: usize) -> Option<T> {
    if codes.is_null(row) { None } else { values.get(codes.value(row) as usize).copied() }
}

/// A text, or an empty one where there is none.
#[inline]
fn at(texts: &StringArray, row: usize) -> &str {
    if texts.is_null(row) { "" } else { texts.value(row) }
}

fn texts(column: &ArrayRef, name: &str) -> apportion_io::Result<StringArray> {
    Ok(cast(column, &DataType::Utf8).map_err(|_| unread(name))?.as_string().clone())
}

fn unread(name: &str) -> apportion_io::Error {
    apportion_io::Error::Options(format!("the column {name:?} is neither of text nor of numbers; name another"))
}
