//! What all joint rules share: problems for all rows or for each group, solved, and put together again.

use rayon::prelude::*;
use std::ops::Range;

use super::balance::Penalty;
use super::euclid;
use super::matching::Match;
use super::plan::{Aim, Plan, quotas};
use super::{Joint, Labelled, Settings};
use crate::decision::{Decision, Fitted, GroupPrices};
use crate::error::{Error, Result};
use crate::kernel::{GRID, Plain, Real, Rows, WithZero};
use crate::label::Labels;
use crate::reference::{Weights, posterior_weights};
use crate::scores::{Label, Scores, UNCODED, Visitor};
use crate::transport::frontier::{Way, walk};
use crate::transport::nesting::Quotas;
use crate::transport::{Certificate, Setting, Solution, Split, solve};

/// Everything that was asked for.
pub(super) struct Request<'a> {
    pub(super) matching: &'a Match,
    pub(super) aim: Aim,
    /// γ and its penalty, where accuracy is weighed against fidelity.
    pub(super) gamma: Option<(f64, Penalty)>,
    pub(super) scores: &'a Scores<'a>,
    pub(super) settings: &'a Settings,
}

/// One table or group, solved.
pub(super) struct Outcome {
    pub(super) labels: Vec<Label>,
    pub(super) solution: Solution,
    /// The reference in whole numbers.
    pub(super) targets: Vec<u64>,
    /// The value and its bound, what missing the reference costs included.
    pub(super) certificate: Certificate,
    /// People who are labelled, times the distance of their shares from the reference.
    pub(super) distance: f64,
}

/// All rows labelled, whatever their groups.
pub(super) struct Solved {
    pub(super) labels: Vec<Label>,
    /// Rows that stand for several people who have several labels.
    pub(super) splits: Vec<Split>,
    pub(super) decision: Decision,
    pub(super) joint: Joint,
}

impl Solved {
    /// As labels, which rows that stand for one person can have.
    pub(super) fn labelled(self, scores: &Scores<'_>) -> Labelled {
        let labels = Labels::trusted(self.labels, scores.classes().len());
        Labelled { labels, decision: self.decision, joint: Some(self.joint) }
    }
}

/// Labels all rows together, or each group by itself.
pub(super) fn solve_request(request: &Request<'_>) -> Result<Solved> {
    check(request)?;
    match groups(request)? {
        None => put_together(request, vec![request.scores.visit(Whole(request, Best))?], None),
        Some((members, names)) => {
            let outcomes = in_parts(request, Best, &members, Some(names))?;
            put_together(request, outcomes, Some(&members))
        }
    }
}

/// Refuses rows that stand for several people, where labels are wanted: such rows may have to be split.
pub(super) fn refuse_counts(scores: &Scores<'_>, rule: &'static str) -> Result<()> {
    if scores.counts().is_some() { Err(Error::CountsUnsupported { rule }) } else { Ok(()) }
}

/// The ways from argmax to the targets, of all rows together or of each group.
pub(super) fn ways(request: &Request<'_>) -> Result<Vec<Way>> {
    check(request)?;
    match groups(request)? {
        None => Ok(vec![request.scores.visit(Whole(request, Walk))?]),
        Some((members, names)) => in_parts(request, Walk, &members, Some(names)),
    }
}

/// The rows of each group, and the groups' names.
type Members<'a> = (Vec<Vec<usize>>, &'a [String]);

/// The groups, where the rule looks at groups.
pub(super) fn groups<'a>(request: &Request<'a>) -> Result<Option<Members<'a>>> {
    if !request.matching.by_group {
        return Ok(None);
    }
    let groups = request.scores.groups().ok_or(Error::Missing {
        what: "a group",
        by: "matching by group",
        with: "with_groups",
        instead: "way of matching",
    })?;
    Ok(Some((members(groups.codes, groups.names.len()), groups.names)))
}

/// Something to be found out about a table or a group with a plan.
pub(super) trait Task: Copy + Send + Sync {
    type Output: Send;
    fn run<R: Rows>(self, request: &Request<'_>, rows: &R, plan: &Plan, setting: &Setting<'_>) -> Result<Self::Output>;
}

/// Its best labels.
#[derive(Clone, Copy)]
pub(super) struct Best;

/// The way from argmax to the targets.
#[derive(Clone, Copy)]
struct Walk;

impl Task for Walk {
    type Output = Way;
    fn run<R: Rows>(self, _: &Request<'_>, rows: &R, plan: &Plan, setting: &Setting<'_>) -> Result<Way> {
        plan.with_goal(|goal| walk(rows, goal, setting))
    }
}

