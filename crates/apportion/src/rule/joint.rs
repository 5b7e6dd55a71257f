//! Shared parts of all joint rules: solving all rows or each group, and assembling the results.

use rayon::prelude::*;
use std::ops::Range;

use super::balance::Penalty;
use super::balance_l2;
use super::groups::{Partition, solve_groups};
use super::matching::Match;
use super::plan::{Objective, Plan, quotas};
use super::{Joint, Labeled, Settings};
use crate::decision::{Decision, Fitted, GroupPrices};
use crate::error::{Error, Result};
use crate::kernel::{GRID, Real, STRETCH, Source, WithZero};
use crate::label::Labels;
use crate::reference::{Weights, posterior_weights};
use crate::scores::{Label, Scores, UNCODED, Visitor};
use crate::transport::frontier::{FrontierPath, trace};
use crate::transport::{Certificate, Prices, Setting, Solution, Split, solve};

/// A request to a joint rule.
pub(super) struct Request<'a> {
    pub(super) matching: &'a Match,
    pub(super) objective: Objective,
    /// γ and its penalty, for balance.
    pub(super) gamma: Option<(f64, Penalty)>,
    pub(super) scores: &'a Scores<'a>,
    pub(super) settings: &'a Settings,
}

/// The solution of one table or group.
pub(super) struct GroupSolution {
    pub(super) labels: Vec<Label>,
    pub(super) solution: Solution,
    /// The reference in whole numbers.
    pub(super) targets: Vec<u64>,
    /// The value and its bound, including the cost of missing the reference.
    pub(super) certificate: Certificate,
    /// The number of labeled people times the distance of their shares from the reference.
    pub(super) distance: f64,
}

/// The labels of all rows.
pub(super) struct JointSolution {
    pub(super) labels: Vec<Label>,
    /// Rows whose people have several labels.
    pub(super) splits: Vec<Split>,
    pub(super) decision: Decision,
    pub(super) joint: Joint,
}

impl JointSolution {
    /// Converts to labels, for rows of one person each.
    pub(super) fn into_labeled(self, scores: &Scores<'_>) -> Labeled {
        let labels = Labels::trusted(self.labels, scores.classes().len());
        Labeled { labels, decision: self.decision, joint: Some(self.joint) }
    }
}

/// Labels all rows together, or each group separately.
pub(super) fn solve_request(request: &Request<'_>) -> Result<JointSolution> {
    check(request)?;
    match groups(request)? {
        None => assemble(request, vec![request.scores.visit(AllRows(request, FindLabels))?], None),
        Some(groups) => assemble(request, solve_groups(request, FindLabels, &groups)?, Some(&groups)),
    }
}

/// Returns the reference in whole numbers, over all rows.
pub(super) fn targets(request: &Request<'_>) -> Result<Vec<u64>> {
    check(request)?;
    request.scores.visit(AllRows(request, Targets))
}

/// Fails if rows represent several people, since labels cannot express split rows.
pub(super) fn refuse_counts(scores: &Scores<'_>, rule: &'static str) -> Result<()> {
    if scores.counts().is_some() { Err(Error::CountsUnsupported { rule }) } else { Ok(()) }
}

/// Returns the frontier paths of all rows together or of each group.
pub(super) fn frontier_paths(request: &Request<'_>) -> Result<Vec<FrontierPath>> {
    check(request)?;
    match groups(request)? {
        None => Ok(vec![request.scores.visit(AllRows(request, TraceFrontier))?]),
        Some(groups) => solve_groups(request, TraceFrontier, &groups),
    }
}

/// Returns the groups, if the rule is by group.
pub(super) fn groups<'a>(request: &Request<'a>) -> Result<Option<Partition<'a>>> {
    if !request.matching.by_group {
        return Ok(None);
    }
    let groups = request.scores.groups().ok_or(Error::Missing {
        what: "a group",
        by: "matching by group",
        setting: crate::text::Setting::By,
        instead: "rule",
    })?;
    Ok(Some(Partition::of(groups)))
}

/// A computation on a table or group with a plan.
pub(super) trait Task: Copy + Send + Sync {
    type Output: Send;
    /// Runs the computation. `table_row` maps a row of the group to its row in the table.
    fn run<T: Real>(
        self,
        request: &Request<'_>,
        rows: &dyn Source<T>,
        table_row: &dyn Fn(usize) -> usize,
        plan: &Plan,
        setting: &Setting<'_>,
    ) -> Result<Self::Output>;
    /// Returns the prices found, as an initial guess for similar problems.
    fn prices(output: &Self::Output) -> Option<&Prices>;
}

/// Finds optimal labels.
#[derive(Clone, Copy)]
pub(super) struct FindLabels;

/// Traces the frontier from argmax to the targets.
#[derive(Clone, Copy)]
struct TraceFrontier;

