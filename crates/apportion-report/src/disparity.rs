//! An outcome compared between classes by several estimators, as plain data, and how it is formatted.

use apportion::audit::Interval;
use apportion::estimate::{Counts, Estimate, Figure, Gap, Inference, LabelBias};
use apportion::text::{Message, Setting};

use crate::bracket::ClassBracket;
use crate::regression::Regressions;
use crate::study::{FEWEST, LabelKind};
use crate::text;

/// The results of several estimators for one outcome.
#[derive(Clone, Debug)]
pub struct Disparity {
    /// The column of the outcome.
    pub outcome: String,
    /// The values whose shares are shown; empty for a mean.
    pub levels: Vec<String>,
    /// The classes, in order.
    pub classes: Vec<String>,
    /// The index of the class that the others are compared with.
    pub against: usize,
    /// The people whose outcome is known.
    pub known: Counts,
    /// The people whose outcome is missing; they are excluded.
    pub unknown: Counts,
    /// The survey weights, if there are any.
    pub survey: Option<SurveyWeights>,
    /// What the intervals of the weighted estimator are about.
    pub inference: Inference,
    /// The estimators, in display order.
    pub estimators: Vec<Estimator>,
    /// Whether estimates with an effective sample size below 5 are shown.
    pub shows_small: bool,
    /// How rates of a favorable outcome are compared by their ratio, if they are.
    pub ratios: Option<Ratios>,
    /// How BIRDiE was fitted, if it was.
    pub birdie: Option<BirdieFit>,
    /// Regressions with controls, if they were requested.
    pub regressions: Option<Regressions>,
    /// By level, then by class: the comparison with everyone else; `None` if no one, or everyone, has the class.
    pub brackets: Vec<Vec<Option<ClassBracket>>>,
    /// The rates of true and false positives of a prediction, if there is one.
    pub error_rates: Option<ErrorRates>,
    /// Whether bounds of cells limit the violations in `brackets`.
    pub limits_by_cells: bool,
    /// Further remarks for the reader.
    pub remarks: Vec<String>,
}

/// The survey weights of the people.
#[derive(Clone, Debug)]
pub struct SurveyWeights {
    /// The column of the weights.
    pub column: String,
    /// The sum of the weights of people whose outcome is known.
    pub sum: f64,
    /// Number of rows without a weight; they are excluded.
    pub rows_without: u64,
}

impl SurveyWeights {
    /// Formats the sum.
    pub fn shown_sum(&self) -> String {
        match self.sum {
            sum if (1.0..1e15).contains(&sum) => text::sum(sum),
            sum => format!("{sum:.3e}"),
        }
    }
}

/// The rates of positives of a prediction, among people with the outcome and among people without it.
#[derive(Clone, Debug)]
pub struct ErrorRates {
    /// The column of the prediction.
    pub prediction: String,
    /// The rate of true positives, then that of false positives.
    pub rates: Vec<Disparity>,
}

impl ErrorRates {
    /// The assumption of the estimators of these rates.
    pub const NEEDS: &str = "Rates of true and false positives are estimated among people with the outcome and among people \
        without it. The estimators need scores that are calibrated among these people. This is a stronger condition than \
        calibration among everyone: it also needs that, among people with the same scores, the outcome does not depend on the \
        class.";
}

/// How rates of a favorable outcome are compared by their ratio.
#[derive(Clone, Debug)]
pub struct Ratios {
    /// The class to divide by; `None` for the class with the highest rate.
    pub baseline: Option<usize>,
    /// Expected people of each class. Classes with few people cannot have the highest rate.
    pub expected: Vec<f64>,
}

/// The rate of a class, divided by that of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The class that is divided by.
    pub baseline: usize,
    /// The ratio.
    pub ratio: f64,
    /// Its 95% interval, on the log scale; `None` if a rate is 0 or the errors are unknown.
    pub interval: Option<Interval>,
}

