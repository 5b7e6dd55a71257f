//! Outcomes by class, with scores updated by the outcomes (BIRDiE, McCartan et al. 2023).
//!
//! It is unbiased if, within a class (and group, if any), the outcome is independent of the predictors of the scores:
//! the name and, without groups, the place. The shares θ_{y|r,x} of level y in class r and group x maximize a posterior
//! density and are found by EM: with p_ir ∝ θ_{Y_i|r,x_i} q_ir, the shares are updated from Σ_{i∈x, Y_i=y} w_i p_ir, the
//! people of class r with level y in group x, and a weak prior at the weighted estimate. The estimate over all groups
//! is Σ_{Y_i=y} w_i p_ir / Σ_i w_i p_ir, without the prior. Weights w are relative to their mean; without weights they are 1.
//!
//! For numbers, θ_{Y|r,x} is a normal density with a mean by class and group and a variance by class, and the estimate is
//! Σ_i w_i p_ir Y_i / Σ_i w_i p_ir. It is unbiased only if outcomes within a class are about normal: unlike the others, it
//! is not robust to skewed outcomes or outliers, because the shape of the distribution also tells classes apart.
//!
//! With many small groups, separate shares for each group are biased toward the weighted estimate, because p itself
//! depends on the prior. Partial pooling estimates how much groups differ, and shrinks small groups to the others. A
//! person's own outcome is removed from the distribution that updates the person's scores. Each class is pooled or not:
//! given p, the classes do not depend on each other.
//!
//! Standard errors come from a bootstrap of people. With partial pooling, each replicate also draws the prior means of
//! the groups, so that the errors include what the outcomes do not tell about the groups: without that, shrinking would
//! make them too small.
//!
//! The sums of p are on the grid and do not depend on the row order.
//!
//! | file | purpose |
//! |---|---|
//! | `rows` | passes over the rows |
//! | `model` | what EM needs to know about a model |
//! | `levels`, `numbers` | the models: shares of levels, and normal distributions of numbers |
//! | `em` | EM with accelerated steps |
//! | `bootstrap` | standard errors |

mod bootstrap;
mod em;
mod levels;
mod model;
mod numbers;
mod rows;

use std::ops::Range;

use super::figures::{Estimate, Mean};
use super::outcomes::Outcomes;
use crate::error::{Error, Result};
use crate::kernel::{GRID, Grid};
use crate::scores::{Scores, expect_length};
use bootstrap::Resampled;
use em::{Found, climb};
use levels::{Levels, Shares};
use model::{Likelihood, Model, Unchanged};
use numbers::{Normals, Numbers};
use rows::{MOMENTS, Rows, Shape, Source, Standard, Sums};

/// With fewer identified people of a class per group, on average, the groups of the class are pooled partially by default:
/// see [`Birdie::identified_per_group`].
pub const FEW_PER_GROUP: f64 = 20.0;

/// Rounds of updates of the variances between groups, and the change of a standard deviation at which they end.
const MOST_ROUNDS: usize = 30;
const STEADY: f64 = 2e-3;

/// How groups share information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Partial pooling for each class that has fewer than [`FEW_PER_GROUP`] identified people per group, on average.
    #[default]
    Auto,
    /// Separate estimates for each group.
    None,
    /// Estimates of small groups are shrunk to those of the others.
    Partial,
}

/// Settings of EM and of the bootstrap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BirdieOptions {
    /// EM stops when no share (or mean, in standard deviations) changes by more than this; in bootstrap replicates, by more than 1e-5.
    pub tolerance: f64,
    /// Maximum number of passes of EM.
    pub most_passes: u32,
    /// Number of bootstrap replicates for standard errors; 0 for no standard errors.
    pub replicates: u32,
    /// Maximum number of different rows (by scores, group and outcome) of the bootstrap. If there are more, about as
    /// many rows are drawn by seed and key, and the errors are scaled to all rows.
    pub bootstrap_rows: usize,
    /// How groups share information.
    pub pooling: Pooling,
    /// The seed of the bootstrap.
    pub seed: u64,
}

