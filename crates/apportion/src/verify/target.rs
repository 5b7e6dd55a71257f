//! Allowed label counts, computed from weights and options without using the code of the rules.

use crate::error::{Error, Result};
use crate::kernel::Grid;
use crate::rule::{Bound, Bounds, Penalty};
use crate::scores::Classes;

/// The requirements on the labels of a table or group.
#[derive(Clone, Debug)]
pub struct TargetSpec<'a> {
    /// The reference as class weights in any unit: sums of scores, true class counts or shares.
    pub weights: Vec<u128>,
    /// The share of people to label; `None` to label everyone.
    pub coverage: Option<f64>,
    /// Bounds on the counts.
    pub bounds: &'a Bounds,
    /// γ and the penalty; `None` for match.
    pub balance: Option<(f64, Penalty)>,
}

/// The counts that labels may have, and their cost.
#[derive(Clone, Debug)]
pub struct AllowedCounts {
    /// The minimum number of people in each class.
    pub least: Vec<u64>,
    /// The maximum number of people in each class.
    pub most: Vec<u64>,
    /// The number of unlabeled people.
    pub uncoded: u64,
    /// The reference in whole people; tied remainders are rounded up for the first classes.
    pub targets: Vec<u64>,
    /// Whether the counts of optimal labels equal the reference in whole people.
    pub(super) exact: bool,
    cost: Cost,
}

/// The cost of counts.
#[derive(Clone, Debug)]
enum Cost {
    /// All allowed counts are equally good.
    Nothing,
    /// The distance from the targets, which takes precedence over all scores. With tied remainders, both roundings have
    /// distance 0.
    Nearest { least: Vec<u64>, most: Vec<u64> },
    /// The penalty of balance, multiplied by (1 − γ)/γ.
    Penalty { penalty: Penalty, weight: f64, people: u64, quotas: Vec<Quota> },
}

/// The cost of one person of distance from the targets: greater than any sum of scores along a path.
const FIRST: i128 = 1 << 60;

/// The maximum absolute change of a penalty per person, in grid units.
const STEEPEST: f64 = (1u64 << 54) as f64;

/// people · weight / sum of the weights, as a whole number and a remainder over the sum.
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

    /// Returns the count minus the quota.
    fn above(self, count: u64) -> f64 {
        (i128::from(count) - i128::from(self.whole)) as f64 - self.fraction()
    }
}

/// Returns people · weight / sum, and the remainder. Divides in two steps, because the product can exceed 128 bits.
pub(super) fn times_over(people: u64, weight: u128, sum: u128) -> (u64, u128) {
    let (upper, lower) = (u128::from(people >> STEP), u128::from(people & ((1 << STEP) - 1)));
    let first = weight * upper;
    let second = ((first % sum) << STEP) + weight * lower;
    let whole = ((first / sum) << STEP) + second / sum;
    (whole as u64, second % sum)
}

/// Half the number of bits of the maximum number of people.
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

/// Returns the minimum and maximum number of people in each class by largest remainders. They differ only for classes
/// with tied remainders.
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

/// Returns the largest remainders, with ties rounded up for the first classes.
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

/// Returns class weights from sums of scores in grid units.
pub fn weights_of_sums(sums: &[i128]) -> Vec<u128> {
    sums.iter().map(|&sum| u128::try_from(sum).unwrap_or(0)).collect()
}

/// Returns class weights from shares, in units of 1e-15.
pub fn weights_of_shares(shares: &[f64]) -> Vec<u128> {
    shares.iter().map(|share| (share * 1e15).round() as u128).collect()
}

/// Returns the number of people to leave unlabeled at a given coverage, rounded half up.
pub fn uncoded_people(coverage: f64, people: u64) -> u64 {
    const ONE: u128 = 1_000_000_000_000_000;
    let without = ONE.saturating_sub((coverage * ONE as f64).round() as u128);
    let product = without * u128::from(people);
    (product / ONE) as u64 + u64::from(2 * (product % ONE) >= ONE)
}

impl AllowedCounts {
    /// Returns the counts that labels of `people` people may have.
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

    /// Returns a specification that allows only these counts.
    pub fn exactly(counts: &[u64]) -> AllowedCounts {
        let counts = counts.to_vec();
        let (least, most) = (counts.clone(), counts.clone());
        AllowedCounts { least, most, uncoded: 0, targets: counts, exact: true, cost: Cost::Nothing }
    }

    /// Returns whether single moves can prove optimality over all counts. They cannot for the plain l2 norm, which is
    /// not a sum over classes.
    pub(super) fn is_separable(&self) -> bool {
        match &self.cost {
            Cost::Nothing | Cost::Nearest { .. } => true,
            Cost::Penalty { penalty, weight, .. } => match penalty {
                Penalty::L1 | Penalty::L2Squared | Penalty::Kl => true,
                Penalty::L2 => *weight <= 0.0,
            },
        }
    }

    /// Returns the cost of one more person in a class, in grid units; `None` if no more are allowed.
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

    /// Returns the maximum rounding error of a step: penalties are rounded to the grid for each person.
    pub(super) fn slack(&self) -> i128 {
        i128::from(matches!(self.cost, Cost::Penalty { .. }))
    }

    /// Returns the total penalty of counts, in grid units; 0 without a penalty.
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

/// Returns the increase in distance from the quota due to one more person, per unit of weight. For kl, omits the
/// constant common to all classes, which cancels when people move between classes.
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

/// Returns the minimum and maximum number of people in each class allowed by bounds; `None` without bounds.
fn limits(bounds: &Bounds, classes: &Classes, people: u64, quotas: &[Quota]) -> Result<Option<(Vec<u64>, Vec<u64>)>> {
    /// Tolerance for products that would be whole numbers without rounding errors.
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
        return Err(Error::Bounds { of: String::new(), problem: "contradict each other; correct them".into() });
    }
    Ok(Some((least, most)))
}
