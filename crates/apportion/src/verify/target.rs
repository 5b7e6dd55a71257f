//! What the counts of labels should be, computed from weights and options without the code of the rules.

use crate::error::{Error, Result};
use crate::kernel::Grid;
use crate::rule::{Bound, Bounds, Penalty};
use crate::scores::Classes;

/// What was asked of the labels of a table or group.
#[derive(Clone, Debug)]
pub struct TargetSpec<'a> {
    /// The reference as weights of the classes, in any unit: sums of scores, true classes, shares.
    pub weights: Vec<u128>,
    /// The share of the people who should have a label; all if not given.
    pub coverage: Option<f64>,
    /// Bounds on the counts.
    pub bounds: &'a Bounds,
    /// γ and its penalty; none for match.
    pub balance: Option<(f64, Penalty)>,
}

/// Counts that labels may have, and what each of them costs.
#[derive(Clone, Debug)]
pub struct AllowedCounts {
    /// The fewest people of each class.
    pub least: Vec<u64>,
    /// The most people of each class.
    pub most: Vec<u64>,
    /// The people without a label.
    pub uncoded: u64,
    /// The reference in whole people; if equal remainders compete, those of the first classes are rounded up.
    pub targets: Vec<u64>,
    /// Whether the counts of optimal labels are themselves the reference in whole people.
    pub(super) exact: bool,
    cost: Cost,
}

/// What counts cost.
#[derive(Clone, Debug)]
enum Cost {
    /// Nothing: any allowed counts are as good as others.
    Nothing,
    /// The distance from the targets comes before all scores. A class halfway between two targets is near to both.
    Nearest { least: Vec<u64>, most: Vec<u64> },
    /// The penalty of balance, times (1 − γ)/γ.
    Penalty { penalty: Penalty, weight: f64, people: u64, quotas: Vec<Quota> },
}

/// More than any sum of scores along a path: the distance from the targets in units that scores cannot outweigh.
const FIRST: i128 = 1 << 60;

/// The steepest step of a penalty, in units of the grid.
const STEEPEST: f64 = (1u64 << 54) as f64;

/// people · weight / sum of the weights: a whole number, and a remainder over the sum.
#[derive(Clone, Copy, Debug)]
struct Quota {
    whole: u64,
    rest: u128,
    sum: u128,
}

impl Quota {
    fn fraction(self) -> f64 {
        self.rest as f64 / self.sum as f64
    }

    fn value(self) -> f64 {
        self.whole as f64 + self.fraction()
    }

    /// How far a count is above the quota.
    fn above(self, count: u64) -> f64 {
        (i128::from(count) - i128::from(self.whole)) as f64 - self.fraction()
    }
}

/// people · weight / sum, and the remainder. The product of shares of very many people does not fit into 128 bits, so it is
/// divided in two steps.
pub(super) fn times_over(people: u64, weight: u128, sum: u128) -> (u64, u128) {
    let (upper, lower) = (u128::from(people >> STEP), u128::from(people & ((1 << STEP) - 1)));
    let first = weight * upper;
    let second = ((first % sum) << STEP) + weight * lower;
    let whole = ((first / sum) << STEP) + second / sum;
    (whole as u64, second % sum)
}

/// Half the bits of the most people that there can be.
const STEP: u32 = 20;

fn quotas(weights: &[u128], people: u64) -> Vec<Quota> {
    let sum: u128 = weights.iter().sum();
    let quota = |&weight: &u128| match sum {
        0 => Quota { whole: 0, rest: 0, sum: 1 },
        _ => {
            let (whole, rest) = times_over(people, weight, sum);
            Quota { whole, rest, sum }
        }
    };
    weights.iter().map(quota).collect()
}

/// The fewest and the most people of each class by largest remainders; they differ for classes with equal remainders that
/// compete for the last people.
pub fn largest_remainders(weights: &[u128], people: u64) -> (Vec<u64>, Vec<u64>) {
    let quotas = quotas(weights, people);
    let whole: Vec<u64> = quotas.iter().map(|quota| quota.whole).collect();
    if weights.iter().all(|&weight| weight == 0) {
        return (whole.clone(), whole);
    }
    let left = people - whole.iter().sum::<u64>();
    let (mut least, mut most) = (whole.clone(), whole);
    for (class, own) in quotas.iter().enumerate() {
        let larger = quotas.iter().filter(|other| other.rest > own.rest).count() as u64;
        let as_large = quotas.iter().filter(|other| other.rest >= own.rest).count() as u64;
        least[class] += u64::from(as_large <= left);
        most[class] += u64::from(larger < left);
    }
    (least, most)
}

