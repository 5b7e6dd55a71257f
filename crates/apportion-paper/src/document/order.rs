//! The pairs of rules whose order on simulated voters differs from the order in the paper's tables.

use apportion_report::chart::full;
use apportion_report::text::{count, plain};
use apportion_report::{Cell, Sheet, Table};

use crate::Reproduction;
use crate::order::{Measure, OrderChange, RulePair};

fn number_of(pairs: &[RulePair], change: OrderChange) -> u64 {
    pairs.iter().filter(|pair| pair.change == Some(change)).count() as u64
}

/// Returns the number of pairs whose order differs, in one sentence.
pub(super) fn lead(own: &Reproduction, pairs: &[RulePair]) -> String {
    format!(
        "Of {} pairs of rules in the paper’s tables, by accuracy or fidelity, {} have the opposite order {}; {} are equal in the \
         paper only, and {} here only.",
        count(pairs.len() as u64),
        count(number_of(pairs, OrderChange::Reversed)),
        super::whose(own),
        count(number_of(pairs, OrderChange::EqualInPaper)),
        count(number_of(pairs, OrderChange::EqualHere))
    )
}

/// Explains the list, and compares balance with argmax in every table: the paper's most surprising pair.
pub(super) fn words(own: &Reproduction, pairs: &[RulePair]) -> String {
    let voters = own.voters.iter().map(|file| file.voters).min().unwrap_or(1);
    let both = |figures: [f64; 2]| format!("{} and {}", plain(figures[0], 3), plain(figures[1], 3));
    let surprising = pairs.iter().filter(|pair| {
        pair.rules.contains(&"argmax") && pair.rules.contains(&"balance γ 0.9") && pair.measure == Measure::Accuracy
    });
    let reversed: Vec<String> = surprising
        .filter(|pair| pair.change == Some(OrderChange::Reversed))
        .map(|pair| {
            let [first, second] = pair.rules;
            format!(
                "in {} the accuracies of {first} and {second} are {}, and {} here",
                pair.part,
                both(pair.published),
                both(pair.ours)
            )
        })
        .collect();
    let reversed = match reversed.is_empty() {
        true => "Balance at γ 0.9 and argmax have the paper’s order of accuracy in every table.".to_owned(),
        false => format!("Balance at γ 0.9 and argmax have the opposite order of accuracy: {}.", reversed.join("; ")),
    };
    format!(
        "The last table lists every pair of rules whose order differs from the paper. All figures are rounded to three \
         decimals, as the paper prints them, and a pair that is equal on one side is listed if it differs by more than \
         0.001 on the other. The standard error of an accuracy of {} voters is at most {}. {reversed}",
        count(voters),
        plain(0.5 / (voters as f64).sqrt(), 4)
    )
}

pub(super) fn table(pairs: &[RulePair]) -> Table {
    let row = |pair: &RulePair| {
        let change = pair.change?;
        let figures = pair.published.into_iter().chain(pair.ours);
        let mut row = vec![Cell::text(pair.part), Cell::text(pair.measure.words())];
        row.extend(pair.rules.map(Cell::text));
        row.extend(figures.map(|figure| Cell::number(Some(figure), |own| plain(own, 3))));
        row.push(Cell::text(change.name()));
        Some(row)
    };
    let columns = [
        "Table",
        "Measure",
        "First rule",
        "Second rule",
        "First, published",
        "Second, published",
        "First, ours",
        "Second, ours",
        "Order",
    ];
    super::table(
        "order",
        "Pairs of rules in another order than in the paper",
        &columns,
        pairs.iter().filter_map(row).collect(),
    )
}

/// Returns all pairs as a sheet; the last column is empty if the order is the same.
pub(super) fn sheet(own: &Reproduction) -> Sheet {
    let mut sheet = Sheet::new([
        "table",
        "part",
        "measure",
        "first",
        "second",
        "first_published",
        "second_published",
        "first_ours",
        "second_ours",
        "order",
    ]);
    for pair in own.rule_pairs() {
        let [first, second] = pair.rules;
        let head = [pair.table, pair.part, pair.measure.name(), first, second].map(String::from).into_iter();
        let figures = pair.published.into_iter().chain(pair.ours).map(|figure| full(Some(figure)));
        let change = pair.change.map_or("", OrderChange::name).to_owned();
        sheet.push(head.chain(figures).chain([change]));
    }
    sheet
}
