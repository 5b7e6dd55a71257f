//! A box around the estimated prices that almost surely contains the optimal ones.
//!
//! The distance between the prices of the table and of the sample is measured in rows: the count of class k over the
//! whole table misses its target by a few standard deviations of the sample's imbalance (the sandwich variance, for
//! joint movements), so the price of k lies between the prices at which that many more or fewer rows would be in k.
//! Order statistics of the gaps give these prices, also for rare classes and many identical rows, for which a density
//! would fail. Whether the box contains the optimum is proved afterward; a miss costs time, never exactness.

use super::newton::{Estimate, Guess, invert_free, laplacian};
use super::prices::PriceSet;
use super::sample::{CLUSTER, Sample};
use super::scan::{Near, entry_prices, nth, relative, scan};
use super::target_curve::TargetCurve;
use crate::kernel::{Bounds, Grid, Real, SimdLevel, Tile, TopTwo, top_two};

/// Standard deviations that the box allows for.
const DEVIATIONS: f64 = 4.0;
/// Minimum number of rows on either side of a boundary inside the box, so that it contains all optimal prices rather
/// than some.
const NEIGHBORS: f64 = 16.0;
/// Added on both sides: exceeds the error of single precision.
const SLACK: f32 = 4e-6;
/// The largest window in which gaps are listed before all rows are scanned.
const WIDEST: f32 = 0.5;

/// Bounds on the prices relative to the highest estimate. Infinite if a class is never assigned (high) or never
/// certain (low).
#[derive(Clone, Debug)]
pub(super) struct Bracket {
    low: Vec<f32>,
    high: Vec<f32>,
    /// The estimate at its center; `None` if nothing is bounded.
    estimate: Option<Vec<f64>>,
    /// Whether the estimate is that of a similar problem.
    is_like: bool,
}

impl Bracket {
    /// Returns a bracket without bounds: no row is certain.
    pub(super) fn none(open: &[bool]) -> Bracket {
        let high = open.iter().map(|&open| if open { 0.0 } else { f32::NEG_INFINITY }).collect();
        Bracket { low: vec![f32::NEG_INFINITY; open.len()], high, estimate: None, is_like: false }
    }

    /// Returns bounds around the prices of a similar problem, with a given width. The lowest price, usually that
    /// of the largest class, is fixed.
    pub(super) fn near(guess: &Guess, open: &[bool], width: f32) -> Bracket {
        let price = |class: usize| if open[class] { guess.prices[class] } else { f64::NEG_INFINITY };
        let prices: Vec<f64> = (0..open.len()).map(price).collect();
        let (singles, _) = relative(&prices);
        let lowest = singles.iter().copied().filter(|price| price.is_finite()).fold(f32::INFINITY, f32::min);
        let anchor = singles.iter().position(|&price| price == lowest);
        let side = |class: usize, far: f32| singles[class] + if Some(class) == anchor { 0.0 } else { far };
        Bracket {
            low: (0..open.len()).map(|class| side(class, -width) - SLACK).collect(),
            high: (0..open.len()).map(|class| side(class, width) + SLACK).collect(),
            estimate: Some(prices),
            is_like: true,
        }
    }

