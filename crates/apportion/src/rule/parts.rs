//! Parts of the rows, such as counties, each solved by itself: its rows are brought together first.
//!
//! Rows that lie in memory are copied part by part. Rows that are kept elsewhere are read in order, in waves: all the rows
//! of as many parts as find room.

use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

use super::joint::{Request, Task, sums_by};
use super::plan::Plan;
use crate::error::{Error, Result};
use crate::kernel::{Real, Rows, STRETCH, Source};
use crate::scores::{Groups, Label, Visitor};
use crate::transport::nesting::Quotas;
use crate::transport::{Prices, Setting};

/// Which part each row belongs to.
pub(super) struct Division<'a> {
    pub(super) codes: Cow<'a, [u32]>,
    pub(super) parts: usize,
    /// The parts' names, one each, where they have names.
    pub(super) names: Option<Cow<'a, [String]>>,
}

impl<'a> Division<'a> {
    pub(super) fn of(groups: Groups<'a>) -> Self {
        let names = Some(Cow::Borrowed(groups.names));
        Division { codes: Cow::Borrowed(groups.codes), parts: groups.names.len(), names }
    }

    pub(super) fn name(&self, part: usize) -> Option<&str> {
        self.names.as_ref().map(|names| names[part].as_str())
    }

    /// How many rows each part has.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.parts];
        self.codes.iter().for_each(|&code| sizes[code as usize] += 1);
        sizes
    }

    /// The rows of some parts, in order.
    pub(super) fn members(&self, parts: Range<usize>, sizes: &[usize]) -> Vec<Vec<u32>> {
        let mut members: Vec<Vec<u32>> = sizes[parts.clone()].iter().map(|&size| Vec::with_capacity(size)).collect();
        for (row, &code) in self.codes.iter().enumerate() {
            if parts.contains(&(code as usize)) {
                members[code as usize - parts.start].push(row as u32);
            }
        }
        members
    }

    /// The rows of all parts.
    pub(super) fn all_members(&self) -> Vec<Vec<u32>> {
        self.members(0..self.parts, &self.sizes())
    }

    /// What each part has for its rows, in the order of the table.
    pub(super) fn in_order(&self, labels: Vec<Vec<Label>>) -> Vec<Label> {
        let mut own: Vec<_> = labels.into_iter().map(Vec::into_iter).collect();
        self.codes.iter().map(|&code| own[code as usize].next().unwrap_or_default()).collect()
    }
}

/// Solves parts of the rows, each by itself.
pub(super) fn in_parts<T: Task>(request: &Request<'_>, task: T, division: &Division<'_>) -> Result<Vec<T::Output>> {
    let (found, limit) = (request.scores.rows(), u32::MAX as usize);
    if found > limit {
        return Err(Error::TooManyRows { found, limit });
    }
    let solved = request.scores.visit(Parts { request, task, division });
    // Parts are solved in any order; the first bad row is the one to name.
    solved.map_err(|error| request.scores.check().err().unwrap_or(error))
}

struct Parts<'a, T> {
    request: &'a Request<'a>,
    task: T,
    division: &'a Division<'a>,
}

/// How many rows ahead memory is asked for.
const AHEAD: usize = 16;

/// How many bytes may be used to bring all parts of a table in memory together at once.
const MOST_BYTES: usize = 1 << 28;

impl<T: Task> Visitor for Parts<'_, T> {
    type Output = Result<Vec<T::Output>>;

    fn visit<U: Real>(self, source: &dyn Source<U>) -> Self::Output {
        let sizes = self.division.sizes();
        let nested = self.nested(source)?;
        let (mut outcomes, mut guess) = (Vec::with_capacity(self.division.parts), None);
        for wave in waves(source, &sizes).into_iter().filter(|wave| !wave.is_empty()) {
            let members = self.division.members(wave.clone(), &sizes);
            // Reading all rows in order is quicker than looking for those of each part, where all find room.
            let bytes = source.rows().saturating_mul(source.classes() * size_of::<U>());
            let values = match source.at_hand() {
                Some(_) if bytes > MOST_BYTES => None,
                _ => Some(self.read(source, wave.clone(), &members)?),
            };
            let solve = |place: usize, guess: Option<&Prices>| {
                let rows = &members[place];
                let values = match (&values, source.at_hand()) {
                    (Some(values), _) => Cow::Borrowed(&values[place]),
                    (None, Some(table)) => Cow::Owned(copied(&table, rows)),
                    (None, None) => unreachable!("rows that are not at hand have been read"),
                };
                let part = wave.start + place;
                self.solve(source, part, rows, &values, nested.as_ref().map(|counts| counts[part].as_slice()), guess)
            };
            // The largest part first: its prices are where the others begin.
            let largest = (0..wave.len()).max_by_key(|&place| members[place].len()).unwrap_or(0);
            let first = solve(largest, guess.as_ref());
            if let Ok(prices) = first.as_ref().map(T::prices) {
                guess = prices.cloned().or(guess);
            }
            let mut first = Some(first);
            let mut solved: Vec<Option<Result<_>>> = (0..wave.len())
                .into_par_iter()
                .map(|place| (place != largest).then(|| solve(place, guess.as_ref())))
                .collect();
            solved.iter_mut().filter(|solved| solved.is_none()).for_each(|solved| *solved = first.take());
            let solved = solved.into_iter().flatten();
            // The error of the first part that has one, whatever the threads.
            outcomes.extend(solved.collect::<Result<Vec<_>>>()?);
        }
        Ok(outcomes)
    }
}

