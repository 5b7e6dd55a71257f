//! Scores: the people by their score for each class, by label, and the cut-off that the labels move. This explains how
//! the method works.

use std::ops::Range;

use serde_json::{Value, json};

use super::{Section, in_parts};
use crate::chart::{Grid, Legend, NARROW, WIDE, chart, nth, over, second_line, titles};
use crate::document::{Block, Chart, Sheet};
use crate::palette;
use crate::study::{Changes, SCORE_BINS, ScoreBin, Study};
use crate::text;

/// Returns the section, or `None` if there is only argmax.
pub(super) fn section(study: &Study) -> Option<Section> {
    let changes = study.changes.as_ref()?;
    let charts = in_parts(study.k(), |classes| histograms(study, changes, classes));
    let blocks = charts.into_iter().map(|chart| Block::Chart(Box::new(chart))).collect();
    Some(Section { id: "scores", title: "Cut-offs", lead: lead(study, changes), blocks })
}

/// The number of bars of a histogram.
const BARS: usize = 20;

/// People with smaller scores are not shown: for most classes they are nearly everyone.
const LEAST: f64 = 0.05;

/// Returns the score that separates people with a label from people without it with the fewest exceptions. `None`
/// if no one has the label.
fn cut_off(bins: &[ScoreBin], has: impl Fn(&ScoreBin) -> u64) -> Option<f64> {
    let all = |bin: &ScoreBin| bin.neither + bin.before + bin.after + bin.both;
    let with: u64 = bins.iter().map(&has).sum();
    if with == 0 {
        return None;
    }
    // At the lowest cut-off, the exceptions are all people without the label.
    let mut exceptions: i128 = bins.iter().map(|bin| i128::from(all(bin) - has(bin))).sum();
    let mut best = (exceptions, 0);
    for (index, bin) in bins.iter().enumerate() {
        exceptions += i128::from(has(bin)) - i128::from(all(bin) - has(bin));
        if exceptions < best.0 {
            best = (exceptions, index + 1);
        }
    }
    Some(best.1 as f64 / SCORE_BINS as f64)
}

/// Returns the cut-offs of a class before and after.
fn cut_offs(changes: &Changes, class: usize) -> [Option<f64>; 2] {
    let bins = &changes.scores[class];
    [cut_off(bins, |bin| bin.before + bin.both), cut_off(bins, |bin| bin.after + bin.both)]
}

fn lead(study: &Study, changes: &Changes) -> String {
    let (before, after) = (&study.label_sets[changes.before].name, &study.label_sets[changes.after].name);
    let moved = |class: usize| match cut_offs(changes, class) {
        [Some(before), Some(after)] => Some((class, before, after)),
        _ => None,
    };
    let all = (0..study.k()).filter_map(moved);
    let most = all.max_by(|a, b| (a.1 - a.2).abs().total_cmp(&(b.1 - b.2).abs()));
    match most.filter(|(_, before, after)| (before - after).abs() > 1e-9) {
        Some((class, from, to)) => format!(
            "People are usually labeled {} from a score of about {} by {after}, and of about {} by {before}.",
            study.classes[class],
            text::plain(to, 2),
            text::plain(from, 2)
        ),
        None => format!("{} gives each class to people with the same scores as {before}.", text::begin(after)),
    }
}

/// A part of a histogram's bars: its name, its people in a bin, and its opacity.
struct Part {
    name: String,
    people: fn(&ScoreBin) -> u64,
    opacity: f64,
    hatch: &'static str,
}

fn parts(study: &Study, changes: &Changes) -> [Part; 4] {
    let (before, after) = (&study.label_sets[changes.before].name, &study.label_sets[changes.after].name);
    [
        Part { name: format!("label by {before} and {after}"), people: |bin| bin.both, opacity: 1.0, hatch: "" },
        Part { name: format!("only by {after}"), people: |bin| bin.after, opacity: 0.6, hatch: "/" },
        Part { name: format!("only by {before}"), people: |bin| bin.before, opacity: 0.6, hatch: "x" },
        Part { name: "another label".into(), people: |bin| bin.neither, opacity: 0.22, hatch: "" },
    ]
}

/// Returns the people of each bar, and the middle of its scores.
fn bars(bins: &[ScoreBin], people: impl Fn(&ScoreBin) -> u64) -> Vec<(f64, u64)> {
    let width = SCORE_BINS / BARS;
    let of = |(index, bins): (usize, &[ScoreBin])| {
        let middle = (index as f64 + 0.5) / BARS as f64;
        (middle > LEAST).then(|| (middle, bins.iter().map(&people).sum()))
    };
    bins.chunks(width).enumerate().filter_map(of).collect()
}