    /// Returns bounds from a sample, widened by `reach` for each class.
    pub(super) fn around<T: Real>(
        level: SimdLevel,
        sample: &Sample<T>,
        target_curve: &TargetCurve,
        estimate: &Estimate,
        reach: &[f64],
    ) -> Bracket {
        let ranks = ranks(sample, target_curve, estimate, reach);
        let wanted = &estimate.wanted;
        let anchor = wanted.anchor();
        let mut gaps = Gaps::of(&estimate.scan.near, reach.len());
        let mut window = estimate.scan.window;
        while window < WIDEST {
            let short = gaps.shortage(&ranks, estimate, anchor);
            if short < 1.0 {
                break;
            }
            window = (window * 1.5 * short).min(WIDEST);
            gaps = Gaps::of(&scan(level, &sample.tiles, &estimate.prices, window).near, reach.len());
        }
        let estimated = Some(estimate.prices.clone());
        let mut bracket = Bracket { low: Vec::new(), high: Vec::new(), estimate: estimated, is_like: false };
        let (singles, _) = relative(&estimate.prices);
        for (class, &single) in singles.iter().enumerate() {
            let (rank, count) = (ranks[class], estimate.scan.counts[class] as usize);
            // A class at a step of its penalty stays there unless its count deviates by more than the
            // step allows.
            let (rank_down, rank_up) = wanted.held[class].map_or((rank, rank), |(fall, rise)| {
                (rank.saturating_sub(rise.min(1e15) as usize), rank.saturating_sub(fall.min(1e15) as usize))
            });
            let stays = |rank: usize| Some(class) == anchor || (wanted.held[class].is_some() && rank == 0);
            let (low, high) = if (stays(rank_down) && stays(rank_up)) || !single.is_finite() {
                (Some(single), Some(single))
            } else {
                let by_gaps =
                    !wanted.is_rare(class) && rank < gaps.into[class].len() && rank < gaps.out_of[class].len();
                let (low, high) = if by_gaps {
                    let (up, down) = (nth(&mut gaps.into[class], rank_up), nth(&mut gaps.out_of[class], rank_down));
                    (down.map(|down| single - down), up.map(|up| single + up))
                } else {
                    let mut entries = entry_prices(level, &sample.tiles, &estimate.prices, class);
                    let low = count.checked_sub(rank_down + 1).and_then(|index| nth(&mut entries, index));
                    (low, nth(&mut entries, count + rank_up))
                };
                (if stays(rank_down) { Some(single) } else { low }, if stays(rank_up) { Some(single) } else { high })
            };
            bracket.low.push(low.map_or(f32::NEG_INFINITY, |low| low - SLACK));
            bracket.high.push(high.map_or(f32::INFINITY, |high| high + SLACK));
        }
        bracket
    }

    /// Returns whether any row is certain.
    pub(super) fn is_bounded(&self) -> bool {
        self.estimate.is_some()
    }

    /// Returns a guess for the next stage.
    pub(super) fn guess(&self) -> Guess {
        let Some(prices) = &self.estimate else { return Guess::none(self.low.len()) };
        let widths = self.low.iter().zip(&self.high).map(|(low, high)| high - low).filter(|width| width.is_finite());
        let widest = widths.fold(0.0, f32::max);
        let none = Guess::none(self.low.len());
        let prices = prices.iter().map(|&price| if price.is_finite() { price } else { 0.0 }).collect();
        Guess {
            prices,
            window: if widest > 0.0 { none.window.min(widest / 4.0) } else { none.window },
            is_like: self.is_like,
        }
    }

    /// Returns the bounds for a sweep over scores up to `magnitude`.
    pub(super) fn bounds(&self, magnitude: f32) -> Bounds {
        Bounds::new(&self.low, &self.high, magnitude)
    }

    /// Returns the bracket as a set of prices, up to a common shift.
    pub(super) fn price_set(&self) -> PriceSet {
        let units = |side: &[f32]| -> Vec<Option<i64>> {
            side.iter().map(|&price| price.is_finite().then(|| on_grid(f64::from(price)))).collect()
        };
        PriceSet::within(&units(&self.low), &units(&self.high))
    }
}

/// Rounds a price to the grid. (`Grid::round` is faster, but for scores only.)
pub(super) fn on_grid(price: f64) -> i64 {
    (price * Grid::UNIT as f64).round() as i64
}

