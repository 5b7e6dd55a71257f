//! The rules by the names that provenance records.

/// The name of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleName {
    Argmax,
    Threshold,
    Thompson,
    TopK,
    Match,
    Balance,
    Learned,
}

impl RuleName {
    const ALL: [RuleName; 7] = [
        RuleName::Argmax,
        RuleName::Threshold,
        RuleName::Thompson,
        RuleName::TopK,
        RuleName::Match,
        RuleName::Balance,
        RuleName::Learned,
    ];

    /// The name, as provenance records it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            RuleName::Argmax => "argmax",
            RuleName::Threshold => "threshold",
            RuleName::Thompson => "thompson",
            RuleName::TopK => "top-k",
            RuleName::Match => "match",
            RuleName::Balance => "balance",
            RuleName::Learned => "learned",
        }
    }

    /// The rule of a name.
    pub(super) fn parse(name: &str) -> Option<RuleName> {
        RuleName::ALL.into_iter().find(|rule| rule.name() == name)
    }
}
