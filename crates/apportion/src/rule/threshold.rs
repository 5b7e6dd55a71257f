//! Threshold: the most likely class if its score reaches a threshold, otherwise unlabeled.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::kernel::{GRID, Grid};
use crate::scores::{Classes, Label, UNCODED};

/// A default threshold, and thresholds for some classes. Scores in single precision are compared in single precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// The threshold of classes that are not named.
    pub default: f64,
    /// Thresholds by class name.
    pub by_class: BTreeMap<String, f64>,
}

impl Thresholds {
    /// Creates the same threshold for every class.
    pub fn at(bar: f64) -> Thresholds {
        Thresholds { default: bar, by_class: BTreeMap::new() }
    }

    /// Sets the threshold of one class.
    pub fn with(mut self, class: impl Into<String>, bar: f64) -> Thresholds {
        self.by_class.insert(class.into(), bar);
        self
    }

    /// Returns the threshold of each class, in order.
    pub(crate) fn resolve(&self, classes: &Classes) -> Result<Vec<f64>> {
        let mut bars = vec![self.default; classes.len()];
        for (class, &bar) in &self.by_class {
            bars[classes.position(class)?] = bar;
        }
        for (class, &bar) in classes.names().iter().zip(&bars) {
            check_bar(class, bar)?;
        }
        Ok(bars)
    }
}

/// Checks that a threshold is between 0 and 1.
pub(crate) fn check_bar(class: &str, bar: f64) -> Result<()> {
    if (0.0..=1.0).contains(&bar) {
        return Ok(());
    }
    Err(Error::Parameter { what: format!("the threshold of {class:?}"), value: bar, range: "between 0 and 1" })
}

/// Returns a threshold in grid units. In single precision it is rounded first: 0.7 as `f32` is slightly below 0.7 and
/// must reach the threshold 0.7.
pub(crate) fn bar_units(bar: f64, single: bool) -> i64 {
    GRID.round(if single { bar.min(f64::from(bar as f32)) } else { bar })
}

/// Returns the lowest score that reaches a threshold after rounding to the grid, half to even.
pub(crate) fn least_score(bar: f64, single: bool) -> f64 {
    let units = bar_units(bar, single);
    let half_below = (units as f64 - 0.5) / Grid::UNIT as f64;
    if units % 2 == 0 { half_below } else { half_below.next_up() }
}

/// Returns the label of one row.
pub(crate) fn label(scores: &[i64], bars: &[i64]) -> Label {
    let best = (1..scores.len()).fold(0, |best, class| if scores[class] > scores[best] { class } else { best });
    if scores[best] >= bars[best] { best as Label } else { UNCODED }
}
