//! The pairs of rules whose order on simulated voters differs from the order in the paper's tables.

use crate::Reproduction;
use crate::published::published;
use crate::voters::{Made, Outcome};

/// A column of the paper's tables by which rules are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The accuracy among labeled voters.
    Accuracy,
    /// −Σ |share − truth|.
    FidelityToTruth,
    /// −Σ |share − posterior|.
    FidelityToPosterior,
}

impl Measure {
    /// All measures.
    pub const ALL: [Measure; 3] = [Measure::Accuracy, Measure::FidelityToTruth, Measure::FidelityToPosterior];

    /// Returns the name of the column in files.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Accuracy => "accuracy",
            Measure::FidelityToTruth => "fidelity_to_truth",
            Measure::FidelityToPosterior => "fidelity_to_posterior",
        }
    }

    /// Returns a description.
    pub fn words(self) -> &'static str {
        match self {
            Measure::Accuracy => "accuracy",
            Measure::FidelityToTruth => "fidelity to truth",
            Measure::FidelityToPosterior => "fidelity to posterior",
        }
    }

    fn of(self, outcome: &Outcome) -> f64 {
        match self {
            Measure::Accuracy => outcome.accuracy,
            Measure::FidelityToTruth => outcome.fidelity_to_truth,
            Measure::FidelityToPosterior => outcome.fidelity_to_posterior,
        }
    }
}

/// How an order differs. All figures are rounded to three decimals, as in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderChange {
    /// The other rule is larger.
    Reversed,
    /// The figures are equal in the paper and differ here by more than 0.001.
    EqualInPaper,
    /// The figures are equal here and differ in the paper by more than 0.001.
    EqualHere,
}

impl OrderChange {
    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            OrderChange::Reversed => "reversed",
            OrderChange::EqualInPaper => "equal in the paper",
            OrderChange::EqualHere => "equal here",
        }
    }

    /// Compares two published figures with two of ours. Rounding can hide a difference of less than 0.001, so a
    /// difference of 0.001 on one side and of 0 on the other is not a change.
    fn of(published: [f64; 2], ours: [f64; 2]) -> Option<OrderChange> {
        let thousandths = |figures: [f64; 2]| {
            let [first, second] = figures.map(|figure| (1000.0 * figure).round() as i64);
            first - second
        };
        match (thousandths(published), thousandths(ours)) {
            (theirs, here) if theirs.signum() * here.signum() < 0 => Some(OrderChange::Reversed),
            (0, here) if here.abs() > 1 => Some(OrderChange::EqualInPaper),
            (theirs, 0) if theirs.abs() > 1 => Some(OrderChange::EqualHere),
            _ => None,
        }
    }
}

/// Two rules of a table, compared by one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct RulePair {
    /// The table in the paper, such as `tab:table-NC`.
    pub table: &'static str,
    /// The part of the table, such as `table-NC`.
    pub part: &'static str,
    /// The simulated voters.
    pub made: Made,
    /// The measure.
    pub measure: Measure,
    /// The rules.
    pub rules: [&'static str; 2],
    /// The published figures of the two rules.
    pub published: [f64; 2],
    /// Our figures of the two rules.
    pub ours: [f64; 2],
    /// How the order differs, if it does.
    pub change: Option<OrderChange>,
}

impl Reproduction {
    /// Returns all pairs of rules in the paper's tables, by each measure. tab:table-extended repeats the rows of
    /// tab:table-NC; such pairs are listed once.
    pub fn rule_pairs(&self) -> Vec<RulePair> {
        let mut pairs: Vec<RulePair> = Vec::new();
        for table in published() {
            let Some(file) = self.voters.iter().find(|file| file.made == table.beside) else { continue };
            let ours = table.rows.iter().filter_map(|(rule, theirs)| Some((*rule, theirs, file.outcome(rule)?)));
            let rows: Vec<(&'static str, &Outcome, &Outcome)> = ours.collect();
            for measure in Measure::ALL {
                for (index, first) in rows.iter().enumerate() {
                    for second in &rows[index + 1..] {
                        let rules = [first.0, second.0];
                        let published = [first.1, second.1].map(|outcome| measure.of(outcome));
                        let ours = [first.2, second.2].map(|outcome| measure.of(outcome));
                        let repeated = |pair: &RulePair| {
                            (pair.made, pair.measure, pair.rules, pair.published)
                                == (table.beside, measure, rules, published)
                        };
                        if table.label == "table-extended" && pairs.iter().any(repeated) {
                            continue;
                        }
                        let (part, made, change) = (table.label, table.beside, OrderChange::of(published, ours));
                        pairs.push(RulePair {
                            table: table.within,
                            part,
                            made,
                            measure,
                            rules,
                            published,
                            ours,
                            change,
                        });
                    }
                }
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_changes_by_more_than_rounding() {
        let cases = [
            ([0.846, 0.844], [0.7821, 0.7843], Some(OrderChange::Reversed)),
            ([0.846, 0.844], [0.7843, 0.7821], None),
            ([0.841, 0.841], [0.781, 0.768], Some(OrderChange::EqualInPaper)),
            ([0.841, 0.841], [0.7814, 0.7806], None), // one thousandth after rounding
            ([-0.074, -0.081], [-0.0501, -0.0504], Some(OrderChange::EqualHere)),
            ([-0.074, -0.075], [-0.0501, -0.0504], None),
            ([-0.037, -0.061], [-0.050, -0.006], Some(OrderChange::Reversed)),
            ([0.5, 0.5], [0.5, 0.5], None),
        ];
        for (published, ours, expected) in cases {
            assert_eq!(OrderChange::of(published, ours), expected, "{published:?} and {ours:?}");
            let turned = |[first, second]: [f64; 2]| [second, first];
            assert_eq!(OrderChange::of(turned(published), turned(ours)), expected);
        }
    }
}
