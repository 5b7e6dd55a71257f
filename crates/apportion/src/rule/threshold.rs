//! Threshold: the likeliest class where its score reaches a bar, else Uncoded.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::kernel::{GRID, Grid};
use crate::scores::{Classes, Label, UNCODED};

/// The bar: one for all classes, and others for some. Scores in single precision are held against it in single precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// For every class that is not named.
    pub default: f64,
    /// For classes by name.
    pub by_class: BTreeMap<String, f64>,
}

impl Thresholds {
    /// The same bar for every class.
    pub fn at(bar: f64) -> Thresholds {
        Thresholds { default: bar, by_class: BTreeMap::new() }
    }

    /// Sets one class apart.
    pub fn with(mut self, class: impl Into<String>, bar: f64) -> Thresholds {
        self.by_class.insert(class.into(), bar);
        self
    }

    /// The bar of each class, in order.
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

/// Refuses a bar that no score could be compared with.
pub(crate) fn check_bar(class: &str, bar: f64) -> Result<()> {
    if (0.0..=1.0).contains(&bar) {
        return Ok(());
    }
    Err(Error::Parameter { what: format!("the threshold of {class:?}"), value: bar, range: "between 0 and 1" })
}

/// A bar in units of the grid. Scores in single precision are held against the bar in single precision: the 0.7 of a file
/// of `f32` is a little below 0.7, and meant to reach it.
pub(crate) fn bar_units(bar: f64, single: bool) -> i64 {
    GRID.round(if single { bar.min(f64::from(bar as f32)) } else { bar })
}

/// The least score that reaches a bar once it is rounded to the grid, half to even.
pub(crate) fn least_score(bar: f64, single: bool) -> f64 {
    let units = bar_units(bar, single);
    let half_below = (units as f64 - 0.5) / Grid::UNIT as f64;
    if units % 2 == 0 { half_below } else { half_below.next_up() }
}

/// The label of one row.
pub(crate) fn label(scores: &[i64], bars: &[i64]) -> Label {
    let best = (1..scores.len()).fold(0, |best, class| if scores[class] > scores[best] { class } else { best });
    if scores[best] >= bars[best] { best as Label } else { UNCODED }
}