/// Solves parts of the rows, each by itself.
pub(super) fn in_parts<T: Task>(
    request: &Request<'_>,
    task: T,
    members: &[Vec<usize>],
    names: Option<&[String]>,
) -> Result<Vec<T::Output>> {
    let solved = request.scores.visit(Parts { request, task, members, names });
    // Parts are solved in any order; the first bad row is the one to name.
    solved.map_err(|error| request.scores.check().err().unwrap_or(error))
}

pub(super) fn check(request: &Request<'_>) -> Result<()> {
    let Match { coverage, bounds, nested, by_group, .. } = request.matching;
    if let Some(share) = coverage.filter(|share| !(0.0..=1.0).contains(share)) {
        return Err(Error::Parameter { what: "coverage".into(), value: share, range: "a share from 0 to 1" });
    }
    // What is summed beforehand is checked beforehand; all else is by the pass that reads it.
    if !bounds.is_empty() || !nested.is_empty() {
        request.scores.check()?;
    }
    let together = |one, other, why| Err(Error::Together { one, other, why });
    if !nested.is_empty() && coverage.is_some() {
        return together("nested", "coverage", "which rows stay without a label would have to be shared out; use one");
    }
    if !nested.is_empty() && !bounds.is_empty() {
        return together("nested", "bounds", "the larger units' totals leave no room for bounds; use one of them");
    }
    if !nested.is_empty() && !by_group {
        return together("nested", "matching overall", "the groups are the smallest units; match by group");
    }
    if matches!(request.gamma, Some((gamma, Penalty::L2)) if gamma > 0.0) && (coverage.is_some() || !bounds.is_empty())
    {
        return together("the penalty l2", "coverage or bounds", "its bound is not known then; use l2-squared");
    }
    Ok(())
}

impl Request<'_> {
    /// What is asked of some rows: all, or those of a group.
    fn plan<R: Rows>(
        &self,
        rows: &R,
        group: Option<&str>,
        truth: Option<impl Iterator<Item = (Label, u64)>>,
    ) -> Result<Plan> {
        let Match { reference, coverage, bounds, .. } = self.matching;
        let people = rows.people();
        let uncoded = coverage.map(|share| uncoded(share, people));
        let labelled = people - uncoded.unwrap_or(0);
        let mut weights = reference.weights(rows.classes(), labelled, group, truth)?;
        if weights == Weights::Posterior && !bounds.is_empty() {
            weights = Weights::Known(posterior_weights(&sums(rows)));
        }
        Plan::new(weights, self.aim, labelled, uncoded).bounded(bounds, self.scores.classes(), group)
    }
}

impl Task for Best {
    type Output = Outcome;
    fn run<R: Rows>(self, request: &Request<'_>, rows: &R, plan: &Plan, setting: &Setting<'_>) -> Result<Outcome> {
        let mut labels = vec![0; rows.rows()];
        let k = rows.classes();
        let solution = match (request.gamma, request.aim) {
            (Some((_, Penalty::L2)), Aim::Balance { weight, .. }) if weight > 0.0 => {
                return euclid::solve_norm(rows, plan, weight, setting);
            }
            _ if plan.has_uncoded() => plan.with_goal(|goal| solve(&WithZero(rows), goal, setting, &mut labels))?,
            _ => plan.with_goal(|goal| solve(rows, goal, setting, &mut labels))?,
        };
        labels.iter_mut().filter(|label| usize::from(**label) == k).for_each(|label| *label = UNCODED);
        let weights = plan.weights(&solution.sums);
        let counts = &solution.counts[..k];
        let cost = plan.penalty(&weights).map_or(0, |penalty| penalty.total(counts));
        let Certificate { primal, dual } = solution.certificate;
        Ok(Outcome {
            labels,
            targets: plan.targets(&weights, counts),
            certificate: Certificate { primal: primal - cost, dual: dual - cost },
            distance: request.gamma.map_or(0.0, |(_, penalty)| distance(penalty, counts, &weights)),
            solution,
        })
    }
}

/// How many people stay without a label: the rest of the share, rounded, half up. In decimals, as users write them.
fn uncoded(share: f64, people: u64) -> u64 {
    const WHOLE: u128 = 1_000_000_000_000_000;
    let rest = WHOLE - ((share * WHOLE as f64).round() as u128).min(WHOLE);
    ((2 * rest * u128::from(people) + WHOLE) / (2 * WHOLE)) as u64
}