impl Ratio {
    /// Ratios below four fifths are a common sign of adverse impact.
    pub const FOUR_FIFTHS: f64 = 0.8;
}

/// How BIRDiE was fitted.
#[derive(Clone, Debug)]
pub struct BirdieFit {
    /// For each class, whether its groups are pooled partially.
    pub pooled: Vec<bool>,
    /// The number of groups; 1 without groups.
    pub groups: usize,
    /// Expected people of each class per group, on average.
    pub people_per_group: Vec<f64>,
    /// The part of them that the scores identify: Σ q² of each class per group.
    pub identified_per_group: Vec<f64>,
    /// The number of bootstrap replicates.
    pub replicates: u32,
    /// Whether it converged.
    pub converged: bool,
}

/// The results of one estimator.
#[derive(Clone, Debug)]
pub struct Estimator {
    /// The name to show; for labels, the name of the label set.
    pub name: String,
    /// The kind of estimator.
    pub method: Method,
    /// How the labels were made, if this is the mean of labels.
    pub labels: Option<LabelKind>,
    /// One estimate per value whose share is shown, or one for the mean.
    pub estimates: Vec<Estimate>,
    /// For labels with known truth: the parts of the bias, for each estimate and class.
    pub biases: Vec<Vec<Option<LabelBias>>>,
}

/// Kinds of estimators. They differ in the assumptions under which they are correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The mean over people with the true class.
    Truth,
    /// The mean over people with the label.
    Labels,
    /// The mean over everyone, weighted by the scores.
    Weighted,
    /// Means over classes drawn from the scores, many times.
    Imputed,
    /// Regression of the outcome on the scores.
    Linear,
    /// Means over scores that are updated with the outcomes.
    Birdie,
    /// Bounds on the means, of the sample.
    Bounds,
    /// Intervals that contain the bounds of the population.
    BoundsInterval,
}

impl Method {
    /// Returns the machine-readable name.
    pub fn id(self) -> &'static str {
        match self {
            Method::Truth => "truth",
            Method::Labels => "labels",
            Method::Weighted => "weighted",
            Method::Imputed => "imputed",
            Method::Linear => "linear",
            Method::Birdie => "birdie",
            Method::Bounds => "bounds",
            Method::BoundsInterval => "bounds_interval",
        }
    }

    /// Returns the assumptions under which it is correct, in plain words.
    pub fn needs(self) -> Message {
        match self {
            Method::Truth => "truth: the mean over people of the true class, among people with known truth.".into(),
            Method::Labels => {
                "labels: the mean over people with the label. Correct only if people with the label have the same mean outcome as \
                 people of the class."
                    .into()
            }
            Method::Weighted => {
                "weighted: the mean over everyone, weighted by the scores. Correct if the scores are calibrated, and class and \
                 outcome are independent among people with the same scores."
                    .into()
            }
            Method::Imputed => {
                "imputed: means over classes drawn from the scores, many times. Correct under the same assumption as \
                 weighted; its interval includes the uncertainty about each person's class."
                    .into()
            }
            Method::Linear => {
                "linear: the regression of the outcome on the scores. Correct if the scores are calibrated, and the outcome is \
                 uncorrelated with the scores among people of one class. Shares and intervals are not limited to 0 to 100%."
                    .into()
            }
            Method::Birdie => {
                Message::from(
                    "BIRDiE: the outcomes update the scores. Correct if the scores are calibrated, and among people of one \
                     class, the outcome does not depend on the name or the place. With ",
                ) + Setting::By.with("COL")
                    + ", the outcome may depend on that column, but within its groups neither on the name nor on smaller places."
            }
            Method::Bounds => {
                "bounds: limits of the rate for any dependence between class and outcome, if the scores are calibrated within \
                 each cell. They do not include sampling error."
                    .into()
            }
            Method::BoundsInterval => {
                "bounds 95%: an interval that contains both bounds of the population in about 95% of samples or more, under \
                 the same assumption. It corrects the bounds, which are too narrow in small cells."
                    .into()
            }
        }
    }
}

