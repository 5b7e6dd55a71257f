//! The target counts of a sample as a function of the prices, for Newton's method.
//!
//! Without a penalty there is one target per class. With a penalty, the target count falls as the price rises, since
//! −λ is the cost of one more person (see `penalty`): smoothly for l2-squared and kl, in steps at the prices ±w for
//! l1. All numbers are in rows of the sample and need not be exact.

use super::demand::Demand;
use super::penalty::SeparablePenalty;
use crate::kernel::{GRID, Real, TILE, Tile};

/// Target counts as a function of prices, estimated from a sample.
#[derive(Clone, Debug)]
pub(super) struct TargetCurve {
    quotas: Quotas,
    response: PriceResponse,
    /// People of each class that are settled elsewhere.
    settled: Vec<f64>,
    /// Minimum and maximum people of each class.
    least: Vec<f64>,
    most: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Quotas {
    /// The sums of the rows' own scores, except that this share of the people is for the last class.
    OwnScores { last: f64 },
    /// Given numbers of people.
    People(Vec<f64>),
}

/// The dependence of the target count on the price.
#[derive(Clone, Copy, Debug)]
enum PriceResponse {
    /// No dependence.
    None,
    /// The maximum below the first price, the quota between the two, the minimum above the second.
    Steps(f64, f64),
    /// Linearly: l2-squared with this weight, for this number of people.
    Linear { weight: f64, people: f64 },
    /// Exponentially: kl with this weight.
    Exponential { weight: f64 },
}

impl PriceResponse {
    fn of(penalty: SeparablePenalty, weight: f64, people: f64) -> PriceResponse {
        match penalty {
            SeparablePenalty::L1 => PriceResponse::Steps(-weight, weight),
            SeparablePenalty::L2Squared => PriceResponse::Linear { weight, people },
            SeparablePenalty::Kl => PriceResponse::Exponential { weight },
        }
    }
}

/// A goal whose form is known before the scores have been summed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    /// The share of the people for the last class, which has no scores of its own.
    pub(crate) last: f64,
    /// The penalty and its weight.
    pub(crate) penalty: Option<(SeparablePenalty, f64)>,
}

/// The target counts at given prices.
#[derive(Clone, Debug)]
pub(super) struct TargetCounts {
    pub(super) counts: Vec<f64>,
    /// The negative derivative of the target count with respect to the price.
    pub(super) stiffness: Vec<f64>,
    /// For each class whose price is fixed at a step: by how much its count may fall and rise. At a step, a range of
    /// counts is optimal.
    pub(super) held: Vec<Option<(f64, f64)>>,
}

impl TargetCounts {
    /// Returns whether only differences of prices matter.
    pub(super) fn is_relative(&self) -> bool {
        self.held.iter().all(Option::is_none) && self.stiffness.iter().all(|&stiffness| stiffness == 0.0)
    }
}

/// Prices this close to a step are considered to be at it.
const AT: f64 = 1e-9;

impl TargetCurve {
    /// Returns the curve for the posterior, before its sums are known.
    pub(super) fn outlined(outline: Outline, classes: usize, people: f64) -> TargetCurve {
        let response = match outline.penalty {
            None => PriceResponse::None,
            Some((penalty, weight)) => PriceResponse::of(penalty, weight, people * (1.0 - outline.last)),
        };
        let mut target_curve = TargetCurve {
            quotas: Quotas::OwnScores { last: outline.last },
            response,
            settled: vec![0.0; classes],
            least: vec![0.0; classes],
            most: vec![people; classes],
        };
        if outline.last > 0.0 {
            target_curve.least[classes - 1] = people * outline.last;
            target_curve.most[classes - 1] = people * outline.last;
        }
        target_curve
    }

    /// Returns the curve for a demand, with `people` people in addition to those that are settled.
    pub(super) fn of(demand: &Demand, people: f64) -> TargetCurve {
        let float = |counts: &[u64]| -> Vec<f64> { counts.iter().map(|&count| count as f64).collect() };
        let (least, most, settled) = (float(&demand.least), float(&demand.most), float(&demand.settled));
        let people = people + settled.iter().sum::<f64>();
        let middle = |class: usize| (least[class] + most[class].min(people)) / 2.0;
        let clipped = |class: usize, quota: f64| quota.clamp(least[class], most[class]);
        let (quotas, response): (Vec<f64>, PriceResponse) = match &demand.penalty {
            // Contested roundings are too small to matter here.
            None if (0..least.len()).all(|class| most[class] - least[class] <= 1.0) => {
                ((0..least.len()).map(middle).collect(), PriceResponse::None)
            }
            None => ((0..least.len()).map(middle).collect(), PriceResponse::Steps(0.0, 0.0)),
            Some(penalty) => {
                let quotas = (0..least.len()).map(|class| clipped(class, penalty.quotas[class].value()));
                (quotas.collect(), PriceResponse::of(penalty.curve, penalty.weight, penalty.people as f64))
            }
        };
        // With a penalty above any score, counts leave the quotas only if limits force them to, and then all
        // in one direction.
        let total: f64 = quotas.iter().sum();
        let response = match response {
            PriceResponse::Steps(_, weight) if weight >= NEAR && total < people - 0.5 => {
                PriceResponse::Steps(0.0, f64::INFINITY)
            }
            PriceResponse::Steps(_, weight) if weight >= NEAR && total > people + 0.5 => {
                PriceResponse::Steps(f64::NEG_INFINITY, 0.0)
            }
            PriceResponse::Steps(_, weight) if weight >= NEAR => PriceResponse::None,
            PriceResponse::None
            | PriceResponse::Steps(..)
            | PriceResponse::Linear { .. }
            | PriceResponse::Exponential { .. } => response,
        };
        TargetCurve { quotas: Quotas::People(quotas), response, settled, least, most }
    }

