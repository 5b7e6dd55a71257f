//! The trade-off: accuracy against fidelity for all rules and on the exact frontier (the paper's fig:pareto-NC), and a
//! slider.

use apportion::rule::Point;
use serde_json::{Value, json};

use super::{Section, nothing};
use crate::chart::{Grid, chart, column, full, label, nth, over, rounded};
use crate::document::{Block, Cell, Chart, Document, Sheet, Slider, Table};
use crate::palette;
use crate::study::{LabelSet, Study, Trade, TradeReference, part};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let shown = shown(study);
    let Some(&first) = shown.first() else {
        return nothing("trade", "The trade", "The frontier was not walked: there is nobody to label.");
    };
    let mut blocks = vec![Block::Chart(Box::new(rules(study, &shown)))];
    blocks.extend(below(study).map(Block::Text));
    let first_exact = shown.iter().copied().find(|trade| trade.reference == TradeReference::Posterior).unwrap_or(first);
    blocks.push(Block::Slider(Box::new(slider(study, first_exact))));
    if study.has_truth() && !study.has_whole_truth() {
        blocks.push(Block::Text(format!(
            "Frontiers are of everybody. The truth is known of {} of {} people only: what is off the truth is not shown here.",
            text::count(study.whole.with_truth()),
            text::count(study.whole.people)
        )));
    }
    Section { id: "trade", title: "The trade", lead: lead(first_exact), blocks }
}

/// Returns the frontiers that cover everyone. The frontier to the truth does so only if the truth is known for
/// everyone.
fn shown(study: &Study) -> Vec<&Trade> {
    let is_shown = |trade: &&Trade| {
        !trade.points.is_empty() && (trade.reference != TradeReference::Truth || study.has_whole_truth())
    };
    study.trades.iter().filter(is_shown).collect()
}

fn lead(trade: &Trade) -> String {
    let (Some(argmax), Some(end)) = (trade.points.first(), trade.points.last()) else { return String::new() };
    if trade.of == 1 {
        return format!(
            "Argmax (expected accuracy {}) has the right counts already: there is nothing to trade.",
            text::plain(argmax.accuracy, 4)
        );
    }
    let half = trade.points.iter().find(|point| point.fidelity >= argmax.fidelity / 2.0).unwrap_or(end);
    format!(
        "From argmax (expected accuracy {}, fidelity {}) to right counts there are {} optimal trades, both ends \
         included: half of the way to right counts costs {} of expected accuracy, all of it {}.",
        text::plain(argmax.accuracy, 4),
        text::plain(argmax.fidelity, 3),
        text::count(trade.of as u64),
        text::points_of(argmax.accuracy - half.accuracy, 2),
        text::points_of(argmax.accuracy - end.accuracy, 2)
    )
}

/// Applies Theorem 2 to these people: names the rules that lose accuracy without better counts, and by how much.
fn below(study: &Study) -> Option<String> {
    let mut all: Vec<(f64, &str)> =
        study.label_sets.iter().filter_map(|own| Some((own.frontier_gap?, own.name.as_str()))).collect();
    all.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let (below, on): (Vec<_>, Vec<_>) = all.into_iter().partition(|(far, _)| *far >= 5e-5);
    if below.is_empty() {
        return None;
    }
    let below: Vec<String> =
        below.into_iter().map(|(far, name)| format!("{name} by {}", text::points_of(far, 2))).collect();
    let on: Vec<&str> = on.into_iter().map(|(_, name)| name).collect();
    let on = if on.is_empty() { String::new() } else { format!(" On it: {}.", text::list(&on)) };
    Some(format!(
        "Below the frontier to the posterior, in expected accuracy, at equally good counts: {}.{on} By the paper’s Theorem 2, of \
         the rules that look at one row at a time argmax alone is on it.",
        text::list(&below)
    ))
}

/// Returns the fidelity of labels as the frontier measures it, if everyone is labeled.
fn fidelity(label_set: &LabelSet, trade: &Trade) -> Option<f64> {
    if label_set.uncoded == 0 { fidelity_of(&label_set.counts, trade) } else { None }
}

/// Returns the fidelity of counts of everyone to the frontier's targets, which are the counts of its last point.
fn fidelity_of(counts: &[u64], trade: &Trade) -> Option<f64> {
    let targets = &trade.points.last()?.counts;
    let people: u64 = targets.iter().sum();
    let off: u64 = counts.iter().zip(targets).map(|(&own, &target)| own.abs_diff(target)).sum();
    (counts.iter().sum::<u64>() == people).then(|| 0.0 - part(off, people).unwrap_or(0.0))
}

