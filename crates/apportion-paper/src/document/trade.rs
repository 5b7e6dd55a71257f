//! The section on the trade-off on simulated voters, exact and learned: fig:pareto-NC and similar figures.

use apportion::rule::Learned;
use apportion_report::chart::{chart, full, rounded};
use apportion_report::text::{count, plain};
use apportion_report::{Block, Chart, Section, Sheet, palette};
use serde_json::{Value, json};

use super::{files, with_legend};
use crate::voters::{Made, Outcome, Trade, VoterFile};
use crate::{Kind, Reproduction};

/// The paper's figures, and the simulated voters that replace the data of each.
const FIGURES: [(&str, Made); 4] = [
    ("pareto-NC", Made::Overconfident),
    ("pareto-bisg", Made::Calibrated),
    ("pareto-raking", Made::CensusPrior),
    ("pareto-dropuncoded", Made::WithoutUncoded),
];

pub(super) fn section(own: &Reproduction) -> Section {
    let files = files(own, FIGURES);
    let apart = files.iter().map(|(_, file)| furthest(file)).fold(0.0, f64::max);
    let lead = format!(
        "The rule learned from {} voters stays close to the exact trade-off at every γ: its accuracy differs by at most {} \
         points.",
        count(own.plan.voters.min(Learned::TRAIN_ROWS as u64)),
        plain(100.0 * apart, 1)
    );
    let charts = files.into_iter().map(|(id, file)| Block::Chart(Box::new(figure(id, file, own))));
    Section { id: "pareto-NC", title: "The trade-off on voters", lead, blocks: charts.collect() }
}

/// Returns the largest difference in accuracy between the exact and the learned rule at the same γ.
fn furthest(file: &VoterFile) -> f64 {
    file.trades.iter().map(|trade| (trade.exact.accuracy - trade.learned.accuracy).abs()).fold(0.0, f64::max)
}

fn figure(id: &'static str, file: &VoterFile, own: &Reproduction) -> Chart {
    let mut data = vec![
        line("balance, at each γ", file, |trade| trade.exact, &json!({ "color": palette::ACCENT, "width": 2.5 })),
        line(
            "learned, at each γ",
            file,
            |trade| trade.learned,
            &json!({ "color": palette::class(1), "width": 2, "dash": "dash" }),
        ),
    ];
    let labeled = file.outcomes.iter().filter(|(_, outcome)| outcome.coverage == 1.0);
    data.extend(labeled.enumerate().map(|(index, (name, outcome))| {
        let independent =
            own.all_rules.contestants.iter().any(|rule| rule.name == *name && rule.kind == Kind::Independent);
        let color = if independent { palette::GUIDE } else { palette::ACCENT };
        json!({
            "type": "scatter", "mode": "markers", "name": name,
            "x": [rounded(outcome.fidelity_to_truth)], "y": [rounded(outcome.accuracy)],
            "marker": { "symbol": palette::symbol(index), "size": 10, "color": color },
            "hovertemplate": "%{fullData.name}<br>fidelity %{x:.4f}<br>accuracy %{y:.4f}<extra></extra>",
        })
    }));
    let layout = json!({
        "height": 440,
        "xaxis": { "title": { "text": "fidelity to the truth" } },
        "yaxis": { "title": { "text": "accuracy" }, "tickformat": ".2f" },
    });
    let mut chart =
        with_legend(chart(id, &format!("Accuracy against fidelity: {}", file.words()), data, layout, sheet(file)));
    chart.caption = format!(
        "Corresponds to the paper’s fig:{id}. Both lines go from γ 1 (argmax) over 0.99 to 0.80; match and the rule learned \
         from it (γ 0) are points. All rules target the posterior, except those to truth, and are compared with the truth. The threshold is not shown, because it leaves people unlabeled."
    );
    chart.alt = format!(
        "Accuracy against fidelity to the truth. At the same γ, the accuracy of balance and of the rule learned from it \
         differs by at most {} points.",
        plain(100.0 * furthest(file), 2)
    );
    chart
}

/// Returns a line down to the smallest positive γ, as in the paper. Nothing was computed between that and match.
fn line(name: &str, file: &VoterFile, of: fn(&Trade) -> Outcome, style: &Value) -> Value {
    let stops: Vec<&Trade> = file.trades.iter().filter(|trade| trade.gamma > 0.0).collect();
    json!({
        "type": "scatter", "mode": "lines+markers", "name": name, "line": style, "marker": { "size": 4 },
        "x": stops.iter().map(|trade| rounded(of(trade).fidelity_to_truth)).collect::<Vec<_>>(),
        "y": stops.iter().map(|trade| rounded(of(trade).accuracy)).collect::<Vec<_>>(),
        "text": stops.iter().map(|trade| format!("γ {}", trade.gamma)).collect::<Vec<_>>(),
        "hovertemplate": "%{fullData.name}<br>%{text}<br>fidelity %{x:.4f}<br>accuracy %{y:.4f}<extra></extra>",
    })
}

fn sheet(file: &VoterFile) -> Sheet {
    let mut sheet = Sheet::new(["what", "gamma", "coverage", "accuracy", "fidelity_to_truth", "fidelity_to_posterior"]);
    let mut push = |name: &str, gamma: Option<f64>, outcome: &Outcome| {
        let Outcome { coverage, accuracy, fidelity_to_truth, fidelity_to_posterior } = *outcome;
        let numbers = [coverage, accuracy, fidelity_to_truth, fidelity_to_posterior].map(|own| full(Some(own)));
        sheet.push([name.to_owned(), full(gamma)].into_iter().chain(numbers));
    };
    file.outcomes.iter().for_each(|(name, outcome)| push(name, None, outcome));
    file.trades.iter().for_each(|trade| push("balance", Some(trade.gamma), &trade.exact));
    file.trades.iter().for_each(|trade| push("learned", Some(trade.gamma), &trade.learned));
    sheet
}