    /// Returns the quotas in rows of a sample.
    pub(super) fn quotas<T: Real>(&self, tiles: &[Tile<T>], population: usize) -> SampleQuotas {
        let rows: usize = tiles.iter().map(Tile::len).sum();
        let scale = population as f64 / rows.max(1) as f64;
        let people = match &self.quotas {
            Quotas::People(people) => people.clone(),
            Quotas::OwnScores { last } => {
                let mut sums = vec![0.0; self.settled.len()];
                for tile in tiles {
                    for (column, sum) in tile.columns().chunks_exact(TILE).zip(&mut sums) {
                        *sum += GRID.value(T::units(column));
                    }
                }
                let total: f64 = sums.iter().sum();
                let each = population as f64 * (1.0 - last) / total.max(f64::MIN_POSITIVE);
                sums.iter_mut().for_each(|sum| *sum *= each);
                if *last > 0.0
                    && let Some(sum) = sums.last_mut()
                {
                    *sum = last * population as f64;
                }
                sums
            }
        };
        SampleQuotas { people, scale, population: population as f64 }
    }

    /// Returns the target counts at given prices, for a sample with these counts.
    pub(super) fn wanted(&self, quotas: &SampleQuotas, prices: &[f64], counts: &[f64]) -> TargetCounts {
        let k = prices.len();
        let mut wanted = TargetCounts { counts: vec![0.0; k], stiffness: vec![0.0; k], held: vec![None; k] };
        for class in (0..k).filter(|&class| prices[class].is_finite()) {
            let rows = |people: f64| (people - self.settled[class]) / quotas.scale;
            let quota = quotas.people[class].clamp(self.least[class], self.most[class]);
            let (least, most, price) = (self.least[class], self.most[class], prices[class]);
            wanted.counts[class] = rows(match self.response {
                PriceResponse::None => quota,
                PriceResponse::Steps(low, high) => {
                    let between = |from: f64, to: f64| {
                        let (fall, rise) = (counts[class] - rows(from), rows(to) - counts[class]);
                        (fall >= 0.0 && rise >= 0.0).then_some((fall, rise))
                    };
                    if (price - low).abs() < AT && (price - high).abs() < AT {
                        wanted.held[class] = between(least, most);
                    } else if (price - low).abs() < AT {
                        wanted.held[class] = between(quota, most);
                    } else if (price - high).abs() < AT {
                        wanted.held[class] = between(least, quota);
                    }
                    let here = counts[class] * quotas.scale + self.settled[class];
                    if wanted.held[class].is_some() {
                        here
                    } else if price < low - AT || (price < low + AT && here > most) {
                        most
                    } else if price > high + AT || (price > high - AT && here < least) {
                        least
                    } else {
                        quota
                    }
                }
                PriceResponse::Linear { weight, people } => {
                    let count = quota - price * people / (2.0 * weight);
                    if (least..=most).contains(&count) {
                        wanted.stiffness[class] = people / (2.0 * weight) / quotas.scale;
                    }
                    count.clamp(least, most)
                }
                PriceResponse::Exponential { weight } => {
                    let count = quota * (-price / weight).clamp(-50.0, 50.0).exp();
                    if (least..=most).contains(&count) {
                        wanted.stiffness[class] = count / weight / quotas.scale;
                    }
                    count.clamp(least, most)
                }
            });
        }
        wanted
    }

