//! The trade: accuracy against fidelity for all rules and on the exact frontier (the paper's fig:pareto-NC), and a slider.

use apportion::Point;
use serde_json::{Value, json};

use super::{Section, nothing};
use crate::chart::{Grid, chart, column, full, label, nth, over, rounded};
use crate::document::{Block, Cell, Chart, Sheet, Slider, Table};
use crate::palette;
use crate::study::{Labelling, Study, Trade};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let Some(first) = study.trades.first() else {
        return nothing("trade", "The trade", "The frontier was not walked: there is nobody to label.");
    };
    let mut blocks = vec![Block::Chart(Box::new(rules(study)))];
    let first_exact = study.trades.iter().find(|trade| trade.reference == "posterior").unwrap_or(first);
    blocks.push(Block::Slider(Box::new(slider(study, first_exact))));
    Section { id: "trade", title: "The trade", lead: lead(first_exact), blocks }
}

fn lead(trade: &Trade) -> String {
    let (Some(argmax), Some(end)) = (trade.points.first(), trade.points.last()) else { return String::new() };
    let half = trade.points.iter().find(|point| point.fidelity >= argmax.fidelity / 2.0).unwrap_or(end);
    format!(
        "Between argmax (expected accuracy {}, fidelity {}) and right counts lie {} optimal trades: half of the way to right \
         counts costs {} of expected accuracy, all of it {}.",
        text::plain(argmax.accuracy, 4),
        text::plain(argmax.fidelity, 3),
        text::count(trade.of as u64),
        text::points_of(argmax.accuracy - half.accuracy, 2),
        text::points_of(argmax.accuracy - end.accuracy, 2)
    )
}

/// How faithful labels are to what a panel is about.
fn fidelity(labelling: &Labelling, reference: &str) -> Option<f64> {
    if reference == "truth" { labelling.fidelity_to_truth } else { labelling.fidelity_to_posterior }
}

/// A panel for each reference: the frontier as a line, and each rule as a point.
fn rules(study: &Study) -> Chart {
    let mut data = Vec::new();
    for (panel, trade) in study.trades.iter().enumerate() {
        data.push(line(trade, panel));
        data.extend(study.labellings.iter().enumerate().map(|(place, labelling)| {
            json!({
                "type": "scatter", "mode": "markers", "name": label(&labelling.name),
                "x": column([fidelity(labelling, trade.reference)]), "y": column([labelling.expected_accuracy]),
                "customdata": [[labelling.accuracy.map_or_else(|| "unknown".into(), |own| text::plain(own, 4))]],
                "xaxis": nth("x", panel), "yaxis": nth("y", panel),
                "legendgroup": place, "showlegend": panel == 0,
                "marker": marker(study, place),
                "hovertemplate": "%{fullData.name}<br>fidelity %{x:.4f}<br>expected accuracy %{y:.4f}<br>accuracy \
                                  %{customdata[0]}<extra></extra>",
            })
        }));
    }
    let grid = |columns| Grid {
        panels: study.trades.len(),
        columns,
        row: 400.0,
        gap: 90.0,
        between: 0.07,
        margins: (36.0, if columns == 1 { 210.0 } else { 130.0 }),
    };
    let wide = layout(study, grid(study.trades.len()));
    let mut chart = chart("trade", "Every rule, and what is possible", data, wide, sheet(study));
    chart.narrow = layout(study, grid(1));
    chart.caption = "To the right, counts are nearer to the reference; above, labels are more accurate. The line is the exact \
                     frontier: no labels of all rows lie beyond it. A rule that leaves rows without a label can, since it is \
                     judged by the others alone."
        .into();
    let of = |labelling: &Labelling| {
        let (x, y) = (labelling.fidelity_to_posterior, labelling.expected_accuracy);
        let show =
            |number: Option<f64>, digits| number.map_or_else(|| "unknown".into(), |own| text::plain(own, digits));
        format!("{} fidelity {}, expected accuracy {}", labelling.name, show(x, 3), show(y, 4))
    };
    let all: Vec<String> = study.labellings.iter().map(of).collect();
    chart.alt = format!("Expected accuracy against fidelity to the posterior: {}.", all.join("; "));
    chart
}

fn line(trade: &Trade, panel: usize) -> Value {
    json!({
        "type": "scatter", "mode": "lines", "name": "exact frontier", "legendgroup": "frontier", "showlegend": panel == 0,
        "x": trade.points.iter().map(|point| rounded(point.fidelity)).collect::<Vec<_>>(),
        "y": trade.points.iter().map(|point| rounded(point.accuracy)).collect::<Vec<_>>(),
        "xaxis": nth("x", panel), "yaxis": nth("y", panel),
        "line": { "color": palette::ACCENT, "width": 2.5 }, "hoverinfo": "skip",
    })
}

/// The subject and what it is set against stand out.
fn marker(study: &Study, place: usize) -> Value {
    let stands_out = place == study.subject || Some(place) == study.remedy;
    let color = if stands_out { palette::ACCENT } else { palette::GUIDE };
    json!({ "symbol": palette::symbol(place), "size": if stands_out { 13 } else { 10 }, "color": color })
}

