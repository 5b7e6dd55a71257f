//! One class compared with everyone else: the two estimates, and a chart of the violations that change the sign.

use serde_json::{Value, json};

use crate::bracket::{BRACKET, COVARIANCES, SENSITIVITY};
use crate::chart::{Legend, chart, column, full, labels, over};
use crate::disparity::Disparity;
use crate::document::{Block, Cell, Chart, Sheet, Table};
use crate::palette;
use crate::text;
use apportion::estimate::{Sensitivity, Violation, WithError};

/// An estimator and how to get its violation.
type Part = (&'static str, fn(&Sensitivity) -> Option<Violation>);
const PARTS: [Part; 2] = [("weighted", |own| own.weighted), ("linear", |own| own.linear)];

/// Returns the tables of a level; empty if nothing was compared.
pub(super) fn tables(own: &Disparity, level: usize) -> Vec<Block> {
    if own.brackets.get(level).is_none() {
        return Vec::new();
    }
    vec![Block::Table(differences(own, level).folded()), Block::Table(violations(own, level).folded())]
}

/// Returns the chart of the first level, if any sign could be changed.
pub(super) fn sensitivity(own: &Disparity) -> Option<Chart> {
    let share = |class: usize, part: &Part| {
        own.bracket(0, class).and_then(|own| part.1(&own.sensitivity)).map(|own| 100.0 * own.share())
    };
    let classes: Vec<usize> =
        (0..own.classes.len()).filter(|&class| PARTS.iter().any(|part| share(class, part).is_some())).collect();
    if classes.is_empty() {
        return None;
    }
    let names = || labels(classes.iter().map(|&class| &own.classes[class]));
    let legend = Legend::of(PARTS.map(|part| part.0));
    let trace = |index: usize| -> Value {
        let part = &PARTS[index];
        json!({
            "type": "scatter", "mode": "markers", "name": legend.name(index),
            "x": column(classes.iter().map(|&class| share(class, part).map(|own| own.min(MOST)))), "y": names(),
            "text": classes.iter().map(|&class| share(class, part).map(|own| format!("{own:.0}%"))).collect::<Vec<_>>(),
            "marker": {
                "color": palette::class(index), "size": 9, "symbol": if index == 0 { "circle" } else { "diamond" },
            },
            "hovertemplate": "%{y}<br>%{text}<extra>%{fullData.name}</extra>",
        })
    };
    let width = 640.0;
    let layout = json!({
        "height": 34.0 * classes.len() as f64 + 92.0 + legend.height(width),
        "margin": { "l": 60, "r": 16, "t": 20, "b": 52.0 + legend.height(width) },
        "xaxis": {
            "range": [0, MOST * 1.03], "ticksuffix": "%", "zeroline": true, "tickangle": 0,
            "title": { "text": "violation that changes the sign, in percent of the largest possible" },
        },
        "yaxis": { "autorange": "reversed", "type": "category", "ticks": "", "showgrid": true, "zeroline": false },
        "shapes": [{
            "type": "line", "x0": 100, "x1": 100, "yref": "paper", "y0": 0, "y1": 1, "line": { "dash": "dot", "width": 1 },
        }],
    });
    let mut sheet = Sheet::new(["class", "estimator", "covariance", "largest", "share"]);
    for &class in &classes {
        for (name, part) in &PARTS {
            let violation = own.bracket(0, class).and_then(|own| part(&own.sensitivity));
            sheet.push([
                own.classes[class].clone(),
                (*name).to_owned(),
                full(violation.map(|own| own.needed)),
                full(violation.map(|own| own.largest)),
                full(violation.map(|own| own.share())),
            ]);
        }
    }
    let title = format!("{}: how large a violation changes the sign", text::begin(&own.what(0)));
    let layout = over(layout, legend.layout(width));
    let mut chart = chart("sensitivity", &title, vec![trace(0), trace(1)], layout, sheet);
    chart.caption = format!(
        "Each class compared with everyone else. Points at the right edge are at {MOST:.0}% or more. From 100%, no possible \
         violation changes the sign. The largest violation is limited {}.",
        own.limits()
    );
    let say = |&class: &usize| {
        let parts = PARTS.iter().filter_map(|part| Some(format!("{} {:.0}%", part.0, share(class, part)?)));
        format!("{}: {}", own.classes[class], text::list(&parts.collect::<Vec<_>>()))
    };
    chart.alt = format!(
        "Violation that changes the sign, in percent of the largest possible. {}.",
        classes.iter().map(say).collect::<Vec<_>>().join(". ")
    );
    Some(chart)
}

/// Shares above this are drawn at the edge.
const MOST: f64 = 120.0;

fn differences(own: &Disparity, level: usize) -> Table {
    let knows = own.knows_covariances(level);
    let difference = |value: Option<&WithError>| {
        let text = value.map_or_else(
            || "–".into(),
            |value| {
                let show = |number: f64| own.show_difference(number);
                format!("{} ({} to {})", show(value.value), show(value.interval.low), show(value.interval.high))
            },
        );
        Cell { text, value: value.map(|value| value.value) }
    };
    let row = |class: usize| {
        let bracket = own.bracket(level, class).map(|own| &own.estimate);
        let known = own.known_covariances(level, class);
        let mut cells = vec![Cell::text(&own.classes[class]), difference(bracket.map(|own| &own.weighted))];
        cells.push(difference(bracket.and_then(|own| own.linear.as_ref())));
        if knows {
            let covariance = |value: Option<&WithError>| Cell {
                text: value.map_or_else(|| "–".into(), |value| own.covariance_text(value)),
                value: value.map(|value| value.value),
            };
            cells.push(difference(known.map(|own| &own.truth)));
            cells.push(covariance(known.map(|own| &own.given_score)));
            cells.push(covariance(known.map(|own| &own.given_class)));
            cells.push(Cell::text(known.map_or_else(|| "–".into(), Disparity::order_text)));
        }
        cells
    };
    let mut columns = vec!["Class", "Weighted", "Linear"];
    let mut note = BRACKET.to_owned();
    if knows {
        columns.extend(["Truth", "Covariance given the score", "Covariance given the class", "Implied order"]);
        note = format!("{note} {COVARIANCES}");
    }
    let unit = if own.is_share() { ", points" } else { "" };
    let caption = format!("{}: class minus everyone else{unit}", text::begin(&own.what(level)));
    Table {
        columns: columns.into_iter().map(String::from).collect(),
        rows: (0..own.classes.len()).map(row).collect(),
        note,
        ..Table::new(format!("outcome-bracket-{level}"), caption)
    }
}

fn violations(own: &Disparity, level: usize) -> Table {
    let row = |class: usize| {
        let sensitivity = own.bracket(level, class).map(|own| own.sensitivity);
        let cell = |part: &Part| {
            let violation = sensitivity.as_ref().and_then(part.1);
            Cell { text: Disparity::violation_text(violation), value: violation.map(|own| own.share()) }
        };
        vec![Cell::text(&own.classes[class]), cell(&PARTS[0]), cell(&PARTS[1])]
    };
    Table {
        columns: ["Class", "Weighted", "Linear"].map(String::from).to_vec(),
        rows: (0..own.classes.len()).map(row).collect(),
        note: format!("{SENSITIVITY} The largest possible covariance follows from {}.", own.limits()),
        ..Table::new(
            format!("outcome-sensitivity-{level}"),
            format!("{}: violation that changes the sign of class minus everyone else", text::begin(&own.what(level))),
        )
    }
}