    /// Returns the shift of all prices at which the target counts sum to all people. (The sample's counts do not
    /// depend on a common shift, so Newton's method would find it only slowly.)
    pub(super) fn level(&self, quotas: &SampleQuotas, prices: &[f64]) -> f64 {
        let people = quotas.population + self.settled.iter().sum::<f64>();
        let wanted = |shift: f64| -> f64 {
            let finite = (0..prices.len()).filter(|&class| prices[class].is_finite());
            finite.map(|class| self.people_at(class, quotas.people[class], prices[class] + shift)).sum()
        };
        let (mut low, mut high) = (-FARTHEST, FARTHEST);
        if (wanted(0.0) - people).abs() < 0.5 || wanted(low) < people || wanted(high) > people {
            return 0.0;
        }
        // Target counts fall as prices rise.
        while high - low > AT / 4.0 {
            let middle = (low + high) / 2.0;
            if wanted(middle) > people { low = middle } else { high = middle }
        }
        high
    }

    /// Returns the target of a class at a price; between two steps, its quota.
    fn people_at(&self, class: usize, quota: f64, price: f64) -> f64 {
        let (least, most) = (self.least[class], self.most[class]);
        let quota = quota.clamp(least, most);
        match self.response {
            PriceResponse::None => quota,
            PriceResponse::Steps(low, _) if price < low => most,
            PriceResponse::Steps(_, high) if price > high => least,
            PriceResponse::Steps(..) => quota,
            PriceResponse::Exponential { weight } => {
                (quota * (-price / weight).clamp(-50.0, 50.0).exp()).clamp(least, most)
            }
            PriceResponse::Linear { weight, people } => (quota - price * people / (2.0 * weight)).clamp(least, most),
        }
    }

    /// Returns the contribution of the target counts to the dual: the maximum of −λ·count minus the cost of the
    /// count.
    pub(super) fn conjugate(&self, quotas: &SampleQuotas, prices: &[f64]) -> f64 {
        let value = |class: usize| {
            let (price, quota) = (prices[class], quotas.people[class].clamp(self.least[class], self.most[class]));
            let (least, most) = (self.least[class], self.most[class]);
            let cost = match self.response {
                PriceResponse::None => -price * quota,
                PriceResponse::Steps(low, high) => {
                    // At the quota, and then further down or up while that improves.
                    let below = if price > high { (price - high) * (quota - least) } else { 0.0 };
                    let above = if price < low { (low - price) * (most - quota) } else { 0.0 };
                    -price * quota + below + above
                }
                PriceResponse::Exponential { weight } => {
                    let count = quota * (-price / weight).clamp(-50.0, 50.0).exp();
                    let count = count.clamp(least, most);
                    let spread = if count > 0.0 { (count / quota.max(f64::MIN_POSITIVE)).ln() - 1.0 } else { 0.0 };
                    -price * count - weight * count * spread
                }
                PriceResponse::Linear { weight, people } => {
                    let count = (quota - price * people / (2.0 * weight)).clamp(least, most);
                    -price * count - weight / people * (count - quota).powi(2)
                }
            };
            (cost + price * self.settled[class]) / quotas.scale
        };
        (0..prices.len()).filter(|&class| prices[class].is_finite()).map(value).sum()
    }

    /// Returns `to`, or the first step between `from` and `to`, which must not be crossed in one iteration.
    pub(super) fn stop(&self, from: f64, to: f64) -> f64 {
        let PriceResponse::Steps(low, high) = self.response else { return to };
        let mut to = to;
        for step in [low, high] {
            if (from < step - AT && to > step) || (from > step + AT && to < step) {
                to = step;
            }
        }
        to
    }

    /// Shifts all prices to the middle between the steps, if they fit there and the quotas sum to all people,
    /// which changes nothing else. Returns whether it did.
    pub(super) fn center_between_steps(&self, quotas: &SampleQuotas, prices: &mut [f64]) -> bool {
        let PriceResponse::Steps(low, high) = self.response else { return false };
        let finite = prices.iter().copied().filter(|price| price.is_finite());
        let (least, most) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p), b.max(p)));
        let total: f64 = quotas.people.iter().sum();
        let is_complete = (total - quotas.population - self.settled.iter().sum::<f64>()).abs() < 0.5;
        let finds_room = is_complete && (high - low).is_finite() && most - least < high - low - AT;
        if finds_room {
            let shift = (low + high - least - most) / 2.0;
            prices.iter_mut().for_each(|price| *price += shift);
        }
        finds_room
    }

    /// Returns whether the quotas are sums of the rows' own scores.
    pub(super) fn own_scores(&self) -> bool {
        matches!(self.quotas, Quotas::OwnScores { .. })
    }
}

/// An upper bound on prices.
const FARTHEST: f64 = 65536.0;

/// A weight of l1 above any score, in units of score per person: counts leave the quotas only if necessary.
pub(crate) const NEAR: f64 = 1024.0;

/// Quotas in people, and the number of people that a row of the sample represents.
#[derive(Clone, Debug)]
pub(super) struct SampleQuotas {
    people: Vec<f64>,
    scale: f64,
    population: f64,
}
