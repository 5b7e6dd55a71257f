//! Differences between one class and everyone else, by two estimators that can bracket the truth (Elzayn et al. 2024).
//!
//! Let q be the score of the class, R its indicator, D = E(Y | R = 1) − E(Y | R = 0), and Var(R) = E(q) (1 − E(q)).
//!
//! - weighted: D_P = Cov(Y, q) / Var(R) = D − E[Cov(Y, R | q)] / Var(R)
//! - linear: D_L = Cov(Y, q) / Var(q) = D + E[Cov(Y, q | R)] / Var(q)
//!
//! with calibrated scores. If both expected covariances are positive, D_P ≤ D ≤ D_L; if both are negative, D_L ≤ D ≤ D_P.
//! Among people with known truth, they are estimated by partial covariances: that of Y and R given q by the residuals of
//! regressions on q, and that of Y and q given R by deviations from the means of both groups.

use super::exact::ExactSum;
use super::outcomes::{Measure, Outcomes};
use super::sums::{add_sums, level_ranges, sum_rows};
use crate::audit::{Interval, NORMAL};
use crate::error::{Error, Result};
use crate::kernel::GRID;
use crate::scores::{Classes, Scores, expect_length};

/// Sums of a first pass over the rows. They can be merged and do not depend on the row order.
#[derive(Clone, Debug)]
pub struct BracketSums {
    classes: Classes,
    measure: Measure,
    /// For each range of levels: sums over everyone, then sums over people with known truth.
    ranges: Vec<[Vec<ExactSum>; 2]>,
}

/// Differences between each class and everyone else. The second pass over the rows; it can be merged and does not depend
/// on the row order.
#[derive(Clone, Debug)]
pub struct Bracket {
    sums: BracketSums,
    /// By requested level, then by class.
    moments: Vec<Vec<[Moments; 2]>>,
    /// By requested level, then by class: squared influences on weighted, linear, the two covariances and the truth.
    squares: Vec<ExactSum>,
}

/// The difference between a class and everyone else: the mean outcome of the class minus that of the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BracketEstimate {
    /// The share of the class by its scores.
    pub share: f64,
    /// The difference by the weighted estimator.
    pub weighted: WithError,
    /// The difference by the linear estimator; `None` if everyone has the same score.
    pub linear: Option<WithError>,
    /// The effective sample size of the class or of the others, whichever is smaller: (Σ q)² / Σ q².
    pub effective_n: f64,
    /// The covariances among people with known truth; `None` without people in the class and outside it.
    pub known: Option<KnownCovariances>,
    /// The mean outcome, relative to the offset of the outcomes.
    pub(super) mean: f64,
    /// The variance of the outcome, its covariance with the scores, and the variance of the scores.
    pub(super) outcome_variance: f64,
    pub(super) covariance: f64,
    pub(super) score_variance: f64,
}

/// A number with its sampling error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithError {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Its 95% interval, normal.
    pub interval: Interval,
}

/// What people with known truth show about the two estimators.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownCovariances {
    /// The number of people of the class or of the others, whichever is smaller.
    pub people: f64,
    /// The difference by the truth.
    pub truth: WithError,
    /// E[Cov(Y, R | q)]: positive if people of the class have higher outcomes than others with the same score.
    pub given_score: WithError,
    /// E[Cov(Y, q | R)]: positive if outcomes rise with the score among people of the class and among others.
    pub given_class: WithError,
}

/// The order of the two estimates and the truth that the signs of the covariances imply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BracketOrder {
    /// Both are positive: weighted ≤ truth ≤ linear.
    WeightedFirst,
    /// Both are negative: linear ≤ truth ≤ weighted.
    LinearFirst,
    /// Their signs differ: the truth is not between the estimates.
    Outside,
}

impl WithError {
    fn new(value: f64, error: f64) -> WithError {
        let half = NORMAL * error;
        WithError { value, error, interval: Interval { low: value - half, high: value + half } }
    }

    /// Returns whether the interval excludes zero.
    pub fn excludes_zero(&self) -> bool {
        self.interval.low > 0.0 || self.interval.high < 0.0
    }
}

impl KnownCovariances {
    /// Returns the order that the signs of the covariances imply.
    pub fn order(&self) -> BracketOrder {
        match (self.given_score.value >= 0.0, self.given_class.value >= 0.0) {
            (true, true) => BracketOrder::WeightedFirst,
            (false, false) => BracketOrder::LinearFirst,
            (true, false) | (false, true) => BracketOrder::Outside,
        }
    }