/// Returns a chart with one panel per reference: the frontier as a line, and each rule as a point.
fn rules(study: &Study, trades: &[&Trade]) -> Chart {
    let mut data = Vec::new();
    for (panel, &trade) in trades.iter().enumerate() {
        data.push(line(trade, panel));
        data.extend(learned(study, trade, panel));
        data.extend(study.label_sets.iter().enumerate().filter_map(|(index, label_set)| {
            let fidelity = fidelity(label_set, trade)?;
            Some(json!({
                "type": "scatter", "mode": "markers", "name": label(&label_set.name),
                "x": column([Some(fidelity)]), "y": column([label_set.expected_accuracy]),
                "customdata": [[label_set.accuracy.map_or_else(|| "unknown".into(), |own| text::plain(own, 4))]],
                "xaxis": nth("x", panel), "yaxis": nth("y", panel),
                "legendgroup": index, "showlegend": panel == 0,
                "marker": marker(study, index),
                "hovertemplate": "%{fullData.name}<br>fidelity %{x:.4f}<br>expected accuracy %{y:.4f}<br>accuracy \
                                  %{customdata[0]}<extra></extra>",
            }))
        }));
    }
    let grid = |columns| Grid {
        panels: trades.len(),
        columns,
        row: 400.0,
        gap: 90.0,
        between: 0.07,
        margins: (36.0, if columns == 1 { 210.0 } else { 130.0 }),
    };
    let wide = layout(trades, grid(trades.len()));
    let mut chart = chart("trade", "Every rule, and what is possible", data, wide, sheet(study, trades));
    chart.narrow = layout(trades, grid(1));
    chart.caption = format!(
        "To the right, counts are nearer to the reference; above, labels are more accurate. Fidelity is that of the counts of \
         everybody to the reference’s in whole people; the tables hold shares against shares. The line is the exact frontier: \
         no labels of all rows lie beyond it.{}{}",
        told_of_learned(study),
        absent(study)
    );
    let of = |label_set: &LabelSet| {
        let (x, y) = (fidelity(label_set, trades[0])?, label_set.expected_accuracy?);
        Some(format!("{} fidelity {}, expected accuracy {}", label_set.name, text::plain(x, 3), text::plain(y, 4)))
    };
    let all: Vec<String> = study.label_sets.iter().filter_map(of).collect();
    chart.alt =
        format!("Expected accuracy against fidelity to the {}: {}.", trades[0].reference.word(), all.join("; "));
    chart
}

/// Describes the dashed line, and the people that it is based on.
fn told_of_learned(study: &Study) -> String {
    let Some(stop) = study.learned.first() else { return String::new() };
    let tried = match stop.people < study.whole.people {
        true => format!(", tried on {} drawn by the seed", text::counted(stop.people, "person")),
        false => String::new(),
    };
    format!(" The dashed line is what a model learns from balance to the posterior{tried}.")
}