impl Default for BirdieOptions {
    fn default() -> BirdieOptions {
        BirdieOptions {
            tolerance: 1e-6,
            most_passes: 1000,
            replicates: 50,
            bootstrap_rows: 100_000,
            pooling: Pooling::Auto,
            seed: 0,
        }
    }
}

/// The result of EM: the share of every level in each class, or its mean, by group if the table has groups.
#[derive(Clone, Debug)]
pub struct Birdie {
    shape: Shape,
    standard: Standard,
    own: Own,
    /// The variances between groups by level and class; empty if no class is pooled.
    variances: Vec<f64>,
    pooled: Vec<bool>,
    /// Number of passes of EM.
    pub passes: u32,
    /// Whether EM converged.
    pub converged: bool,
    /// Number of rows of the bootstrap.
    pub bootstrap_rows: usize,
    /// Whether the bootstrap is of a sample of the rows.
    pub is_sampled: bool,
    /// Number of groups with known outcomes; 1 without groups.
    pub groups: usize,
    /// Expected people of each class per group, on average. With weights, people of the mean weight.
    pub people_per_group: Vec<f64>,
    /// The part of them that the scores identify: Σ q² of each class per group, on average. Outcomes tell about as much
    /// about a class as those of so many people of known class.
    pub identified_per_group: Vec<f64>,
    estimates: Vec<Estimate>,
}

/// The distribution of outcomes.
#[derive(Clone, Debug)]
enum Own {
    Levels(Shares),
    Numbers(Normals),
}