/// So many people times the distance of their shares from the reference.
pub(super) fn distance(penalty: Penalty, counts: &[u64], weights: &[u128]) -> f64 {
    let people: u64 = counts.iter().sum();
    let quotas = quotas(weights, people);
    let misses = counts.iter().zip(&quotas).map(|(&count, quota)| quota.miss(count));
    match penalty {
        Penalty::L1 => misses.map(f64::abs).sum(),
        Penalty::L2 => misses.map(|miss| miss * miss).sum::<f64>().sqrt(),
        Penalty::L2Squared => misses.map(|miss| miss * miss).sum::<f64>() / people.max(1) as f64,
        Penalty::Kl => {
            let present = counts.iter().zip(&quotas).filter(|(count, _)| **count > 0);
            present.map(|(&count, quota)| count as f64 * (count as f64 / quota.value()).ln()).sum()
        }
    }
}

/// The scores of some rows, summed by class, in units of the grid.
fn sums<R: Rows>(rows: &R) -> Vec<i128> {
    let people = |row: usize| rows.weights().map_or(1, |weights| i128::from(weights[row]));
    let units = |row: usize, class: usize| i128::from(GRID.round(rows.score(row, class).double()));
    let sum = |class: usize| (0..rows.rows()).map(|row| people(row) * units(row, class)).sum();
    (0..rows.classes()).map(sum).collect()
}

/// All rows together.
struct Whole<'a, T>(&'a Request<'a>, T);

impl<T: Task> Visitor for Whole<'_, T> {
    type Output = Result<T::Output>;

    fn visit<R: Rows>(self, rows: &R) -> Self::Output {
        let Request { scores, settings, .. } = self.0;
        let people = |row: usize| rows.weights().map_or(1, |weights| weights[row]);
        let truth = scores.truth().map(|truth| truth.iter().enumerate().map(|(row, &label)| (label, people(row))));
        let plan = self.0.plan(rows, None, truth)?;
        let setting = Setting {
            simd: settings.simd,
            seed: settings.seed,
            key: &|row| scores.keys().of(row),
            unique_keys: scores.keys().are_unique(),
            guard: Some(&|rows: Range<usize>| scores.check_rows(rows)),
        };
        self.1.run(self.0, rows, &plan, &setting)
    }
}

/// How many rows ahead memory is asked for.
const AHEAD: usize = 16;

/// The rows of each group, in order.
pub(super) fn members(codes: &[u32], groups: usize) -> Vec<Vec<usize>> {
    let mut sizes = vec![0; groups];
    codes.iter().for_each(|&code| sizes[code as usize] += 1);
    let mut members: Vec<Vec<usize>> = sizes.into_iter().map(Vec::with_capacity).collect();
    codes.iter().enumerate().for_each(|(row, &code)| members[code as usize].push(row));
    members
}

/// Parts of the rows, each by itself.
struct Parts<'a, T> {
    request: &'a Request<'a>,
    task: T,
    members: &'a [Vec<usize>],
    names: Option<&'a [String]>,
}

impl<T: Task> Visitor for Parts<'_, T> {
    type Output = Result<Vec<T::Output>>;

    fn visit<R: Rows>(self, rows: &R) -> Self::Output {
        let nested = self.nested(rows)?;
        let parts = (0..self.members.len()).into_par_iter();
        let outcomes: Vec<Result<_>> =
            parts.map(|part| self.solve(rows, part, nested.as_ref().map(|counts| counts[part].as_slice()))).collect();
        // The error of the first part that has one, whatever the threads.
        outcomes.into_iter().collect()
    }
}