/// Returns by how many sample rows the count of each class may deviate.
fn ranks<T: Real>(sample: &Sample<T>, target_curve: &TargetCurve, estimate: &Estimate, reach: &[f64]) -> Vec<usize> {
    let k = reach.len();
    let unseen = 1.0 - sample.rows as f64 / sample.population as f64;
    let spread = covariance(sample, target_curve, estimate);
    let wanted = &estimate.wanted;
    let mut curvature = laplacian(&estimate.scan.near, estimate.scan.window, k);
    let alone: Vec<f64> = (0..k).map(|class| curvature[class * k + class]).collect();
    (0..k).for_each(|class| curvature[class * k + class] += 1.0 + wanted.stiffness[class]);
    let inverse = invert_free(curvature, &wanted.fixed());
    // Rows that must still change their class, possibly by way of this one.
    let moved: f64 = (0..k).map(|class| estimate.excess(class).abs()).sum::<f64>() / 2.0;
    let neighbors = (NEIGHBORS * (1.0 - unseen)).max(3.0);
    (0..k)
        .map(|class| {
            let response = &inverse[class * k..][..k];
            let variance: f64 =
                (0..k).map(|a| response[a] * (0..k).map(|b| spread[a * k + b] * response[b]).sum::<f64>()).sum();
            let count_deviation = spread[class * k + class].max(wanted.counts[class] * 0.1).max(1.0).sqrt();
            // The ratio of the price's movement to that caused by its own count; smaller if a penalty
            // lets the count follow the price.
            let follows = (alone[class] + 1.0) / (alone[class] + 1.0 + wanted.stiffness[class]);
            let joint = (variance.sqrt() * alone[class] / count_deviation).max(follows).min(10.0);
            let chance = DEVIATIONS * joint * count_deviation * unseen.sqrt();
            (reach[class] * (chance + moved + neighbors)).min(sample.rows as f64) as usize
        })
        .collect()
}

/// Estimates the covariance of the sample's counts − targets from its first rows.
fn covariance<T: Real>(sample: &Sample<T>, target_curve: &TargetCurve, estimate: &Estimate) -> Vec<f64> {
    const TILES: usize = 16;
    let k = estimate.prices.len();
    let (prices, _) = relative(&estimate.prices);
    let mut matrix = vec![0.0; k * k];
    let (mut misses, mut total, mut clusters) = (vec![0.0; k], vec![0.0; k], 0.0);
    let mut tops = TopTwo::new();
    let tiles = &sample.tiles[..sample.tiles.len().min(TILES)];
    let rows: usize = tiles.iter().map(Tile::len).sum();
    for tile in tiles {
        top_two(tile.columns(), &prices, &mut tops);
        for cluster in (0..tile.len()).step_by(CLUSTER) {
            misses.fill(0.0);
            for lane in cluster..tile.len().min(cluster + CLUSTER) {
                if target_curve.own_scores() {
                    misses.iter_mut().zip(tile.row(lane)).for_each(|(miss, score)| *miss -= score.double());
                }
                misses[usize::from(tops.best[lane])] += 1.0;
            }
            for (a, row) in matrix.chunks_exact_mut(k).enumerate() {
                row.iter_mut().zip(&misses).for_each(|(entry, miss)| *entry += misses[a] * miss);
            }
            total.iter_mut().zip(&misses).for_each(|(sum, miss)| *sum += miss);
            clusters += 1.0;
        }
    }
    for (a, row) in matrix.chunks_exact_mut(k).enumerate() {
        row.iter_mut().zip(&total).for_each(|(entry, sum)| *entry -= total[a] * sum / f64::max(clusters, 1.0));
    }
    let scale = sample.rows as f64 / rows.max(1) as f64;
    matrix.iter_mut().for_each(|entry| *entry *= scale);
    matrix
}

/// For each class, the gaps of the rows closest to entering and to leaving it.
struct Gaps {
    into: Vec<Vec<f32>>,
    out_of: Vec<Vec<f32>>,
}

impl Gaps {
    fn of(near: &[Near], classes: usize) -> Gaps {
        let mut gaps = Gaps { into: vec![Vec::new(); classes], out_of: vec![Vec::new(); classes] };
        for row in near {
            gaps.into[usize::from(row.next)].push(row.gap);
            gaps.out_of[usize::from(row.best)].push(row.gap);
        }
        gaps
    }

    /// Returns approximately how many times wider the window must be for every class that is not rare to reach
    /// its rank; below 1 if it is wide enough.
    fn shortage(&self, ranks: &[usize], estimate: &Estimate, anchor: Option<usize>) -> f32 {
        let lack = |gaps: &Vec<f32>, rank: usize| (rank + 1) as f32 / (gaps.len() as f32 + 0.5);
        (0..ranks.len())
            .filter(|&class| Some(class) != anchor && !estimate.wanted.is_rare(class))
            .map(|class| lack(&self.out_of[class], ranks[class]).max(lack(&self.into[class], ranks[class])))
            .fold(0.0, f32::max)
    }
}
