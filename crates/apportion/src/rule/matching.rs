//! Match: the labels of greatest expected accuracy among those whose counts are the reference's.

use rayon::prelude::*;
use std::ops::Range;

use super::{Joint, Labelled, Settings};
use crate::decision::{Decision, Fitted, GroupPrices};
use crate::error::{Error, Result};
use crate::kernel::{Layout, Plain, Rows};
use crate::label::Labels;
use crate::reference::{Plan, Reference, round_posterior};
use crate::scores::{Label, Scores, Visitor};
use crate::transport::{Demand, Goal, Outline, Setting, Solution, solve};

/// Counts that match a reference, overall or in each group.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The distribution that the labels should have.
    pub reference: Reference,
    /// Whether each group is matched to its own reference.
    pub by_group: bool,
}

impl Match {
    /// Matches all rows together.
    pub fn overall(reference: Reference) -> Match {
        Match { reference, by_group: false }
    }

    /// Matches each group by itself.
    pub fn by_group(reference: Reference) -> Match {
        Match { reference, by_group: true }
    }

    pub(super) fn label(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Labelled> {
        if scores.counts().is_some() {
            return Err(Error::CountsUnsupported { rule: "match" });
        }
        if self.by_group { self.label_groups(scores, settings) } else { self.label_all(scores, settings) }
    }

    fn label_all(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Labelled> {
        let truth = scores.truth().map(|truth| truth.iter().copied());
        let plan = self.reference.plan(scores.classes().len(), scores.rows() as u64, None, truth)?;
        let mut labels = vec![0; scores.rows()];
        let setting = Setting {
            simd: settings.simd,
            seed: settings.seed,
            key: &|row| scores.keys().of(row),
            unique_keys: scores.keys().are_unique(),
            guard: Some(&|rows: Range<usize>| scores.check_rows(rows)),
        };
        let solution = scores.visit(SolveAll { plan, setting, labels: &mut labels })?;
        let joint = Joint {
            certificate: solution.certificate,
            targets: solution.counts.clone(),
            group_targets: Vec::new(),
            tied_rows: solution.tied,
            repeated_keys: solution.repeated_keys,
        };
        labelled(scores, settings, labels, vec![GroupPrices::new(None, &solution.prices)], joint)
    }

    fn label_groups(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Labelled> {
        let groups = scores.groups().ok_or(Error::Missing {
            what: "a group",
            by: "matching by group",
            with: "with_groups",
            instead: "way of matching",
        })?;
        let members = members(groups.codes, groups.names.len());
        let solved = scores.visit(SolveGroups { matching: self, scores, settings, members: &members });
        // Groups are solved in any order; the first bad row is the one to name.
        let solved = match solved {
            Ok(solved) => solved,
            Err(error) => return Err(scores.check().err().unwrap_or(error)),
        };
        let k = scores.classes().len();
        let mut labels = vec![0; scores.rows()];
        let mut prices = Vec::new();
        let mut joint = Joint {
            certificate: crate::Certificate { primal: 0, dual: 0 },
            targets: vec![0; k],
            group_targets: Vec::new(),
            tied_rows: 0,
            repeated_keys: 0,
        };
        for ((rows, name), (group_labels, solution)) in members.iter().zip(groups.names).zip(solved) {
            rows.iter().zip(group_labels).for_each(|(&row, label)| labels[row] = label);
            joint.certificate = joint.certificate.and(solution.certificate);
            joint.targets.iter_mut().zip(&solution.counts).for_each(|(sum, count)| *sum += count);
            joint.tied_rows += solution.tied;
            joint.repeated_keys += solution.repeated_keys;
            joint.group_targets.push(solution.counts);
            // A group without rows teaches no prices.
            if !rows.is_empty() {
                prices.push(GroupPrices::new(Some(name.clone()), &solution.prices));
            }
        }
        labelled(scores, settings, labels, prices, joint)
    }
}

fn labelled(
    scores: &Scores<'_>,
    settings: &Settings,
    labels: Vec<Label>,
    prices: Vec<GroupPrices>,
    joint: Joint,
) -> Result<Labelled> {
    let decision = Decision::new(scores.classes().clone(), settings.seed, Fitted::Prices(prices))?;
    Ok(Labelled { labels: Labels::trusted(labels, scores.classes().len()), decision, joint: Some(joint) })
}

/// How many rows ahead memory is asked for.
const AHEAD: usize = 16;

/// The rows of each group, in order.
fn members(codes: &[u32], groups: usize) -> Vec<Vec<usize>> {
    let mut sizes = vec![0; groups];
    codes.iter().for_each(|&code| sizes[code as usize] += 1);
    let mut members: Vec<Vec<usize>> = sizes.into_iter().map(Vec::with_capacity).collect();
    codes.iter().enumerate().for_each(|(row, &code)| members[code as usize].push(row));
    members
}

/// Solves for a plan: counts that are known, or those that the scores themselves sum to.
fn solve_plan<R: Rows>(rows: &R, plan: Plan, setting: &Setting<'_>, labels: &mut [Label]) -> Result<Solution> {
    let count = rows.rows() as u64;
    let posterior = |sums: &[i128]| round_posterior(sums, count);
    let goal = match plan {
        Plan::Counts(demand) => Goal::Known(demand),
        Plan::Posterior => Goal::OfSums(&posterior, Outline { last: 0.0, penalty: None }),
    };
    solve(rows, &goal, setting, labels)
}

struct SolveAll<'a> {
    plan: Plan,
    setting: Setting<'a>,
    labels: &'a mut [Label],
}

impl Visitor for SolveAll<'_> {
    type Output = Result<Solution>;
    fn visit<R: Rows>(self, rows: &R) -> Result<Solution> {
        solve_plan(rows, self.plan, &self.setting, self.labels)
    }
}

struct SolveGroups<'a> {
    matching: &'a Match,
    scores: &'a Scores<'a>,
    settings: &'a Settings,
    members: &'a [Vec<usize>],
}

