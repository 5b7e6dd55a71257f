//! The frontier: every optimal trade of expected accuracy against fidelity, from argmax to match.

use super::joint::{self, Request};
use super::matching::Match;
use super::plan::Objective;
use super::{Balance, Rule, Settings};
use crate::error::{Error, Result};
use crate::kernel::{GRID, Grid};
use crate::reference::{PerGroup, Reference};
use crate::scores::Scores;
use crate::transport::frontier::{FrontierPath, Step};

/// Every optimum of [`Balance`] with the penalty l1 and the reference targets/N, found in one run.
///
/// It begins at argmax and ends at [`Match`]. With groups, each has its own targets, and all go by one γ.
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
    /// In the order of their costs.
    steps: Vec<Step>,
}

/// Argmax.
#[derive(Clone, Debug)]
struct Start {
    counts: Vec<u64>,
    value: i128,
    /// Σ |c − n|, over all groups.
    distance: u64,
}

/// One optimum: it holds for all γ between two.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Point {
    /// It is optimal above this γ. At the γ itself, where two points are equally good, the more faithful is taken: the next.
    pub from_gamma: f64,
    /// Up to this γ, which is included.
    pub to_gamma: f64,
    /// How many people have each class. (Exact ties can leave a choice of counts; these are one of the choices.)
    pub counts: Vec<u64>,
    /// Expected accuracy: the mean score of the labels.
    pub accuracy: f64,
    /// −Σ |share − target share|; with groups, weighed by their people.
    pub fidelity: f64,
}

/// Some points of a frontier, to be joined by straight lines.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Thinned {
    /// The points, the first and the last among them.
    pub points: Vec<Point>,
    /// Nowhere does the accuracy of the lines differ by more from the frontier at the same fidelity.
    pub error: f64,
}

impl Frontier {
    /// Finds the whole frontier for a reference, overall or by group.
    pub fn of(matching: &Match, scores: &Scores<'_>, settings: &Settings) -> Result<Frontier> {
        let plain = matching.coverage.is_none() && matching.bounds.is_empty() && matching.nested.is_empty();
        if !plain {
            return Err(Error::Incompatible {
                one: "the frontier",
                other: "coverage, bounds or nested targets",
                why: "it runs from argmax to plain match; ask for single points by balance",
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

    /// All points, from argmax to match.
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
            // People who go at the same γ go together.
            while let Some(step) = self.steps.get(index).filter(|step| Some(step.weight()) == next) {
                at.take(step);
                index += 1;
            }
            done = next.is_none();
            Some(point)
        })
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        1 + self.steps.chunk_by(|a, b| a.weight() == b.weight()).count()
    }

    /// Never: argmax is always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The point that is optimal at a γ. What is above 1, or no number, counts as 1.
    pub fn at(&self, gamma: f64) -> Point {
        // γ = 1 is argmax, even where moving people costs nothing; what is below the least γ is match.
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

    /// The rule that gives the labels at a γ.
    pub fn rule(&self, gamma: f64) -> Rule {
        if gamma < Balance::LEAST_GAMMA {
            Rule::Match(self.matching.clone())
        } else if gamma < 1.0 {
            Rule::Balance(Balance::new(gamma, self.matching.clone()))
        } else {
            Rule::Argmax
        }
    }

    /// The counts at its end, where it goes by no groups.
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

    /// The greatest sum of scores of labels whose counts are so many off the targets, in Σ |count − target|, or fewer: the
    /// sum after the cheapest moves that lead there, each of which brings two counts nearer.
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

    /// About so many points, evenly spread over the people who are moved, for drawing.
    pub fn thinned(&self, points: usize) -> Thinned {
        let most = points.max(2) as u128 - 1;
        let moved: u128 = self.steps.iter().map(|step| u128::from(step.people)).sum();
        let mut thinned = Thinned { points: Vec::new(), error: 0.0 };
        let (mut skipped, mut part): (Vec<(f64, f64)>, Option<u128>) = (Vec::new(), None);
        let last = self.len() - 1;
        for (index, point) in self.points().enumerate() {
            // Each person moved brings the fidelity up by 2/N.
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

    /// The point between two weights of the distance.
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
    /// The least weight of the distance at which it pays: a person moved brings two counts nearer. Balance knows weights on
    /// the grid only, so that this is where it, too, takes the step.
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

/// The targets that the ways lead to, as a reference.
fn targets(scores: &Scores<'_>, matching: &Match, frontier_paths: Vec<FrontierPath>) -> Reference {
    let targets = frontier_paths.into_iter().map(|path| path.targets);
    Reference::Targets(match scores.groups().filter(|_| matching.by_group) {
        Some(groups) => PerGroup::ByGroup(groups.names.iter().cloned().zip(targets).collect()),
        None => PerGroup::Overall(targets.flatten().collect()),
    })
}