    /// Returns whether the intervals of both covariances exclude zero, so that the order is not due to chance.
    pub fn is_clear(&self) -> bool {
        self.given_score.excludes_zero() && self.given_class.excludes_zero()
    }
}

/// Sums of a class over everyone, or over people with known truth.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moments {
    /// Σ w and the number of people with a weight above 0.
    weight: f64,
    people: f64,
    /// Means of the score, its square, the indicator and its product with the score.
    score: f64,
    score_square: f64,
    class: f64,
    class_score: f64,
    /// Means of the outcome, its square, and its products with the score and with the indicator.
    outcome: f64,
    outcome_square: f64,
    outcome_score: f64,
    outcome_class: f64,
    /// Σ w² q² and Σ w² (1 − q)².
    own_squares: f64,
    other_squares: f64,
    /// The number of people known to be of the class.
    members: f64,
}

impl Moments {
    fn score_variance(&self) -> f64 {
        // Scores that are all equal have a variance of rounding errors.
        let variance = self.score_square - self.score * self.score;
        if variance > 1e-14 * self.score_square { variance } else { 0.0 }
    }

    fn covariance(&self) -> f64 {
        self.outcome_score - self.outcome * self.score
    }

    /// Returns the slope of the regression of the outcome on the score.
    fn slope(&self) -> f64 {
        let variance = self.score_variance();
        if variance > 0.0 { self.covariance() / variance } else { 0.0 }
    }

    /// Returns the slope of the regression of the indicator on the score.
    fn class_slope(&self) -> f64 {
        let variance = self.score_variance();
        if variance > 0.0 { (self.class_score - self.class * self.score) / variance } else { 0.0 }
    }

    /// Returns the means of the outcome of people with the class and of others, weighted by scores.
    fn by_score(&self) -> [f64; 2] {
        [self.outcome_score / self.score, (self.outcome - self.outcome_score) / (1.0 - self.score)]
    }

    /// Returns the means of the outcome and of the score among people of the class, then among others.
    fn by_class(&self) -> [[f64; 2]; 2] {
        let (own, other) = (self.class, 1.0 - self.class);
        [
            [self.outcome_class / own, self.class_score / own],
            [(self.outcome - self.outcome_class) / other, (self.score - self.class_score) / other],
        ]
    }
}

/// Sums of each class, sums of each level, and sums of each class and level.
const OF_CLASS: usize = 7;
const OF_LEVEL: usize = 2;
const OF_BOTH: usize = 2;
/// Sums that are the same for all: Σ w and the number of people.
const OF_ALL: usize = 2;
/// Squared influences of each class and level.
const INFLUENCES: usize = 5;

