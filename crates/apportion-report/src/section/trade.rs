//! The tradeoff: expected accuracy against fidelity, for the rules and on the exact frontier (the paper's fig:pareto-NC),
//! with a slider and the command for each of its stops.

use apportion::rule::Point;
use apportion::text::{Message, Setting};
use serde_json::{Value, json};

use super::{Section, nothing};
use crate::chart::{Legend, NARROW, WIDE, chart, column, full, over, rounded};
use crate::document::{Block, Cell, Chart, Document, Sheet, Slider, Table};
use crate::palette;
use crate::study::{LabelSet, Study, Trade, part};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let Some(trade) = study.trade.as_ref().filter(|trade| !trade.points.is_empty()) else {
        return nothing("trade", "Tradeoff", "There are no people to label, so there is no tradeoff.");
    };
    let mut blocks = vec![Block::Slider(Box::new(slider(study, trade)))];
    blocks.extend(below(study).map(Block::Text));
    Section { id: "trade", title: "Tradeoff", lead: lead(trade), blocks }
}

fn lead(trade: &Trade) -> String {
    let (Some(argmax), Some(end)) = (trade.points.first(), trade.points.last()) else { return String::new() };
    if trade.of == 1 {
        return format!(
            "Argmax (expected accuracy {}) already has the right counts, so there is no tradeoff.",
            text::plain(argmax.accuracy, 4)
        );
    }
    let half = trade.points.iter().find(|point| point.fidelity >= argmax.fidelity / 2.0).unwrap_or(end);
    format!(
        "Compared with argmax (expected accuracy {}, fidelity {}), labels with the counts of the scores cost {} of expected \
         accuracy. To halve the difference from these counts costs {}.",
        text::plain(argmax.accuracy, 4),
        text::plain(argmax.fidelity, 3),
        text::points_of(argmax.accuracy - end.accuracy, 2),
        text::points_of(argmax.accuracy - half.accuracy, 2)
    )
}

