//! Joint rules batch by batch, as in the paper, to show what batching loses.

use super::groups::{Partition, solve_groups};
use super::joint::{self, FindLabels, Request};
use super::{Balance, Match, Rule, Settings};
use crate::error::{Error, Result};
use crate::kernel::GRID;
use crate::label::Labels;
use crate::reference::{Weights, posterior_weights};
use crate::scores::Scores;
use crate::seed;

/// The division of rows into batches, shuffled by the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batches {
    /// Rows per batch; 10,000 in the paper.
    pub size: usize,
    /// Whether a batch has rows of one group only. Rules by group always have batches within groups.
    pub within_groups: bool,
}

/// Labels computed batch by batch, compared with the joint optimum.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Batched {
    /// A label for each row.
    pub labels: Labels,
    /// Number of batches.
    pub batches: usize,
    /// The objective of the labels: their mean score or, for balance, γ · mean score − (1 − γ) · distance of
    /// their overall shares from the reference.
    pub objective: f64,
    /// The objective of the labels chosen jointly over all rows.
    pub joint_objective: f64,
    /// Σ |count − count| between the two: twice the number of people in the wrong class, judged by the totals.
    pub count_difference: u64,
}

impl Batched {
    /// Returns the loss by batching. It can be negative for match: batches that miss the targets may be more
    /// accurate.
    pub fn loss(&self) -> f64 {
        self.joint_objective - self.objective
    }
}

impl Batches {
    /// Runs match batch by batch, each with its own reference.
    pub fn label_match(&self, matching: &Match, scores: &Scores<'_>, settings: &Settings) -> Result<Batched> {
        let request = matching.request(scores, settings);
        let joint = Rule::Match(matching.clone());
        self.run(&request, &joint)
    }

    /// Runs balance batch by batch.
    pub fn label_balance(&self, balance: &Balance, scores: &Scores<'_>, settings: &Settings) -> Result<Batched> {
        let joint = Rule::Balance(balance.clone());
        self.check(&balance.matching.request(scores, settings))?;
        match balance.request(scores, settings)? {
            Some(request) => self.run(&request, &joint),
            // Argmax is independent by row: batching loses nothing.
            None => {
                let request = balance.matching.request(scores, settings);
                let labels = Rule::Argmax.label(scores, settings)?.labels;
                let objective = objective(&request, &labels)?;
                let batches = self.batches(&request)?.len();
                Ok(Batched { labels, batches, objective, joint_objective: objective, count_difference: 0 })
            }
        }
    }

    fn check(&self, request: &Request<'_>) -> Result<()> {
        let Request { scores, matching, .. } = request;
        joint::check(request)?;
        joint::refuse_counts(scores, "batched")?;
        if matching.reference.is_in_people() {
            let why = "counts are for all rows, not for a batch; give shares";
            return Err(Error::Incompatible { one: "batches", other: "given targets", why });
        }
        if self.size == 0 {
            return Err(Error::Parameter { what: "the size of a batch".into(), value: 0.0, range: "at least 1" });
        }
        if !matching.nested.is_empty() {
            let why = "a batch does not contain whole groups; use match without batches";
            return Err(Error::Incompatible { one: "batches", other: "nested targets", why });
        }
        Ok(())
    }

    fn run(&self, request: &Request<'_>, rule: &Rule) -> Result<Batched> {
        let Request { scores, settings, matching, .. } = request;
        self.check(request)?;
        let whole = rule.label(scores, settings)?;
        let batches = self.batches(request)?;
        let names = scores
            .groups()
            .filter(|_| matching.by_group)
            .map(|groups| batches.iter().map(|(group, _)| groups.names[*group].clone()).collect());
        let mut codes = vec![0; scores.rows()];
        for (batch, (_, rows)) in batches.iter().enumerate() {
            rows.iter().for_each(|&row| codes[row as usize] = batch as u32);
        }
        let partition = Partition { codes: codes.into(), groups: batches.len(), names };
        let labels: Vec<_> =
            solve_groups(request, FindLabels, &partition)?.into_iter().map(|solved| solved.labels).collect();
        let labels = Labels::trusted(partition.in_order(&labels), scores.classes().len());
        let differences = labels.counts().into_iter().zip(whole.labels.counts()).map(|(a, b)| a.abs_diff(b));
        Ok(Batched {
            batches: batches.len(),
            objective: objective(request, &labels)?,
            joint_objective: objective(request, &whole.labels)?,
            count_difference: differences.sum(),
            labels,
        })
    }

    /// Returns the rows of each batch with their group, in a seeded order.
    fn batches(&self, request: &Request<'_>) -> Result<Vec<(usize, Vec<u32>)>> {
        let Request { scores, settings, matching, .. } = request;
        let pools = if self.within_groups || matching.by_group {
            let by_group = Match { by_group: true, ..(*matching).clone() };
            let request = Request { matching: &by_group, ..*request };
            joint::groups(&request)?.map(|groups| groups.all_members()).unwrap_or_default()
        } else {
            vec![(0..scores.rows() as u32).collect()]
        };
        let mut batches = Vec::new();
        for (group, mut pool) in pools.into_iter().enumerate() {
            pool.sort_by_cached_key(|&row| (seed::hash(settings.seed, scores.keys().of(row as usize), BATCHES), row));
            batches.extend(pool.chunks(self.size).map(|rows| (group, rows.to_vec())));
        }
        Ok(batches)
    }
}

/// Salt that separates the hashes of batches from all others.
const BATCHES: u64 = u64::MAX - 2;

/// Returns the objective of labels over all rows: the mean score; for balance, minus the weighted distance of the
/// shares from the reference, by group if the rule is.
fn objective(request: &Request<'_>, labels: &Labels) -> Result<f64> {
    let Request { scores, matching, .. } = request;
    let groups = scores.groups().filter(|_| matching.by_group);
    let k = scores.classes().len();
    let group_count = groups.map_or(1, |groups| groups.names.len());
    let group_of = |row: usize| groups.map_or(0, |groups| groups.codes[row] as usize);
    let (mut sums, mut counts) = (vec![vec![0i128; k]; group_count], vec![vec![0u64; k]; group_count]);
    let mut value = 0i128;
    scores.read_rows(0..scores.rows(), |index, row| {
        let (group, label) = (group_of(index), usize::from(labels.values()[index]));
        sums[group].iter_mut().zip(&*row).for_each(|(sum, &units)| *sum += i128::from(units));
        if let Some(&units) = row.get(label) {
            value += i128::from(units);
            counts[group][label] += 1;
        }
        Ok(())
    })?;
    let labeled = counts.iter().flatten().sum::<u64>().max(1) as f64;
    let accuracy = GRID.total(value) / labeled;
    let Some((gamma, penalty)) = request.gamma else { return Ok(accuracy) };
    let members = match groups {
        Some(groups) => Partition::of(groups).all_members(),
        None => vec![(0..scores.rows() as u32).collect()],
    };
    let mut distance = 0.0;
    for group in (0..group_count).filter(|&group| counts[group].iter().any(|&count| count > 0)) {
        let name = groups.map(|groups| groups.names[group].as_str());
        let truth = scores.truth().map(|truth| members[group].iter().map(|&row| (truth[row as usize], 1)));
        let weights = match matching.reference.weights(k, counts[group].iter().sum(), name, truth)? {
            Weights::Known(weights) => weights,
            Weights::Posterior => posterior_weights(&sums[group]),
        };
        distance += joint::distance(penalty, &counts[group], &weights);
    }
    Ok(gamma * accuracy - (1.0 - gamma) * distance / labeled)
}