impl SolveGroups<'_> {
    fn solve_one<R: Rows>(&self, rows: &R, group: usize) -> Result<(Vec<Label>, Solution)> {
        let members = &self.members[group];
        let name = self.scores.groups().map(|groups| groups.names[group].as_str());
        let truth = self.scores.truth().map(|truth| members.iter().map(|&row| truth[row]));
        let k = rows.classes();
        let plan = match members.len() {
            // A name that no row has needs no reference.
            0 => Plan::Counts(Demand::exactly(vec![0; k])),
            count => self.matching.reference.plan(k, count as u64, name, truth)?,
        };
        let mut values = Vec::with_capacity(members.len() * k);
        for (place, &row) in members.iter().enumerate() {
            // A group's rows lie anywhere: memory is asked for them well ahead.
            rows.prefetch(members.get(place + AHEAD).copied().unwrap_or(row), 1);
            values.extend((0..k).map(|class| rows.score(row, class)));
        }
        let copy = Plain { layout: Layout::RowMajor(&values), classes: k, magnitude: rows.magnitude() };
        let setting = Setting {
            simd: self.settings.simd,
            seed: self.settings.seed,
            key: &|row| self.scores.keys().of(members[row]),
            unique_keys: self.scores.keys().are_unique(),
            guard: Some(&|mut rows: Range<usize>| {
                rows.try_for_each(|row| self.scores.check_rows(members[row]..members[row] + 1))
            }),
        };
        let mut labels = vec![0; members.len()];
        let solution = solve_plan(&copy, plan, &setting, &mut labels)?;
        Ok((labels, solution))
    }
}

impl Visitor for SolveGroups<'_> {
    type Output = Result<Vec<(Vec<Label>, Solution)>>;
    fn visit<R: Rows>(self, rows: &R) -> Self::Output {
        let groups = (0..self.members.len()).into_par_iter();
        let solved: Vec<Result<_>> = groups.map(|group| self.solve_one(rows, group)).collect();
        // The error of the first group that has one, whatever the threads.
        solved.into_iter().collect()
    }
}
