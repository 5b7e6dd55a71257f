//! Outcomes by class, with scores updated by the outcomes (BIRDiE, McCartan et al. 2023).
//!
//! It is unbiased if, within a class (and group, if any), the outcome is independent of the predictors of the scores:
//! the name and, without groups, the place. The shares θ_{y|r,x} of level y in class r and group x maximize a posterior
//! density and are found by EM: with p_ir ∝ θ_{Y_i|r,x_i} q_ir, the shares are updated from Σ_{i∈x, Y_i=y} p_ir, the
//! people of class r with level y in group x, and a weak prior at the weighted estimate. The estimate over all groups
//! is Σ_{Y_i=y} p_ir / Σ_i p_ir, without the prior.
//!
//! With many small groups, separate shares for each group are biased toward the weighted estimate, because p itself
//! depends on the prior. Partial pooling estimates how much groups differ, and shrinks small groups to the others. A
//! person's own outcome is removed from the shares that update the person's scores.
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
//! | `model` | separate and partially pooled groups |
//! | `em` | EM with accelerated steps |
//! | `bootstrap` | standard errors |

mod bootstrap;
mod em;
mod model;
mod rows;

use super::figures::{Estimate, Mean};
use super::outcomes::{Measure, Outcomes};
use crate::error::{Error, Result};
use crate::kernel::GRID;
use crate::scores::{Scores, expect_length};
use bootstrap::Resampled;
use em::{Found, climb};
use model::{Model, PRIOR_VARIANCE};
use rows::{Rows, Shape, Shares, Sums};

/// With fewer expected people of a class per group, on average, groups are pooled partially by default.
pub const FEW_PER_GROUP: f64 = 20.0;

/// Rounds of updates of the variances between groups, and the change of a standard deviation at which they end.
const MOST_ROUNDS: usize = 30;
const STEADY: f64 = 2e-3;

/// How groups share information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Partial pooling if a class has fewer than [`FEW_PER_GROUP`] expected people per group, on average.
    #[default]
    Auto,
    /// Separate shares for each group.
    None,
    /// Shares of small groups are shrunk to those of the others.
    Partial,
}

/// Settings of EM and of the bootstrap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BirdieOptions {
    /// EM stops when no share changes by more than this; in bootstrap replicates, by more than 1e-5.
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

/// The result of EM: the share of every level in each class, by group if the table has groups.
#[derive(Clone, Debug)]
pub struct Birdie {
    shape: Shape,
    shares: Shares,
    variances: Option<Vec<f64>>,
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
    /// Expected people of each class per group, on average.
    pub people_per_group: Vec<f64>,
    estimates: Vec<Estimate>,
}

