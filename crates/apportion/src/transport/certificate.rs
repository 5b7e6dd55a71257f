//! The proof that labels are optimal.

use crate::kernel::GRID;

/// The value of the labels, and a bound that no labels with the same counts can exceed: whole numbers of 2^-40, equal
/// where the labels are optimal.
///
/// For any prices λ and any labels with counts n, Σ s\[i, ŷ_i\] ≤ Σ_i max_y (s_iy + λ_y) − Σ_y n_y λ_y: the left is the
/// primal value, the right the dual. [`Decision::certify`](crate::Decision::certify) computes both anew from the scores.
/// It proves the labels best for their counts; that of contested roundings the best were taken is not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Certificate {
    /// Sum of the labels' scores, in units of 2^-40.
    pub primal: i128,
    /// The bound, in units of 2^-40.
    pub dual: i128,
}

impl Certificate {
    /// Whether it proves that the labels are optimal for the counts that they have.
    pub fn is_closed(&self) -> bool {
        self.primal == self.dual
    }

    /// Sum of the labels' scores.
    pub fn objective(&self) -> f64 {
        GRID.total(self.primal)
    }

    /// The bound minus the value: 0 where the labels are proved optimal.
    pub fn gap(&self) -> f64 {
        GRID.total(self.dual - self.primal)
    }

    /// Both values of two independent tables together.
    pub(crate) fn and(self, other: Certificate) -> Certificate {
        Certificate { primal: self.primal + other.primal, dual: self.dual + other.dual }
    }
}