/// Applies Theorem 2 to these people: names the rules that lose accuracy without better counts, and by how much. The table
/// of rules has the others.
fn below(study: &Study) -> Option<String> {
    let mut all: Vec<(f64, &str)> =
        study.main().filter_map(|own| Some((own.frontier_gap?, own.name.as_str()))).collect();
    all.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let (below, on): (Vec<_>, Vec<_>) = all.into_iter().partition(|(far, _)| *far >= 5e-5);
    if below.is_empty() {
        return None;
    }
    let below: Vec<String> =
        below.into_iter().map(|(far, name)| format!("{name} {}", text::points_of(far, 2))).collect();
    let on: Vec<&str> = on.into_iter().map(|(_, name)| name).collect();
    let on =
        if on.is_empty() { String::new() } else { format!(" On the frontier, with no loss: {}.", text::list(&on)) };
    let groups = match study.groups {
        Some(_) => " Rules that match each group accept this loss to get the counts of each group right.",
        None => "",
    };
    Some(format!(
        "Expected accuracy below that of the best labels with equally good totals, the line: {}.{on}{groups}",
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

/// Returns the chart: the frontier as a line, each rule as a point, and last the point of the slider.
fn rules(study: &Study, trade: &Trade) -> Chart {
    let main: Vec<usize> = (0..study.label_sets.len()).filter(|&index| study.is_main(index)).collect();
    let all: Vec<usize> = (0..study.label_sets.len()).collect();
    let mut chart = some_rules(study, trade, &main, false);
    if main.len() < all.len() || !study.learned.is_empty() {
        chart.with_all_rules = Some(Box::new(some_rules(study, trade, &all, true)));
    }
    chart
}

fn some_rules(study: &Study, trade: &Trade, shown: &[usize], with_learned: bool) -> Chart {
    let names = shown.iter().map(|&index| study.label_sets[index].name.as_str());
    let learned_name = (with_learned && !study.learned.is_empty()).then_some("learned, at each γ");
    let legend = Legend::of(names.chain(["exact frontier", "the slider"]).chain(learned_name));
    let mut data = vec![line(trade)];
    data.extend(learned(study, trade).filter(|_| with_learned));
    data.extend(shown.iter().enumerate().filter_map(|(entry, &index)| {
        let label_set = &study.label_sets[index];
        let fidelity = fidelity(label_set, trade)?;
        Some(json!({
            "type": "scatter", "mode": "markers", "name": legend.name(entry),
            "x": column([Some(fidelity)]), "y": column([label_set.expected_accuracy]),
            "customdata": [[label_set.accuracy.map_or_else(|| "unknown".into(), |own| text::plain(own, 4))]],
            "marker": marker(study, index),
            "hovertemplate": "%{fullData.name}<br>fidelity %{x:.4f}<br>expected accuracy %{y:.4f}<br>accuracy \
                              %{customdata[0]}<extra></extra>",
        }))
    }));
    let first = &trade.points[0];
    data.push(json!({
        "type": "scatter", "mode": "markers", "name": "the slider", "x": [first.fidelity], "y": [first.accuracy],
        "marker": { "size": 15, "color": palette::ACCENT, "opacity": 0.55, "line": { "width": 2, "color": "#fff" } },
        "cliponaxis": false, "hoverinfo": "skip",
    }));
    let below = |width: f64| 50.0 + legend.height(width);
    // The ranges are fixed, so that the axes do not change when the slider moves.
    let axis = |which: &str, title: &str, format: &str| {
        json!({
            "title": { "text": title }, "range": range(&data, which), "zeroline": false, "tickformat": format, "fixedrange": true,
        })
    };
    let axes = json!({
        "height": 290.0 + below(WIDE), "margin": { "l": 64, "r": 16, "t": 16, "b": below(WIDE) },
        "xaxis": axis("x", "fidelity (0: the counts of the scores)", ""),
        "yaxis": axis("y", "expected accuracy", ".3f"),
    });
    let layout = over(axes, legend.layout(WIDE));
    let mut chart = chart("trade", "Accuracy, and counts close to the scores", data, layout, sheet(study, trade));
    let margin = json!({ "l": 56, "r": 12, "t": 16, "b": below(NARROW) });
    chart.narrow = over(json!({ "height": 300.0 + below(NARROW), "margin": margin }), legend.layout(NARROW));
    chart.caption = format!(
        "Further right, counts are closer to the scores; further up, labels are more accurate. No way to \
         label everyone is above the line.{}{}",
        if with_learned { about_learned(study) } else { String::new() },
        absent(study, shown)
    );
    let of = |&index: &usize| {
        let label_set = &study.label_sets[index];
        let (x, y) = (fidelity(label_set, trade)?, label_set.expected_accuracy?);
        Some(format!("{} fidelity {}, expected accuracy {}", label_set.name, text::plain(x, 3), text::plain(y, 4)))
    };
    let points: Vec<String> = shown.iter().filter_map(of).collect();
    chart.alt = format!("Expected accuracy against fidelity: {}.", points.join("; "));
    chart
}

/// Returns the range of the values of all traces on an axis, with a small margin.
fn range(data: &[Value], which: &str) -> Value {
    let values = data.iter().filter_map(|trace| trace[which].as_array()).flatten().filter_map(Value::as_f64);
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), own| (low.min(own), high.max(own)));
    if low > high {
        return Value::Null;
    }
    let margin = (0.06 * (high - low)).max(1e-4);
    json!([rounded(low - margin), rounded(high + margin)])
}

/// Describes the dashed line, and the people that it is based on.
fn about_learned(study: &Study) -> String {
    let Some(stop) = study.learned.first() else { return String::new() };
    let tried = match stop.people < study.whole.people {
        true => format!(", tested on {} drawn by the seed", text::counted(stop.people, "person")),
        false => String::new(),
    };
    format!(" The dashed line is a model trained on labels of balance{tried}.")
}

/// Lists the label sets that are not on the chart, with the reason.
fn absent(study: &Study, shown: &[usize]) -> String {
    let own = shown.iter().map(|&index| &study.label_sets[index]);
    let without: Vec<&str> = own.filter(|own| own.uncoded > 0).map(|own| own.name.as_str()).collect();
    match without.len() {
        0 => String::new(),
        _ => format!(" Not shown, because some people are unlabeled: {}.", text::list(&without)),
    }
}

fn line(trade: &Trade) -> Value {
    let gamma = |point: &Point| format!("γ up to {}", text::plain(point.to_gamma, 4));
    json!({
        "type": "scatter", "mode": "lines", "name": "exact frontier",
        "x": trade.points.iter().map(|point| rounded(point.fidelity)).collect::<Vec<_>>(),
        "y": trade.points.iter().map(|point| rounded(point.accuracy)).collect::<Vec<_>>(),
        "text": trade.points.iter().map(gamma).collect::<Vec<_>>(),
        "line": { "color": palette::ACCENT, "width": 2.5 },
        "hovertemplate": "%{text}<br>fidelity %{x:.4f}<br>expected accuracy %{y:.4f}<extra></extra>",
    })
}

/// Returns the line of the learned rule, at each γ.
fn learned(study: &Study, trade: &Trade) -> Option<Value> {
    let stops = &study.learned;
    (!stops.is_empty()).then(|| {
        json!({
            "type": "scatter", "mode": "lines", "name": "learned, at each γ",
            "x": column(stops.iter().map(|stop| fidelity_of(&stop.counts, trade))),
            "y": column(stops.iter().map(|stop| stop.expected_accuracy)),
            "text": stops.iter().map(|stop| format!("learned at γ {}", stop.gamma)).collect::<Vec<_>>(),
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

/// Writes the fidelity of shares, as in the other sections, and in the last column that of counts, as on the chart.
fn sheet(study: &Study, trade: &Trade) -> Sheet {
    let mut sheet = Sheet::new([
        "what",
        "fidelity",
        "fidelity_to_truth",
        "expected_accuracy",
        "accuracy",
        "from_gamma",
        "to_gamma",
        "fidelity_of_counts",
    ]);
    for label_set in &study.label_sets {
        sheet.push([
            label_set.name.clone(),
            full(label_set.fidelity_to_posterior),
            full(label_set.fidelity_to_truth),
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
            String::new(),
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
            full(Some(point.fidelity)),
            String::new(),
            full(Some(point.accuracy)),
            String::new(),
            full(Some(point.from_gamma)),
            full(Some(point.to_gamma)),
            full(Some(point.fidelity)),
        ]);
    }
    sheet
}

/// Returns the slider along the frontier to the posterior.
fn slider(study: &Study, trade: &Trade) -> Slider {
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
        command: command(study),
        has_truth: study.has_whole_truth(),
        table: ends(study, trade),
        chart: rules(study, trade),
    }
}

/// Returns the command that labels people as at a stop of the slider, with `GAMMA` in place of γ. Front ends other than
/// the command line call a function.
fn command(study: &Study) -> String {
    let gamma = study.render(&Message::from(Setting::Gamma.with("0"))).replace('0', "GAMMA");
    if gamma.starts_with("--") {
        let rule = study.render(&Message::from(Setting::Rule.with("balance")));
        return format!("apportion label … {rule} {gamma}");
    }
    format!("apportion.label(…, rule=\"balance\", {gamma})")
}

/// Builds a report with one chart: the frontier.
pub(crate) fn alone(classes: &[String], trade: &Trade) -> Document {
    let chart = along(classes, trade);
    let blocks = vec![Block::Chart(Box::new(chart))];
    let section = Section { id: "trade", title: "Tradeoff", lead: lead(trade), blocks };
    Document {
        title: "Every optimal tradeoff".into(),
        subtitle: String::new(),
        sections: vec![section],
        terms: Vec::new(),
        minor_rules: Vec::new(),
        outlines: None,
    }
}

/// Returns the chart of a frontier.
fn along(classes: &[String], trade: &Trade) -> Chart {
    let layout = json!({
        "height": 330,
        "margin": { "l": 64, "r": 16, "t": 16, "b": 48 },
        "xaxis": { "title": { "text": format!("fidelity to the {}", trade.reference.word()) }, "zeroline": false },
        "yaxis": { "title": { "text": "expected accuracy" }, "zeroline": false, "tickformat": ".3f" },
    });
    let mut chart = chart("frontier", "The exact frontier", vec![line(trade)], layout, stops_sheet(classes, trade));
    chart.caption = format!(
        "{} of {}, from argmax (left) to match (right); between them, the error of the accuracy is at most {}.",
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
    Table::crossed("frontier-table", caption, ["γ up to", "γ up to"], columns.collect(), rows, Vec::new())
}