/// Parts that are brought together at once: all, or as many as find room.
fn waves<T: Real>(source: &dyn Source<T>, sizes: &[usize]) -> Vec<Range<usize>> {
    if source.at_hand().is_some() {
        return std::iter::once(0..sizes.len()).collect();
    }
    let bytes = source.classes() * size_of::<T>() + size_of::<u32>();
    let (mut waves, mut start, mut held) = (Vec::new(), 0, 0usize);
    for (part, size) in sizes.iter().enumerate() {
        let own = size * bytes;
        if part > start && held.saturating_add(own) > source.most_bytes() {
            waves.push(start..part);
            (start, held) = (part, 0);
        }
        held += own;
    }
    waves.push(start..sizes.len());
    waves
}

/// A part's rows, copied together.
fn copied<T: Real>(table: &Rows<'_, T>, members: &[u32]) -> Vec<T> {
    let mut values = Vec::with_capacity(members.len() * table.classes());
    for (place, &row) in members.iter().enumerate() {
        // A group's rows lie anywhere: memory is asked for them well ahead.
        table.prefetch(members.get(place + AHEAD).copied().unwrap_or(row) as usize, 1);
        table.copy_row(row as usize, &mut values);
    }
    values
}

impl<T: Task> Parts<'_, T> {
    /// The rows of some parts, each part's together, from one pass over all rows.
    fn read<U: Real>(&self, source: &dyn Source<U>, wave: Range<usize>, members: &[Vec<u32>]) -> Result<Vec<Vec<U>>> {
        let mut values: Vec<Vec<U>> =
            members.iter().map(|members| Vec::with_capacity(members.len() * source.classes())).collect();
        let mut room = Vec::new();
        for start in (0..source.rows()).step_by(STRETCH) {
            let range = start..source.rows().min(start + STRETCH);
            let rows = source.window(range.clone(), &mut room)?;
            for row in range {
                let code = self.division.codes[row] as usize;
                if wave.contains(&code) {
                    rows.copy_row(row, &mut values[code - wave.start]);
                }
            }
        }
        Ok(values)
    }

    fn plan<U: Real>(&self, rows: &dyn Source<U>, part: usize, members: &[u32]) -> Result<Plan> {
        // A name that no row has needs no reference.
        if members.is_empty() {
            return Ok(Plan::exactly(&vec![0; rows.classes()]));
        }
        let truth = self.request.scores.truth();
        let truth = truth.map(|truth| {
            members.iter().enumerate().map(move |(place, &row)| (truth[row as usize], rows.people_of(place)))
        });
        self.request.plan(rows, self.division.name(part), truth)
    }

    fn solve<U: Real>(
        &self,
        source: &dyn Source<U>,
        part: usize,
        members: &[u32],
        values: &[U],
        targets: Option<&[u64]>,
        guess: Option<&Prices>,
    ) -> Result<T::Output> {
        let Request { scores, settings, .. } = self.request;
        let weights = weights(source, members);
        let rows = Rows::matrix(values, source.classes(), source.magnitude(), weights.as_deref());
        let plan = match targets {
            Some(targets) => Plan::exactly(targets),
            None => self.plan(&rows, part, members)?,
        };
        let place = |row: usize| members[row] as usize;
        let setting = Setting {
            simd: settings.simd,
            seed: settings.seed,
            key: &|row| scores.keys().of(place(row)),
            unique_keys: scores.keys().are_unique(),
            guard: Some(&|mut rows: Range<usize>| {
                rows.try_for_each(|row| scores.check_rows(place(row)..place(row) + 1))
            }),
            guess,
        };
        self.task.run(self.request, &rows, &place, &plan, &setting)
    }

    /// The counts of each part, where larger units' totals are to be right, too.
    fn nested<U: Real>(&self, source: &dyn Source<U>) -> Result<Option<Vec<Vec<u64>>>> {
        let levels = &self.request.matching.nested;
        if levels.is_empty() {
            return Ok(None);
        }
        let sums = sums_by(source, &|row| self.division.codes[row] as usize, self.division.parts)?;
        let quotas = |(part, members): (usize, Vec<u32>)| {
            let weights = weights(source, &members);
            // The plan looks at how many people there are, not at their scores, which are summed already.
            let nobody = vec![U::default(); members.len() * source.classes()];
            let rows = Rows::matrix(&nobody, source.classes(), source.magnitude(), weights.as_deref());
            Ok(Quotas { rows: rows.people(), weights: self.plan(&rows, part, &members)?.weights(&sums[part]) })
        };
        let own = self.division.all_members().into_iter().enumerate().map(quotas).collect::<Result<_>>()?;
        super::nested::targets(&self.request.matching.reference, own, levels).map(Some)
    }
}

/// How many people each of some rows stands for.
fn weights<T: Real>(source: &dyn Source<T>, members: &[u32]) -> Option<Vec<u64>> {
    source.weights().map(|weights| members.iter().map(|&row| weights[row as usize]).collect())
}
