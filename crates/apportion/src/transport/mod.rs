//! The exact solver of the transportation problem behind every joint rule. It works on numbers and knows nothing
//! about people.
//!
//! Given scores s\[i, y\] on the grid and counts n_y with Σ n_y = N, find labels ŷ that maximize Σ_i s\[i, ŷ_i\] with
//! exactly n_y rows in class y. The dual has only K variables, a price λ_y for each class:
//!
//! ```text
//! min over λ of  Σ_i max_y (s_iy + λ_y) − Σ_y n_y λ_y,        ŷ_i = argmax_y (s_iy + λ_y), except for ties.
//! ```
//!
//! [`solve`] works as follows: **enclose** the optimal prices (a sample, Newton's method on it, a box, one pass in
//! which most rows become certain, and the same again for the others: `sample`, `newton`, `bracket`, `band`,
//! `paths`); take the center of all optimal prices; **settle** the rows at these prices; solve a second problem on
//! seeded hashes for the **tied** rows; and compute both sides of the **certificate**. The result does not depend on
//! the sample.

mod band;
mod bracket;
mod certificate;
mod demand;
mod enclose;
pub(crate) mod frontier;
pub(crate) mod nesting;
mod newton;
mod paths;
pub(crate) mod penalty;
mod prices;
mod sample;
mod scan;
mod settle;
mod target_curve;
#[cfg(test)]
mod tests;
pub(crate) mod ties;

pub(crate) use band::Guard;
pub use certificate::Certificate;
pub(crate) use demand::Demand;
pub(crate) use enclose::Goal;
pub(crate) use prices::Prices;
pub(crate) use settle::{Split, settle};
pub(crate) use target_curve::{NEAR, Outline};

use self::enclose::enclose;
use self::newton::Guess;
use self::paths::Atoms;
use self::settle::preferences;
use self::ties::Repeats;
use crate::error::{Error, Result};
use crate::kernel::{GRID, Real, Rows, SimdLevel, Source, Swept, at_rows};

/// Settings of a problem: tie-breaking and SIMD instructions.
pub(crate) struct Setting<'a> {
    pub(crate) simd: SimdLevel,
    pub(crate) seed: u64,
    /// The key of a row.
    pub(crate) key: &'a (dyn Fn(usize) -> u64 + Sync),
    /// Whether keys are known to be unique.
    pub(crate) unique_keys: bool,
    /// Checks rows with suspicious values; `None` if the values are known to be valid.
    pub(crate) guard: Option<Guard<'a>>,
    /// Prices of a similar problem as an initial guess. The result does not depend on it.
    pub(crate) guess: Option<&'a Prices>,
}

/// Prices and certificate of optimal labels.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    /// Prices of the scores, then of each tie level used.
    pub(crate) prices: Vec<Prices>,
    pub(crate) counts: Vec<u64>,
    /// The sums of all scores by class, if the goal depends on them.
    pub(crate) sums: Vec<i128>,
    /// The certificate for these counts, without the cost of missing the reference.
    pub(crate) certificate: Certificate,
    /// The cost of moving one person between classes; only if the counts were given.
    pub(crate) exchanges: Vec<(usize, usize, i64)>,
    /// Number of rows with several equally good classes.
    pub(crate) tied: u64,
    /// Number of tied rows with the key of an earlier tied row.
    pub(crate) repeated_keys: u64,
    /// Rows whose people were divided among equally good classes.
    pub(crate) splits: Vec<Split>,
}

/// Maximum number of tie levels. One or two are needed, more only if hashes collide repeatedly.
const LEVELS: usize = 16;

/// Finds optimal labels and writes them to `labels`.
pub(crate) fn solve<T: Real>(
    rows: &dyn Source<T>,
    goal: &Goal<'_>,
    setting: &Setting<'_>,
    labels: &mut [u8],
) -> Result<Solution> {
    solve_level(rows, goal, setting, labels, 0)
}