impl Task for TraceFrontier {
    type Output = FrontierPath;
    fn run<T: Real>(
        self,
        _: &Request<'_>,
        rows: &dyn Source<T>,
        _: &dyn Fn(usize) -> usize,
        plan: &Plan,
        setting: &Setting<'_>,
    ) -> Result<FrontierPath> {
        plan.with_goal(|goal| trace(rows, goal, setting))
    }

    fn prices(_: &FrontierPath) -> Option<&Prices> {
        None
    }
}

/// Rounds the reference to whole numbers.
#[derive(Clone, Copy)]
struct Targets;

impl Task for Targets {
    type Output = Vec<u64>;
    fn run<T: Real>(
        self,
        _: &Request<'_>,
        rows: &dyn Source<T>,
        _: &dyn Fn(usize) -> usize,
        plan: &Plan,
        _: &Setting<'_>,
    ) -> Result<Vec<u64>> {
        plan.rounded(|| sums(rows))
    }

    fn prices(_: &Vec<u64>) -> Option<&Prices> {
        None
    }
}

pub(super) fn check(request: &Request<'_>) -> Result<()> {
    let Match { coverage, bounds, nested, by_group, .. } = request.matching;
    if let Some(share) = coverage.filter(|share| !(0.0..=1.0).contains(share)) {
        return Err(Error::Parameter { what: "coverage".into(), value: share, range: "a share from 0 to 1" });
    }
    // Values are checked here if they are summed in advance, otherwise by the pass that reads them.
    if !bounds.is_empty() || !nested.is_empty() {
        request.scores.check()?;
    }
    let refuse = |one, other, why| Err(Error::Incompatible { one, other, why });
    if !nested.is_empty() && coverage.is_some() {
        let why = "the unlabeled rows would have to be divided among the groups; use one of them";
        return refuse("nested", "coverage", why);
    }
    if !nested.is_empty() && !bounds.is_empty() {
        return refuse("nested", "bounds", "the totals of the larger groups are already fixed; use one of them");
    }
    if !nested.is_empty() && !by_group {
        return refuse("nested", "matching overall", "nested targets need groups; match by group");
    }
    let is_norm = request.gamma.is_some_and(|(gamma, penalty)| gamma > 0.0 && !penalty.is_separable());
    if is_norm && (coverage.is_some() || !bounds.is_empty()) {
        return refuse("the penalty l2", "coverage or bounds", "l2 supports neither; use l2-squared");
    }
    Ok(())
}

impl Request<'_> {
    /// Returns the weight of a penalty that is not separable; `None` for a separable penalty or weight zero.
    fn norm_weight(&self) -> Option<f64> {
        match (self.objective, self.gamma) {
            (Objective::Balance { weight, .. }, Some((_, penalty))) if weight > 0.0 && !penalty.is_separable() => {
                Some(weight)
            }
            (Objective::Match | Objective::Balance { .. }, _) => None,
        }
    }

    /// Returns the plan for all rows or for a group.
    pub(super) fn plan<T: Real>(
        &self,
        rows: &dyn Source<T>,
        group: Option<&str>,
        truth: Option<impl Iterator<Item = (Label, u64)>>,
    ) -> Result<Plan> {
        let Match { reference, coverage, bounds, .. } = self.matching;
        let people = rows.people();
        let uncoded = coverage.map(|share| uncoded(share, people));
        let labeled = people - uncoded.unwrap_or(0);
        let mut weights = reference.weights(rows.classes(), labeled, group, truth)?;
        if weights == Weights::Posterior && !bounds.is_empty() {
            weights = Weights::Known(posterior_weights(&sums(rows)?));
        }
        Plan::new(weights, self.objective, labeled, uncoded).bounded(bounds, self.scores.classes(), group)
    }
}

impl Task for FindLabels {
    type Output = GroupSolution;
    fn run<T: Real>(
        self,
        request: &Request<'_>,
        rows: &dyn Source<T>,
        table_row: &dyn Fn(usize) -> usize,
        plan: &Plan,
        setting: &Setting<'_>,
    ) -> Result<GroupSolution> {
        let mut labels = vec![0; rows.rows()];
        let k = rows.classes();
        if let Some(weight) = request.norm_weight() {
            let mut solved = balance_l2::solve_l2(rows, plan, weight, setting)?;
            solved.solution.splits.iter_mut().for_each(|(row, _)| *row = table_row(*row));
            return Ok(solved);
        }
        let mut solution = if plan.has_uncoded() {
            plan.with_goal(|goal| solve(&WithZero(rows), goal, setting, &mut labels))?
        } else {
            plan.with_goal(|goal| solve(rows, goal, setting, &mut labels))?
        };
        labels.iter_mut().filter(|label| usize::from(**label) == k).for_each(|label| *label = UNCODED);
        solution.splits.iter_mut().for_each(|(row, _)| *row = table_row(*row));
        let weights = plan.weights(&solution.sums);
        let counts = &solution.counts[..k];
        let cost = plan.penalty(&weights).map_or(0, |penalty| penalty.total(counts));
        let Certificate { primal, dual } = solution.certificate;
        Ok(GroupSolution {
            labels,
            targets: plan.targets(&weights, counts),
            certificate: Certificate { primal: primal - cost, dual: dual - cost },
            distance: request.gamma.map_or(0.0, |(_, penalty)| distance(penalty, counts, &weights)),
            solution,
        })
    }

