//! The results of an estimator: a figure per class and the differences between classes, with standard errors. Plain
//! data.

use super::outcomes::Measure;
use crate::audit::{Interval, NORMAL, wilson_at};

/// The estimates of one mean, or of the share of one level.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// The figure of each class, in order; `None` without data for the class.
    pub classes: Vec<Option<Figure>>,
    /// The differences between all pairs of classes with data: each class minus a later one.
    pub gaps: Vec<Gap>,
}

/// A mean, or a share.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Figure {
    /// The estimate; `None` for bounds.
    pub estimate: Option<f64>,
    /// Its standard error, if available.
    pub error: Option<f64>,
    /// Its 95% interval, by Wilson for shares (normal for [`Linear`](super::Linear)); for bounds, the bounds.
    pub interval: Option<Interval>,
    /// Effective sample size: (Σ w q)² / Σ (w q)², with survey weights w, which are 1 if there are none.
    pub effective_n: f64,
}

/// The difference between two classes.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Gap {
    /// The class.
    pub class: usize,
    /// The class that is subtracted.
    pub against: usize,
    /// The difference; `None` for bounds.
    pub difference: Option<f64>,
    /// Its standard error.
    pub error: Option<f64>,
    /// Its 95% interval, from the intervals of both classes; for bounds, the bounds.
    pub interval: Option<Interval>,
}

impl Gap {
    /// Returns the gap with the classes exchanged.
    fn turned(self) -> Gap {
        Gap {
            class: self.against,
            against: self.class,
            difference: self.difference.map(|difference| -difference),
            error: self.error,
            interval: self.interval.map(|own| Interval { low: -own.high, high: -own.low }),
        }
    }
}

impl Estimate {
    /// Returns the figure of a class minus that of another; `None` for equal classes or without data.
    pub fn gap(&self, class: usize, against: usize) -> Option<Gap> {
        let find = |a, b| self.gaps.iter().find(|gap| gap.class == a && gap.against == b).copied();
        if class < against { find(class, against) } else { find(against, class).map(Gap::turned) }
    }

    /// Combines means with the covariances of their errors.
    pub(super) fn of(
        measure: &Measure,
        means: &[Option<Mean>],
        covariance: impl Fn(usize, usize) -> Option<f64>,
    ) -> Self {
        let figure = |(class, mean): (usize, &Option<Mean>)| {
            let mean = mean.as_ref()?;
            let error = covariance(class, class).map(|variance| variance.max(0.0).sqrt());
            let interval = error.map(|error| mean.interval(measure, error));
            let estimate = Some(measure.about() + mean.value);
            Some(Figure { estimate, error, interval, effective_n: mean.effective_n })
        };
        let classes: Vec<Option<Figure>> = means.iter().enumerate().map(figure).collect();
        let gaps = pairs(means.len()).filter_map(|(a, b)| {
            let (one, other) = (classes[a]?, classes[b]?);
            let difference = means[a].as_ref()?.value - means[b].as_ref()?.value;
            let both = covariance(a, b);
            let errors = one.error.zip(other.error).zip(both);
            let error = errors.map(|((one, other), both)| (one * one + other * other - 2.0 * both).max(0.0).sqrt());
            let interval = both.and_then(|both| gap_interval(&one, &other, both));
            Some(Gap { class: a, against: b, difference: Some(difference), error, interval })
        });
        let gaps = gaps.collect();
        Estimate { classes, gaps }
    }
}

/// Returns the interval of a difference from the intervals of both figures and the covariance of their errors (MOVER,
/// Zou and Donner 2008). For shares without covariance it is Newcombe's; for means it is the normal interval. A figure
/// of 0 or 1 keeps its uncertainty, which a normal interval would lose.
fn gap_interval(one: &Figure, other: &Figure, covariance: f64) -> Option<Interval> {
    let (a, b) = (one.estimate?, other.estimate?);
    let (own, its) = (one.interval?, other.interval?);
    let errors = one.error? * other.error?;
    let correlation = if errors > 0.0 { (covariance / errors).clamp(-1.0, 1.0) } else { 0.0 };
    let half = |x: f64, y: f64| (x * x + y * y - 2.0 * correlation * x * y).max(0.0).sqrt();
    Some(Interval { low: a - b - half(a - own.low, its.high - b), high: a - b + half(own.high - a, b - its.low) })
}

