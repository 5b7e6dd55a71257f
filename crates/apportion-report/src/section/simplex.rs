//! The triangle: some people's scores, coloured by their label, a panel a rule (the paper's fig:simplex-main).

use serde_json::{Value, json};

use super::{Section, nothing};
use crate::chart::{Grid, Legend, NARROW, WIDE, chart, label, nth, over};
use crate::document::{Block, Chart, Sheet};
use crate::palette;
use crate::study::{Sample, Study};
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
    let block = Block::Chart(Box::new(triangles(study, sample)));
    Section { id: "simplex", title: "Triangle", lead: lead(study, sample), blocks: vec![block] }
}

fn lead(study: &Study, sample: &Sample) -> String {
    let (subject, remedy) = (study.subject, study.remedy.filter(|&remedy| remedy != study.subject));
    let points = sample.points.len();
    let begin = format!(
        "{}'s scores, {} in the colour of the label",
        text::counted(points as u64, "person"),
        text::verb(points, "shown", "each")
    );
    let Some(remedy) = remedy else { return format!("{begin}.") };
    let (before, after) = (&study.labellings[subject].name, &study.labellings[remedy].name);
    let pairs = || sample.labels[subject].iter().zip(&sample.labels[remedy]).filter(|(a, b)| a != b);
    let uncoded = study.k();
    let moved = pairs().filter(|(a, b)| ![**a, **b].contains(&uncoded)).count();
    let (gained, lost) =
        (pairs().filter(|(a, _)| **a == uncoded).count(), pairs().filter(|(_, b)| **b == uncoded).count());
    let people = |number: usize| text::count(number as u64);
    // Only then all that moves lies between two borders.
    let where_they_are = if before == "argmax" && after == "match" && moved > 0 { ", near the borders" } else { "" };
    let mut end = format!("{after} gives {} of them another class than {before}{where_they_are}", people(moved));
    if gained > 0 {
        end += &format!("; {} without a label {} one by it", people(gained), text::verb(gained, "has", "have"));
    }
    if lost > 0 {
        end += &format!("; {} with a label {} none by it", people(lost), text::verb(lost, "has", "have"));
    }
    format!("{begin}: {end}.")
}

/// The names of the corners: two classes, and all others.
fn corners(study: &Study, sample: &Sample) -> [String; 3] {
    let [a, b] = sample.corners;
    let rest: Vec<&str> =
        (0..study.k()).filter(|class| ![a, b].contains(class)).map(|class| study.classes[class].as_str()).collect();
    let third = if let [one] = rest[..] { one.to_owned() } else { "all others".into() };
    [study.classes[a].clone(), study.classes[b].clone(), third]
}

fn triangles(study: &Study, sample: &Sample) -> Chart {
    let legend = Legend::of(study.classes.iter().map(String::as_str).chain(["Uncoded"]));
    let mut data = Vec::new();
    for panel in 0..study.labellings.len() {
        for class in 0..=study.k() {
            data.extend(cloud(study, sample, panel, class, &legend.name(class)));
        }
    }
    let grid = |columns: usize| Grid {
        panels: study.labellings.len(),
        columns,
        row: 330.0,
        gap: 92.0,
        between: 0.11,
        margins: (44.0, 34.0 + legend.height(if columns == 1 { NARROW } else { WIDE })),
    };
    let layout = |columns| layout(study, sample, grid(columns), &legend);
    let wide = layout(study.labellings.len().min(3));
    let mut chart = chart("simplex", "Scores on the triangle, by label", data, wide, sheet(study, sample));
    chart.narrow = layout(1);
    let [a, b, others] = corners(study, sample);
    chart.caption = format!(
        "The nearer to a corner, the likelier its class: {a}, {b} and {others}. A seeded sample; scores rounded to hundredths. \
         --simplex names other corners."
    );
    chart.alt = format!(
        "Triangles, one for each of {} of labelling. {}",
        text::counted(study.labellings.len() as u64, "way"),
        lead(study, sample)
    );
    chart
}

/// The people with one label in one panel. One trace a class is there in any case, for the legend.
fn cloud(study: &Study, sample: &Sample, panel: usize, class: usize, name: &str) -> Option<Value> {
    let is_uncoded = class == study.k();
    let own: Vec<usize> = (0..sample.points.len()).filter(|&point| sample.labels[panel][point] == class).collect();
    let in_legend = if is_uncoded { study.labellings.iter().any(|labelling| labelling.uncoded > 0) } else { true };
    if own.is_empty() && !(panel == 0 && in_legend) {
        return None;
    }
    // A point that is nowhere keeps the class in the legend.
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
        "hovertemplate": format!("{}: {name}<extra></extra>", label(&study.labellings[panel].name)),
    }))
}

fn layout(study: &Study, sample: &Sample, grid: Grid, legend: &Legend) -> Value {
    let [left, right, top] = corners(study, sample);
    let [left, right] = [left, right].map(|name| label(&text::short(&name, CORNER)));
    let top = label(&text::short(&top, 2 * CORNER));
    let titles: Vec<String> = study.labellings.iter().map(|labelling| label(&labelling.name)).collect();
    let side = |title: &str| json!({ "title": { "text": title, "font": { "size": 11 } }, "showticklabels": false, "ticks": "", "nticks": 5, "min": 0 });
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

/// So many letters fit at a lower corner.
const CORNER: usize = 9;

fn sheet(study: &Study, sample: &Sample) -> Sheet {
    let names = study.labellings.iter().map(|labelling| labelling.name.clone());
    let mut sheet = Sheet::new(corners(study, sample).into_iter().chain(names));
    for (point, scores) in sample.points.iter().enumerate() {
        let name =
            |labels: &Vec<usize>| study.classes.get(labels[point]).map_or_else(|| "Uncoded".into(), Clone::clone);
        sheet.push(scores.iter().map(f64::to_string).chain(sample.labels.iter().map(name)));
    }
    sheet
}