    fn prices(output: &GroupSolution) -> Option<&Prices> {
        output.solution.prices.first()
    }
}

/// Returns the number of unlabeled people: the remaining share, rounded half up, in decimals as users write them.
fn uncoded(share: f64, people: u64) -> u64 {
    const WHOLE: u128 = 1_000_000_000_000_000;
    let rest = WHOLE - ((share * WHOLE as f64).round() as u128).min(WHOLE);
    ((2 * rest * u128::from(people) + WHOLE) / (2 * WHOLE)) as u64
}

/// Returns the number of people times the distance of their shares from the reference.
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

/// Sums the scores by class, in grid units.
fn sums<T: Real>(source: &dyn Source<T>) -> Result<Vec<i128>> {
    sums_by(source, &|_| 0, 1).map(|mut sums| sums.remove(0))
}

/// Sums the scores of each group by class, in grid units.
pub(super) fn sums_by<T: Real>(
    source: &dyn Source<T>,
    part_of: &(dyn Fn(usize) -> usize + Sync),
    parts: usize,
) -> Result<Vec<Vec<i128>>> {
    let none = || (vec![vec![0i128; source.classes()]; parts], Vec::new());
    let stretches = (0..source.rows().div_ceil(STRETCH)).into_par_iter();
    let add = |sum: &mut i128, part: i128| *sum += part;
    let summed = stretches
        .map(|stretch| stretch * STRETCH..source.rows().min((stretch + 1) * STRETCH))
        .try_fold(none, |(mut sums, mut buffer), range| {
            let rows = source.window(range.clone(), &mut buffer)?;
            for row in range {
                let people = i128::from(source.people_of(row));
                for (class, sum) in sums[part_of(row)].iter_mut().enumerate() {
                    add(sum, people * i128::from(GRID.round(rows.score(row, class).double())));
                }
            }
            Ok((sums, buffer))
        })
        .try_reduce(none, |(mut all, buffer), (part, _)| {
            all.iter_mut().flatten().zip(part.into_iter().flatten()).for_each(|(sum, part)| add(sum, part));
            Ok((all, buffer))
        });
    summed.map(|(sums, _)| sums)
}

/// All rows together.
struct AllRows<'a, T>(&'a Request<'a>, T);

impl<T: Task> Visitor for AllRows<'_, T> {
    type Output = Result<T::Output>;

    fn visit<U: Real>(self, rows: &dyn Source<U>) -> Self::Output {
        let Request { scores, settings, .. } = self.0;
        let truth =
            scores.truth().map(|truth| truth.iter().enumerate().map(|(row, &label)| (label, rows.people_of(row))));
        let plan = self.0.plan(rows, None, truth)?;
        let setting = Setting {
            simd: settings.simd,
            seed: settings.seed,
            key: &|row| scores.keys().of(row),
            unique_keys: scores.keys().are_unique(),
            guard: Some(&|rows: Range<usize>| scores.check_rows(rows)),
            guess: None,
        };
        self.1.run(self.0, rows, &|row| row, &plan, &setting)
    }
}

/// Assembles the labels of all groups and their certificate.
fn assemble(
    request: &Request<'_>,
    solutions: Vec<GroupSolution>,
    groups: Option<&Partition<'_>>,
) -> Result<JointSolution> {
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
    for (part, solved) in solutions.into_iter().enumerate() {
        let GroupSolution { labels: own, solution, targets, certificate, distance: far } = solved;
        joint.certificate = joint.certificate.and(certificate);
        joint.targets.iter_mut().zip(&targets).for_each(|(sum, target)| *sum += target);
        joint.tied_rows += solution.tied;
        joint.repeated_keys += solution.repeated_keys;
        accuracy += solution.certificate.objective();
        distance += far;
        people += solution.counts[..k].iter().sum::<u64>();
        splits.extend(solution.splits);
        match groups {
            None => prices.push(GroupPrices::new(None, &solution.prices)),
            Some(groups) => {
                joint.group_targets.push(targets);
                // A group without rows has no prices.
                if !own.is_empty() {
                    prices.push(GroupPrices::new(groups.name(part).map(String::from), &solution.prices));
                }
            }
        }
        labels.push(own);
    }
    let labels = match groups {
        None => labels.remove(0),
        Some(groups) => groups.in_order(&labels),
    };
    joint.gamma_objective = request.gamma.map(|(gamma, _)| {
        // An infinite distance with weight zero does not count.
        let missed = if gamma < 1.0 { (1.0 - gamma) * distance } else { 0.0 };
        (gamma * accuracy - missed) / people.max(1) as f64
    });
    let decision = Decision::new(scores.classes().clone(), settings.seed, Fitted::Prices(prices))?;
    Ok(JointSolution { labels, splits, decision, joint })
}