/// Returns all pairs of classes, in order.
pub(super) fn pairs(classes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..classes).flat_map(move |a| (a + 1..classes).map(move |b| (a, b)))
}

/// A mean, relative to the offset of the outcomes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mean {
    pub(super) value: f64,
    pub(super) effective_n: f64,
    /// Half-width of the 95% interval in standard errors.
    pub(super) quantile: f64,
    /// Whether the interval is normal also for shares, which can then be outside 0 to 1.
    pub(super) is_unbounded: bool,
    /// Whether a figure with an error of 0 is certain, so that its interval is a point.
    pub(super) can_be_certain: bool,
}

impl Mean {
    pub(super) fn new(value: f64, effective_n: f64) -> Mean {
        Mean { value, effective_n, quantile: NORMAL, is_unbounded: false, can_be_certain: false }
    }

    /// Creates a mean with a normal interval, also for shares.
    pub(super) fn unbounded(value: f64, effective_n: f64) -> Mean {
        Mean { is_unbounded: true, ..Mean::new(value, effective_n) }
    }

    /// Returns Wilson's interval for shares, with the sample size that has this standard error: it stays between
    /// 0 and 1, and is wide if all outcomes are equal. Returns the normal interval for means and unbounded shares.
    pub(super) fn interval(&self, measure: &Measure, error: f64) -> Interval {
        let is_certain = self.can_be_certain && error == 0.0;
        if measure.is_share() && !self.is_unbounded && !is_certain {
            let rate = self.value.clamp(0.0, 1.0);
            let spread = rate * (1.0 - rate) * (NORMAL / self.quantile).powi(2);
            let people = if error > 0.0 && spread > 0.0 { spread / (error * error) } else { self.effective_n };
            return wilson_at(rate, people);
        }
        let (value, half) = (measure.about() + self.value, self.quantile * error);
        Interval { low: value - half, high: value + half }
    }
}

/// The outcomes of some people. Weights are 1 without survey weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    /// Σ w.
    pub(super) weight: f64,
    /// Σ w y.
    pub(super) sum: f64,
    /// The variance of the mean: Σ w² (y − mean)² / (Σ w)².
    pub(super) variance: f64,
    /// (Σ w)² / Σ w².
    pub(super) effective_n: f64,
}

impl Moments {
    /// Creates the moments of people without weights, from the sums of their outcomes and squared outcomes.
    pub(super) fn of_people(people: u64, sum: f64, squares: f64) -> Moments {
        let weight = people as f64;
        let people = people.max(1) as f64;
        let variance = ((squares - sum * sum / people) / (people * people)).max(0.0);
        Moments { weight, sum, variance, effective_n: weight }
    }

    /// Creates the moments of people with weights, from Σ w, Σ w², Σ w y, and Σ w² (y − m)² for their mean m.
    pub(super) fn weighted(weight: f64, squares: f64, sum: f64, spread: impl Fn(f64) -> f64) -> Moments {
        // Squares of the smallest weights are zero, and such people do not count.
        if weight <= 0.0 || squares <= 0.0 {
            return Moments { weight: 0.0, sum: 0.0, variance: 0.0, effective_n: 0.0 };
        }
        let variance = (spread(sum / weight) / weight / weight).max(0.0);
        Moments { weight, sum, variance, effective_n: weight / (squares / weight) }
    }

    /// Returns the mean; `None` without people.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }

    pub(super) fn figure(&self) -> Option<Mean> {
        self.mean().map(|mean| Mean::new(mean, self.effective_n))
    }
}

/// Returns the estimate for classes with known members, whose errors are independent.
pub(super) fn of_moments(measure: &Measure, classes: &[Moments]) -> Estimate {
    let means: Vec<Option<Mean>> = classes.iter().map(Moments::figure).collect();
    Estimate::of(measure, &means, |a, b| Some(if a == b { classes[a].variance } else { 0.0 }))
}
