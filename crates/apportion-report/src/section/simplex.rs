//! The triangle: the scores of a sample of people, colored by label, one panel per rule (the paper's fig:simplex-main).

use std::ops::Range;

use apportion::rule::RuleKind;
use apportion::text::{Message, Setting};
use serde_json::{Value, json};

use super::{Section, nothing};
use crate::chart::{Grid, Legend, NARROW, WIDE, chart, label, nth, over};
use crate::document::{Block, Chart, Sheet};
use crate::palette;
use crate::study::{LabelKind, Sample, Study};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let Some(sample) = &study.sample else {
        let why = if study.k() < 3 {
            "There is no triangle of fewer than three classes."
        } else {
            "There is nobody to show."
        };
        return nothing("simplex", "Triangle", why);
    };
    let blocks = charts(study, sample).into_iter().map(|chart| Block::Chart(Box::new(chart))).collect();
    Section { id: "simplex", title: "Triangle", lead: lead(study, sample), blocks }
}

/// The maximum number of triangles on a printed page.
const MOST_PANELS: usize = 9;

/// Returns one chart, or several if there are many label sets.
fn charts(study: &Study, sample: &Sample) -> Vec<Chart> {
    let all = study.label_sets.len();
    let parts = all.div_ceil(MOST_PANELS);
    // The panels are distributed evenly, in rows of three.
    let each = all.div_ceil(parts).next_multiple_of(3);
    let chart = |part: usize| {
        let mut chart = triangles(study, sample, part * each..all.min((part + 1) * each));
        if parts > 1 {
            chart.title += &format!(" ({} of {parts})", part + 1);
        }
        if part > 0 {
            chart.id += &format!("-{}", part + 1);
        }
        chart
    };
    (0..parts).map(chart).collect()
}

fn lead(study: &Study, sample: &Sample) -> String {
    let (subject, corrected) = (study.subject, study.corrected.filter(|&corrected| corrected != study.subject));
    let points = sample.points.len();
    let begin = format!(
        "{}'s scores, {} in the colour of the label",
        text::counted(points as u64, "person"),
        text::verb(points, "shown", "each")
    );
    let Some(corrected) = corrected else { return format!("{begin}.") };
    let (before, after) = (&study.label_sets[subject].name, &study.label_sets[corrected].name);
    let pairs = || sample.labels[subject].iter().zip(&sample.labels[corrected]).filter(|(a, b)| a != b);
    let uncoded = study.k();
    let moved = pairs().filter(|(a, b)| ![**a, **b].contains(&uncoded)).count();
    let (gained, lost) =
        (pairs().filter(|(a, _)| **a == uncoded).count(), pairs().filter(|(_, b)| **b == uncoded).count());
    let people = |number: usize| text::count(number as u64);
    // Only for argmax and match do all changed points lie between two borders.
    let kinds = (study.label_sets[subject].kind, study.label_sets[corrected].kind);
    let is_between = kinds == (LabelKind::ARGMAX, LabelKind::Rule(RuleKind::Match)) && moved > 0;
    let where_they_are = if is_between { ", near the borders" } else { "" };
    let mut end = format!("{after} gives {} of them another class than {before}{where_they_are}", people(moved));
    if gained > 0 {
        end += &format!("; {} without a label {} one by it", people(gained), text::verb(gained, "has", "have"));
    }
    if lost > 0 {
        end += &format!("; {} with a label {} none by it", people(lost), text::verb(lost, "has", "have"));
    }
    format!("{begin}: {end}.")
}

/// Returns the names of the corners: two classes, and all others.
fn corners(study: &Study, sample: &Sample) -> [String; 3] {
    let [a, b] = sample.corners;
    let rest: Vec<&str> =
        (0..study.k()).filter(|class| ![a, b].contains(class)).map(|class| study.classes[class].as_str()).collect();
    let third = if let [one] = rest[..] { one.to_owned() } else { "all others".into() };
    [study.classes[a].clone(), study.classes[b].clone(), third]
}