fn layout(study: &Study, grid: Grid) -> Value {
    let titles: Vec<String> = study.trades.iter().map(|trade| format!("Fidelity to the {}", trade.reference)).collect();
    let axes = grid.layout(&titles, |panel| {
        let x = json!({
            "domain": grid.x(panel), "anchor": nth("y", panel), "title": { "text": "fidelity" }, "zeroline": true,
        });
        let mut y =
            json!({ "domain": grid.y(panel), "anchor": nth("x", panel), "zeroline": false, "tickformat": ".2f" });
        if grid.is_first(panel) {
            y["title"] = json!({ "text": "expected accuracy" });
        }
        vec![(nth("xaxis", panel), x), (nth("yaxis", panel), y)]
    });
    let legend = json!({ "orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0 });
    let margin = json!({ "l": 60, "r": 16, "t": 36, "b": grid.margins.1 });
    over(axes, json!({ "showlegend": true, "legend": legend, "margin": margin }))
}

fn sheet(study: &Study) -> Sheet {
    let mut sheet =
        Sheet::new(["what", "reference", "fidelity", "expected_accuracy", "accuracy", "from_gamma", "to_gamma"]);
    for trade in &study.trades {
        for labelling in &study.labellings {
            sheet.push([
                labelling.name.clone(),
                trade.reference.into(),
                full(fidelity(labelling, trade.reference)),
                full(labelling.expected_accuracy),
                full(labelling.accuracy),
                String::new(),
                String::new(),
            ]);
        }
        for point in &trade.points {
            sheet.push([
                "frontier".into(),
                trade.reference.into(),
                full(Some(point.fidelity)),
                full(Some(point.accuracy)),
                String::new(),
                full(Some(point.from_gamma)),
                full(Some(point.to_gamma)),
            ]);
        }
    }
    sheet
}

/// The frontier to the posterior alone, stop by stop.
fn slider(study: &Study, trade: &Trade) -> Slider {
    let mut moving = line(trade, 0);
    moving = over(
        moving,
        json!({
            "mode": "markers", "name": "here", "x": [trade.points[0].fidelity], "y": [trade.points[0].accuracy],
            "marker": { "size": 15, "color": palette::ACCENT, "line": { "width": 2, "color": "#fff" } }, "cliponaxis": false,
        }),
    );
    let layout = json!({
        "height": 330,
        "margin": { "l": 64, "r": 16, "t": 16, "b": 48 },
        "xaxis": { "title": { "text": format!("fidelity to the {}", trade.reference) }, "zeroline": false },
        "yaxis": { "title": { "text": "expected accuracy" }, "zeroline": false, "tickformat": ".3f" },
    });
    let mut chart =
        chart("frontier", "Along the exact frontier", vec![line(trade, 0), moving], layout, stops_sheet(study, trade));
    chart.caption = format!(
        "{} of {} points, from argmax (left) to match (right); between them accuracy is off by {} at most.",
        text::count(trade.points.len() as u64),
        text::count(trade.of as u64),
        if trade.error == 0.0 { "0".into() } else { format!("{:.1e}", trade.error) }
    );
    chart.alt = lead(trade);
    let truth: Option<Vec<f64>> = (0..study.k()).map(|class| study.whole.truth_share(class)).collect();
    Slider {
        classes: study.classes.clone(),
        colors: (0..study.k()).map(|class| palette::class(class).to_owned()).collect(),
        stops: json!({
            "people": study.whole.people, "posterior": study.whole.posterior, "truth": truth, "points": trade.points,
        }),
        count: trade.points.len(),
        has_truth: study.has_truth(),
        table: ends(study, trade),
        chart,
    }
}

fn stops_sheet(study: &Study, trade: &Trade) -> Sheet {
    let head = ["from_gamma", "to_gamma", "accuracy", "fidelity"].map(String::from);
    let counts = study.classes.iter().map(|class| format!("n_{class}"));
    let mut sheet = Sheet::new(head.into_iter().chain(counts));
    for point in &trade.points {
        let head = [point.from_gamma, point.to_gamma, point.accuracy, point.fidelity].map(|number| number.to_string());
        sheet.push(head.into_iter().chain(point.counts.iter().map(u64::to_string)));
    }
    sheet
}

/// Both ends and what lies between, for readers without a script and on paper.
fn ends(study: &Study, trade: &Trade) -> Table {
    let last = trade.points.len() - 1;
    let mut places = vec![0, last / 4, last / 2, 3 * last / 4, last];
    places.dedup();
    let row = |place: usize| {
        let Point { to_gamma, counts, accuracy, fidelity, .. } = &trade.points[place];
        let mut row = vec![
            Cell::number(Some(*to_gamma), |own| text::plain(own, 4)),
            Cell::number(Some(*accuracy), |own| text::plain(own, 4)),
            Cell::number(Some(*fidelity), |own| text::plain(own, 4)),
        ];
        row.extend(counts.iter().map(|&people| Cell::number(Some(people as f64), |_| text::count(people))));
        row
    };
    let columns = ["γ up to", "Expected accuracy", "Fidelity"].map(String::from).into_iter();
    Table {
        id: "frontier-table".into(),
        caption: "Five points of the frontier, and their counts".into(),
        columns: columns.chain(study.classes.iter().cloned()).collect(),
        rows: places.into_iter().map(row).collect(),
        note: String::new(),
        sortable: false,
    }
}