impl<T: Task> Parts<'_, T> {
    /// A part's rows, copied together, and the people they stand for.
    fn gather<R: Rows>(&self, rows: &R, part: usize) -> (Vec<R::Elem>, Option<Vec<u64>>) {
        let members = &self.members[part];
        let mut values = Vec::with_capacity(members.len() * rows.classes());
        for (place, &row) in members.iter().enumerate() {
            // A group's rows lie anywhere: memory is asked for them well ahead.
            rows.prefetch(members.get(place + AHEAD).copied().unwrap_or(row), 1);
            rows.copy_row(row, &mut values);
        }
        (values, rows.weights().map(|weights| members.iter().map(|&row| weights[row]).collect()))
    }

    fn plan<R: Rows>(&self, rows: &R, part: usize) -> Result<Plan> {
        let members = &self.members[part];
        // A name that no row has needs no reference.
        if members.is_empty() {
            return Ok(Plan::exactly(&vec![0; rows.classes()]));
        }
        let people = |place: usize| rows.weights().map_or(1, |weights| weights[place]);
        let truth = self.request.scores.truth();
        let truth = truth.map(|truth| members.iter().enumerate().map(move |(place, &row)| (truth[row], people(place))));
        self.request.plan(rows, self.names.map(|names| names[part].as_str()), truth)
    }

    fn solve<R: Rows>(&self, rows: &R, part: usize, targets: Option<&[u64]>) -> Result<T::Output> {
        let Request { scores, settings, .. } = self.request;
        let members = &self.members[part];
        let (values, weights) = self.gather(rows, part);
        let copy = Plain::matrix(&values, rows.classes(), rows.magnitude(), weights.as_deref());
        let plan = match targets {
            Some(targets) => Plan::exactly(targets),
            None => self.plan(&copy, part)?,
        };
        let setting = Setting {
            simd: settings.simd,
            seed: settings.seed,
            key: &|row| scores.keys().of(members[row]),
            unique_keys: scores.keys().are_unique(),
            guard: Some(&|mut rows: Range<usize>| {
                rows.try_for_each(|row| scores.check_rows(members[row]..members[row] + 1))
            }),
        };
        self.task.run(self.request, &copy, &plan, &setting)
    }

    /// The counts of each group, where larger units' totals are to be right, too.
    fn nested<R: Rows>(&self, rows: &R) -> Result<Option<Vec<Vec<u64>>>> {
        let levels = &self.request.matching.nested;
        if levels.is_empty() {
            return Ok(None);
        }
        let own: Vec<Result<Quotas>> = (0..self.members.len())
            .into_par_iter()
            .map(|part| {
                let (values, weights) = self.gather(rows, part);
                let copy = Plain::matrix(&values, rows.classes(), rows.magnitude(), weights.as_deref());
                Ok(Quotas { rows: copy.people(), weights: self.plan(&copy, part)?.weights(&sums(&copy)) })
            })
            .collect();
        let own: Vec<Quotas> = own.into_iter().collect::<Result<_>>()?;
        super::nested::targets(&self.request.matching.reference, own, levels).map(Some)
    }
}

/// Puts the labels of all parts together, with their proof.
fn put_together(request: &Request<'_>, outcomes: Vec<Outcome>, members: Option<&[Vec<usize>]>) -> Result<Solved> {
    let Request { scores, settings, .. } = request;
    let k = scores.classes().len();
    let mut joint = Joint {
        certificate: Certificate { primal: 0, dual: 0 },
        targets: vec![0; k],
        group_targets: Vec::new(),
        tied_rows: 0,
        repeated_keys: 0,
        gamma_objective: None,
    };
    let (mut accuracy, mut distance, mut people) = (0.0, 0.0, 0);
    let (mut labels, mut splits, mut prices) = (Vec::new(), Vec::new(), Vec::new());
    if members.is_some() {
        labels = vec![0; scores.rows()];
    }
    for (part, outcome) in outcomes.into_iter().enumerate() {
        let Outcome { labels: own, solution, targets, certificate, distance: far } = outcome;
        joint.certificate = joint.certificate.and(certificate);
        joint.targets.iter_mut().zip(&targets).for_each(|(sum, target)| *sum += target);
        joint.tied_rows += solution.tied;
        joint.repeated_keys += solution.repeated_keys;
        accuracy += solution.certificate.objective();
        distance += far;
        people += solution.counts[..k].iter().sum::<u64>();
        let Some(members) = members else {
            labels = own;
            splits = solution.splits;
            prices.push(GroupPrices::new(None, &solution.prices));
            continue;
        };
        members[part].iter().zip(own).for_each(|(&row, label)| labels[row] = label);
        splits.extend(solution.splits.into_iter().map(|(row, people)| (members[part][row], people)));
        joint.group_targets.push(targets);
        // A group without rows teaches no prices.
        if let (false, Some(groups)) = (members[part].is_empty(), scores.groups()) {
            prices.push(GroupPrices::new(Some(groups.names[part].clone()), &solution.prices));
        }
    }
    joint.gamma_objective = request.gamma.map(|(gamma, _)| {
        // An infinite distance that has no weight is none.
        let missed = if gamma < 1.0 { (1.0 - gamma) * distance } else { 0.0 };
        (gamma * accuracy - missed) / people.max(1) as f64
    });
    let decision = Decision::new(scores.classes().clone(), settings.seed, Fitted::Prices(prices))?;
    Ok(Solved { labels, splits, decision, joint })
}