/// Largest remainders, with competing ones rounded up for the first classes.
pub fn rounded_to_first(weights: &[u128], people: u64) -> Vec<u64> {
    let (mut counts, most) = largest_remainders(weights, people);
    let mut left = people.saturating_sub(counts.iter().sum());
    for (count, most) in counts.iter_mut().zip(most) {
        let more = left.min(most - *count);
        *count += more;
        left -= more;
    }
    counts
}

/// Weights of the classes from sums of scores in units of the grid.
pub fn weights_of_sums(sums: &[i128]) -> Vec<u128> {
    sums.iter().map(|&sum| u128::try_from(sum).unwrap_or(0)).collect()
}

/// Weights of the classes from shares, in units of 1e-15.
pub fn weights_of_shares(shares: &[f64]) -> Vec<u128> {
    shares.iter().map(|share| (share * 1e15).round() as u128).collect()
}

/// How many people stay without a label if this share of them has one, rounded half up.
pub fn uncoded_people(coverage: f64, people: u64) -> u64 {
    const ONE: u128 = 1_000_000_000_000_000;
    let without = ONE.saturating_sub((coverage * ONE as f64).round() as u128);
    let product = without * u128::from(people);
    (product / ONE) as u64 + u64::from(2 * (product % ONE) >= ONE)
}

impl AllowedCounts {
    /// The counts that labels of so many people may have.
    pub fn new(asked: &TargetSpec<'_>, classes: &Classes, people: u64) -> Result<AllowedCounts> {
        let uncoded = asked.coverage.map_or(0, |share| uncoded_people(share, people));
        let labeled = people - uncoded;
        let quotas = quotas(&asked.weights, labeled);
        let limits = limits(asked.bounds, classes, labeled, &quotas)?;
        let targets = rounded_to_first(&asked.weights, labeled);
        let whole = |limits: Option<(Vec<u64>, Vec<u64>)>| {
            limits.unwrap_or_else(|| (vec![0; quotas.len()], vec![labeled; quotas.len()]))
        };
        let (exact, (least, most), cost) = match asked.balance.filter(|(gamma, _)| *gamma > 0.0) {
            None => {
                let rounded = largest_remainders(&asked.weights, labeled);
                match limits.filter(|limits| !is_within(&rounded, limits)) {
                    None => (true, rounded, Cost::Nothing),
                    Some(limits) => (false, limits, Cost::Nearest { least: rounded.0, most: rounded.1 }),
                }
            }
            Some((gamma, penalty)) => {
                let (least, mut most) = whole(limits);
                let weight = (1.0 - gamma) / gamma;
                if penalty == Penalty::Kl && weight > 0.0 {
                    let absent = |class: &usize| quotas[*class].value() == 0.0;
                    (0..most.len()).filter(absent).for_each(|class| most[class] = 0);
                }
                (false, (least, most), Cost::Penalty { penalty, weight, people: labeled, quotas })
            }
        };
        Ok(AllowedCounts { least, most, uncoded, targets, exact, cost })
    }

    /// Exactly these counts.
    pub fn exactly(counts: &[u64]) -> AllowedCounts {
        let counts = counts.to_vec();
        let (least, most) = (counts.clone(), counts.clone());
        AllowedCounts { least, most, uncoded: 0, targets: counts, exact: true, cost: Cost::Nothing }
    }

    /// Whether optimality over all counts can be told from single moves. That of the plain l2 norm cannot: it is not a sum
    /// over the classes.
    pub(super) fn is_separable(&self) -> bool {
        match &self.cost {
            Cost::Nothing | Cost::Nearest { .. } => true,
            Cost::Penalty { penalty, weight, .. } => match penalty {
                Penalty::L1 | Penalty::L2Squared | Penalty::Kl => true,
                Penalty::L2 => *weight <= 0.0,
            },
        }
    }

    /// What one more person in a class costs, in units of the grid; none if no more are allowed.
    pub(super) fn step(&self, class: usize, count: u64) -> Option<i128> {
        if count < self.least[class] || count >= self.most[class] {
            return None;
        }
        Some(match &self.cost {
            Cost::Nothing => 0,
            Cost::Nearest { least, .. } if count < least[class] => -FIRST,
            Cost::Nearest { most, .. } if count >= most[class] => FIRST,
            Cost::Nearest { .. } => 0,
            Cost::Penalty { penalty, weight, people, quotas } => {
                let rate = rate(*penalty, quotas[class], count, *people);
                let rate = if *weight > 0.0 { rate } else { 0.0 };
                (weight * rate * Grid::UNIT as f64).round().clamp(-STEEPEST, STEEPEST) as i128
            }
        })
    }

