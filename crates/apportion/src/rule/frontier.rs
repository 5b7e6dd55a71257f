//! The frontier: every optimal trade-off of expected accuracy and fidelity, from argmax to match.

use super::joint::{self, Request};
use super::matching::Match;
use super::plan::Objective;
use super::{Balance, Rule, Settings};
use crate::error::{Error, Result};
use crate::kernel::{GRID, Grid};
use crate::reference::{PerGroup, Reference};
use crate::scores::Scores;
use crate::transport::frontier::{FrontierPath, Step};

/// Every optimum of [`Balance`] with the penalty l1 and the reference targets/N, computed in one run.
///
/// It starts at argmax and ends at [`Match`]. With groups, each group has its own targets, and all share one γ.
///
/// ```
/// # use apportion::*;
/// # let classes = Classes::new(["white", "black"])?;
/// # let scores = Scores::new(&classes, Matrix::RowsF64(&[0.9, 0.1, 0.7, 0.3, 0.6, 0.4, 0.6, 0.4, 0.7, 0.3]))?;
/// # let settings = Settings::default();
/// let frontier = Frontier::of(&Match::overall(Reference::Posterior), &scores, &settings)?;
/// for point in frontier.points() {
///     println!("γ from {:.3}: accuracy {:.3}, fidelity {:.3}", point.from_gamma, point.accuracy, point.fidelity);
/// }
/// let labels = frontier.rule(0.9).label(&scores, &settings)?.labels;
/// assert_eq!(labels.counts(), frontier.at(0.9).counts);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Frontier {
    matching: Match,
    people: u64,
    start: Start,
    /// Ordered by cost.
    steps: Vec<Step>,
}

/// The labels of argmax.
#[derive(Clone, Debug)]
struct Start {
    counts: Vec<u64>,
    value: i128,
    /// Σ |c − n|, over all groups.
    distance: u64,
}

/// An optimum for a range of γ.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "FrontierPoint"))]
pub struct Point {
    /// Lower end of the range, excluded: at this γ two points are equally good, and the more faithful one, the
    /// next, is taken.
    pub from_gamma: f64,
    /// Upper end of the range, included.
    pub to_gamma: f64,
    /// The number of people of each class. (With exact ties, several counts are optimal; these are one choice.)
    pub counts: Vec<u64>,
    /// Expected accuracy: the mean score of the labels.
    pub accuracy: f64,
    /// −Σ |share − target share|; with groups, weighted by their people.
    pub fidelity: f64,
}

/// A subset of the points of a frontier, for drawing with straight lines.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Thinned {
    /// The points, including the first and the last.
    pub points: Vec<Point>,
    /// The largest error in accuracy of the straight lines, at equal fidelity.
    pub error: f64,
}

impl Frontier {
    /// Computes the frontier for a reference, overall or by group.
    pub fn of(matching: &Match, scores: &Scores<'_>, settings: &Settings) -> Result<Frontier> {
        let plain = matching.coverage.is_none() && matching.bounds.is_empty() && matching.nested.is_empty();
        if !plain {
            return Err(Error::Incompatible {
                one: "the frontier",
                other: "coverage, bounds or nested targets",
                why: "it goes from argmax to plain match; compute single points with balance",
            });
        }
        let request = Request { matching, objective: Objective::Match, gamma: None, scores, settings };
        let frontier_paths = joint::frontier_paths(&request)?;
        let mut start = Start { counts: vec![0; scores.classes().len()], value: 0, distance: 0 };
        let mut steps = Vec::new();
        for path in &frontier_paths {
            start.counts.iter_mut().zip(&path.counts).for_each(|(sum, count)| *sum += count);
            start.value += path.value;
            start.distance += path.counts.iter().zip(&path.targets).map(|(count, n)| count.abs_diff(*n)).sum::<u64>();
            steps.extend_from_slice(&path.steps);
        }
        steps.sort_by_key(|step| step.cost);
        Ok(Frontier {
            matching: Match { reference: targets(scores, matching, frontier_paths), ..matching.clone() },
            people: scores.people(),
            start,
            steps,
        })
    }