fn histograms(study: &Study, changes: &Changes, classes: Range<usize>) -> Chart {
    let parts = parts(study, changes);
    let names = || parts.iter().map(|part| part.name.as_str()).chain(["cut-off before", "cut-off after"]);
    let legend = Legend::of(names());
    let mut data = Vec::new();
    for (panel, class) in classes.clone().enumerate() {
        data.extend(
            parts.iter().enumerate().map(|(index, part)| bar(changes, part, (panel, class), &legend.name(index))),
        );
        data.extend(lines(changes, panel, class, &legend));
    }
    let titles = titles(&study.classes[classes.clone()]);
    let more = second_line(&titles);
    let grid = |columns: usize| Grid {
        panels: titles.len(),
        columns,
        row: 176.0 + more,
        gap: 66.0 + more,
        between: 0.07,
        margins: (34.0 + more, 44.0 + legend.height(if columns == 1 { NARROW } else { WIDE })),
    };
    let layout = |columns: usize| layout(&titles, grid(columns), &legend);
    let sheet = sheet(study, changes, classes.clone());
    let mut chart = chart("scores", "People by their score for each class", data, layout(titles.len().min(3)), sheet);
    chart.narrow = layout(1);
    chart.caption = format!(
        "Each panel shows the people whose score for the class is at least {LEAST}. The lines are the scores that best \
         separate people with the label from the others: dotted before ({}), solid after ({}).",
        study.label_sets[changes.before].name, study.label_sets[changes.after].name
    );
    chart.alt = format!("Histograms of the scores of each class. {}", lead(study, changes));
    chart
}

fn bar(changes: &Changes, part: &Part, (panel, class): (usize, usize), name: &str) -> Value {
    let bars = bars(&changes.scores[class], part.people);
    let words = |people: u64| text::counted(people, "person");
    json!({
        "type": "bar", "name": name, "legendgroup": name, "showlegend": panel == 0,
        "x": bars.iter().map(|(middle, _)| *middle).collect::<Vec<_>>(),
        "y": bars.iter().map(|(_, people)| *people).collect::<Vec<_>>(), "width": 0.9 / BARS as f64,
        "customdata": bars.iter().map(|(_, people)| words(*people)).collect::<Vec<_>>(),
        "xaxis": nth("x", panel), "yaxis": nth("y", panel),
        "marker": { "color": palette::faded(palette::class(class), part.opacity), "pattern": { "shape": part.hatch } },
        "hovertemplate": format!("score about %{{x:.2f}}<br>{name}: %{{customdata}}<extra></extra>"),
    })
}

/// Returns the cut-offs of a panel as vertical lines.
fn lines(changes: &Changes, panel: usize, class: usize, legend: &Legend) -> Vec<Value> {
    let all = |bin: &ScoreBin| bin.neither + bin.before + bin.after + bin.both;
    let top = bars(&changes.scores[class], all).iter().map(|(_, people)| *people).max().unwrap_or(0);
    let line = |(index, at): (usize, Option<f64>)| {
        json!({
            "type": "scatter", "mode": "lines", "name": legend.name(4 + index), "legendgroup": 4 + index,
            "showlegend": panel == 0, "x": [at, at], "y": [0, top.max(1)],
            "xaxis": nth("x", panel), "yaxis": nth("y", panel),
            "line": { "color": palette::ACCENT, "width": 2, "dash": if index == 0 { "dot" } else { "solid" } },
            "hovertemplate": "%{fullData.name} %{x:.2f}<extra></extra>",
        })
    };
    cut_offs(changes, class).into_iter().enumerate().map(line).collect()
}

fn layout(titles: &[String], grid: Grid, legend: &Legend) -> Value {
    let axes = grid.layout(titles, |panel| {
        let x = json!({
            "domain": grid.x(panel), "anchor": nth("y", panel), "range": [-0.03, 1.03], "zeroline": false, "nticks": 6,
            "title": { "text": "score" }, "fixedrange": true,
        });
        let y = json!({
            "domain": grid.y(panel), "anchor": nth("x", panel), "zeroline": false, "nticks": 4, "tickformat": "~s",
            "rangemode": "tozero",
        });
        vec![(nth("xaxis", panel), x), (nth("yaxis", panel), y)]
    });
    let margin = json!({ "l": 60, "r": 16, "t": grid.margins.0, "b": grid.margins.1 });
    let more = json!({ "barmode": "stack", "showlegend": true, "legend": legend.layout(), "margin": margin });
    over(axes, more)
}

fn sheet(study: &Study, changes: &Changes, classes: Range<usize>) -> Sheet {
    let mut sheet =
        Sheet::new(["class", "from", "to", "label_before_and_after", "label_after", "label_before", "another_label"]);
    for class in classes {
        for (index, bin) in changes.scores[class].iter().enumerate() {
            let edge = |index: usize| (index as f64 / SCORE_BINS as f64).to_string();
            let counts = [bin.both, bin.after, bin.before, bin.neither].map(|people| people.to_string());
            let head = [study.classes[class].clone(), edge(index), edge(index + 1)];
            sheet.push(head.into_iter().chain(counts));
        }
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_off_has_the_fewest_exceptions() {
        let bin = |neither, both| ScoreBin { neither, both, ..ScoreBin::default() };
        let mut bins = vec![bin(10, 0); SCORE_BINS];
        bins[60..].fill(bin(0, 10));
        assert_eq!(cut_off(&bins, |bin| bin.both), Some(0.6));
        bins[55] = bin(4, 6);
        assert_eq!(cut_off(&bins, |bin| bin.both), Some(0.6), "six exceptions below, forty-four above");
        assert_eq!(cut_off(&bins, |bin| bin.before), None);
    }
}
