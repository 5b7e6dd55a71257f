//! The new columns, row after row: scores, and how they were made.

use std::sync::Arc;

use anyhow::Result;
use apportion_bisg::{Bisg, Fit, Level, MatchInfo, NameMatch, RakedCells};
use apportion_io::{ColumnReader, Input};
use arrow::array::{ArrayRef, DictionaryArray, Float64Array, RecordBatch, StringArray, UInt8Array};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, UInt8Type};
use rayon::prelude::*;

use super::people::{Change, Known, Lookup, People, Scored};
use super::tally::Tally;

/// Makes the scores of row after row.
pub(super) struct Scorer<'a> {
    lookup: Lookup<'a>,
    all: &'a AllPeople,
    side: ColumnReader<'a>,
    known: Known,
    pub(super) tally: Tally,
}

/// What was found of all people together, before anybody has a score.
pub(super) enum AllPeople {
    /// Nothing: the model does not look at them.
    Nothing,
    /// Raking's weights, and the passes that they took.
    Weights(Vec<f64>, usize),
    /// fBISG's draws, row by row.
    Draws(Vec<u16>),
    /// The scores of all who are alike, raked to margins by surname and place.
    RakingStatus(RakedCells, Fit),
}

impl AllPeople {
    /// How many people there were, where it matters that they are the same ones again.
    pub(super) fn rows(&self, classes: usize) -> Option<usize> {
        match self {
            AllPeople::Draws(draws) => Some(draws.len() / classes),
            _ => None,
        }
    }
}

impl<'a> Scorer<'a> {
    pub(super) fn new(lookup: Lookup<'a>, all: &'a AllPeople, input: &'a Input) -> Scorer<'a> {
        let side = ColumnReader::new(input, &lookup.columns.all());
        Scorer { lookup, all, side, known: Known::default(), tally: Tally::new(lookup.bisg) }
    }

    /// The scores of all rows, some at a time.
    pub(super) fn all(&mut self, fields: Vec<FieldRef>, most: usize) -> Result<Vec<RecordBatch>> {
        let (schema, mut batches, mut first) = (Arc::new(Schema::new(fields)), Vec::new(), 0);
        loop {
            let columns = self.next(first, most)?;
            let batch = RecordBatch::try_new(schema.clone(), columns)?;
            if batch.num_rows() == 0 && !batches.is_empty() {
                return Ok(batches);
            }
            first += batch.num_rows();
            batches.push(batch);
        }
    }

    /// The new columns of the next rows.
    pub(super) fn next(&mut self, first: usize, rows: usize) -> apportion_io::Result<Vec<ArrayRef>> {
        let bisg = self.lookup.bisg;
        let (mut scored, mut row): (Vec<Scored>, usize) = (Vec::new(), first);
        for batch in self.side.next_rows(rows)? {
            let people = People::of(&batch, self.lookup, &mut self.known)?;
            let change = match (self.all, self.lookup.margins) {
                (AllPeople::Weights(weights, _), _) => Change::Weights(weights),
                (AllPeople::Draws(draws), _) => Change::Draws(draws.get(row * bisg.classes()..).unwrap_or_default()),
                (AllPeople::RakingStatus(raked, _), Some(margins)) => Change::RakingStatus(raked, margins),
                _ => Change::None,
            };
            row += people.len();
            scored.extend(people.score(bisg, change));
        }
        scored.iter().for_each(|some| self.tally.merge(&some.tally));
        Ok(arrays(&scored, bisg))
    }
}

/// The names and types of the new columns.
pub(super) fn fields(prefix: &str, classes: &[String], bisg: &Bisg) -> Vec<FieldRef> {
    let scores = classes.iter().map(|class| Field::new(format!("{prefix}{class}"), DataType::Float64, false));
    let before = if prefix == "p_" { "" } else { prefix };
    let word = DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8));
    let first_name = bisg.has_first_names().then_some("first_name_match");
    let how = ["surname_match"].into_iter().chain(first_name).chain(["place_used", "dropped"]);
    let how = how.map(|name| Field::new(format!("{before}{name}"), word.clone(), false));
    scores.chain(how).map(Arc::new).collect()
}

/// Their values.
fn arrays(scored: &[Scored], bisg: &Bisg) -> Vec<ArrayRef> {
    let k = bisg.classes();
    let rows = scored.iter().map(|some| some.how.len()).sum();
    let column = |class: usize| -> ArrayRef {
        let mut values: Vec<f64> = Vec::with_capacity(rows);
        scored.iter().for_each(|some| values.extend(some.scores.iter().skip(class).step_by(k)));
        Arc::new(Float64Array::from(values))
    };
    let mut columns: Vec<ArrayRef> = (0..k).into_par_iter().map(column).collect();
    let names = NameMatch::ALL.map(NameMatch::name);
    let levels: Vec<&str> = bisg.levels().into_iter().map(Level::name).chain(["none"]).collect();
    let none = levels.len() as u8 - 1;
    columns.push(words(scored, &names, |how| how.surname as u8));
    if bisg.has_first_names() {
        columns.push(words(scored, &names, |how| how.first_name as u8));
    }
    columns.push(words(scored, &levels, |how| how.place.unwrap_or(none)));
    columns.push(words(scored, &DROPPED, |how| {
        u8::from(how.without_surname) + 2 * u8::from(how.without_first_name) + 4 * u8::from(how.place.is_none())
    }));
    columns
}

/// What was left out, by its bits.
const DROPPED: [&str; 8] = [
    "",
    "surname",
    "first name",
    "surname+first name",
    "place",
    "surname+place",
    "first name+place",
    "surname+first name+place",
];

fn words(scored: &[Scored], words: &[&str], code: impl Fn(&MatchInfo) -> u8) -> ArrayRef {
    let mut codes = Vec::new();
    scored.iter().for_each(|some| codes.extend(some.how.iter().map(&code)));
    let codes = UInt8Array::from(codes);
    let words = Arc::new(StringArray::from_iter_values(words));
    // Codes are below the number of words: other ones are a fault of this file.
    Arc::new(DictionaryArray::<UInt8Type>::try_new(codes, words).expect("a word for each code"))
}
