//! Regressions of an outcome on class and controls, as plain data, and how they are described.

use apportion::audit::Interval;
use apportion::estimate::Counts;
use apportion::estimate::regression::{Absent, ClassEffect, ControlEffect, Effect, Model, Regression, UnusedRows};

use crate::disparity::Method;
use crate::study::FEWEST;
use crate::text;

/// What readers must know about coefficients of labels; shown next to them.
pub const CAVEAT: &str = "Labels stand in for the class and are sometimes wrong: their coefficients are mixtures of the gaps of \
                          all classes, weighted by how often people are mislabeled, and not the gaps between the classes. The \
                          estimators that use scores need the assumptions stated here among people with equal controls, and \
                          scores that are calibrated at all values of the controls.";

/// The regressions of one outcome, by several estimators.
#[derive(Clone, Debug)]
pub struct Regressions {
    /// The model.
    pub model: Model,
    /// The controls, in order.
    pub controls: Vec<UsedControl>,
    /// The column of clusters.
    pub cluster: Option<String>,
    /// The rows and people that are used.
    pub used: Counts,
    /// The rows that are not used.
    pub unused: UnusedRows,
    /// The estimators, in display order; empty if everyone has the same outcome.
    pub estimators: Vec<AdjustedEstimator>,
    /// The method in words, for a document that cites the results.
    pub paragraph: String,
    /// Further remarks for the reader.
    pub remarks: Vec<String>,
    /// Whether estimates with an effective sample size below 5 are shown.
    pub shows_small: bool,
    /// The index of the baseline class.
    pub against: usize,
}

/// A control of the regressions.
#[derive(Clone, Debug)]
pub struct UsedControl {
    /// The name of the column.
    pub name: String,
    /// The names of the categories; `None` for a number.
    pub levels: Option<Vec<String>>,
    /// The category that others are compared with.
    pub reference: Option<usize>,
}

/// The regression of one estimator.
#[derive(Clone, Debug)]
pub struct AdjustedEstimator {
    /// The name of the estimator or of the labels.
    pub name: String,
    /// The kind of estimator.
    pub method: Method,
    /// Its result.
    pub result: Regression,
}

impl Regressions {
    /// Returns a class of an estimator, unless it is hidden. The baseline class has no gap.
    pub fn class<'a>(&self, own: &'a AdjustedEstimator, class: usize) -> Option<&'a ClassEffect> {
        let is_hidden = self.is_hidden(own, class) || self.is_hidden(own, self.against);
        Some(&own.result.classes[class]).filter(|_| !is_hidden)
    }

    /// Returns the adjusted gap of a class in the units of the outcome: the coefficient of the linear model, or the average
    /// effect of the logistic model.
    pub fn gap(&self, own: &AdjustedEstimator, class: usize) -> Option<Effect> {
        let own = self.class(own, class)?;
        match self.model {
            Model::Linear => own.gap,
            Model::Logistic => own.average_effect,
        }
    }

    /// Returns the odds ratio of a class in the logistic model, with its interval.
    pub fn odds_ratio(&self, own: &AdjustedEstimator, class: usize) -> Option<(f64, Option<Interval>)> {
        let effect = self.class(own, class)?.gap.filter(|_| self.model == Model::Logistic)?;
        let interval = effect.interval.map(|own| Interval { low: own.low.exp(), high: own.high.exp() });
        Some((effect.estimate.exp(), interval))
    }

    /// Returns the name of the gap: `adjusted gap to white`.
    pub fn title(&self, classes: &[String]) -> String {
        format!("adjusted gap to {}", classes[self.against])
    }

    /// Returns whether the estimate for a class is hidden, because its effective sample size is small.
    pub fn is_hidden(&self, own: &AdjustedEstimator, class: usize) -> bool {
        let own = &own.result.classes[class];
        let is_small = own.effective_n < FEWEST as f64 - 1e-6;
        !self.shows_small && is_small && own.absent != Some(Absent::Empty)
    }

    /// Returns whether the coefficient of a category is hidden, because few people have it.
    pub fn is_control_hidden(&self, own: &ControlEffect) -> bool {
        !self.shows_small && own.people.is_some_and(|people| people < FEWEST)
    }

    /// Returns the name of a column of a control: `age`, or `party = red`.
    pub fn column_name(&self, own: &ControlEffect) -> String {
        let control = &self.controls[own.control];
        match own.level.and_then(|level| control.levels.as_ref()?.get(level)) {
            Some(level) => format!("{} = {level}", control.name),
            None => control.name.clone(),
        }
    }

    /// Returns the controls in words: `county (5 categories) and age`.
    pub fn describe_controls(&self) -> String {
        let of = |own: &UsedControl| match &own.levels {
            Some(levels) => format!("{} ({} categories)", own.name, levels.len()),
            None => own.name.clone(),
        };
        text::list(&self.controls.iter().map(of).collect::<Vec<_>>())
    }
}