fn solve_level<T: Real>(
    rows: &dyn Source<T>,
    goal: &Goal<'_>,
    setting: &Setting<'_>,
    labels: &mut [u8],
    level: usize,
) -> Result<Solution> {
    let guess = setting.guess.filter(|prices| level == 0 && prices.len() == rows.classes());
    let guess = guess.map_or_else(|| Guess::none(rows.classes()), Guess::like);
    let enclosed = enclose(setting.simd, rows, goal, setting.guard, &guess, labels)?;
    let (counts, open, band) = (enclosed.counts, enclosed.demand.open(), enclosed.band);
    let mut certain = enclosed.swept;
    let sums = certain.sums.clone();
    let grounded = enclosed.demand.is_priced();
    let mut prices = enclosed.set.center(&open, grounded);

    let mut band_labels = vec![0; band.indices.len()];
    let band_setting = Setting { key: &|row| (setting.key)(band.indices[row]), guard: None, ..*setting };
    let left = subtract(&counts, &certain.counts)?;
    let mut rest = finish(&band.rows(), &prices, &left, &band_setting, &mut band_labels, level)?;
    band.indices.iter().zip(&band_labels).for_each(|(&index, &label)| labels[index] = label);
    rest.splits.iter_mut().for_each(|(row, _)| *row = band.indices[*row]);

    let mut exchanges = enclosed.set.exchanges();
    if !enclosed.is_all {
        // Some optimal prices are outside the box, and the center is that of all, so rows outside the band
        // matter.
        let mut set = preferences(rows, labels, &rest.splits)?;
        set.afford(&counts, &enclosed.demand);
        if !set.close() {
            return Err(Error::Unproved);
        }
        exchanges = set.exchanges();
        prices = set.center(&open, grounded);
        certain = Swept::new(open.len());
        let setting = Setting { guard: None, ..*setting };
        rest = finish(rows, &prices, &counts, &setting, labels, level)?;
    }

    let certificate = certify(&certain, &rest, &prices, &counts);
    if !certificate.is_closed() || !affordable(&enclosed.demand, &counts, &prices) {
        return Err(Error::Unproved);
    }
    // From here on only differences of prices matter.
    let shift = prices.iter().flatten().next().copied().unwrap_or(0);
    let prices: Prices = prices.iter().map(|price| price.map(|price| price - shift)).collect();
    let levels = std::iter::once(prices).chain(rest.tie_prices).collect();
    Ok(Solution {
        prices: levels,
        counts,
        sums,
        certificate,
        exchanges,
        tied: rest.tied,
        repeated_keys: rest.repeated_keys,
        splits: rest.splits,
    })
}

/// Sums the best values (score + price) of all rows.
pub(crate) fn best_values<T: Real>(rows: &dyn Source<T>, prices: &Prices, setting: &Setting<'_>) -> Result<i128> {
    let settled = settle(setting.simd, rows, prices, None, &mut vec![0; rows.rows()])?;
    Ok(settled.best(prices))
}

/// Rows labeled at given prices, including ties.
struct Finished {
    /// The sum of the labels' scores.
    chosen: i128,
    /// The sum of the best values (score + price).
    best: i128,
    tie_prices: Vec<Prices>,
    tied: u64,
    repeated_keys: u64,
    splits: Vec<Split>,
}

