//! One class compared with everyone else: two estimates that can bracket the truth, and their sensitivity. Plain data,
//! and how it is formatted.

use apportion::audit::Interval;
use apportion::estimate::{BracketEstimate, BracketOrder, KnownCovariances, Sensitivity, Violation, WithError};

use crate::disparity::Disparity;
use crate::study::FEWEST;
use crate::text;

/// A class compared with everyone else.
#[derive(Clone, Copy, Debug)]
pub struct ClassBracket {
    /// The estimates.
    pub estimate: BracketEstimate,
    /// The violations of their conditions that change the sign of the difference.
    pub sensitivity: Sensitivity,
}

impl ClassBracket {
    /// Creates it; `bounds` of the rate of the class limit the violations.
    pub fn new(estimate: BracketEstimate, bounds: Option<Interval>) -> ClassBracket {
        ClassBracket { estimate, sensitivity: estimate.sensitivity(bounds) }
    }
}

/// The explanation of the table of differences.
pub const BRACKET: &str = "weighted ≤ truth ≤ linear if, on average, people of the class have higher outcomes than others with \
    the same score, and outcomes rise with the score among people of the class and among others. If both are reversed, linear \
    ≤ truth ≤ weighted. Otherwise the truth is not between the estimates. The scores must be calibrated.";

/// The explanation of the covariances.
pub const COVARIANCES: &str = "The covariances among people with known truth show which case holds, if these people are like \
    the others: Cov(outcome, class | score) and Cov(outcome, score | class). \"unclear\": an interval of a covariance contains 0.";

/// The explanation of the table of violations.
pub const SENSITIVITY: &str = "The estimators assume that a covariance is 0: weighted that of outcome and class among people with \
    the same score, linear that of outcome and score among people of a class and among others. The table shows the covariance \
    at which the difference is 0, in percent of the largest possible one with this sign. Small percentages: a small violation \
    changes the sign. 100% or more: no possible violation changes it.";

impl Disparity {
    /// Returns the comparison of a class with everyone else, unless it is hidden because few people are behind it.
    pub fn bracket(&self, level: usize, class: usize) -> Option<&ClassBracket> {
        let own = self.brackets.get(level)?[class].as_ref();
        own.filter(|own| self.shows_small || own.estimate.effective_n >= FEWEST as f64 - 1e-6)
    }

    /// Returns whether the comparison of a class with everyone else is hidden.
    pub fn is_bracket_hidden(&self, level: usize, class: usize) -> bool {
        let exists = self.brackets.get(level).is_some_and(|own| own[class].is_some());
        exists && self.bracket(level, class).is_none()
    }

    /// Returns the covariances among people with known truth, unless they are hidden.
    pub fn known_covariances(&self, level: usize, class: usize) -> Option<&KnownCovariances> {
        let own = self.bracket(level, class)?.estimate.known.as_ref();
        own.filter(|own| self.shows_small || own.people >= FEWEST as f64 - 1e-6)
    }

    /// Returns whether any covariances among people with known truth are shown for a level.
    pub fn knows_covariances(&self, level: usize) -> bool {
        (0..self.classes.len()).any(|class| self.known_covariances(level, class).is_some())
    }

    /// Returns the order that the covariances imply, as text: `weighted ≤ truth ≤ linear (unclear)`.
    pub fn order_text(known: &KnownCovariances) -> String {
        let order = match known.order() {
            BracketOrder::WeightedFirst => "weighted ≤ truth ≤ linear",
            BracketOrder::LinearFirst => "linear ≤ truth ≤ weighted",
            BracketOrder::Outside => "truth not between",
        };
        if known.is_clear() { order.to_owned() } else { format!("{order} (unclear)") }
    }

    /// Formats a covariance of the outcome with its interval.
    pub fn covariance_text(&self, own: &WithError) -> String {
        let show = |number: f64| if self.is_share() { text::signed(number, 4) } else { self.show_difference(number) };
        format!("{} [{}, {}]", show(own.value), show(own.interval.low), show(own.interval.high))
    }

    /// Returns what limits the violations.
    pub fn limits(&self) -> &'static str {
        if self.limits_by_cells { "the bounds of the cells, with their sampling error" } else { "the variances" }
    }

    /// Formats a violation in percent of the largest possible one.
    pub fn violation_text(own: Option<Violation>) -> String {
        own.map_or_else(|| "–".into(), |own| format!("{}%", text::plain(100.0 * own.share(), 0)))
    }
}