    /// By how much a step may be off: penalties are rounded to the grid, person by person.
    pub(super) fn slack(&self) -> i128 {
        i128::from(matches!(self.cost, Cost::Penalty { .. }))
    }

    /// What counts cost in all, in units of the grid. Only penalties cost something.
    pub fn cost(&self, counts: &[u64]) -> i128 {
        let Cost::Penalty { penalty, weight, people, quotas } = &self.cost else { return 0 };
        let pairs = || counts.iter().zip(quotas);
        let distance: f64 = match penalty {
            Penalty::L1 => pairs().map(|(&count, quota)| quota.above(count).abs()).sum(),
            Penalty::L2 => pairs().map(|(&count, quota)| quota.above(count).powi(2)).sum::<f64>().sqrt(),
            Penalty::L2Squared => {
                pairs().map(|(&count, quota)| quota.above(count).powi(2)).sum::<f64>() / (*people).max(1) as f64
            }
            Penalty::Kl => pairs()
                .filter(|(count, _)| **count > 0)
                .map(|(&count, quota)| count as f64 * (count as f64 / quota.value()).ln())
                .sum(),
        };
        if *weight > 0.0 { (weight * distance * Grid::UNIT as f64).round() as i128 } else { 0 }
    }
}

/// How much a person more adds to the distance from the quota, per unit of weight. For kl without the constant that all
/// classes share, which moving people between classes cancels.
fn rate(penalty: Penalty, quota: Quota, count: u64, people: u64) -> f64 {
    match penalty {
        Penalty::L1 | Penalty::L2 if count < quota.whole => -1.0,
        Penalty::L1 | Penalty::L2 if count > quota.whole => 1.0,
        Penalty::L1 | Penalty::L2 => 1.0 - 2.0 * quota.fraction(),
        Penalty::L2Squared => (1.0 + 2.0 * quota.above(count)) / people as f64,
        Penalty::Kl => {
            let (from, to) = (count as f64, (count + 1) as f64);
            let before = if count > 0 { from * (1.0 / from).ln_1p() } else { 0.0 };
            (to / quota.value()).ln() + before - 1.0
        }
    }
}

fn is_within(counts: &(Vec<u64>, Vec<u64>), limits: &(Vec<u64>, Vec<u64>)) -> bool {
    let least = counts.0.iter().zip(&limits.0).all(|(count, limit)| limit <= count);
    least && counts.1.iter().zip(&limits.1).all(|(count, limit)| count <= limit)
}

/// The fewest and the most people of each class that bounds allow; none without bounds.
fn limits(bounds: &Bounds, classes: &Classes, people: u64, quotas: &[Quota]) -> Result<Option<(Vec<u64>, Vec<u64>)>> {
    /// A product that is a whole number up to rounding errors is that number.
    const NEARLY: f64 = 1e-7;
    if bounds.is_empty() {
        return Ok(None);
    }
    let ceiling = |people: f64| (people - NEARLY).ceil().max(0.0) as u64;
    let floor = |people: f64| (people + NEARLY).floor().max(0.0) as u64;
    let (mut least, mut most) = (vec![0; quotas.len()], vec![people; quotas.len()]);
    if let Some(tolerance) = bounds.tolerance {
        let slack = tolerance * people as f64;
        for (class, quota) in quotas.iter().enumerate() {
            least[class] = ceiling(quota.value() - slack).min(quota.whole);
            most[class] = floor(quota.value() + slack).max(quota.whole + u64::from(quota.rest > 0)).min(people);
        }
    }
    let people_of = |bound: &Bound, round: &dyn Fn(f64) -> u64| match bound {
        Bound::Count(count) => *count,
        Bound::Share(share) => round(share * people as f64),
    };
    for (name, bound) in &bounds.at_least {
        let class = classes.position(name)?;
        least[class] = least[class].max(people_of(bound, &ceiling));
    }
    for (name, bound) in &bounds.at_most {
        let class = classes.position(name)?;
        most[class] = most[class].min(people_of(bound, &floor));
    }
    let is_empty = least.iter().zip(&most).any(|(least, most)| least > most);
    if is_empty {
        return Err(Error::Bounds { of: String::new(), problem: "contradict each other; check them".into() });
    }
    Ok(Some((least, most)))
}
