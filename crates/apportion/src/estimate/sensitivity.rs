//! How large a violation of the condition of an estimator must be to change the sign of a difference.
//!
//! For a class with indicator R and score q against everyone else, the condition of the weighted estimator is
//! E[Cov(Y, R | q)] = 0, and that of the linear one is E[Cov(Y, q | R)] = 0. The difference D is zero if the covariance is
//!
//! - weighted: −D_P Var(R)
//! - linear: D_L Var(q)
//!
//! instead of zero. The largest covariance that is possible follows from the bounds of the rate in cells, or else from the
//! inequality of Cauchy and Schwarz:
//!
//! - |E[Cov(Y, R | q)]| ≤ √(V E[q (1 − q)]), with V the residual variance of the regression of Y on q, which is at least
//!   E[Var(Y | q)]
//! - |E[Cov(Y, q | R)]| ≤ √(E[Var(Y | R)] E[Var(q | R)]) = √(Var(Y) Var(q) E[q (1 − q)] / Var(R)) if D = 0

use super::bracket::BracketEstimate;
use crate::audit::Interval;

/// The violations that change the sign of the difference between a class and everyone else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensitivity {
    /// E[Cov(Y, R | q)], for the weighted estimator.
    pub weighted: Option<Violation>,
    /// E[Cov(Y, q | R)], for the linear estimator.
    pub linear: Option<Violation>,
}

/// A covariance at which the difference is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Violation {
    /// The covariance at which the difference is zero.
    pub needed: f64,
    /// The largest possible covariance with the same sign.
    pub largest: f64,
}

impl Violation {
    /// Returns `needed` as a share of `largest`. At 0, any violation changes the sign; at 1 or more, none does.
    pub fn share(&self) -> f64 {
        self.needed / self.largest
    }
}

impl BracketEstimate {
    /// Returns the violations that change the sign. `bounds` of the rate of the class limit the covariances if they are
    /// known; an estimate outside of them has no violation.
    pub fn sensitivity(&self, bounds: Option<Interval>) -> Sensitivity {
        let class_variance = self.share * (1.0 - self.share);
        // The bounds of the rate of the class and the mean of everyone bound the difference.
        let limits = bounds.map(|own| [own.low, own.high].map(|rate| (rate - self.mean) / (1.0 - self.share)));
        let within = class_variance - self.score_variance;
        let violation = |difference: f64, variance: f64, sign: f64, largest: f64| {
            let needed = sign * difference * variance;
            let largest = match limits {
                Some([low, high]) => {
                    let end = if difference > 0.0 { low } else { high };
                    let distance = (difference - end) * difference.signum();
                    needed.signum() * distance * variance
                }
                None => needed.signum() * largest,
            };
            (largest.abs() > 0.0 && largest.signum() == needed.signum()).then_some(Violation { needed, largest })
        };
        let residual = match self.score_variance > 0.0 {
            true => self.outcome_variance - self.covariance * self.covariance / self.score_variance,
            false => self.outcome_variance,
        };
        let by_score = (residual * within).max(0.0).sqrt();
        let by_class = (self.outcome_variance * self.score_variance * within / class_variance).max(0.0).sqrt();
        Sensitivity {
            weighted: violation(self.weighted.value, class_variance, -1.0, by_score),
            linear: self.linear.and_then(|own| violation(own.value, self.score_variance, 1.0, by_class)),
        }
    }
}
