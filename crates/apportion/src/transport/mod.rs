//! The exact solver of the transportation problem behind every joint rule. It knows numbers, not people.
//!
//! Given scores s\[i, y\] on the grid and counts n_y with Σ n_y = N, find labels ŷ that maximise Σ_i s\[i, ŷ_i\] with
//! exactly n_y rows in class y. The dual has only K unknowns, a price λ_y for each class:
//!
//! ```text
//! min over λ of  Σ_i max_y (s_iy + λ_y) − Σ_y n_y λ_y,        ŷ_i = argmax_y (s_iy + λ_y), ties aside.
//! ```
//!
//! [`solve`] reads: **enclose** the optimal prices (a sample, Newton's method on it, a box, one pass in which most rows
//! become certain, the same again on the others: `sample`, `newton`, `bracket`, `band`, `paths`); take the centre of all
//! optimal prices; **settle** the rows at these prices; give the **tied** rows to a second problem on seeded hashes; and
//! add up both sides of the **certificate**. Which rows were sampled changes nothing of the outcome.

mod band;
mod bracket;
mod certificate;
mod demand;
mod enclose;
mod newton;
mod paths;
mod prices;
mod sample;
mod settle;
#[cfg(test)]
mod tests;
pub(crate) mod ties;

pub(crate) use band::Guard;
pub use certificate::Certificate;
pub(crate) use demand::Demand;
pub(crate) use enclose::Goal;
pub(crate) use prices::Prices;
pub(crate) use settle::exact_bounds;

use self::enclose::enclose;
use self::newton::Guess;
use self::settle::{Settled, preferences, settle};
use self::ties::Repeats;
use crate::error::Result;
use crate::kernel::{GRID, Layout, Level, Plain, Real, Rows};

/// A problem's circumstances: how ties are settled, and what instructions to use.
pub(crate) struct Setting<'a> {
    pub(crate) simd: Level,
    pub(crate) seed: u64,
    /// The key of a row.
    pub(crate) key: &'a (dyn Fn(usize) -> u64 + Sync),
    /// Checks rows with suspicious values; none where the values are known to be sound.
    pub(crate) guard: Option<Guard<'a>>,
}

/// Optimal labels' prices and proof.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    /// Prices of the scores, then of each level of ties that was needed.
    pub(crate) prices: Vec<Prices>,
    pub(crate) counts: Vec<u64>,
    pub(crate) certificate: Certificate,
    /// Rows for which several classes are equally good.
    pub(crate) tied: u64,
    /// Tied rows with a key that an earlier tied row has.
    pub(crate) repeated_keys: u64,
}

/// Levels of ties after which rows are told apart by their order. Not reached unless hashes collide again and again.
const LEVELS: usize = 16;

/// Finds optimal labels, and writes them.
pub(crate) fn solve<R: Rows>(rows: &R, goal: &Goal<'_>, setting: &Setting<'_>, labels: &mut [u8]) -> Result<Solution> {
    solve_level(rows, goal, setting, labels, 0)
}

fn solve_level<R: Rows>(
    rows: &R,
    goal: &Goal<'_>,
    setting: &Setting<'_>,
    labels: &mut [u8],
    level: usize,
) -> Result<Solution> {
    let enclosed = enclose(setting.simd, rows, goal, setting.guard, &Guess::none(rows.classes()), labels)?;
    let open = enclosed.demand.open();
    let counts = &enclosed.counts;
    let mut prices = enclosed.set.centre(&open);

    let band = &enclosed.band;
    let mut band_labels = vec![0; band.places.len()];
    let mut settled = settle(setting.simd, &band.rows(), &prices, &mut band_labels);
    let left = subtract(counts, &enclosed.swept.counts);
    let key = |row: usize| (setting.key)(band.places[row]);
    let mut ties = settle_ties(&band.rows(), &settled, &prices, &left, &key, setting, &mut band_labels, level)?;
    for (&place, &label) in band.places.iter().zip(&band_labels) {
        labels[place] = label;
    }
    let mut certain = &enclosed.swept;
    let none = crate::kernel::Swept::new(open.len());
    if !enclosed.is_all {
        // Some optimal prices lie outside the box, and the centre is that of all: the rows outside the band count too.
        let mut set = preferences(rows, labels);
        set.share_roundings(counts, &enclosed.demand);
        set.close();
        prices = set.centre(&open);
        settled = settle(setting.simd, rows, &prices, labels);
        ties = settle_ties(rows, &settled, &prices, counts, setting.key, setting, labels, level)?;
        certain = &none;
    }

    let certificate = certify(certain, &settled, &ties, &prices, counts);
    let mut levels = vec![prices];
    levels.extend(ties.prices);
    Ok(Solution {
        prices: levels,
        counts: counts.clone(),
        certificate,
        tied: settled.tied.len() as u64,
        repeated_keys: ties.repeated_keys,
    })
}

/// How the tied rows were settled.
struct Ties {
    prices: Vec<Prices>,
    /// The scores of the tied rows' labels, summed.
    chosen: i128,
    repeated_keys: u64,
}

/// Settles the tied rows by a second problem, with the counts that the other rows leave.
#[allow(clippy::too_many_arguments)]
fn settle_ties<R: Rows>(
    rows: &R,
    settled: &Settled,
    prices: &Prices,
    counts: &[u64],
    key: &(dyn Fn(usize) -> u64 + Sync),
    setting: &Setting<'_>,
    labels: &mut [u8],
    level: usize,
) -> Result<Ties> {
    let tied = &settled.tied;
    if tied.is_empty() {
        return Ok(Ties { prices: Vec::new(), chosen: 0, repeated_keys: 0 });
    }
    let left = subtract(counts, &settled.counts);
    let mut repeats = Repeats::default();
    let keys: Vec<u64> = tied.iter().map(|&row| repeats.tell_apart(key(row))).collect();
    let mut tied_labels = vec![0; tied.len()];
    let mut tie_prices = Vec::new();
    if level < LEVELS {
        let lots = ties::lots(rows, tied, &keys, prices, setting.seed, level);
        let classes = rows.classes();
        let magnitude = GRID.value(-ties::forbidden(classes)) as f32;
        let problem = Plain { layout: Layout::RowMajor(&lots), classes, magnitude };
        let setting = Setting { key: &|row| keys[row], guard: None, ..*setting };
        tie_prices =
            solve_level(&problem, &Goal::Known(Demand::exactly(left)), &setting, &mut tied_labels, level + 1)?.prices;
    }
    let mut chosen = 0;
    for (&row, &label) in tied.iter().zip(&tied_labels) {
        labels[row] = label;
        chosen += i128::from(GRID.round(rows.score(row, usize::from(label)).double()));
    }
    Ok(Ties { prices: tie_prices, chosen, repeated_keys: repeats.repeated })
}

/// Adds up the labels' scores, and the bound: the best values at the prices less what the counts pay.
fn certify(
    certain: &crate::kernel::Swept,
    settled: &Settled,
    ties: &Ties,
    prices: &Prices,
    counts: &[u64],
) -> Certificate {
    let primal = certain.chosen + settled.chosen + ties.chosen;
    let mut dual = certain.chosen + settled.chosen + settled.tied_value;
    for (class, price) in prices.iter().enumerate() {
        let unpaid = i128::from(certain.counts[class] + settled.counts[class]) - i128::from(counts[class]);
        dual += i128::from(price.unwrap_or(0)) * unpaid;
    }
    Certificate { primal, dual }
}

fn subtract(counts: &[u64], settled: &[u64]) -> Vec<u64> {
    counts.iter().zip(settled).map(|(count, done)| count.saturating_sub(*done)).collect()
}
