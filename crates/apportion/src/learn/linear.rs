//! Linear models: the label is the class with the largest linear function of the scores.

use crate::kernel::GRID;
use crate::scores::Label;

/// A linear function for each class.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Linear {
    /// The function of each class, in the order of the classes. A class without one is never assigned.
    pub planes: Vec<Option<Plane>>,
}

/// A linear function of the scores: intercept + Σ weight · score.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Plane {
    /// A weight for the score of each class.
    pub weights: Vec<f64>,
    /// The constant term.
    pub intercept: f64,
}

/// Weights are multiples of this, so that JSON preserves them.
const UNIT: f64 = 1.0 / (1u64 << 32) as f64;

/// The maximum weight. Larger weights would lose precision and are not learned from scores.
const LARGEST: f64 = 1e6;

impl Linear {
    /// Creates a model from the coefficients of some classes: the weights, then the intercept.
    pub(super) fn new(classes: usize, planes: impl Iterator<Item = (Label, Vec<f64>)>) -> Linear {
        let mut all = vec![None; classes];
        for (class, mut weights) in planes {
            let intercept = weights.pop().unwrap_or_default();
            all[usize::from(class)] = Some(Plane { weights, intercept }.rounded());
        }
        Linear { planes: all }
    }

    /// Returns the class with the largest value; the first of equals.
    pub(super) fn label(&self, row: &[i64]) -> Label {
        let mut best = (f64::NEG_INFINITY, 0);
        for (class, plane) in self.planes.iter().enumerate() {
            let Some(plane) = plane else { continue };
            let height = plane.height(row);
            if height > best.0 {
                best = (height, class);
            }
        }
        best.1 as Label
    }

    pub(super) fn checked(self, classes: usize) -> Result<Linear, &'static str> {
        if self.planes.len() != classes || self.planes.iter().flatten().any(|plane| plane.weights.len() != classes) {
            return Err("the model must have one plane per class, with one weight per class");
        }
        if self.planes.iter().all(Option::is_none) {
            return Err("the planes exclude every class");
        }
        if !self.planes.iter().flatten().all(Plane::is_in_range) {
            return Err("the weights are out of range");
        }
        Ok(Linear { planes: self.planes.into_iter().map(|plane| plane.map(Plane::rounded)).collect() })
    }
}

impl Plane {
    /// Sums in the same order as the exported SQL.
    fn height(&self, row: &[i64]) -> f64 {
        self.weights.iter().zip(row).fold(self.intercept, |sum, (weight, &units)| sum + weight * GRID.value(units))
    }

    fn is_in_range(&self) -> bool {
        self.weights.iter().chain([&self.intercept]).all(|weight| weight.abs() <= LARGEST)
    }

    fn rounded(self) -> Plane {
        let round = |value: f64| (value / UNIT).round() * UNIT;
        Plane { weights: self.weights.into_iter().map(round).collect(), intercept: round(self.intercept) }
    }
}