/// Labels rows at optimal prices with the given counts: rows with a unique best class get it, the others are solved
/// by a second problem.
fn finish<T: Real>(
    rows: &dyn Source<T>,
    prices: &Prices,
    counts: &[u64],
    setting: &Setting<'_>,
    labels: &mut [u8],
    level: usize,
) -> Result<Finished> {
    let settled = settle(setting.simd, rows, prices, None, labels)?;
    let best = settled.best(prices);
    let tied = &settled.tied;
    let left = subtract(counts, &settled.counts)?;
    let weights: Option<Vec<u64>> = rows.weights().map(|weights| tied.iter().map(|&row| weights[row]).collect());
    let people = weights.as_ref().map_or(tied.len() as u64, |weights| weights.iter().sum());
    let mut finished = Finished {
        chosen: settled.chosen,
        best,
        tie_prices: Vec::new(),
        tied: people,
        repeated_keys: 0,
        splits: Vec::new(),
    };
    if left.iter().sum::<u64>() != people || level == LEVELS {
        return Err(Error::Unproved);
    }
    if tied.is_empty() {
        return Ok(finished);
    }

    let mut repeats = Repeats::new(setting.unique_keys);
    let keys: Vec<u64> = tied.iter().map(|&row| repeats.tell_apart((setting.key)(row))).collect();
    let lots = ties::lots(rows, tied, &keys, prices, setting.seed, level)?;
    let classes = rows.classes();
    let magnitude = GRID.value(-ties::forbidden(classes)) as f32;
    let problem = Rows::matrix(&lots, classes, magnitude, weights.as_deref());
    finished.repeated_keys = repeats.repeated;
    if weights.is_some() {
        let (tie_prices, splits) = share_out(&problem, left)?;
        finished.tie_prices = vec![tie_prices];
        at_rows(rows, tied, |index, row, rows| {
            let people = &splits[index];
            let first = people.iter().position(|&people| people > 0).unwrap_or(usize::from(labels[row]));
            labels[row] = first as u8;
            for (class, &people) in people.iter().enumerate() {
                let score = GRID.round(rows.score(row, class).double());
                finished.chosen += i128::from(score) * i128::from(people);
            }
        })?;
        finished.splits = tied.iter().copied().zip(splits).collect();
        return Ok(finished);
    }
    let tie_setting = Setting { key: &|row| keys[row], unique_keys: true, guard: None, ..*setting };
    let mut tied_labels = vec![0; tied.len()];
    let goal = Goal::Known(Demand::exactly(left));
    finished.tie_prices = solve_level(&problem, &goal, &tie_setting, &mut tied_labels, level + 1)?.prices;
    at_rows(rows, tied, |index, row, rows| {
        let label = tied_labels[index];
        labels[row] = label;
        finished.chosen += i128::from(GRID.round(rows.score(row, usize::from(label)).double()));
    })?;
    Ok(finished)
}

/// Divides the people of tied rows so that the sum of the hashes is largest; a row's people may be split. The
/// solution is unique except for ties among the hashes.
fn share_out(lots: &Rows<'_, f64>, counts: Vec<u64>) -> Result<(Prices, Vec<Vec<u64>>)> {
    let k = lots.classes();
    let demand = Demand::exactly(counts);
    let open = demand.open();
    let start = open.iter().map(|open| open.then_some(0)).collect();
    let mut assigned = Atoms::of(lots).assign(&demand, &start);
    if !assigned.set.close() {
        return Err(Error::Unproved);
    }
    let splits = assigned.amounts.chunks_exact(k).map(<[u64]>::to_vec).collect();
    Ok((assigned.set.center(&open, false), splits))
}

/// Computes the sum of the labels' scores, and the bound: the best values at the prices minus the prices paid for the
/// counts.
fn certify(certain: &Swept, rest: &Finished, prices: &Prices, counts: &[u64]) -> Certificate {
    let mut dual = certain.chosen + rest.best;
    for (class, price) in prices.iter().enumerate() {
        let unpaid = i128::from(certain.counts[class]) - i128::from(counts[class]);
        dual += i128::from(price.unwrap_or(0)) * unpaid;
    }
    Certificate { primal: certain.chosen + rest.chosen, dual }
}

/// Returns whether no other counts would be better at these prices, given their cost: −λ must lie between the cost of
/// the last person and that of one more. (Contested roundings have no prices to compare with.)
fn affordable(demand: &Demand, counts: &[u64], prices: &Prices) -> bool {
    let fits = |class: usize| {
        let (count, Some(price)) = (counts[class], prices[class]) else { return counts[class] == 0 };
        let last = if count > 0 { demand.step(class, count - 1) } else { i64::MIN };
        last <= -price && -price <= demand.step(class, count)
    };
    !demand.is_priced() || (0..counts.len()).all(fits)
}

/// Returns the remaining counts after some rows are settled.
fn subtract(counts: &[u64], settled: &[u64]) -> Result<Vec<u64>> {
    counts.iter().zip(settled).map(|(count, done)| count.checked_sub(*done).ok_or(Error::Unproved)).collect()
}
