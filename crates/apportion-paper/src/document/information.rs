//! The sections on the information in the scores: fig:info-bias and fig:info-pareto.

use apportion::simulate::PAPER_PRIOR;
use apportion_report::chart::{chart, full, rounded};
use apportion_report::text::{plain, signed};
use apportion_report::{Block, Chart, Section, Sheet, palette};
use serde_json::{Value, json};

use super::{variance, with_legend};
use crate::information::{BIAS_VARIANCES, Information};
use crate::{Mean, Reproduction};

/// Returns the error bars of a trace: one standard error in each direction.
pub(super) fn errors<'a>(means: impl Iterator<Item = &'a Mean>) -> Value {
    json!({ "type": "data", "array": means.map(|mean| rounded(mean.standard_error)).collect::<Vec<_>>(), "thickness": 1 })
}

/// Returns the name of a variance in legends.
fn name(information: &Information) -> String {
    format!("variance {} (MAE {})", variance(information.variance), plain(information.mae.mean, 2))
}

/// Builds the section on argmax's bias.
pub(super) fn bias(own: &Reproduction) -> Section {
    let shown: Vec<&Information> =
        own.information.iter().filter(|information| BIAS_VARIANCES.contains(&information.variance)).collect();
    let of_largest: Vec<String> = shown.iter().map(|shown| signed(shown.bias[0].mean, 3)).collect();
    let lead = format!(
        "Argmax’s bias for the largest class is {} at the variances {}: it decreases with more information.",
        of_largest.join(", "),
        shown.iter().map(|shown| variance(shown.variance)).collect::<Vec<_>>().join(", ")
    );
    Section {
        id: "info-bias",
        title: "Argmax’s bias by information",
        blocks: vec![Block::Chart(Box::new(bars(&shown, &lead)))],
        lead,
    }
}

fn bars(shown: &[&Information], alt: &str) -> Chart {
    let classes: Vec<String> =
        PAPER_PRIOR.iter().enumerate().map(|(class, share)| format!("{} ({share})", class + 1)).collect();
    let trace = |(index, information): (usize, &&Information)| {
        json!({
            "type": "bar", "name": name(information), "x": classes,
            "y": information.bias.iter().map(|bias| rounded(bias.mean)).collect::<Vec<_>>(),
            "error_y": errors(information.bias.iter()), "marker": { "color": palette::class(index) },
        })
    };
    let layout = json!({
        "height": 400, "barmode": "group",
        "xaxis": { "title": { "text": "class (and its share)" }, "type": "category" },
        "yaxis": { "title": { "text": "bias: share of labels minus posterior" } },
    });
    let mut sheet = Sheet::new(BIAS_COLUMNS);
    for information in shown {
        let both = information.bias.iter().zip(&information.bias_against_prior).zip(PAPER_PRIOR);
        for (class, ((bias, against_prior), share)) in both.enumerate() {
            let class = class + 1;
            let numbers = [information.mae, *bias, *against_prior].into_iter().flat_map(both_of);
            let head = [variance(information.variance), class.to_string(), share.to_string()];
            sheet.push(head.into_iter().chain(numbers));
        }
    }
    let data = shown.iter().enumerate().map(trace).collect();
    let mut chart = with_legend(chart("info-bias", "Bias of argmax by class", data, layout, sheet));
    chart.caption = "The paper’s fig:info-bias. With almost no information (variance 100), everyone is given the largest \
                     class, and the other classes disappear: Theorem 1 (i). MAE is the mean absolute error of the scores, an upper limit \
                     of the bias: Theorem 1 (iii)."
        .into();
    chart.alt = alt.to_owned();
    chart
}

const BIAS_COLUMNS: [&str; 9] = [
    "variance",
    "class",
    "share",
    "mae",
    "mae_error",
    "bias_against_posterior",
    "bias_against_posterior_error",
    "bias_against_prior",
    "bias_against_prior_error",
];

/// Returns a mean and its standard error in full precision.
pub(super) fn both_of(mean: Mean) -> [String; 2] {
    [full(Some(mean.mean)), full(Some(mean.standard_error))]
}

/// Builds the section on the frontiers.
pub(super) fn frontiers(own: &Reproduction) -> Section {
    let cost = |information: &Information| {
        let ends = information.stops.first().zip(information.stops.last());
        ends.map_or(0.0, |(argmax, matched)| 100.0 * (argmax.accuracy.mean - matched.accuracy.mean))
    };
    let most = own.information.iter().max_by(|a, b| cost(a).total_cmp(&cost(b)));
    let lead = most.map_or_else(String::new, |most| {
        format!(
            "With more information, the frontier is higher; right counts cost at most {} points of accuracy, at variance {}.",
            plain(cost(most), 1),
            variance(most.variance)
        )
    });
    let trace = |(index, information): (usize, &Information)| {
        json!({
            "type": "scatter", "mode": "lines+markers", "name": name(information),
            "x": information.stops.iter().map(|stop| rounded(stop.fidelity.mean)).collect::<Vec<_>>(),
            "y": information.stops.iter().map(|stop| rounded(stop.accuracy.mean)).collect::<Vec<_>>(),
            "text": information.stops.iter().map(|stop| format!("γ {}", stop.gamma)).collect::<Vec<_>>(),
            "marker": { "symbol": palette::symbol(index), "size": 6 }, "line": { "color": palette::class(index) },
            "hovertemplate": "%{fullData.name}<br>%{text}<br>fidelity %{x:.4f}<br>expected accuracy %{y:.4f}<extra></extra>",
        })
    };
    let layout = json!({
        "height": 480,
        "xaxis": { "title": { "text": "fidelity to the posterior" } },
        "yaxis": { "title": { "text": "expected accuracy" }, "tickformat": ".2f" },
    });
    let mut sheet = Sheet::new([
        "variance",
        "mae",
        "mae_error",
        "gamma",
        "accuracy",
        "accuracy_error",
        "fidelity",
        "fidelity_error",
        "mae_by_density",
        "mae_by_density_error",
    ]);
    for information in &own.information {
        for stop in &information.stops {
            let head = [variance(information.variance)].into_iter().chain(both_of(information.mae));
            let numbers = [stop.accuracy, stop.fidelity, information.mae_by_density].into_iter().flat_map(both_of);
            sheet.push(head.chain([stop.gamma.to_string()]).chain(numbers));
        }
    }
    let data = own.information.iter().enumerate().map(trace).collect();
    let mut chart = with_legend(chart("info-pareto", "Optimal labels by variance", data, layout, sheet));
    chart.caption = "The paper’s fig:info-pareto. Each line starts at argmax (left) and ends at match (right).".into();
    chart.alt = lead.clone();
    Section {
        id: "info-pareto",
        title: "The frontier by information",
        lead,
        blocks: vec![Block::Chart(Box::new(chart))],
    }
}