fn triangles(study: &Study, sample: &Sample, ways: Range<usize>) -> Chart {
    let legend = Legend::of(study.classes.iter().map(String::as_str).chain(["Uncoded"]));
    let mut data = Vec::new();
    for (panel, way) in ways.clone().enumerate() {
        for class in 0..=study.k() {
            data.extend(cloud(study, sample, (panel, way), class, &legend.name(class)));
        }
    }
    let grid = |columns: usize| Grid {
        panels: ways.len(),
        columns,
        row: 330.0,
        gap: 92.0,
        between: 0.11,
        margins: (44.0, 34.0 + legend.height(if columns == 1 { NARROW } else { WIDE })),
    };
    let layout = |columns| layout(study, sample, ways.clone(), grid(columns), &legend);
    let wide = layout(ways.len().min(3));
    let sheet = sheet(study, sample, ways.clone());
    let mut chart = chart("simplex", "Scores on the triangle, by label", data, wide, sheet);
    chart.narrow = layout(1);
    let [a, b, others] = corners(study, sample);
    let message = Message::from(format!(
        "The nearer to a corner, the likelier its class: {a}, {b} and {others}. A seeded sample; scores rounded to hundredths. "
    ));
    chart.caption = study.render(&(message + Setting::Simplex + " chooses other corners."));
    chart.alt = format!(
        "Triangles, one for each of {} of labeling. {}",
        text::counted(ways.len() as u64, "way"),
        lead(study, sample)
    );
    chart
}

/// Returns the people with one label in one panel. The first panel has a trace for every class, for the legend.
fn cloud(study: &Study, sample: &Sample, (panel, way): (usize, usize), class: usize, name: &str) -> Option<Value> {
    let is_uncoded = class == study.k();
    let own: Vec<usize> = (0..sample.points.len()).filter(|&point| sample.labels[way][point] == class).collect();
    let in_legend = if is_uncoded { study.label_sets.iter().any(|label_set| label_set.uncoded > 0) } else { true };
    if own.is_empty() && !(panel == 0 && in_legend) {
        return None;
    }
    // A null point keeps the class in the legend.
    let nowhere = if own.is_empty() { vec![Value::Null] } else { Vec::new() };
    let side = |corner: usize| -> Vec<Value> {
        own.iter().map(|&point| json!(sample.points[point][corner])).chain(nowhere.iter().cloned()).collect()
    };
    let (symbol, color) = if is_uncoded {
        ("circle-open".to_owned(), palette::UNCODED)
    } else {
        (palette::class_symbol(class), palette::class(class))
    };
    Some(json!({
        "type": "scatterternary", "mode": "markers", "subplot": nth("ternary", panel), "name": name,
        "a": side(2), "b": side(0), "c": side(1), "legendgroup": class, "showlegend": panel == 0,
        "marker": { "size": if study.k() > 9 { 6 } else { 5 }, "color": color, "symbol": symbol, "opacity": 0.75 },
        "hovertemplate": format!("{}: {name}<extra></extra>", label(&study.label_sets[way].name)),
    }))
}

fn layout(study: &Study, sample: &Sample, ways: Range<usize>, grid: Grid, legend: &Legend) -> Value {
    let [left, right, top] = corners(study, sample);
    let [left, right] = [left, right].map(|name| label(&text::short(&name, CORNER)));
    let top = label(&text::short(&top, 2 * CORNER));
    let titles: Vec<String> = study.label_sets[ways].iter().map(|label_set| label(&label_set.name)).collect();
    let side = |title: &str| json!({ "title": { "text": title, "font": { "size": 10 } }, "showticklabels": false, "ticks": "", "nticks": 5, "min": 0 });
    let planes = grid.layout(&titles, |panel| {
        let domain = json!({ "x": grid.x(panel), "y": grid.y(panel) });
        let plane =
            json!({ "domain": domain, "sum": 1, "aaxis": side(&top), "baxis": side(&left), "caxis": side(&right) });
        vec![(nth("ternary", panel), plane)]
    });
    let mut planes = planes;
    for title in planes["annotations"].as_array_mut().into_iter().flatten() {
        title["yshift"] = json!(20); // above the name of the upper corner
    }
    let margin = json!({ "l": 46, "r": 46, "t": grid.margins.0, "b": grid.margins.1 });
    over(planes, json!({ "showlegend": true, "legend": legend.layout(), "margin": margin }))
}

/// The number of characters that fit at a lower corner, even in wide fonts and in print.
const CORNER: usize = 8;

fn sheet(study: &Study, sample: &Sample, ways: Range<usize>) -> Sheet {
    let names = study.label_sets[ways.clone()].iter().map(|label_set| label_set.name.clone());
    let mut sheet = Sheet::new(corners(study, sample).into_iter().chain(names));
    for (point, scores) in sample.points.iter().enumerate() {
        let name =
            |labels: &Vec<usize>| study.classes.get(labels[point]).map_or_else(|| "Uncoded".into(), Clone::clone);
        sheet.push(scores.iter().map(f64::to_string).chain(sample.labels[ways.clone()].iter().map(name)));
    }
    sheet
}