impl Birdie {
    /// Fits shares to all rows with known outcomes, by group if the table has groups. Outcomes must be levels.
    pub fn fit(scores: &Scores<'_>, outcomes: &Outcomes<'_>, options: &BirdieOptions) -> Result<Birdie> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        let measure = outcomes.measure();
        let Measure::Shares { levels, .. } = measure else {
            let why = "it estimates shares of levels; choose a value with `counting`, or group the numbers";
            return Err(Error::Incompatible { one: "BIRDiE", other: "an outcome of numbers", why });
        };
        options.check()?;
        let groups = scores.groups().map_or(1, |groups| groups.names.len());
        let shape = Shape { classes: scores.classes().len(), levels, groups };
        let rows = Rows::of(&shape, scores, outcomes)?;
        let unchanged = rows.pass(&shape, &Shares::uniform(&shape), Sums::new)?;
        let present: Vec<bool> =
            unchanged.people.chunks_exact(shape.stride()).map(|own| own.iter().any(|&people| people > 0)).collect();
        let number = present.iter().filter(|present| **present).count();
        let people_per_group = per_group(&shape, &unchanged, number);
        let is_partial = match options.pooling {
            Pooling::Auto => people_per_group.iter().any(|&people| people > 0.0 && people < FEW_PER_GROUP),
            Pooling::None => false,
            Pooling::Partial => true,
        };
        let variances = (is_partial && number > 1).then(|| vec![PRIOR_VARIANCE; shape.stride()]);
        let mut model =
            Model { shape, prior: prior_of(&shape, &unchanged), variances, centers: None, errors: Vec::new() };
        let found = fit(&mut model, &rows, &unchanged, &present, options)?;
        let shares = model.shares(&found.parameters);
        let sums = rows.pass(&shape, &shares, Sums::with_squares)?;
        let resampled = Resampled::of(&model, scores, outcomes, &rows, &found.parameters, options)?;
        let people = shape.overall(&sums.people);
        let overall = shape.shares_of(&people);
        let mean = |level: usize, class: usize| {
            let all = people.iter().skip(class).step_by(shape.classes).sum::<i128>() as f64;
            let share = overall[level * shape.classes + class];
            (all > 0.0).then(|| Mean::new(share, all * all / sums.squares[class] as f64))
        };
        let estimate = |level: usize| {
            let means: Vec<Option<Mean>> = (0..shape.classes).map(|class| mean(level, class)).collect();
            let index = |class: usize| level * shape.classes + class;
            Estimate::of(&measure, &means, |a, b| resampled.covariance(index(a), index(b)))
        };
        Ok(Birdie {
            shape,
            shares,
            variances: model.variances,
            passes: found.passes,
            converged: found.converged,
            bootstrap_rows: resampled.rows,
            is_sampled: resampled.is_sampled,
            groups: number,
            people_per_group,
            estimates: measure.shown().map(estimate).collect(),
        })
    }

    /// Returns whether groups are pooled partially.
    pub fn is_pooled(&self) -> bool {
        self.variances.is_some()
    }

    /// Returns the standard deviation between groups of the logit of a level (relative to the first) in a class; `None`
    /// for the first level, and if groups are not pooled.
    pub fn spread(&self, level: usize, class: usize) -> Option<f64> {
        self.variances.as_ref().filter(|_| level > 0).map(|own| own[level * self.shape.classes + class].sqrt())
    }

    /// Returns the share of each requested level in each class, over all groups.
    pub fn estimates(&self) -> &[Estimate] {
        &self.estimates
    }

    /// Returns the share of a level in a class of a group; group 0 without groups.
    pub fn share(&self, group: usize, level: usize, class: usize) -> f64 {
        self.shares.values[(group * self.shape.levels + level) * self.shape.classes + class]
    }

    /// Passes the scores updated by the outcomes to `each`, row by row, for example to label them. Scores with
    /// unknown outcomes are unchanged. The rows are those of the fit, or others with the same classes, levels and
    /// groups.
    pub fn updated(
        &self,
        scores: &Scores<'_>,
        outcomes: &Outcomes<'_>,
        mut each: impl FnMut(usize, &[f64]) -> Result<()>,
    ) -> Result<()> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        expect_length("the list of classes", scores.classes().len(), self.shape.classes)?;
        expect_length("the list of levels", outcomes.measure().levels(), self.shape.levels)?;
        expect_length("the list of groups", scores.groups().map_or(1, |own| own.names.len()), self.shape.groups)?;
        let (mut own, mut buffer) = (vec![0.0; self.shape.classes], vec![0.0; self.shape.classes]);
        scores.read_rows(0..scores.rows(), |index, row| {
            own.iter_mut().zip(&*row).for_each(|(own, &units)| *own = GRID.value(units));
            match self.shape.cell(scores, outcomes, index) {
                Some(cell) => {
                    self.shares.update(cell, &own, &mut buffer);
                    each(index, &buffer)
                }
                None => each(index, &own),
            }
        })
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

/// Fits a model: EM and, for partial pooling, the variances between groups.
fn fit(
    model: &mut Model,
    rows: &Rows<'_>,
    unchanged: &Sums,
    present: &[bool],
    options: &BirdieOptions,
) -> Result<Found> {
    let shape = model.shape;
    let pass = |shares: &Shares| rows.pass(&shape, shares, Sums::new);
    let mut found = Found { parameters: model.start(unchanged), passes: 0, converged: model.variances.is_none() };
    if model.variances.is_some() {
        let rough = BirdieOptions { tolerance: options.tolerance.max(1e-4), ..*options };
        for _ in 0..MOST_ROUNDS {
            let next = climb(model, found.parameters, &rough, pass)?;
            let converged = model.update_variances(&next.parameters, rows, present)? <= STEADY;
            found = Found { passes: found.passes + next.passes, converged, ..next };
            if converged {
                break;
            }
        }
    }
    let last = climb(model, found.parameters, options, pass)?;
    Ok(Found { passes: found.passes + last.passes, converged: found.converged && last.converged, ..last })
}

/// Returns the weighted estimate from the sums of unchanged scores; uniform for a class without people.
fn prior_of(shape: &Shape, unchanged: &Sums) -> Vec<f64> {
    let shares = shape.shares_of(&shape.overall(&unchanged.people));
    shares.into_iter().map(|share| if share.is_finite() { share } else { 1.0 / shape.levels as f64 }).collect()
}

/// Returns the expected people of each class per group.
fn per_group(shape: &Shape, unchanged: &Sums, groups: usize) -> Vec<f64> {
    let all = shape.overall(&unchanged.people);
    let people = |class: usize| GRID.total(all.iter().skip(class).step_by(shape.classes).sum());
    (0..shape.classes).map(|class| people(class) / groups.max(1) as f64).collect()
}
