//! The rows with known truth, in an order that depends only on their contents.
//!
//! Rows are sorted by their scores, and rows with the same scores are merged. Sums over the sorted rows are therefore
//! the same for any order of the table.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::Fold;
use crate::audit::read;
use crate::error::{Error, Result};
use crate::scores::Scores;

/// The people of one row of the table.
#[derive(Clone, Copy)]
struct Entry {
    fold: Fold,
    /// The code of the group; 0 without groups.
    group: u32,
    truth: usize,
    people: u64,
}

/// All rows with known truth.
pub(super) struct Sample {
    classes: Vec<String>,
    /// The different rows of scores, in multiples of 2^-40, sorted.
    rows: Vec<i64>,
    /// The entries, sorted by their scores.
    entries: Vec<Entry>,
    /// The end of the entries of each row of `rows`.
    ends: Vec<usize>,
}

/// The people that one model is fitted to.
pub(super) struct Training<'a> {
    /// The different rows of scores, in multiples of 2^-40.
    pub(super) rows: &'a [i64],
    /// The number of people by true class, for each row of scores. It can be zero for all classes.
    pub(super) people: Vec<u64>,
    /// The number of people by true class.
    pub(super) by_class: Vec<u64>,
}

impl Sample {
    /// Collects the rows of a table with known truth; `fold` returns the fold of a row.
    pub(super) fn new(scores: &Scores<'_>, fold: impl Fn(usize) -> Fold + Sync + Send) -> Result<Sample> {
        let classes = scores.classes().names().to_vec();
        let k = classes.len();
        if k < 2 {
            return Err(not_calibrated("there is only one class; name the score columns of all classes".into()));
        }
        let groups = scores.groups();
        let (values, entries) = read(
            scores,
            || (Vec::new(), Vec::new()),
            |(values, entries), index, row, people, truth| {
                if let Some(truth) = truth.filter(|_| people > 0) {
                    values.extend_from_slice(row);
                    let group = groups.map_or(0, |groups| groups.codes[index]);
                    entries.push(Entry { fold: fold(index), group, truth, people });
                }
            },
            |(values, entries), (more_values, more_entries)| {
                values.extend(more_values);
                entries.extend(more_entries);
            },
        )?;
        let row = |index: usize| &values[index * k..][..k];
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.par_sort_unstable_by(|&a, &b| row(a).cmp(row(b)));
        let (mut rows, mut ends): (Vec<i64>, Vec<usize>) = (Vec::new(), Vec::new());
        for (position, &index) in order.iter().enumerate() {
            match ends.last_mut() {
                Some(end) if rows[rows.len() - k..] == *row(index) => *end = position + 1,
                _ => {
                    rows.extend_from_slice(row(index));
                    ends.push(position + 1);
                }
            }
        }
        Ok(Sample { classes, rows, entries: order.into_iter().map(|index| entries[index]).collect(), ends })
    }

    /// Returns the people outside a fold, or all of them.
    ///
    /// # Errors
    /// If a class does not occur among them.
    pub(super) fn without(&self, fold: Option<Fold>) -> Result<Training<'_>> {
        let k = self.classes.len();
        let (mut people, mut by_class) = (vec![0; self.ends.len() * k], vec![0; k]);
        let mut start = 0;
        for (people, &end) in people.chunks_exact_mut(k).zip(&self.ends) {
            for entry in self.entries[start..end].iter().filter(|entry| Some(entry.fold) != fold) {
                people[entry.truth] += entry.people;
                by_class[entry.truth] += entry.people;
            }
            start = end;
        }
        self.check(&by_class, fold)?;
        Ok(Training { rows: &self.rows, people, by_class })
    }

    /// Returns a row of scores.
    pub(super) fn row(&self, row: usize) -> &[i64] {
        let k = self.classes.len();
        &self.rows[row * k..][..k]
    }

    /// Returns, for each group, the rows of the people outside a fold, with their number by true class.
    pub(super) fn by_group(&self, fold: Option<Fold>) -> BTreeMap<u32, Vec<(usize, Vec<u64>)>> {
        let mut groups: BTreeMap<u32, Vec<(usize, Vec<u64>)>> = BTreeMap::new();
        let mut start = 0;
        for (row, &end) in self.ends.iter().enumerate() {
            for entry in self.entries[start..end].iter().filter(|entry| Some(entry.fold) != fold) {
                let rows = groups.entry(entry.group).or_default();
                if rows.last().is_none_or(|last| last.0 != row) {
                    rows.push((row, vec![0; self.classes.len()]));
                }
                if let Some((_, people)) = rows.last_mut() {
                    people[entry.truth] += entry.people;
                }
            }
            start = end;
        }
        groups
    }

    /// Refuses people among whom a class does not occur.
    fn check(&self, by_class: &[u64], fold: Option<Fold>) -> Result<()> {
        let names = |wanted: bool| -> Vec<String> {
            let classes = self.classes.iter().zip(by_class).filter(|(_, people)| (**people > 0) == wanted);
            classes.map(|(class, _)| format!("{class:?}")).collect()
        };
        let (present, absent) = (names(true), names(false));
        let problem = match (&present[..], &absent[..], fold) {
            (_, [], _) => return Ok(()),
            (_, [class, ..], Some(_)) => format!(
                "too few people have the true class {class}: without one fold of the rows, there are none; use more rows \
                 with known truth, or merge the class with another one"
            ),
            ([], _, None) => "no row has a known true class; use rows with known truth".into(),
            ([class], _, None) => {
                format!("all people with known truth are {class}; use rows with known truth of all classes")
            }
            (_, [class], None) => {
                format!("no person with known truth is {class}; use rows of this class, or merge it with another one")
            }
            (_, classes, None) => format!(
                "no person with known truth is {}; use rows of these classes, or merge them with others",
                classes.join(" or ")
            ),
        };
        Err(not_calibrated(problem))
    }
}

pub(super) fn not_calibrated(problem: String) -> Error {
    Error::NotCalibrated { problem }
}