impl BracketSums {
    /// Sums over the rows of one batch.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn of(scores: &Scores<'_>, outcomes: &Outcomes<'_>) -> Result<BracketSums> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        let (classes, measure) = (scores.classes().clone(), outcomes.measure());
        let k = classes.len();
        let mut ranges = Vec::new();
        for levels in level_ranges(measure.shown(), 2 * (OF_LEVEL + OF_BOTH * k)) {
            let width = OF_ALL + OF_CLASS * k + levels.len() * (OF_LEVEL + OF_BOTH * k);
            let mut sums = sum_rows(scores, 2 * width, |terms, index, row, truth| {
                let Some(value) = outcomes.at(index) else { return };
                let weight = outcomes.weight(index);
                let (everyone, known) = terms.split_at_mut(width);
                everyone[0] = weight;
                let is_counted = f64::from(u8::from(weight > 0.0));
                everyone[1] = is_counted;
                let (by_class, by_level) = everyone[OF_ALL..].split_at_mut(OF_CLASS * k);
                for (class, (&score, terms)) in row.iter().zip(by_class.chunks_exact_mut(OF_CLASS)).enumerate() {
                    let (q, own) = (GRID.value(score), f64::from(u8::from(truth == Some(class))));
                    let squares = [weight * weight * q * q, weight * weight * (1.0 - q) * (1.0 - q)];
                    terms.copy_from_slice(&[
                        weight * q,
                        weight * q * q,
                        weight * own,
                        weight * own * q,
                        squares[0],
                        squares[1],
                        own * is_counted,
                    ]);
                }
                for (level, terms) in levels.clone().zip(by_level.chunks_exact_mut(OF_LEVEL + OF_BOTH * k)) {
                    let y = value.at(level);
                    terms[0] = weight * y;
                    terms[1] = weight * y * y;
                    for (class, (&score, terms)) in
                        row.iter().zip(terms[OF_LEVEL..].chunks_exact_mut(OF_BOTH)).enumerate()
                    {
                        terms[0] = weight * y * GRID.value(score);
                        terms[1] = if truth == Some(class) { weight * y } else { 0.0 };
                    }
                }
                if truth.is_some() {
                    known.copy_from_slice(everyone);
                }
            })?;
            let known = sums.split_off(width);
            ranges.push([sums, known]);
        }
        Ok(BracketSums { classes, measure, ranges })
    }

    /// Adds the sums of other rows, with the same classes and the same kind of outcome.
    ///
    /// # Errors
    /// If these differ.
    pub fn merge(&mut self, other: &BracketSums) -> Result<()> {
        if self.classes != other.classes {
            return Err(Error::Tally { what: "classes" });
        }
        self.measure.check_same(&other.measure)?;
        for (sums, more) in self.ranges.iter_mut().zip(&other.ranges) {
            sums.iter_mut().zip(more).for_each(|(sums, more)| add_sums(sums, more));
        }
        Ok(())
    }

    fn values(&self) -> Vec<f64> {
        self.ranges.iter().flatten().flatten().map(ExactSum::value).collect()
    }

    /// Returns the moments of each requested level and class, over everyone and over people with known truth.
    fn moments(&self) -> Vec<Vec<[Moments; 2]>> {
        let k = self.classes.len();
        let mut all = Vec::new();
        for (levels, parts) in level_ranges(self.measure.shown(), 2 * (OF_LEVEL + OF_BOTH * k)).zip(&self.ranges) {
            let parts = parts.each_ref().map(|sums| sums.iter().map(ExactSum::value).collect::<Vec<f64>>());
            for level in 0..levels.len() {
                let of = |sums: &[f64], class: usize| {
                    let of_class = &sums[OF_ALL + OF_CLASS * class..][..OF_CLASS];
                    let of_level = &sums[OF_ALL + OF_CLASS * k + level * (OF_LEVEL + OF_BOTH * k)..];
                    let of_both = &of_level[OF_LEVEL + OF_BOTH * class..];
                    let weight = sums[0];
                    Moments {
                        weight,
                        people: sums[1],
                        score: of_class[0] / weight,
                        score_square: of_class[1] / weight,
                        class: of_class[2] / weight,
                        class_score: of_class[3] / weight,
                        own_squares: of_class[4],
                        other_squares: of_class[5],
                        members: of_class[6],
                        outcome: of_level[0] / weight,
                        outcome_square: of_level[1] / weight,
                        outcome_score: of_both[0] / weight,
                        outcome_class: of_both[1] / weight,
                    }
                };
                all.push((0..k).map(|class| [of(&parts[0], class), of(&parts[1], class)]).collect());
            }
        }
        all
    }
}

impl Bracket {
    /// Compares each class with everyone else, in two passes over the rows.
    ///
    /// # Errors
    /// If a row is invalid.
    pub fn of(scores: &Scores<'_>, outcomes: &Outcomes<'_>) -> Result<Bracket> {
        Bracket::with(&BracketSums::of(scores, outcomes)?, scores, outcomes)
    }

