//! The section on argmax in every state: fig:pocrep.

use apportion_report::chart::{chart, full, rounded};
use apportion_report::text::{count, percent, plain, signed};
use apportion_report::{Block, Cell, Chart, Section, Sheet, Table, palette};
use serde_json::json;

use super::table;
use crate::{Reproduction, State};

pub(super) fn section(own: &Reproduction) -> Section {
    let states = &own.states;
    let (under, over): (Vec<&State>, Vec<&State>) = states.iter().partition(|state| state.bias() < 0.0);
    let names: Vec<&str> = over.iter().map(|state| state.name.as_str()).collect();
    let lead = format!(
        "Argmax labels too few adults as not white in {} of {} (the states and DC){}; in the paper, in all but DC, HI and NM.",
        under.len(),
        states.len(),
        if names.is_empty() { String::new() } else { format!(", all but {}", names.join(", ")) }
    );
    Section {
        id: "pocrep",
        title: "Argmax in every state",
        blocks: vec![Block::Chart(Box::new(figure(states, &lead))), Block::Table(numbers(states))],
        lead,
    }
}

fn figure(states: &[State], alt: &str) -> Chart {
    let line = json!({
        "type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 0], "hoverinfo": "skip",
        "line": { "color": palette::GUIDE, "dash": "dot" },
    });
    let points = json!({
        "type": "scatter", "mode": "markers+text",
        "x": states.iter().map(|state| rounded(state.posterior_share())).collect::<Vec<_>>(),
        "y": states.iter().map(|state| rounded(100.0 * state.bias())).collect::<Vec<_>>(),
        "text": states.iter().map(|state| state.name.as_str()).collect::<Vec<_>>(),
        "textposition": "top center", "textfont": { "size": 9 },
        "marker": { "size": 6, "color": palette::ACCENT },
        "hovertemplate": "%{text}<br>not white %{x:.1%}<br>argmax %{y:+.1f} points<extra></extra>",
    });
    let layout = json!({
        "height": 480,
        "xaxis": { "title": { "text": "share of adults who are not white" }, "tickformat": ".0%", "range": [0, 1] },
        "yaxis": { "title": { "text": "share labeled by argmax minus this share, in points" } },
    });
    let mut chart = chart("pocrep", "Bias of argmax by state", vec![line, points], layout, sheet(states));
    chart.caption = "Corresponds to the paper’s fig:pocrep, with adults of the Census of 2020 instead of the commercial \
                     voter file, and BISG scores from surname and county. Below the dotted line, argmax undercounts people \
                     who are not white. The sums are over all built-in surnames and counties, without sampling; within a \
                     class, surnames are assumed to be independent of the county, as in BISG, so the scores are calibrated."
        .into();
    chart.alt = alt.to_owned();
    chart
}

fn numbers(states: &[State]) -> Table {
    let row = |state: &State| {
        let missing = state.posterior_share() * state.people() - state.argmax_by_county;
        vec![
            Cell::text(&state.name),
            Cell::text(state.largest_class()),
            Cell::number(Some(state.people()), |own| count(own.round() as u64)),
            Cell::number(Some(state.posterior_share()), |own| percent(own, 1)),
            Cell::number(Some(state.argmax_share()), |own| percent(own, 1)),
            Cell::number(Some(100.0 * state.bias()), |own| signed(own, 1)),
            Cell::number(Some(100.0 * state.bias() / state.posterior_share()), |own| signed(own, 1)),
            Cell::number(Some(missing), |own| plain(own, 0)),
            Cell::number(Some(100.0 * state.bias_by_state()), |own| signed(own, 1)),
        ]
    };
    let columns = [
        "State",
        "Largest class",
        "Adults",
        "Not white",
        "Labeled by argmax",
        "Bias, points",
        "Bias, % of not white",
        "Undercount, adults",
        "Bias with scores by state, points",
    ];
    let mut table = table("states", "People who are not white, by state", &columns, states.iter().map(row).collect());
    table.sortable = true;
    table.note = "The last column uses scores from surname and state, which contain less information than scores from \
                  surname and county."
        .into();
    table
}

fn sheet(states: &[State]) -> Sheet {
    let mut sheet = Sheet::new([
        "state",
        "largest_class",
        "adults",
        "posterior_share",
        "argmax_share",
        "bias",
        "undercount",
        "bias_by_state",
    ]);
    for state in states {
        let undercount = state.posterior_share() * state.people() - state.argmax_by_county;
        let numbers = [
            state.people(),
            state.posterior_share(),
            state.argmax_share(),
            state.bias(),
            undercount,
            state.bias_by_state(),
        ];
        let head = [state.name.clone(), state.largest_class().to_owned()];
        sheet.push(head.into_iter().chain(numbers.map(|own| full(Some(own)))));
    }
    sheet
}
