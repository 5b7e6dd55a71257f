//! Standard errors of BIRDiE: EM is repeated for people drawn again, starting from the estimate.

use rayon::prelude::*;

use super::BirdieOptions;
use super::em::climb;
use super::model::{Likelihood, Model, Unchanged};
use super::rows::{Merged, Rows, Source, Sums};
use crate::audit::{Bootstrap, Draws};
use crate::error::Result;
use crate::rule::person_key;
use crate::seed;

/// Salts that separate the hashes of samples and of prior means from all others.
const SAMPLES: u64 = u64::MAX - 5;
const CENTERS: u64 = 0x6365_6e74_0000_0000;

/// Tables with more rows are sampled.
const MOST_ROWS: usize = 1 << 24;

/// The overall estimates of each bootstrap replicate.
pub(super) struct Resampled {
    pub(super) rows: usize,
    pub(super) is_sampled: bool,
    replicates: Vec<Vec<f64>>,
    /// The ratio of the variances for all people and for the sample.
    scale: f64,
}

impl Resampled {
    pub(super) fn of(
        model: &impl Model,
        source: Source<'_>,
        rows: &Rows<'_>,
        parameters: &[f64],
        options: &BirdieOptions,
    ) -> Result<Resampled> {
        if options.replicates == 0 {
            return Ok(Resampled { rows: 0, is_sampled: false, replicates: Vec::new(), scale: 1.0 });
        }
        let scores = source.scores;
        let is_sampled = rows.len() > options.bootstrap_rows || scores.rows() > MOST_ROWS;
        let part = if is_sampled { options.bootstrap_rows as f64 / scores.rows() as f64 } else { 1.0 };
        let sample = Sample::draw(model.shape().classes, source, part, options)?;
        let replicates: Vec<Vec<f64>> = (0..options.replicates as usize)
            .into_par_iter()
            .map(|replicate| sample.replicate(model, replicate, parameters, options, || scores.check_cancelled()))
            .collect::<Result<_>>()?;
        Ok(Resampled { rows: sample.rows.len(), is_sampled, replicates, scale: part.min(1.0) })
    }

    /// Returns the covariance of two overall estimates.
    pub(super) fn covariance(&self, a: usize, b: usize) -> Option<f64> {
        let pairs: Vec<(f64, f64)> =
            self.replicates.iter().map(|own| (own[a], own[b])).filter(|(a, b)| (a + b).is_finite()).collect();
        let number = pairs.len() as f64;
        if pairs.len() < 2 {
            return None;
        }
        let (sum_a, sum_b) = pairs.iter().fold((0.0, 0.0), |(x, y), (a, b)| (x + a, y + b));
        let products = pairs.iter().map(|(a, b)| (a - sum_a / number) * (b - sum_b / number));
        Some(products.sum::<f64>() / (number - 1.0) * self.scale)
    }
}

/// Sampled rows in memory.
struct Sample {
    merged: Merged,
    rows: Vec<SampledRow>,
    draws: Draws,
    /// The number of people that a sampled person represents.
    times: u32,
}

struct SampledRow {
    key: u64,
    people: u32,
    /// The index of its merged row.
    merged: u32,
}

impl Sample {
    /// Draws rows by seed and key; their order does not matter.
    fn draw(classes: usize, source: Source<'_>, part: f64, options: &BirdieOptions) -> Result<Sample> {
        let scores = source.scores;
        let below = (part * 2f64.powi(64)) as u64;
        let (mut merged, mut rows) = (Merged::new(classes), Vec::new());
        scores.read_rows(0..scores.rows(), |index, row| {
            let (key, people) = (scores.keys().of(index), scores.counts().map_or(1, |counts| counts[index]));
            let is_drawn = part >= 1.0 || seed::hash(options.seed, key, SAMPLES) < below;
            if let Some(observed) = source.at(index).filter(|_| is_drawn && people > 0) {
                let people = u32::try_from(people).unwrap_or(u32::MAX);
                rows.push(SampledRow { key, people, merged: merged.add(observed, row, u64::from(people)) });
            }
            Ok(())
        })?;
        let bootstrap = Bootstrap { replicates: options.replicates, seed: options.seed, ..Bootstrap::default() };
        let times = (1.0 / part).round().max(1.0) as u32;
        Ok(Sample { merged, rows, draws: Draws::new(Some(&bootstrap)), times })
    }

    /// Returns the overall estimates of a replicate, with its own prior.
    fn replicate<M: Model>(
        &self,
        model: &M,
        replicate: usize,
        parameters: &[f64],
        options: &BirdieOptions,
        check_cancelled: impl Fn() -> Result<()>,
    ) -> Result<Vec<f64>> {
        check_cancelled()?;
        let shape = model.shape();
        let people = self.people(replicate);
        // The variance of the replicates is scaled to all people; that of the drawn prior means must remain.
        let factor = f64::from(self.times).sqrt();
        let normal = |index: usize| factor * draw_normal(index, replicate, options);
        let own = model.resampled(&self.pass(model, &Unchanged, &people), &normal);
        let options = BirdieOptions { tolerance: options.tolerance.max(1e-5), ..*options };
        let found = climb(&own, parameters.to_vec(), &options, |likelihood| {
            check_cancelled()?;
            Ok(self.pass(model, likelihood, &people))
        })?;
        let sums = self.pass(model, &own.likelihood(&found.parameters), &people);
        Ok(own.estimates(&shape.overall(&sums.people)))
    }

    fn pass(&self, model: &impl Model, likelihood: &impl Likelihood, people: &[u32]) -> Sums {
        self.merged.pass(model.shape(), likelihood, people)
    }

    /// Returns the number of people of each merged row in a replicate: Poisson draws, one per person.
    fn people(&self, replicate: usize) -> Vec<u32> {
        let mut all = vec![0u32; self.merged.len()];
        for row in &self.rows {
            let sum = &mut all[row.merged as usize];
            *sum = sum.saturating_add(self.drawn(row, replicate).saturating_mul(self.times));
        }
        all
    }

    /// Draws the people of a row. For many people, a few draws represent all.
    fn drawn(&self, row: &SampledRow, replicate: usize) -> u32 {
        const MOST: u32 = 64;
        let drawn = row.people.min(MOST);
        let one = |person: u32| u32::from(self.draws.one(person_key(row.key, u64::from(person)), replicate));
        let times: u32 = (0..drawn).map(one).sum();
        if row.people <= drawn {
            return times;
        }
        // The same number of standard deviations from the mean as the drawn part.
        let (some, all) = (f64::from(drawn), f64::from(row.people));
        (all + (f64::from(times) - some) * (all / some).sqrt()).round().clamp(0.0, f64::from(u32::MAX)) as u32
    }
}

/// Draws a number from the standard normal distribution, by seed, replicate and index.
fn draw_normal(index: usize, replicate: usize, options: &BirdieOptions) -> f64 {
    let salt = CENTERS + replicate as u64;
    let unit = |part: u64| (seed::hash(options.seed, 2 * index as u64 + part, salt) as f64 + 0.5) / 2f64.powi(64);
    (-2.0 * unit(0).ln()).sqrt() * (std::f64::consts::TAU * unit(1)).cos()
}
