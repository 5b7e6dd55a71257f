//! Simulations of the estimators of an outcome: files are drawn from populations whose truth is known, and the bias of each
//! estimator and the coverage of its 95% intervals are counted.
//!
//! The truth is the probability of the outcome in each class of the population, not the mean of the file's people.

mod population;

use apportion::estimate::{
    Birdie, BirdieOptions, Estimate, IMPUTATIONS, Imputed, LabelEstimator, Linear, Pooling, Weighted,
};
use apportion::{Classes, Rule, Settings};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::draw::Draw;
pub use population::{CLASSES, Dependence, K, Population};

/// Number of people in a file.
pub const PEOPLE: usize = 2000;

/// Numbers of places in a population.
pub const PLACES: [usize; 4] = [1, 10, 100, 400];

/// The gaps: each class minus the first.
const GAPS: [(usize, usize); 2] = [(1, 0), (2, 0)];

/// Estimates of each class, then of each gap.
const FIGURES: usize = K + GAPS.len();

/// The estimators that are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The mean by argmax label.
    Argmax,
    /// Weighted by the scores.
    Weighted,
    /// Multiple imputation.
    Imputed,
    /// Regression on the scores.
    Linear,
    /// BIRDiE without groups.
    Birdie,
    /// BIRDiE with separate places.
    BirdieSeparate,
    /// BIRDiE with partially pooled places.
    BirdiePartial,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 7] = [
        Method::Argmax,
        Method::Weighted,
        Method::Imputed,
        Method::Linear,
        Method::Birdie,
        Method::BirdieSeparate,
        Method::BirdiePartial,
    ];

    /// Returns the name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Method::Argmax => "argmax",
            Method::Weighted => "weighted",
            Method::Imputed => "imputed",
            Method::Linear => "linear",
            Method::Birdie => "BIRDiE",
            Method::BirdieSeparate => "BIRDiE by place, separate",
            Method::BirdiePartial => "BIRDiE by place, partial pooling",
        }
    }

    /// Returns whether the condition of the estimator holds.
    pub fn is_valid(self, dependence: Dependence) -> bool {
        match self {
            Method::Argmax => false,
            Method::Weighted | Method::Imputed => dependence == Dependence::NameAndPlace,
            Method::Linear | Method::Birdie => dependence == Dependence::Class,
            // Within a class and place, the outcome does not depend on the name.
            Method::BirdieSeparate | Method::BirdiePartial => dependence != Dependence::NameAndPlace,
        }
    }

    fn is_birdie(self) -> bool {
        matches!(self, Method::Birdie | Method::BirdieSeparate | Method::BirdiePartial)
    }

    fn uses_places(self) -> bool {
        matches!(self, Method::BirdieSeparate | Method::BirdiePartial)
    }
}

/// The errors of an estimator over many files.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    /// For each class and then each gap.
    figures: [FigureErrors; FIGURES],
}

/// The errors of one figure over many files.
#[derive(Clone, Copy, Debug, Default)]
struct FigureErrors {
    files: u64,
    covered: u64,
    sum: f64,
    squares: f64,
    reported: f64,
}

impl Errors {
    fn add(&mut self, estimate: &Estimate, truth: &[f64; K]) {
        let found = |index: usize| -> Option<(f64, f64, f64, apportion::audit::Interval)> {
            if index < K {
                let own = estimate.classes[index]?;
                return Some((own.estimate?, truth[index], own.error?, own.interval?));
            }
            let (class, against) = GAPS[index - K];
            let own = estimate.gap(class, against)?;
            Some((own.difference?, truth[class] - truth[against], own.error?, own.interval?))
        };
        for (index, sums) in self.figures.iter_mut().enumerate() {
            let Some((value, truth, error, interval)) = found(index) else { continue };
            sums.files += 1;
            sums.covered += u64::from((interval.low..=interval.high).contains(&truth));
            sums.sum += value - truth;
            sums.squares += (value - truth).powi(2);
            sums.reported += error;
        }
    }

    fn merge(&mut self, other: &Errors) {
        for (sums, more) in self.figures.iter_mut().zip(&other.figures) {
            sums.files += more.files;
            sums.covered += more.covered;
            sums.sum += more.sum;
            sums.squares += more.squares;
            sums.reported += more.reported;
        }
    }

    /// Returns the mean error of a class.
    pub fn bias(&self, class: usize) -> f64 {
        self.figures[class].sum / self.figures[class].files as f64
    }

    /// Returns the share of intervals with the truth: of a class, or beyond the classes of a gap.
    pub fn coverage(&self, index: usize) -> f64 {
        self.figures[index].covered as f64 / self.figures[index].files as f64
    }

    /// Returns the number of files with an estimate.
    pub fn files(&self, index: usize) -> u64 {
        self.figures[index].files
    }