/// Lists the label sets that are not on the chart, with the reason.
fn absent(study: &Study) -> String {
    let without: Vec<&str> =
        study.label_sets.iter().filter(|own| own.uncoded > 0).map(|own| own.name.as_str()).collect();
    match without.len() {
        0 => String::new(),
        1 => format!(" Not shown, since it leaves people without a label: {}.", without[0]),
        _ => format!(" Not shown, since they leave people without a label: {}.", text::list(&without)),
    }
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

/// Returns the line of the learned rule, at each γ.
fn learned(study: &Study, trade: &Trade, panel: usize) -> Option<Value> {
    let stops = &study.learned;
    (!stops.is_empty()).then(|| {
        json!({
            "type": "scatter", "mode": "lines", "name": "learned, at each γ", "legendgroup": "learned",
            "showlegend": panel == 0,
            "x": column(stops.iter().map(|stop| fidelity_of(&stop.counts, trade))),
            "y": column(stops.iter().map(|stop| stop.expected_accuracy)),
            "text": stops.iter().map(|stop| format!("learned at γ {}", stop.gamma)).collect::<Vec<_>>(),
            "xaxis": nth("x", panel), "yaxis": nth("y", panel),
            "line": { "color": palette::class(1), "width": 2, "dash": "dash" },
            "hovertemplate": "%{text}<br>fidelity %{x:.4f}<br>expected accuracy %{y:.4f}<extra></extra>",
        })
    })
}

/// Returns the marker of a label set. The subject and the corrected labels are highlighted.
fn marker(study: &Study, index: usize) -> Value {
    let stands_out = index == study.subject || Some(index) == study.corrected;
    let color = if stands_out { palette::ACCENT } else { palette::GUIDE };
    json!({ "symbol": palette::symbol(index), "size": if stands_out { 13 } else { 10 }, "color": color })
}

fn layout(trades: &[&Trade], grid: Grid) -> Value {
    let titles: Vec<String> =
        trades.iter().map(|trade| format!("Fidelity to the {}", trade.reference.word())).collect();
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

/// Writes the fidelity of shares, as in the other sections, and in the last column that of counts, as on the chart.
fn sheet(study: &Study, trades: &[&Trade]) -> Sheet {
    let mut sheet = Sheet::new([
        "what",
        "reference",
        "fidelity",
        "expected_accuracy",
        "accuracy",
        "from_gamma",
        "to_gamma",
        "fidelity_of_counts",
    ]);
    for &trade in trades {
        for label_set in &study.label_sets {
            sheet.push([
                label_set.name.clone(),
                trade.reference.word().into(),
                full(if trade.reference == TradeReference::Truth {
                    label_set.fidelity_to_truth
                } else {
                    label_set.fidelity_to_posterior
                }),
                full(label_set.expected_accuracy),
                full(label_set.accuracy),
                String::new(),
                String::new(),
                full(fidelity(label_set, trade)),
            ]);
        }
        for stop in &study.learned {
            sheet.push([
                "learned".into(),
                trade.reference.word().into(),
                String::new(),
                full(stop.expected_accuracy),
                String::new(),
                full(Some(stop.gamma)),
                full(Some(stop.gamma)),
                full(fidelity_of(&stop.counts, trade)),
            ]);
        }
        for point in &trade.points {
            sheet.push([
                "frontier".into(),
                trade.reference.word().into(),
                full(Some(point.fidelity)),
                full(Some(point.accuracy)),
                String::new(),
                full(Some(point.from_gamma)),
                full(Some(point.to_gamma)),
                full(Some(point.fidelity)),
            ]);
        }
    }
    sheet
}

/// Returns the slider along the frontier to the posterior.
fn slider(study: &Study, trade: &Trade) -> Slider {
    let mut moving = line(trade, 0);
    moving = over(
        moving,
        json!({
            "mode": "markers", "name": "here", "x": [trade.points[0].fidelity], "y": [trade.points[0].accuracy],
            "marker": { "size": 15, "color": palette::ACCENT, "line": { "width": 2, "color": "#fff" } }, "cliponaxis": false,
        }),
    );
    let mut chart = along(&study.classes, trade);
    chart.data = json!([line(trade, 0), moving]);
    let truth: Option<Vec<f64>> = (0..study.k())
        .map(|class| study.whole.truth_share(class))
        .collect::<Option<_>>()
        .filter(|_| study.has_whole_truth());
    Slider {
        classes: study.classes.clone(),
        dots: (0..study.k()).map(palette::dot).collect(),
        stops: json!({
            "people": study.whole.people, "posterior": study.whole.posterior, "truth": truth, "points": trade.points,
        }),
        count: trade.points.len(),
        has_truth: study.has_whole_truth(),
        table: ends(study, trade),
        chart,
    }
}

/// Builds a report with one chart: the frontier.
pub(crate) fn alone(classes: &[String], trade: &Trade) -> Document {
    let chart = along(classes, trade);
    let blocks = vec![Block::Chart(Box::new(chart))];
    let section = Section { id: "trade", title: "The trade", lead: lead(trade), blocks };
    Document { title: "Every optimal trade".into(), subtitle: String::new(), sections: vec![section], shapes: None }
}

/// Returns the chart of a frontier.
fn along(classes: &[String], trade: &Trade) -> Chart {
    let layout = json!({
        "height": 330,
        "margin": { "l": 64, "r": 16, "t": 16, "b": 48 },
        "xaxis": { "title": { "text": format!("fidelity to the {}", trade.reference.word()) }, "zeroline": false },
        "yaxis": { "title": { "text": "expected accuracy" }, "zeroline": false, "tickformat": ".3f" },
    });
    let mut chart =
        chart("frontier", "Along the exact frontier", vec![line(trade, 0)], layout, stops_sheet(classes, trade));
    chart.caption = format!(
        "{} of {}, from argmax (left) to match (right); between them accuracy is off by {} at most.",
        text::count(trade.points.len() as u64),
        text::counted(trade.of as u64, "point"),
        if trade.error == 0.0 { "0".into() } else { format!("{:.1e}", trade.error) }
    );
    chart.alt = lead(trade);
    chart
}

fn stops_sheet(classes: &[String], trade: &Trade) -> Sheet {
    let head = ["from_gamma", "to_gamma", "accuracy", "fidelity"].map(String::from);
    let counts = classes.iter().map(|class| format!("n_{class}"));
    let mut sheet = Sheet::new(head.into_iter().chain(counts));
    for point in &trade.points {
        let head = [point.from_gamma, point.to_gamma, point.accuracy, point.fidelity].map(|number| number.to_string());
        sheet.push(head.into_iter().chain(point.counts.iter().map(u64::to_string)));
    }
    sheet
}

/// Returns both ends and some points in between, for readers without JavaScript and for print.
fn ends(study: &Study, trade: &Trade) -> Table {
    let last = trade.points.len() - 1;
    let mut indices = vec![0, last / 4, last / 2, 3 * last / 4, last];
    indices.dedup();
    let row = |index: usize| {
        let Point { to_gamma, counts, accuracy, fidelity, .. } = &trade.points[index];
        let mut row: Vec<Cell> =
            [accuracy, fidelity].map(|&own| Cell::number(Some(own), |own| text::plain(own, 4))).to_vec();
        row.extend(counts.iter().map(|&people| Cell::number(Some(people as f64), |_| text::count(people))));
        (text::plain(*to_gamma, 4), row)
    };
    let columns = ["Expected accuracy", "Fidelity"].map(String::from).into_iter().chain(study.classes.iter().cloned());
    let caption = "Points of the frontier, and their counts";
    let rows = indices.into_iter().map(row).collect();
    Table::crossed("frontier-table", caption, ["γ up to", "γ up to"], columns.collect(), rows)
}