    /// Returns all points, from argmax to match.
    pub fn points(&self) -> impl Iterator<Item = Point> + '_ {
        let mut at = self.start.clone();
        let mut index: usize = 0;
        let mut done = false;
        std::iter::from_fn(move || {
            if done {
                return None;
            }
            let reached = index.checked_sub(1).map(|last| self.steps[last].weight());
            let next = self.steps.get(index).map(Step::weight);
            let point = self.point(&at, reached, next);
            // People who move at the same γ move together.
            while let Some(step) = self.steps.get(index).filter(|step| Some(step.weight()) == next) {
                at.take(step);
                index += 1;
            }
            done = next.is_none();
            Some(point)
        })
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        1 + self.steps.chunk_by(|a, b| a.weight() == b.weight()).count()
    }

    /// Always false: argmax is always a point.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the optimal point at γ. Values above 1 and NaN count as 1.
    pub fn at(&self, gamma: f64) -> Point {
        // γ = 1 is argmax, even if moving people costs nothing; below the smallest γ it is match.
        let index = if gamma < Balance::LEAST_GAMMA {
            self.steps.len()
        } else if gamma < 1.0 {
            let weight = ((1.0 - gamma) / gamma * Grid::UNIT as f64).round() as i64;
            self.steps.partition_point(|step| step.weight() <= weight)
        } else {
            0
        };
        let mut at = self.start.clone();
        self.steps[..index].iter().for_each(|step| at.take(step));
        let reached = index.checked_sub(1).map(|last| self.steps[last].weight());
        self.point(&at, reached, self.steps.get(index).map(Step::weight))
    }

    /// Returns the rule for the labels at γ.
    pub fn rule(&self, gamma: f64) -> Rule {
        if gamma < Balance::LEAST_GAMMA {
            Rule::Match(self.matching.clone())
        } else if gamma < 1.0 {
            Rule::Balance(Balance::new(gamma, self.matching.clone()))
        } else {
            Rule::Argmax
        }
    }

    /// Returns the targets, unless the frontier is by group.
    pub(crate) fn overall_targets(&self) -> Option<&[u64]> {
        match &self.matching.reference {
            Reference::Targets(PerGroup::Overall(targets)) => Some(targets),
            Reference::Targets(PerGroup::ByGroup(_))
            | Reference::Posterior
            | Reference::Truth
            | Reference::Uniform
            | Reference::Shares(_) => None,
        }
    }

    /// Returns the largest sum of scores of labels with Σ |count − target| ≤ `off`: the sum after the cheapest
    /// moves, each bringing two counts closer by one.
    pub(crate) fn best_within(&self, off: u64) -> i128 {
        let mut moves = self.start.distance.saturating_sub(off) / 2;
        let mut value = self.start.value;
        for step in &self.steps {
            let people = moves.min(step.people);
            value -= i128::from(step.cost) * i128::from(people);
            moves -= people;
            if moves == 0 {
                break;
            }
        }
        value
    }

    /// Returns about `points` points, evenly spaced by the number of people moved.
    pub fn thinned(&self, points: usize) -> Thinned {
        let most = points.max(2) as u128 - 1;
        let moved: u128 = self.steps.iter().map(|step| u128::from(step.people)).sum();
        let mut thinned = Thinned { points: Vec::new(), error: 0.0 };
        let (mut skipped, mut part): (Vec<(f64, f64)>, Option<u128>) = (Vec::new(), None);
        let last = self.len() - 1;
        for (index, point) in self.points().enumerate() {
            // Each person moved raises the fidelity by 2/N.
            let so_far = (point.fidelity * self.people as f64 + self.start.distance as f64).round() as u128 / 2;
            let own_part = so_far * most / moved.max(1);
            if Some(own_part) == part && index != last {
                skipped.push((point.fidelity, point.accuracy));
                continue;
            }
            if let Some(before) = thinned.points.last() {
                let slope = (point.accuracy - before.accuracy) / (point.fidelity - before.fidelity);
                let line = |fidelity: f64| before.accuracy + slope * (fidelity - before.fidelity);
                let off = skipped.iter().map(|&(fidelity, accuracy)| (accuracy - line(fidelity)).abs());
                thinned.error = off.fold(thinned.error, f64::max);
            }
            skipped.clear();
            part = Some(own_part);
            thinned.points.push(point);
        }
        thinned
    }

    /// Returns the point between two weights of the distance.
    fn point(&self, at: &Start, reached: Option<i64>, next: Option<i64>) -> Point {
        let people = self.people.max(1) as f64;
        let gamma = |weight: i64| 1.0 / (1.0 + GRID.value(weight));
        Point {
            from_gamma: next.map_or(0.0, gamma),
            to_gamma: reached.map_or(1.0, gamma),
            counts: at.counts.clone(),
            accuracy: GRID.total(at.value) / people,
            fidelity: 0.0 - at.distance as f64 / people, // and not −0
        }
    }
}

impl Step {
    /// Returns the smallest weight of the distance at which the step pays: a person moved brings two counts
    /// closer. Balance rounds weights to the grid, so it takes the step at the same weight.
    fn weight(&self) -> i64 {
        (self.cost + 1) / 2
    }
}

impl Start {
    fn take(&mut self, step: &Step) {
        self.counts[usize::from(step.from)] -= step.people;
        self.counts[usize::from(step.to)] += step.people;
        self.value -= i128::from(step.cost) * i128::from(step.people);
        self.distance -= 2 * step.people;
    }
}

/// Returns the targets of the paths as a reference.
fn targets(scores: &Scores<'_>, matching: &Match, frontier_paths: Vec<FrontierPath>) -> Reference {
    let targets = frontier_paths.into_iter().map(|path| path.targets);
    Reference::Targets(match scores.groups().filter(|_| matching.by_group) {
        Some(groups) => PerGroup::ByGroup(groups.names.iter().cloned().zip(targets).collect()),
        None => PerGroup::Overall(targets.flatten().collect()),
    })
}