    fn json(&self) -> Value {
        let one = |own: &FigureErrors| {
            let files = own.files as f64;
            let bias = own.sum / files;
            let deviation = (own.squares / files - bias * bias).max(0.0).sqrt();
            json!({
                "files": own.files,
                "bias": bias,
                "standard_deviation": deviation,
                "mean_standard_error": own.reported / files,
                "coverage": own.covered as f64 / files,
            })
        };
        Value::from(self.figures.iter().map(one).collect::<Vec<_>>())
    }
}

/// Simulates files and returns the errors of a method, with the mean bias of the weighted estimate by its formula.
///
/// # Errors
/// If an estimator refuses a file.
pub fn simulate(
    method: Method,
    dependence: Dependence,
    places: usize,
    files: std::ops::Range<u64>,
    replicates: u32,
) -> apportion::Result<(Errors, [f64; K])> {
    let number = (files.end - files.start).max(1) as f64;
    let none = || (Errors::default(), [0.0; K]);
    // In fixed chunks, so that sums of doubles do not depend on the threads.
    let chunks: Vec<(Errors, [f64; K])> = files
        .collect::<Vec<_>>()
        .par_chunks(8)
        .map(|files| {
            let (mut errors, mut formula) = none();
            for &file in files {
                let mut draw = Draw::from_seed(apportion::seed::hash(file, places as u64, dependence as u64));
                let population = Population::draw(&mut draw, dependence, places);
                let truth = population.truth();
                let estimate = estimate(method, &population, &mut draw, file, replicates)?;
                errors.add(&estimate, &truth);
                formula.iter_mut().zip(population.weighted_bias()).for_each(|(sum, bias)| *sum += bias / number);
            }
            Ok((errors, formula))
        })
        .collect::<apportion::Result<_>>()?;
    Ok(chunks.iter().fold(none(), |(mut errors, mut formula), (more, own)| {
        errors.merge(more);
        formula.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        (errors, formula)
    }))
}

/// Draws a file and estimates the share of the outcome in each class.
fn estimate(
    method: Method,
    population: &Population,
    draw: &mut Draw<'_>,
    seed: u64,
    replicates: u32,
) -> apportion::Result<Estimate> {
    let (classes, levels) = (Classes::new(CLASSES)?, ["no".to_owned(), "yes".to_owned()]);
    let file = population.file(draw, PEOPLE);
    let (scores, outcomes) = (file.scores(&classes, method.uses_places())?, file.outcomes(&levels)?);
    let birdie = |pooling: Pooling| {
        let options = BirdieOptions { pooling, seed, replicates, ..BirdieOptions::default() };
        Ok::<_, apportion::Error>(Birdie::fit(&scores, &outcomes, &options)?.estimates().to_vec())
    };
    let mut estimates = match method {
        Method::Argmax => {
            let labels = Rule::Argmax.label(&scores, &Settings::default())?.labels;
            LabelEstimator::of(&scores, &outcomes, &labels)?.estimates()
        }
        Method::Weighted => Weighted::of(&scores, &outcomes)?.estimates(),
        Method::Imputed => Imputed::of(&scores, &outcomes, IMPUTATIONS, seed)?.estimates(),
        Method::Linear => Linear::of(&scores, &outcomes)?.estimates(),
        Method::Birdie | Method::BirdieSeparate => birdie(Pooling::None)?,
        Method::BirdiePartial => birdie(Pooling::Partial)?,
    };
    Ok(estimates.remove(0))
}

/// Simulates all dependences, numbers of places and methods, and returns the results as JSON. BIRDiE, which takes much longer than
/// the other methods, has a number of files of its own.
///
/// # Errors
/// If an estimator refuses a file.
pub fn run(files: u64, birdie_files: u64, mut progress: impl FnMut(&str)) -> apportion::Result<Value> {
    let mut cases = Vec::new();
    for dependence in Dependence::ALL {
        for places in PLACES {
            for method in Method::ALL.into_iter().filter(|method| places > 1 || !method.uses_places()) {
                let files = if method.is_birdie() { birdie_files } else { files };
                progress(&format!("outcome by {}, {places} places: {}", dependence.name(), method.name()));
                let replicates = BirdieOptions::default().replicates;
                let (errors, formula) = simulate(method, dependence, places, 0..files, replicates)?;
                cases.push(json!({
                    "outcome_depends_on": dependence.name(),
                    "places": places,
                    "method": method.name(),
                    "condition_holds": method.is_valid(dependence),
                    "figures": errors.json(),
                    "weighted_bias_by_formula": if method == Method::Weighted { json!(formula) } else { Value::Null },
                }));
            }
        }
    }
    Ok(json!({ "people": PEOPLE, "classes": CLASSES, "cases": cases }))
}
