//! Solving groups of rows, such as counties, separately: the rows of each group are gathered first.
//!
//! Rows in memory are copied group by group. Stored rows are read in order, in waves of as many groups as fit into
//! memory.

use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use super::gather::Gather;
use super::joint::{Request, Task, sums_by};
use super::plan::Plan;
use crate::error::{Error, Result};
use crate::kernel::{Real, Rows, Source};
use crate::reference::Reference;
use crate::scores::{Groups, Label, Visitor};
use crate::transport::nesting::Quotas;
use crate::transport::{Prices, Setting};

/// The group of each row.
pub(super) struct Partition<'a> {
    pub(super) codes: Cow<'a, [u32]>,
    pub(super) groups: usize,
    /// The names of the groups, if they have names.
    pub(super) names: Option<Cow<'a, [String]>>,
}

impl<'a> Partition<'a> {
    pub(super) fn of(groups: Groups<'a>) -> Self {
        let names = Some(Cow::Borrowed(groups.names));
        Partition { codes: Cow::Borrowed(groups.codes), groups: groups.names.len(), names }
    }

    pub(super) fn name(&self, group: usize) -> Option<&str> {
        self.names.as_ref().map(|names| names[group].as_str())
    }

    /// Returns the number of rows of each group.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.groups];
        self.codes.iter().for_each(|&code| sizes[code as usize] += 1);
        sizes
    }

    /// Returns the rows of all groups.
    pub(super) fn all_members(&self) -> Vec<Vec<u32>> {
        let (codes, sizes) = (&self.codes, &self.sizes());
        Gather { codes, sizes, groups: 0..self.groups }.row_numbers(rayon::current_num_threads())
    }

    /// Returns the labels of all groups in the order of the table.
    pub(super) fn in_order(&self, labels: &[Vec<Label>]) -> Vec<Label> {
        let mut own: Vec<_> = labels.iter().map(|labels| labels.iter()).collect();
        self.codes.iter().map(|&code| own[code as usize].next().copied().unwrap_or_default()).collect()
    }
}

/// Solves each group separately.
pub(super) fn solve_groups<T: Task>(
    request: &Request<'_>,
    task: T,
    partition: &Partition<'_>,
) -> Result<Vec<T::Output>> {
    let (found, limit) = (request.scores.rows(), u32::MAX as usize);
    if found > limit {
        return Err(Error::TooManyRows { found, limit });
    }
    let solved = request.scores.visit(SolveGroups { request, task, partition });
    // Groups are solved in any order; report the first invalid row.
    solved.map_err(|error| request.scores.check().err().unwrap_or(error))
}

struct SolveGroups<'a, T> {
    request: &'a Request<'a>,
    task: T,
    partition: &'a Partition<'a>,
}

/// Number of rows to prefetch.
const AHEAD: usize = 16;

/// Limit in bytes for gathering all groups of a table in memory at once.
const MOST_BYTES: usize = 1 << 28;

impl<T: Task> Visitor for SolveGroups<'_, T> {
    type Output = Result<Vec<T::Output>>;

    fn visit<U: Real>(self, source: &dyn Source<U>) -> Self::Output {
        let sizes = self.partition.sizes();
        let nested = self.nested(source)?;
        let (mut solutions, mut guess) = (Vec::with_capacity(self.partition.groups), None);
        for wave in waves(source, &sizes).into_iter().filter(|wave| !wave.is_empty()) {
            let bytes = source.rows().saturating_mul(source.classes() * size_of::<U>());
            let far_apart = source.in_memory().filter(|_| bytes > MOST_BYTES);
            let gather = Gather { codes: &self.partition.codes, sizes: &sizes, groups: wave.clone() };
            let (mut numbers, mut scores) = (OnceLock::new(), Vec::new());
            match far_apart {
                Some(_) => numbers = OnceLock::from(gather.row_numbers(rayon::current_num_threads())),
                None => scores = gather.scores(source)?,
            }
            let solve = |index: usize, guess: Option<&Prices>| {
                let group = wave.start + index;
                // Row numbers are rarely needed if the scores were gathered.
                let rows = || numbers.get_or_init(|| gather.row_numbers(1))[index].as_slice();
                let values = match far_apart {
                    Some(table) => Cow::Owned(copied(&table, rows())),
                    None => Cow::Borrowed(&scores[index]),
                };
                let targets = nested.as_ref().map(|counts| counts[group].as_slice());
                self.solve(source, group, &rows, &values, targets, guess)
            };
            // The largest group first: its prices are the initial guess for the others.
            let largest = (0..wave.len()).max_by_key(|&index| sizes[wave.start + index]).unwrap_or(0);
            let first = solve(largest, guess.as_ref());
            if let Ok(prices) = first.as_ref().map(T::prices) {
                guess = prices.cloned().or(guess);
            }
            let mut first = Some(first);
            let mut solved: Vec<Option<Result<_>>> = (0..wave.len())
                .into_par_iter()
                .map(|index| (index != largest).then(|| solve(index, guess.as_ref())))
                .collect();
            solved.iter_mut().filter(|solved| solved.is_none()).for_each(|solved| *solved = first.take());
            let solved = solved.into_iter().flatten();
            // Report the error of the first group that has one, for any number of threads.
            solutions.extend(solved.collect::<Result<Vec<_>>>()?);
        }
        Ok(solutions)
    }
}