    /// Sums over the rows of one batch, with the means of all batches. `whole` contains all batches.
    ///
    /// # Errors
    /// If the batch has other classes or outcomes than the whole, or a row is invalid.
    pub fn with(whole: &BracketSums, scores: &Scores<'_>, outcomes: &Outcomes<'_>) -> Result<Bracket> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        let (classes, measure) = (scores.classes(), outcomes.measure());
        if whole.classes != *classes {
            return Err(Error::Tally { what: "classes" });
        }
        whole.measure.check_same(&measure)?;
        let (k, first, moments) = (classes.len(), measure.shown().start, whole.moments());
        let mut squares = Vec::with_capacity(moments.len() * k * INFLUENCES);
        for levels in level_ranges(measure.shown(), k * INFLUENCES) {
            let part = sum_rows(scores, levels.len() * k * INFLUENCES, |terms, index, row, truth| {
                let Some(value) = outcomes.at(index) else { return };
                let weight = outcomes.weight(index);
                for (level, terms) in levels.clone().zip(terms.chunks_exact_mut(k * INFLUENCES)) {
                    let y = value.at(level);
                    for (class, terms) in terms.chunks_exact_mut(INFLUENCES).enumerate() {
                        let [everyone, known] = &moments[level - first][class];
                        let q = GRID.value(row[class]);
                        let known = truth.map(|truth| (known, truth == class));
                        terms.copy_from_slice(&influences(everyone, known, q, y).map(|own| (weight * own).powi(2)));
                        // Classes without people have no finite influences.
                        terms.iter_mut().filter(|own| !own.is_finite()).for_each(|own| *own = 0.0);
                    }
                }
            })?;
            squares.extend(part);
        }
        Ok(Bracket { sums: whole.clone(), moments, squares })
    }

    /// Adds the sums of another batch with the same means.
    ///
    /// # Errors
    /// If the classes, the outcomes or the means differ.
    pub fn merge(&mut self, other: &Bracket) -> Result<()> {
        if self.sums.classes != other.sums.classes {
            return Err(Error::Tally { what: "classes" });
        }
        self.sums.measure.check_same(&other.sums.measure)?;
        if self.sums.values() != other.sums.values() {
            return Err(Error::Tally { what: "means" });
        }
        add_sums(&mut self.squares, &other.squares);
        Ok(())
    }

    /// Returns the estimates for each requested level and class; `None` if no one, or everyone, has the class.
    pub fn estimates(&self) -> Vec<Vec<Option<BracketEstimate>>> {
        let k = self.sums.classes.len();
        let level = |level: usize| (0..k).map(|class| self.estimate(level, class)).collect();
        (0..self.moments.len()).map(level).collect()
    }

    fn estimate(&self, level: usize, class: usize) -> Option<BracketEstimate> {
        let [all, known] = &self.moments[level][class];
        if !(all.weight > 0.0 && all.score > 0.0 && all.score < 1.0) {
            return None;
        }
        let squares = &self.squares[(level * self.sums.classes.len() + class) * INFLUENCES..][..INFLUENCES];
        let error = |index: usize, moments: &Moments| squares[index].value().sqrt() / moments.weight;
        let [own, other] = all.by_score();
        let factor = if all.people > 2.0 { (all.people / (all.people - 2.0)).sqrt() } else { f64::INFINITY };
        let (covariance, score_variance) = (all.covariance(), all.score_variance());
        let linear = (score_variance > 0.0 && factor.is_finite())
            .then(|| WithError::new(covariance / score_variance, factor * error(1, all)));
        let sizes = [
            (all.score * all.weight).powi(2) / all.own_squares,
            ((1.0 - all.score) * all.weight).powi(2) / all.other_squares,
        ];
        let is_known = known.weight > 0.0 && known.class > 0.0 && known.class < 1.0;
        Some(BracketEstimate {
            share: all.score,
            weighted: WithError::new(own - other, error(0, all)),
            linear,
            effective_n: sizes[0].min(sizes[1]),
            known: is_known.then(|| {
                let [[own, own_score], [other, other_score]] = known.by_class();
                let variance = known.class * (1.0 - known.class);
                let given_score =
                    known.outcome_class - known.outcome * known.class - known.class_slope() * known.covariance();
                let given_class = known.covariance() - variance * (own - other) * (own_score - other_score);
                KnownCovariances {
                    people: known.members.min(known.people - known.members),
                    truth: WithError::new(own - other, error(4, known)),
                    given_score: WithError::new(given_score, error(2, known)),
                    given_class: WithError::new(given_class, error(3, known)),
                }
            }),
            mean: all.outcome,
            outcome_variance: (all.outcome_square - all.outcome * all.outcome).max(0.0),
            covariance,
            score_variance,
        })
    }
}

/// Returns a person's influence on weighted, linear, the two covariances and the truth.
fn influences(all: &Moments, known: Option<(&Moments, bool)>, q: f64, y: f64) -> [f64; INFLUENCES] {
    let [own, other] = all.by_score();
    let weighted = q * (y - own) / all.score - (1.0 - q) * (y - other) / (1.0 - all.score);
    let off = q - all.score;
    let linear = off * (y - all.outcome - all.slope() * off) / all.score_variance();
    let Some((known, is_own)) = known else { return [weighted, linear, 0.0, 0.0, 0.0] };
    let r = f64::from(u8::from(is_own));
    let off = q - known.score;
    let residual = y - known.outcome - known.slope() * off;
    let class_residual = r - known.class - known.class_slope() * off;
    let mean = known.outcome_class - known.outcome * known.class - known.class_slope() * known.covariance();
    let given_score = residual * class_residual - mean;
    let [own, other] = known.by_class();
    let [at, score] = if is_own { own } else { other };
    let variance = known.class * (1.0 - known.class);
    let mean = known.covariance() - variance * (own[0] - other[0]) * (own[1] - other[1]);
    let given_class = (y - at) * (q - score) - mean;
    let truth = (y - at) * if is_own { 1.0 / known.class } else { -1.0 / (1.0 - known.class) };
    [weighted, linear, given_score, given_class, truth]
}
