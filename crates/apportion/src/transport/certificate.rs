//! The certificate of optimality.

use crate::kernel::GRID;

/// The value of the labels, and an upper bound for all labels with the same counts: integer multiples of 2^-40, which
/// are equal if the labels are optimal.
///
/// For any prices λ and any labels with counts n, Σ s\[i, ŷ_i\] ≤ Σ_i max_y (s_iy + λ_y) − Σ_y n_y λ_y: the left side
/// is the primal value, the right side the dual. [`Decision::certify`](crate::Decision::certify) computes both from
/// the scores. It proves that the labels are optimal for their counts, but not that the best of several contested
/// roundings was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Certificate {
    /// Sum of the labels' scores, in units of 2^-40.
    pub primal: i128,
    /// The bound, in units of 2^-40.
    pub dual: i128,
}

impl Certificate {
    /// Returns whether it proves that the labels are optimal for their counts.
    pub fn is_closed(&self) -> bool {
        self.primal == self.dual
    }

    /// Returns the sum of the labels' scores.
    pub fn objective(&self) -> f64 {
        GRID.total(self.primal)
    }

    /// Returns the bound minus the value: 0 if the labels are proved optimal.
    pub fn gap(&self) -> f64 {
        GRID.total(self.dual - self.primal)
    }

    /// Adds the values of an independent table.
    pub(crate) fn and(self, other: Certificate) -> Certificate {
        Certificate { primal: self.primal + other.primal, dual: self.dual + other.dual }
    }
}
