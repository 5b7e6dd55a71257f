//! What an estimator says: a figure for each class, and the difference between every two, with their errors. Plain data.

use super::outcomes::Measure;
use crate::audit::{Interval, NORMAL, wilson_at};

/// What an estimator says of one mean, or of the share of one level.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// The figure of each class, in order; none where nothing is known of the class.
    pub classes: Vec<Option<Figure>>,
    /// The differences between every two classes of which something is known: each class less one that comes after it.
    pub gaps: Vec<Gap>,
}

/// A mean, or a share.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Figure {
    /// The figure; bounds have none.
    pub estimate: Option<f64>,
    /// Its standard error, where it has one.
    pub error: Option<f64>,
    /// Its 95% interval, by Wilson for shares; of bounds, what the figure lies between.
    pub interval: Option<Interval>,
    /// As many people of this class, each known for sure, would tell as much: (Σ q)² / Σ q².
    pub effective: f64,
}

/// The figure of one class less that of another.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Gap {
    /// The one.
    pub class: usize,
    /// The other.
    pub against: usize,
    /// The difference; bounds have none.
    pub difference: Option<f64>,
    /// Its standard error.
    pub error: Option<f64>,
    /// Its 95% interval; of bounds, what the difference lies between.
    pub interval: Option<Interval>,
}

impl Gap {
    /// The same seen from the other class.
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
    /// The figure of a class less that of another; none for a class and itself, and where nothing is known of one.
    pub fn gap(&self, class: usize, against: usize) -> Option<Gap> {
        let find = |a, b| self.gaps.iter().find(|gap| gap.class == a && gap.against == b).copied();
        if class < against { find(class, against) } else { find(against, class).map(Gap::turned) }
    }

    /// Puts means and the variances and covariances of their errors together.
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
            Some(Figure { estimate, error, interval, effective: mean.effective })
        };
        let gaps = pairs(means.len()).filter_map(|(a, b)| {
            let difference = means[a].as_ref()?.value - means[b].as_ref()?.value;
            let variance = covariance(a, a).zip(covariance(b, b)).zip(covariance(a, b));
            let error = variance.map(|((own, other), both)| (own + other - 2.0 * both).max(0.0).sqrt());
            let half = error.map(|error| error * means[a].as_ref().map_or(NORMAL, |mean| mean.quantile));
            let interval = half.map(|half| Interval { low: difference - half, high: difference + half });
            Some(Gap { class: a, against: b, difference: Some(difference), error, interval })
        });
        Estimate { classes: means.iter().enumerate().map(figure).collect(), gaps: gaps.collect() }
    }
}

/// Every two classes, the first before the second.
pub(super) fn pairs(classes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..classes).flat_map(move |a| (a + 1..classes).map(move |b| (a, b)))
}

/// A mean, less the number that outcomes lie about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mean {
    pub(super) value: f64,
    pub(super) effective: f64,
    /// How many standard errors the 95% interval reaches to each side.
    pub(super) quantile: f64,
}

impl Mean {
    pub(super) fn new(value: f64, effective: f64) -> Mean {
        Mean { value, effective, quantile: NORMAL }
    }

    /// Of a share, Wilson's interval for as many people as have this standard error: it stays between 0 and 1, and is wide
    /// where all outcomes are the same. Of a mean, the normal one.
    pub(super) fn interval(&self, measure: &Measure, error: f64) -> Interval {
        if measure.is_share() {
            let rate = self.value.clamp(0.0, 1.0);
            let spread = rate * (1.0 - rate) * (NORMAL / self.quantile).powi(2);
            let people = if error > 0.0 && spread > 0.0 { spread / (error * error) } else { self.effective };
            return wilson_at(rate, people);
        }
        let (value, half) = (measure.about() + self.value, self.quantile * error);
        Interval { low: value - half, high: value + half }
    }
}

/// Some people's outcomes: how many they are, and the sums of their outcomes and of the squares of these.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) people: u64,
    pub(super) sum: f64,
    pub(super) squares: f64,
}

impl Moments {
    /// The mean; none of nobody.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.people > 0).then(|| self.sum / self.people as f64)
    }

    /// The variance of the mean: Σ (y − mean)² / n².
    pub(super) fn variance(&self) -> f64 {
        let people = self.people.max(1) as f64;
        ((self.squares - self.sum * self.sum / people) / (people * people)).max(0.0)
    }

    pub(super) fn figure(&self) -> Option<Mean> {
        self.mean().map(|mean| Mean::new(mean, self.people as f64))
    }
}

/// The estimate of people who are told apart for sure: the errors of their classes have nothing to do with each other.
pub(super) fn of_moments(measure: &Measure, classes: &[Moments]) -> Estimate {
    let means: Vec<Option<Mean>> = classes.iter().map(Moments::figure).collect();
    Estimate::of(measure, &means, |a, b| Some(if a == b { classes[a].variance() } else { 0.0 }))
}