impl Birdie {
    /// Fits to all rows with known outcomes, by group if the table has groups.
    pub fn fit(scores: &Scores<'_>, outcomes: &Outcomes<'_>, options: &BirdieOptions) -> Result<Birdie> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        options.check()?;
        let are_numbers = outcomes.are_numbers();
        let shape = Shape {
            classes: scores.classes().len(),
            levels: if are_numbers { MOMENTS } else { outcomes.measure().levels() },
            groups: scores.groups().map_or(1, |groups| groups.names.len()),
            are_numbers,
        };
        let standard = Standard::of(scores, outcomes);
        let source = Source::new(&shape, scores, outcomes, standard);
        let rows = Rows::of(&shape, source)?;
        let unchanged = rows.pass(&shape, &Unchanged, Sums::with_squares)?;
        let present: Vec<bool> =
            unchanged.people.chunks_exact(shape.stride()).map(|own| own.iter().any(|&people| people > 0)).collect();
        let groups = present.iter().filter(|present| **present).count();
        let people_per_group = per_group(&shape, &unchanged, groups);
        let identified_per_group = identified(&unchanged, groups);
        let is_pooled = |&people: &f64| match options.pooling {
            Pooling::Auto => groups > 1 && people > 0.0 && people < FEW_PER_GROUP,
            Pooling::None => false,
            Pooling::Partial => groups > 1,
        };
        let pooled: Vec<bool> = identified_per_group.iter().map(is_pooled).collect();
        let fit = Fit { source, rows, unchanged, present, options };
        let birdie = Birdie {
            shape,
            standard,
            own: Own::Levels(Shares::default()),
            variances: Vec::new(),
            pooled: pooled.clone(),
            passes: 0,
            converged: false,
            bootstrap_rows: 0,
            is_sampled: false,
            groups,
            people_per_group,
            identified_per_group,
            estimates: Vec::new(),
        };
        if are_numbers {
            let mut model = Numbers::new(shape, &fit.unchanged, pooled);
            let (own, birdie) = fit.run(&mut model, birdie)?;
            return Ok(Birdie { own: Own::Numbers(own), variances: model.variances, ..birdie });
        }
        let mut model = Levels::new(shape, &fit.unchanged, pooled);
        let (own, birdie) = fit.run(&mut model, birdie)?;
        Ok(Birdie { own: Own::Levels(own), variances: model.variances, ..birdie })
    }

    /// Returns whether the groups of any class are pooled partially.
    pub fn is_pooled(&self) -> bool {
        self.pooled.contains(&true)
    }

    /// Returns for each class whether its groups are pooled partially.
    pub fn pooled(&self) -> &[bool] {
        &self.pooled
    }

    /// Returns the standard deviation between groups of the logit of a level (relative to the first) in a class, or of the
    /// mean (level 0). `None` for the first of several levels, and if the groups of the class are not pooled.
    pub fn spread(&self, level: usize, class: usize) -> Option<f64> {
        if !self.pooled[class] {
            return None;
        }
        match &self.own {
            Own::Levels(_) if level == 0 => None,
            Own::Levels(_) => Some(self.variances[level * self.shape.classes + class].sqrt()),
            Own::Numbers(_) => Some(self.standard.scale * self.variances[class].sqrt()),
        }
    }

    /// Returns the standard deviation of the outcome within a class (and group), for numbers.
    pub fn deviation(&self, class: usize) -> Option<f64> {
        match &self.own {
            Own::Levels(_) => None,
            Own::Numbers(own) => Some(self.standard.scale * own.variances[class].sqrt()),
        }
    }

    /// Returns the share of each requested level in each class, or the mean, over all groups.
    pub fn estimates(&self) -> &[Estimate] {
        &self.estimates
    }

    /// Returns the share of a level in a class of a group, or the mean (for level 0); group 0 without groups.
    pub fn share(&self, group: usize, level: usize, class: usize) -> f64 {
        let k = self.shape.classes;
        match &self.own {
            Own::Levels(own) => own.values[(group * self.shape.levels + level) * k + class],
            Own::Numbers(own) => {
                let Standard { about, center, scale, .. } = self.standard;
                about + (center + scale * own.means[group * k + class])
            }
        }
    }

    /// Passes the scores updated by the outcomes to `each`, row by row, for example to label them. Scores with
    /// unknown outcomes are unchanged. The rows are those of the fit, or others with the same classes, levels and
    /// groups.
    pub fn updated(
        &self,
        scores: &Scores<'_>,
        outcomes: &Outcomes<'_>,
        each: impl FnMut(usize, &[f64]) -> Result<()>,
    ) -> Result<()> {
        self.updated_rows(scores, outcomes, 0..scores.rows(), each)
    }

    /// Passes the updated scores of some rows to `each`: see [`updated`](Birdie::updated).
    pub fn updated_rows(
        &self,
        scores: &Scores<'_>,
        outcomes: &Outcomes<'_>,
        rows: Range<usize>,
        mut each: impl FnMut(usize, &[f64]) -> Result<()>,
    ) -> Result<()> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        expect_length("the list of classes", scores.classes().len(), self.shape.classes)?;
        expect_length("the list of groups", scores.groups().map_or(1, |own| own.names.len()), self.shape.groups)?;
        let levels = if outcomes.are_numbers() { MOMENTS } else { outcomes.measure().levels() };
        expect_length("the list of levels", levels, self.shape.levels)?;
        if outcomes.are_numbers() != self.shape.are_numbers {
            return Err(Error::Tally { what: "outcomes" });
        }
        let source = Source::new(&self.shape, scores, outcomes, self.standard);
        let (mut own, mut buffer) = (vec![0.0; self.shape.classes], vec![0.0; self.shape.classes]);
        scores.read_rows(rows, |index, row| {
            own.iter_mut().zip(&*row).for_each(|(own, &units)| *own = GRID.value(units));
            match source.at(index) {
                Some(observed) => {
                    let row = observed.row(&own, 1);
                    match &self.own {
                        Own::Levels(shares) => shares.update(&row, &mut buffer),
                        Own::Numbers(normals) => normals.update(&row, &mut buffer),
                    }
                    each(index, &buffer)
                }
                None => each(index, &own),
            }
        })
    }
}

/// What a fit starts from.
struct Fit<'a> {
    source: Source<'a>,
    rows: Rows<'a>,
    unchanged: Sums,
    /// Whether a group has people.
    present: Vec<bool>,
    options: &'a BirdieOptions,
}

