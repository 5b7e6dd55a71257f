//! The section on Theorem 1's construction: fig:worstcasebias.

use apportion_report::chart::{chart, rounded};
use apportion_report::{Block, Chart, Section, Sheet, palette};
use serde_json::json;

use super::information::{both_of, errors};
use super::with_legend;
use crate::{Mean, Reproduction, WorstCase};

pub(super) fn section(own: &Reproduction) -> Section {
    let equal = own.worst_case.iter().filter(|case| case.is_equal()).count();
    let lead = format!(
        "At {equal} of {} shares c of people about whom nothing is known, argmax’s bias for the first class equals the mean absolute \
         error within three standard errors.",
        own.worst_case.len()
    );
    Section {
        id: "worstcasebias",
        title: "The worst case",
        blocks: vec![Block::Chart(Box::new(bars(&own.worst_case, &lead))), Block::Text(WHEN.into())],
        lead,
    }
}

const WHEN: &str = "Theorem 1 bounds argmax’s bias by the mean absolute error of the scores. Compared with the mean of the \
                    scores, this holds for every table, with the error that the scores imply: the mean of 1 − Σ q². \
                    Compared with the truth, it holds on average, and only for calibrated scores: if the scores are \
                    miscalibrated, so are their sums, and no rule based on them can correct this.";

fn bars(cases: &[WorstCase], alt: &str) -> Chart {
    let shares: Vec<String> = cases.iter().map(|case| format!("c = {}", case.unknown)).collect();
    let trace = |name: String, color: &str, means: Vec<&Mean>| {
        json!({
            "type": "bar", "name": name, "x": shares, "marker": { "color": color },
            "y": means.iter().map(|mean| rounded(mean.mean)).collect::<Vec<_>>(), "error_y": errors(means.into_iter()),
        })
    };
    let classes = cases.first().map_or(0, |case| case.bias.len());
    let mut data: Vec<_> = (0..classes)
        .map(|class| {
            let means = cases.iter().map(|case| &case.bias[class]).collect();
            trace(format!("bias of class {}", class + 1), palette::class(class), means)
        })
        .collect();
    data.push(trace("mean absolute error".into(), palette::GUIDE, cases.iter().map(|case| &case.mae).collect()));
    let layout = json!({
        "height": 420, "barmode": "group",
        "xaxis": { "type": "category" }, "yaxis": { "title": { "text": "bias: share of labels minus true share" } },
    });
    let mut chart =
        with_legend(chart("worstcasebias", "The largest possible bias of argmax", data, layout, sheet(cases)));
    chart.caption =
        "The paper’s fig:worstcasebias. For a share c of people all scores are equal; the others are known \
                     to belong to the first class. Argmax counts everyone in the first class."
            .into();
    chart.alt = alt.to_owned();
    chart
}

fn sheet(cases: &[WorstCase]) -> Sheet {
    let mut sheet = Sheet::new([
        "unknown",
        "class",
        "bias_against_prior",
        "bias_against_prior_error",
        "bias_against_posterior",
        "bias_against_posterior_error",
        "mae",
        "mae_error",
        "expected_mae",
        "bias_of_first_less_mae",
        "bias_of_first_less_mae_error",
    ]);
    for case in cases {
        for (class, (bias, against_posterior)) in case.bias.iter().zip(&case.bias_against_posterior).enumerate() {
            let head = [case.unknown.to_string(), (class + 1).to_string()];
            let numbers = [*bias, *against_posterior, case.mae].into_iter().flat_map(both_of);
            let expected = [case.expected_mae.to_string()];
            sheet.push(head.into_iter().chain(numbers).chain(expected).chain(both_of(case.excess)));
        }
    }
    sheet
}
