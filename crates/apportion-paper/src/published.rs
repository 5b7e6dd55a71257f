//! The figures printed in the paper's tables: `data/published.csv`, in the order of the tables.

use crate::voters::{Made, Outcome};

/// One of the paper's tables.
#[derive(Clone, Debug)]
pub struct Published {
    /// The label in the paper, such as `table-NC`.
    pub label: &'static str,
    /// The table that it is part of; `tab:table-public` has two parts.
    pub within: &'static str,
    /// A description of the data.
    pub about: &'static str,
    /// The simulated voters that it is compared with.
    pub beside: Made,
    /// The results of each rule, by name, in the order of the table.
    pub rows: Vec<(&'static str, Outcome)>,
}

/// The label, the table that it is part of, a description, and the simulated voters for comparison.
const TABLES: [(&str, &str, &str, Made); 9] = [
    ("table-NC", "tab:table-NC", "North Carolina, the commercial file", Made::Overconfident),
    ("table-extended", "tab:table-extended", "North Carolina, the commercial file, more rules", Made::Overconfident),
    ("table-bisg", "tab:table-public", "North Carolina, public data, BISG", Made::Calibrated),
    ("table-raking", "tab:table-public", "North Carolina, public data, raking", Made::CensusPrior),
    ("table-SC", "tab:table-appendix", "South Carolina, the commercial file", Made::Overconfident),
    ("table-FL", "tab:table-appendix", "Florida, the commercial file", Made::Overconfident),
    (
        "table-3states",
        "tab:table-appendix",
        "North and South Carolina and Florida, the commercial file",
        Made::Overconfident,
    ),
    (
        "table-US",
        "tab:table-appendix",
        "All of the United States who report race, the commercial file",
        Made::Overconfident,
    ),
    (
        "table-dropuncoded",
        "tab:table-dropuncoded",
        "North Carolina, the commercial file without Uncoded rows",
        Made::WithoutUncoded,
    ),
];

/// Returns all tables, in the order of the paper.
///
/// # Panics
/// If `data/published.csv` is damaged, which a test would find.
pub fn published() -> Vec<Published> {
    let rows: Vec<(&str, &str, Outcome)> = include_str!("../data/published.csv").lines().skip(1).map(row).collect();
    let table = |&(label, within, about, beside): &(&'static str, &'static str, &'static str, Made)| {
        let own = rows.iter().filter(|(table, ..)| *table == label);
        let rows = own.map(|&(_, rule, outcome)| (rule, outcome)).collect();
        Published { label, within, about, beside, rows }
    };
    TABLES.iter().map(table).collect()
}

fn row(line: &'static str) -> (&'static str, &'static str, Outcome) {
    let mut fields = line.split(',');
    let mut next = || fields.next().expect("a field for each column");
    let (table, rule) = (next(), next());
    let mut number = || next().parse().expect("a number");
    let (coverage, accuracy) = (number(), number());
    let outcome = Outcome { coverage, accuracy, fidelity_to_truth: number(), fidelity_to_posterior: number() };
    (table, rule, outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_file_is_in_a_table() {
        let tables = published();
        let sizes: Vec<usize> = tables.iter().map(|table| table.rows.len()).collect();
        assert_eq!(sizes, [7, 10, 8, 8, 8, 8, 8, 8, 8]);
        assert_eq!(include_str!("../data/published.csv").lines().count(), 1 + sizes.iter().sum::<usize>());
        let argmax = tables[0].rows.iter().find(|(rule, _)| *rule == "argmax").expect("it is in every table").1;
        let expected =
            Outcome { coverage: 1.0, accuracy: 0.844, fidelity_to_truth: -0.15, fidelity_to_posterior: -0.091 };
        assert_eq!(argmax, expected);
    }
}