impl Fit<'_> {
    /// Fits a model, and completes the result with its estimates and errors. Returns the distribution of outcomes.
    fn run<M: Model>(&self, model: &mut M, birdie: Birdie) -> Result<(M::Own, Birdie)> {
        let (shape, measure) = (birdie.shape, self.source.outcomes.measure());
        let found = self.climb(model)?;
        let own = model.likelihood(&found.parameters);
        let sums = self.rows.pass(&shape, &own, Sums::with_squares)?;
        let resampled = Resampled::of(model, self.source, &self.rows, &found.parameters, self.options)?;
        let all = shape.overall(&sums.people);
        let (people, overall) = (shape.people(&all), model.estimates(&all));
        let Standard { center, scale, .. } = birdie.standard;
        let mean = |level: usize, class: usize| {
            let (all, own) = (people[class] as f64, overall[level * shape.classes + class]);
            let value = if shape.are_numbers { center + scale * own } else { own };
            (all > 0.0).then(|| Mean::new(value, all * all / sums.squares[class] as f64))
        };
        let unit = if shape.are_numbers { scale * scale } else { 1.0 };
        let estimate = |level: usize| {
            let means: Vec<Option<Mean>> = (0..shape.classes).map(|class| mean(level, class)).collect();
            let index = |class: usize| level * shape.classes + class;
            Estimate::of(&measure, &means, |a, b| Some(resampled.covariance(index(a), index(b))? * unit))
        };
        let birdie = Birdie {
            passes: found.passes,
            converged: found.converged,
            bootstrap_rows: resampled.rows,
            is_sampled: resampled.is_sampled,
            estimates: measure.shown().map(estimate).collect(),
            ..birdie
        };
        Ok((own, birdie))
    }

    /// Finds the parameters by EM and, for partial pooling, the variances between groups.
    fn climb<M: Model>(&self, model: &mut M) -> Result<Found> {
        let shape = *model.shape();
        let pass = |own: &M::Own| self.rows.pass(&shape, own, Sums::new);
        let is_pooled = model.is_pooled();
        let mut found = Found { parameters: model.start(&self.unchanged), passes: 0, converged: !is_pooled };
        if is_pooled {
            let rough = BirdieOptions { tolerance: self.options.tolerance.max(1e-4), ..*self.options };
            for _ in 0..MOST_ROUNDS {
                let next = climb(model, found.parameters, &rough, pass)?;
                let converged = model.update_variances(&next.parameters, &self.rows, &self.present)? <= STEADY;
                found = Found { passes: found.passes + next.passes, converged, ..next };
                if converged {
                    break;
                }
            }
        }
        let last = climb(model, found.parameters, self.options, pass)?;
        Ok(Found { passes: found.passes + last.passes, converged: found.converged && last.converged, ..last })
    }
}

impl BirdieOptions {
    fn check(&self) -> Result<()> {
        let refuse = |what: &str, value: f64, range| Err(Error::Parameter { what: what.to_owned(), value, range });
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return refuse("the tolerance of EM", self.tolerance, "above 0 and below 1");
        }
        if self.most_passes == 0 {
            return refuse("the number of passes of EM", 0.0, "1 or more");
        }
        if self.replicates == 1 || self.replicates > 10_000 {
            return refuse("the number of bootstrap replicates", f64::from(self.replicates), "0, or from 2 to 10000");
        }
        Ok(())
    }
}

/// Returns the expected people of each class per group.
fn per_group(shape: &Shape, unchanged: &Sums, groups: usize) -> Vec<f64> {
    let people = shape.people(&shape.overall(&unchanged.people));
    people.into_iter().map(|people| GRID.total(people) / groups.max(1) as f64).collect()
}

/// Returns the people of each class per group that the scores identify: Σ w q².
fn identified(unchanged: &Sums, groups: usize) -> Vec<f64> {
    let people = |&sum: &i128| GRID.total(sum) / Grid::UNIT as f64 / groups.max(1) as f64;
    unchanged.identified.iter().map(people).collect()
}
