//! Every optimum of the l1 program, from argmax to the targets, path by path.
//!
//! Argmax is optimal if missing the targets costs nothing. The cheapest way to bring the counts one person closer to
//! the targets is the shortest path from a class with too many people to a class with too few, in the graph of
//! `paths`. Path costs never decrease, and each person moved reduces Σ |c − n| by exactly two: so the labels after
//! all paths of cost up to 2w are optimal if a missing person costs w. Only rows that some price within ±w could move
//! take part.

use super::band::sweep_into_band;
use super::bracket::on_grid;
use super::demand::Demand;
use super::enclose::Goal;
use super::paths::Atoms;
use super::{Setting, Solution, solve};
use crate::error::{Error, Result};
use crate::kernel::{Bounds, GRID, Real, Source, Watch};

/// People who move from one class to another, and the cost per person in grid units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) cost: i64,
    pub(crate) from: u8,
    pub(crate) to: u8,
    pub(crate) people: u64,
}

/// The path from argmax to the targets.
pub(crate) struct FrontierPath {
    /// The counts of argmax, and the sum of its scores.
    pub(crate) counts: Vec<u64>,
    pub(crate) value: i128,
    /// Ordered by cost.
    pub(crate) steps: Vec<Step>,
    pub(crate) targets: Vec<u64>,
}

/// Traces the path to the counts of a goal.
pub(crate) fn trace<T: Real>(rows: &dyn Source<T>, goal: &Goal<'_>, setting: &Setting<'_>) -> Result<FrontierPath> {
    let mut labels = vec![0; rows.rows()];
    let matched = solve(rows, goal, setting, &mut labels)?;
    for margin in SEARCH_MARGINS {
        let range = PriceRange::to(&matched, margin);
        if let Some(path) = trace_within(rows, &matched, &range, setting, &mut labels)? {
            return Ok(path);
        }
    }
    Err(Error::Unproved)
}

/// Margins around the prices of argmax and of the targets in which to search. The last one is unlimited.
const SEARCH_MARGINS: [Option<f64>; 3] = [Some(0.004), Some(0.1), None];

/// Bounds on the prices along the path, relative to that of the largest class, which is fixed.
struct PriceRange {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl PriceRange {
    /// Prices start equal at argmax and rarely leave the range between there and the targets.
    fn to(matched: &Solution, margin: Option<f64>) -> PriceRange {
        let k = matched.counts.len();
        let anchor = (0..k).max_by_key(|&class| (matched.counts[class], k - class)).unwrap_or(0);
        let known: Option<Vec<i64>> = matched.prices[0].iter().copied().collect();
        // The price of a class that must be emptied has no bound.
        let (Some(prices), Some(margin)) = (known, margin) else {
            return PriceRange { low: vec![f64::NEG_INFINITY; k], high: vec![f64::INFINITY; k] };
        };
        let end = |class: usize| GRID.value(prices[class] - prices[anchor]);
        let side = |class: usize, own: f64, margin: f64| if class == anchor { 0.0 } else { own + margin };
        PriceRange {
            low: (0..k).map(|class| side(class, end(class).min(0.0), -margin)).collect(),
            high: (0..k).map(|class| side(class, end(class).max(0.0), margin)).collect(),
        }
    }

    fn is_bounded(&self) -> bool {
        self.low.iter().all(|low| low.is_finite())
    }

    /// Returns the bounds for a sweep.
    fn bounds(&self, magnitude: f32) -> Bounds {
        let slack = if self.is_bounded() { SLACK } else { 0.0 };
        let low: Vec<f32> = self.low.iter().map(|&low| low as f32 - slack).collect();
        let high: Vec<f32> =
            self.high.iter().map(|&high| if high.is_finite() { high as f32 + slack } else { 0.0 }).collect();
        Bounds::new(&low, &high, magnitude)
    }

    /// Returns limits on the cost of moving a row between classes.
    fn limits(&self) -> Vec<i64> {
        let limit = |high: f64, low: f64| if high.is_finite() { on_grid(high - low) + 1 } else { i64::MAX / 4 };
        self.low.iter().flat_map(|&low| self.high.iter().map(move |&high| limit(high, low))).collect()
    }

    /// Returns whether prices are within the range.
    fn holds(&self, prices: &[i64]) -> bool {
        let anchor = self.low.iter().zip(&self.high).position(|(low, high)| low == high).unwrap_or(0);
        let within = |class: usize| {
            let price = GRID.value(prices[class] - prices[anchor]);
            (self.low[class]..=self.high[class]).contains(&price)
        };
        (0..prices.len()).all(within)
    }
}

/// Traces the path among the rows and moves that prices within the range can affect. Returns `None` if the prices
/// leave the range.
fn trace_within<T: Real>(
    rows: &dyn Source<T>,
    matched: &Solution,
    range: &PriceRange,
    setting: &Setting<'_>,
    labels: &mut [u8],
) -> Result<Option<FrontierPath>> {
    let k = rows.classes();
    let targets = matched.counts.clone();
    let bounds = range.bounds(rows.magnitude());
    let (swept, band) = sweep_into_band(setting.simd, rows, &bounds, Watch::Nothing, None, labels)?;
    let mut atoms = Atoms::of(&band.rows());
    if atoms.seem_repeated() {
        atoms = atoms.merged();
    }
    let demand = Demand::between(vec![0; k], vec![u64::MAX; k]);
    let demand = demand.with_settled(&swept.counts).map_err(|_| Error::Unproved)?;
    let mut trace = atoms.begin_trace(&demand, &vec![Some(0); k], range.limits());
    let (counts, value) = (trace.counts().to_vec(), swept.chosen + trace.value());
    let (mut steps, mut prices) = (Vec::new(), vec![0; k]);
    while let Some(step) = trace.approach(&targets, &mut prices) {
        if range.is_bounded() && !range.holds(&prices) {
            return Ok(None);
        }
        steps.push(step);
    }
    let lost: i128 = steps.iter().map(|step| i128::from(step.cost) * i128::from(step.people)).sum();
    let is_sorted = steps.windows(2).all(|pair| pair[0].cost <= pair[1].cost);
    let is_proved = trace.counts() == targets && value - lost == matched.certificate.primal && is_sorted;
    Ok(is_proved.then_some(FrontierPath { counts, value, steps, targets }))
}

/// Added on both sides: exceeds the error of single precision.
const SLACK: f32 = 4e-6;