/// Returns the groups to gather together: all, or as many as fit into memory.
fn waves<T: Real>(source: &dyn Source<T>, sizes: &[usize]) -> Vec<Range<usize>> {
    if source.in_memory().is_some() {
        return std::iter::once(0..sizes.len()).collect();
    }
    let bytes = source.classes() * size_of::<T>() + size_of::<u32>();
    let (mut waves, mut start, mut held) = (Vec::new(), 0, 0usize);
    for (group, size) in sizes.iter().enumerate() {
        let own = size * bytes;
        if group > start && held.saturating_add(own) > source.most_bytes() {
            waves.push(start..group);
            (start, held) = (group, 0);
        }
        held += own;
    }
    waves.push(start..sizes.len());
    waves
}

/// Copies the rows of a group.
fn copied<T: Real>(table: &Rows<'_, T>, members: &[u32]) -> Vec<T> {
    let mut values = Vec::with_capacity(members.len() * table.classes());
    for (index, &row) in members.iter().enumerate() {
        // The rows of a group are scattered: prefetch them.
        table.prefetch(members.get(index + AHEAD).copied().unwrap_or(row) as usize, 1);
        table.copy_row(row as usize, &mut values);
    }
    values
}

impl<T: Task> SolveGroups<'_, T> {
    fn plan<'r, U: Real>(
        &self,
        rows: &dyn Source<U>,
        group: usize,
        members: &(dyn Fn() -> &'r [u32] + Sync),
    ) -> Result<Plan> {
        // A group name without rows needs no reference.
        if rows.rows() == 0 {
            return Ok(Plan::exactly(&vec![0; rows.classes()]));
        }
        let is_wanted = self.request.matching.reference == Reference::Truth;
        let truth = self.request.scores.truth().filter(|_| is_wanted);
        let truth = truth.map(|truth| {
            members().iter().enumerate().map(move |(index, &row)| (truth[row as usize], rows.people_of(index)))
        });
        self.request.plan(rows, self.partition.name(group), truth)
    }

    /// Solves a group. `members` returns its rows in the table.
    fn solve<'r, U: Real>(
        &self,
        source: &dyn Source<U>,
        group: usize,
        members: &(dyn Fn() -> &'r [u32] + Sync),
        values: &[U],
        targets: Option<&[u64]>,
        guess: Option<&Prices>,
    ) -> Result<T::Output> {
        let Request { scores, settings, .. } = self.request;
        let weights = weights(source, members);
        let rows = Rows::matrix(values, source.classes(), source.magnitude(), weights.as_deref());
        let plan = match targets {
            Some(targets) => Plan::exactly(targets),
            None => self.plan(&rows, group, members)?,
        };
        let table_row = |row: usize| members()[row] as usize;
        let setting = Setting {
            simd: settings.simd,
            seed: settings.seed,
            key: &|row| scores.keys().of(table_row(row)),
            unique_keys: scores.keys().are_unique(),
            guard: Some(&|mut rows: Range<usize>| {
                rows.try_for_each(|row| scores.check_rows(table_row(row)..table_row(row) + 1))
            }),
            guess,
        };
        self.task.run(self.request, &rows, &table_row, &plan, &setting)
    }

    /// Returns the counts of each group, if the totals of larger units must be exact.
    fn nested<U: Real>(&self, source: &dyn Source<U>) -> Result<Option<Vec<Vec<u64>>>> {
        let levels = &self.request.matching.nested;
        if levels.is_empty() {
            return Ok(None);
        }
        let sums = sums_by(source, &|row| self.partition.codes[row] as usize, self.partition.groups)?;
        let quotas = |(group, members): (usize, Vec<u32>)| {
            let members = || members.as_slice();
            let weights = weights(source, &members);
            // The plan needs the number of people, not their scores, which are summed already.
            let nobody = vec![U::default(); members().len() * source.classes()];
            let rows = Rows::matrix(&nobody, source.classes(), source.magnitude(), weights.as_deref());
            Ok(Quotas { rows: rows.people(), weights: self.plan(&rows, group, &members)?.weights(&sums[group]) })
        };
        let own = self.partition.all_members().into_iter().enumerate().map(quotas).collect::<Result<_>>()?;
        super::nested::targets(&self.request.matching.reference, own, levels).map(Some)
    }
}

/// Returns the number of people that each row represents.
fn weights<'r, T: Real>(source: &dyn Source<T>, members: &dyn Fn() -> &'r [u32]) -> Option<Vec<u64>> {
    source.weights().map(|weights| members().iter().map(|&row| weights[row as usize]).collect())
}
