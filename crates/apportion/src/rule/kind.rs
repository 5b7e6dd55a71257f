//! The kinds of rules, for callers that treat some of them differently.

use super::{Match, Rule};
use crate::reference::Reference;

/// The kind of a rule, without its settings. A `match` over kinds is exhaustive: a new rule is a new case everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// The class with the largest score.
    Argmax,
    /// The class with the largest score if it reaches a threshold.
    Threshold,
    /// A class drawn by the scores.
    Thompson,
    /// A class drawn among those with the largest scores.
    TopK,
    /// Match to the posterior, over all rows.
    Match,
    /// Match to the posterior within each group.
    MatchByGroup,
    /// Match to another reference, or with bounds.
    OtherMatch,
    /// Balance.
    Balance,
    /// A joint rule with prices from a sample.
    FromSample,
    /// A model trained on labels of a joint rule.
    Learned,
}

impl Rule {
    /// Returns the kind of the rule.
    pub fn kind(&self) -> RuleKind {
        match self {
            Rule::Argmax => RuleKind::Argmax,
            Rule::Threshold(_) => RuleKind::Threshold,
            Rule::Thompson => RuleKind::Thompson,
            Rule::TopK(_) => RuleKind::TopK,
            Rule::Match(own) if *own == Match::overall(Reference::Posterior) => RuleKind::Match,
            Rule::Match(own) if *own == Match::by_group(Reference::Posterior) => RuleKind::MatchByGroup,
            Rule::Match(_) => RuleKind::OtherMatch,
            Rule::Balance(_) => RuleKind::Balance,
            Rule::FromSample(_) => RuleKind::FromSample,
            Rule::Learned(_) => RuleKind::Learned,
        }
    }
}