impl Disparity {
    /// Returns whether shares are shown instead of a mean.
    pub fn is_share(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Returns the name of a shown value. For a value that means yes, this is the name of the outcome.
    pub fn what(&self, level: usize) -> String {
        match self.levels.get(level).map(String::as_str) {
            None => format!("mean {}", self.outcome),
            Some("1" | "true" | "yes" | "y" | "t") => self.outcome.clone(),
            Some(value) => format!("share of {value} in {}", self.outcome),
        }
    }

    /// Returns the number of values shown, or 1 for a mean.
    pub fn shown(&self) -> usize {
        self.levels.len().max(1)
    }

    /// Returns an estimator's figure for a class, unless it is hidden.
    pub fn figure<'a>(&self, own: &'a Estimator, level: usize, class: usize) -> Option<&'a Figure> {
        own.estimates.get(level)?.classes[class].as_ref().filter(|figure| self.is_shown(figure))
    }

    fn is_shown(&self, figure: &Figure) -> bool {
        self.shows_small || figure.effective_n >= FEWEST as f64 - 1e-6
    }

    /// Returns whether the estimate for a class is hidden, because its effective sample size is small.
    pub fn is_hidden(&self, own: &Estimator, level: usize, class: usize) -> bool {
        let figure = own.estimates.get(level).and_then(|own| own.classes[class].as_ref());
        figure.is_some_and(|figure| !self.is_shown(figure))
    }

    /// Returns the figure of a class minus that of the class that the others are compared with.
    pub fn gap(&self, own: &Estimator, level: usize, class: usize) -> Option<Gap> {
        self.figure(own, level, class)?;
        self.figure(own, level, self.against)?;
        own.estimates.get(level)?.gap(class, self.against)
    }

    /// Returns the rate of a class divided by that of the baseline; `None` for the baseline itself, and if a linear
    /// estimate is negative.
    pub fn ratio(&self, own: &Estimator, level: usize, class: usize) -> Option<Ratio> {
        let ratios = self.ratios.as_ref()?;
        let rate = |class: usize| self.figure(own, level, class)?.estimate;
        let highest = || {
            let enough = (0..self.classes.len()).filter(|&class| ratios.expected[class] >= ENOUGH);
            let rates = enough.filter_map(|class| Some((class, rate(class)?)));
            // The first of equals.
            rates.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(class, _)| class)
        };
        let baseline = ratios.baseline.or_else(highest).filter(|&baseline| baseline != class)?;
        let (one, other) = (rate(class)?, rate(baseline)?);
        let error = |class: usize| self.figure(own, level, class)?.error;
        let gap = own.estimates.get(level)?.gap(class, baseline).and_then(|gap| gap.error);
        let interval = error(class).zip(error(baseline)).zip(gap).filter(|_| one > 0.0).map(|((a, b), gap)| {
            // The covariance of the errors follows from the error of the difference.
            let covariance = (a * a + b * b - gap * gap) / 2.0;
            let variance = (a / one).powi(2) + (b / other).powi(2) - 2.0 * covariance / (one * other);
            let factor = (NORMAL * variance.max(0.0).sqrt()).exp();
            Interval { low: one / other / factor, high: one / other * factor }
        });
        (one >= 0.0 && other > 0.0).then_some(Ratio { baseline, ratio: one / other, interval })
    }

    /// Returns the classes whose linear estimate of a share is shown and outside 0 to 1.
    pub fn outside_of_shares(&self) -> Vec<&str> {
        let Some(own) = self.estimators.iter().find(|own| own.method == Method::Linear) else { return Vec::new() };
        let is_outside = |class: &usize| {
            let estimate = |level| self.figure(own, level, *class)?.estimate;
            let mut estimates = (0..self.shown()).filter_map(estimate);
            self.is_share() && estimates.any(|share| !(-1e-9..=1.0 + 1e-9).contains(&share))
        };
        (0..self.classes.len()).filter(is_outside).map(|class| self.classes[class].as_str()).collect()
    }

    /// Formats a figure: a percentage without the sign (61.2), or a number with a suitable number of decimals.
    pub fn show(&self, number: f64) -> String {
        if self.is_share() { text::plain(100.0 * number, 1) } else { self.shown_number(number, false) }
    }

    /// Formats a difference, in points for shares.
    pub fn show_difference(&self, number: f64) -> String {
        if self.is_share() { text::signed(100.0 * number, 1) } else { self.shown_number(number, true) }
    }

    /// Formats a number. All numbers of an outcome have the same number of decimals, chosen by the largest figure. Linear
    /// estimates of small classes can be far off and do not count.
    fn shown_number(&self, number: f64, with_sign: bool) -> String {
        let estimators = self.estimators.iter().filter(|own| own.method != Method::Linear);
        let figures = estimators.flat_map(|own| &own.estimates).flat_map(|own| own.classes.iter().flatten());
        let largest = figures.filter_map(|figure| figure.estimate).fold(0.0, |most: f64, own| most.max(own.abs()));
        let decimals = match largest {
            _ if largest >= 10_000.0 => 0,
            _ if largest >= 100.0 => 1,
            _ if largest >= 1.0 => 2,
            _ => 4,
        };
        if with_sign { text::signed(number, decimals) } else { text::plain(number, decimals) }
    }

    /// Returns the unit of differences.
    pub fn unit(&self) -> &'static str {
        if self.is_share() { " points" } else { "" }
    }

    /// Returns one sentence about the error of the labels: the largest difference from the truth or, if it is unknown,
    /// from the weighted estimate.
    pub fn sentence(&self) -> Option<String> {
        let of_kind = |kind| self.estimators.iter().find(|own| own.labels == Some(kind));
        let own = of_kind(LabelKind::Own).or_else(|| of_kind(LabelKind::OwnColumn));
        let first = || self.estimators.iter().find(|own| own.method == Method::Labels);
        let labels = own.or_else(|| of_kind(LabelKind::ARGMAX)).or_else(first)?;
        let of = |method: Method| self.estimators.iter().find(|own| own.method == method);
        let (right, says) = match of(Method::Truth) {
            Some(truth) => (truth, "the truth"),
            None => (of(Method::Weighted)?, "the weighted estimate"),
        };
        let off = |(level, class): (usize, usize)| {
            let enough = |own| self.figure(own, level, class).filter(|figure| figure.effective_n >= ENOUGH)?.estimate;
            Some((level, class, enough(labels)? - enough(right)?))
        };
        let all = (0..self.shown()).flat_map(|level| (0..self.classes.len()).map(move |class| (level, class)));
        let (level, class, off) = all.filter_map(off).max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()))?;
        let is_own = labels.labels == Some(LabelKind::Own);
        let name = if is_own { labels.name.clone() } else { format!("{} labels", labels.name) };
        let (what, of) = (self.what(level), &self.classes[class]);
        let rate = if what == self.outcome { "rate of " } else { "" };
        let size = self.show_difference(off.abs());
        let size = size.trim_start_matches('+');
        let side = if off < 0.0 { "below" } else { "above" };
        let gap = |own| self.gap(own, level, class)?.difference;
        let gaps = gap(labels).zip(gap(right)).map_or_else(String::new, |(labels, right)| {
            let against = &self.classes[self.against];
            let (labels, right) = (self.show_difference(labels), self.show_difference(right));
            format!("; the gap to {against} is {labels}{} by labels and {right} by {says}", self.unit())
        });
        Some(format!("By {name}, the {rate}{what} is {size}{} {side} {says} for {of}{gaps}.", self.unit()))
    }
}

/// The smallest effective sample size that a headline sentence may refer to, and the smallest expected number of people
/// of a class whose rate others are divided by.
const ENOUGH: f64 = 30.0;

/// The 97.5% quantile of the standard normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;
