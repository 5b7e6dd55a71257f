//! The section on further rules on simulated voters.

use apportion_report::chart::{chart, full, rounded};
use apportion_report::text::{count, percent, plain};
use apportion_report::{Block, Cell, Chart, Section, Sheet, Table, palette};
use serde_json::{Value, json};

use super::{files, table, with_legend};
use crate::variants::{Family, Variant};
use crate::voters::{Made, VoterFile};
use crate::{Outcome, Reproduction};

/// The figures, and the simulated voters of each.
const FIGURES: [(&str, Made); 4] = [
    ("variants-NC", Made::Overconfident),
    ("variants-bisg", Made::Calibrated),
    ("variants-raking", Made::CensusPrior),
    ("variants-dropuncoded", Made::WithoutUncoded),
];

pub(super) fn section(own: &Reproduction) -> Section {
    let files = files(own, FIGURES);
    let lead = files.first().and_then(|(_, file)| lead(file)).unwrap_or_default();
    let blocks = files
        .into_iter()
        .flat_map(|(id, file)| [Block::Chart(Box::new(figure(id, file))), Block::Table(numbers(id, file))]);
    Section { id: "variants", title: "More rules on voters", blocks: blocks.collect(), lead }
}

/// Returns the change from the smallest to the largest k and threshold, on one file.
fn lead(file: &VoterFile) -> Option<String> {
    let of = |family: Family| file.variants.iter().filter(move |variant| variant.family == family);
    let (small, large) = (of(Family::TopK).next()?, of(Family::TopK).next_back()?);
    let (low, high) = (of(Family::Threshold).next()?, of(Family::Threshold).next_back()?);
    Some(format!(
        "From k = {} to {}, the accuracy of top-k sampling changes from {} to {}, and its fidelity to the posterior from {} to \
         {}; from a threshold of {} to {}, the labeled share changes from {} to {} ({}).",
        small.setting,
        large.setting,
        plain(small.outcome.accuracy, 3),
        plain(large.outcome.accuracy, 3),
        plain(small.outcome.fidelity_to_posterior, 3),
        plain(large.outcome.fidelity_to_posterior, 3),
        low.setting,
        high.setting,
        percent(low.outcome.coverage, 1),
        percent(high.outcome.coverage, 1),
        file.words()
    ))
}

fn figure(id: &str, file: &VoterFile) -> Chart {
    let data: Vec<Value> = Family::ALL.iter().enumerate().map(|(index, &family)| trace(file, family, index)).collect();
    let layout = json!({
        "height": 480,
        "xaxis": { "title": { "text": "fidelity to the posterior" } },
        "yaxis": { "title": { "text": "accuracy among labeled people" }, "tickformat": ".2f" },
    });
    let title = format!("More rules: {}", file.words());
    let mut chart = with_legend(chart(id, &title, data, layout, sheet(file)));
    chart.caption = "One point per setting: k for top-k sampling, the threshold, and γ for balance. A threshold leaves people \
                     unlabeled. Rules to uniform have another reference than the posterior, and are far from it on purpose."
        .into();
    chart.alt = "Accuracy against fidelity to the posterior for each rule and setting in the table below.".into();
    chart
}

fn trace(file: &VoterFile, family: Family, index: usize) -> Value {
    let own: Vec<&Variant> = file.variants.iter().filter(|variant| variant.family == family).collect();
    json!({
        "type": "scatter", "mode": "lines+markers", "name": family.name(),
        "x": own.iter().map(|variant| rounded(variant.outcome.fidelity_to_posterior)).collect::<Vec<_>>(),
        "y": own.iter().map(|variant| rounded(variant.outcome.accuracy)).collect::<Vec<_>>(),
        "text": own.iter().map(|variant| format!("{} {}", family.setting(), variant.setting)).collect::<Vec<_>>(),
        "marker": { "symbol": palette::symbol(index), "size": 7 }, "line": { "color": palette::class(index) },
        "hovertemplate": "%{fullData.name}<br>%{text}<br>fidelity %{x:.4f}<br>accuracy %{y:.4f}<extra></extra>",
    })
}

fn numbers(id: &str, file: &VoterFile) -> Table {
    let row = |variant: &Variant| {
        let Outcome { coverage, accuracy, fidelity_to_truth, fidelity_to_posterior } = variant.outcome;
        let number = |own: f64| Cell::number(Some(own), |own| plain(own, 3));
        vec![
            Cell::text(variant.family.name()),
            Cell::text(format!("{} {}", variant.family.setting(), variant.setting)),
            number(accuracy),
            number(fidelity_to_truth),
            number(fidelity_to_posterior),
            Cell::number(Some(coverage), |own| percent(own, 1)),
        ]
    };
    let columns = ["Rule", "Setting", "Accuracy", "Fidelity to truth", "To posterior", "Labeled"];
    let caption = format!("{} {}", count(file.voters), file.words());
    table(&format!("{id}-table"), &caption, &columns, file.variants.iter().map(row).collect())
}

fn sheet(file: &VoterFile) -> Sheet {
    let columns = ["what", "setting", "value", "coverage", "accuracy", "fidelity_to_truth", "fidelity_to_posterior"];
    let mut sheet = Sheet::new(columns);
    for Variant { family, setting, outcome, .. } in &file.variants {
        let Outcome { coverage, accuracy, fidelity_to_truth, fidelity_to_posterior } = *outcome;
        let numbers = [*setting, coverage, accuracy, fidelity_to_truth, fidelity_to_posterior];
        let head = [family.name(), family.setting()].map(String::from).into_iter();
        sheet.push(head.chain(numbers.map(|own| full(Some(own)))));
    }
    sheet
}
