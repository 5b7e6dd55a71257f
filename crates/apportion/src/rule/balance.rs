//! Balance: the paper's γ program, which weighs expected accuracy against fidelity to a reference.

use super::joint::{self, JointSolution, Request};
use super::matching::Match;
use super::plan::Objective;
use super::{Labeled, Rule, Settings};
use crate::error::{Error, Result};
use crate::scores::Scores;
use crate::transport::penalty::SeparablePenalty;

/// The distance of shares from their reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Penalty {
    /// Σ |m − p|.
    #[default]
    L1,
    /// The plain norm, √Σ (m − p)². The labels come with a bound and the remaining gap.
    L2,
    /// Σ (m − p)².
    L2Squared,
    /// Σ m ln(m/p), with 0 ln 0 = 0.
    Kl,
}

impl Penalty {
    /// Returns the name, as in files.
    pub const fn name(self) -> &'static str {
        match self {
            Penalty::L1 => "l1",
            Penalty::L2 => "l2",
            Penalty::L2Squared => "l2-squared",
            Penalty::Kl => "kl",
        }
    }

    /// Returns whether the distance is a sum over the classes.
    pub(super) fn is_separable(self) -> bool {
        match self {
            Penalty::L1 | Penalty::L2Squared | Penalty::Kl => true,
            Penalty::L2 => false,
        }
    }
}

/// Maximizes γ · mean score of the labels − (1 − γ) · distance of their shares m from the reference p.
///
/// γ = 1 is argmax (within bounds, if any) and γ = 0 is [`Match`]. Groups are weighted by their people. Among equally
/// good labels, the most faithful are chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// The weight of accuracy: 0, or from [`Balance::LEAST_GAMMA`] to 1.
    pub gamma: f64,
    /// The distance.
    pub penalty: Penalty,
    /// Reference, groups, coverage and bounds.
    pub matching: Match,
}

impl Balance {
    /// The smallest γ above 0, at which accuracy counts a thousandth of fidelity. Use match for less.
    pub const LEAST_GAMMA: f64 = 0.001;

    /// Creates a rule with the penalty Σ |m − p|.
    pub fn new(gamma: f64, matching: Match) -> Balance {
        Balance { gamma, penalty: Penalty::L1, matching }
    }

    /// Sets the penalty.
    pub fn with_penalty(mut self, penalty: Penalty) -> Balance {
        self.penalty = penalty;
        self
    }

    pub(super) fn label(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Labeled> {
        joint::refuse_counts(scores, "balance")?;
        match self.solve(scores, settings)? {
            Some(solved) => Ok(solved.into_labeled(scores)),
            None => Rule::Argmax.label(scores, settings),
        }
    }

    /// Returns `None` if the rule is argmax.
    pub(super) fn solve(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Option<JointSolution>> {
        Ok(match self.request(scores, settings)? {
            Some(request) => Some(joint::solve_request(&request)?),
            None => None,
        })
    }

    /// Returns the request, or `None` if the rule is argmax.
    pub(super) fn request<'a>(&'a self, scores: &'a Scores<'a>, settings: &'a Settings) -> Result<Option<Request<'a>>> {
        let gamma = self.gamma;
        if gamma != 0.0 && !(Self::LEAST_GAMMA..=1.0).contains(&gamma) {
            return Err(Error::Parameter { what: "gamma".into(), value: gamma, range: "0, or from 0.001 to 1" });
        }
        if !self.matching.nested.is_empty() && gamma > 0.0 {
            return Err(Error::Incompatible {
                one: "balance",
                other: "nested targets",
                why: "balance trades off the targets that nesting keeps exact; use match",
            });
        }
        let free = self.matching.bounds.is_empty() && self.matching.coverage.is_none();
        if gamma == 1.0 && free {
            return Ok(None);
        }
        let objective = if gamma == 0.0 {
            Objective::Match
        } else {
            Objective::Balance { curve: self.curve(), weight: (1.0 - gamma) / gamma }
        };
        let gamma = Some((gamma, self.penalty));
        Ok(Some(Request { matching: &self.matching, objective, gamma, scores, settings }))
    }

    /// Returns the separable penalty for the solver. Plain l2 is solved by way of its square.
    fn curve(&self) -> SeparablePenalty {
        match self.penalty {
            Penalty::L1 => SeparablePenalty::L1,
            Penalty::L2 | Penalty::L2Squared => SeparablePenalty::L2Squared,
            Penalty::Kl => SeparablePenalty::Kl,
        }
    }
}
