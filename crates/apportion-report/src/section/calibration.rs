//! Calibration: the share of true classes by score, per class, with intervals (the paper's fig:calibration-nc).

use std::ops::Range;

use apportion::audit::Bin;
use apportion::text::{Message, Setting};
use serde_json::{Value, json};

use super::groups::FEW;
use super::{Section, in_parts, nothing};
use crate::chart::{Grid, chart, column, full, nth, over, second_line, titles};
use crate::document::{Block, Cell, Chart, Sheet, Table};
use crate::palette;
use crate::study::Study;
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    if study.calibration.iter().all(Option::is_none) {
        let why = if study.truth_given { "The truth column is empty" } else { "The truth is not known" };
        let message = Message::from(why) + ". To see how often the scores are right, name a column of known classes (";
        let message = message + Setting::Truth.with("COL") + ").";
        return nothing("calibration", "Calibration", study.render(&message));
    }
    let charts = in_parts(study.k(), |classes| curves(study, classes));
    let mut blocks: Vec<Block> = charts.into_iter().map(|chart| Block::Chart(Box::new(chart))).collect();
    blocks.push(Block::Table(table(study).folded()));
    Section { id: "calibration", title: "Calibration", lead: lead(study), blocks }
}

/// A gap counts as small below 0.05 points, and below a twentieth of the class.
const SMALL: f64 = 0.0005;
const SMALL_PART: f64 = 0.05;

fn lead(study: &Study) -> String {
    let both = |class: usize| {
        Some((class, study.whole.truth_share(class)?, study.whole.posterior_with_truth.as_ref()?[class]))
    };
    let all: Vec<(usize, f64, f64)> = (0..study.k()).filter_map(both).collect();
    let gap = |(_, truth, scores): &(usize, f64, f64)| (scores - truth).abs();
    let part = |own: &(usize, f64, f64)| gap(own) / own.1.max(own.2).max(f64::MIN_POSITIVE);
    let Some(furthest) = all.iter().max_by(|a, b| gap(a).total_cmp(&gap(b))) else { return String::new() };
    let whom = if study.has_whole_truth() { "Overall" } else { "Overall, among people with known truth" };
    if gap(furthest) >= SMALL {
        let (class, truth, scores) = *furthest;
        let digits = if gap(furthest) < 0.005 { 2 } else { 1 };
        return format!(
            "{whom}, the largest difference between scores and truth is for {}: the mean score is {}, and the true share is {}.",
            study.classes[class],
            text::percent(scores, digits),
            text::percent(truth, digits)
        );
    }
    // A small class can be far off relative to its size.
    match all.iter().max_by(|a, b| part(a).total_cmp(&part(b))).filter(|own| part(own) >= SMALL_PART) {
        Some(&(class, truth, scores)) => format!(
            "{whom}, the mean scores are within {} of the truth for every class. For {}, a small class, the mean is {} and the \
             share in truth is {}.",
            text::points_of(SMALL, 2),
            study.classes[class],
            text::percent(scores, 3),
            text::percent(truth, 3)
        ),
        None => format!("{whom}, the scores are well calibrated for every class."),
    }
}

/// Returns a chart with one panel per class.
fn curves(study: &Study, classes: Range<usize>) -> Chart {
    let data = classes.clone().enumerate().flat_map(|(panel, class)| traces(study, panel, class)).collect();
    let titles = titles(&study.classes[classes.clone()]);
    let more = second_line(&titles);
    let grid = |columns: usize| Grid {
        panels: titles.len(),
        columns,
        row: 206.0 + more,
        gap: 72.0 + more,
        between: 0.07,
        margins: (36.0 + more, 54.0),
    };
    let layout = |columns: usize| layout(&titles, grid(columns));
    let sheet = sheet(study, classes.clone());
    let mut chart = chart(
        "calibration",
        "How often people with a score are of the class",
        data,
        layout(titles.len().min(3)),
        sheet,
    );
    chart.narrow = layout(1);
    chart.caption = format!(
        "Ten bins of scores for each class, with 95% confidence intervals (Wilson). Above the dotted diagonal, the scores are too low. \
         Open circles: bins of fewer than {FEW} people, which are mostly chance."
    );
    let say = |class: usize| {
        let own = study.calibration[class].as_ref()?;
        Some(format!("{} {}", study.classes[class], text::plain(own.equal_width.expected_error, 4)))
    };
    let errors: Vec<String> = classes.filter_map(say).collect();
    chart.alt = format!("Calibration of each class. Expected calibration error: {}.", text::list(&errors));
    chart
}

fn layout(titles: &[String], grid: Grid) -> Value {
    let axes = grid.layout(titles, |panel| {
        let axis = |domain: [f64; 2], anchor: String, title: &str| {
            json!({
                "domain": domain, "anchor": anchor, "title": { "text": title }, "range": [-0.03, 1.03], "zeroline": false,
                "tickformat": ".1f", "nticks": 6, "fixedrange": true,
            })
        };
        let share = if grid.is_first(panel) { "share in truth" } else { "" };
        let (x, y) =
            (axis(grid.x(panel), nth("y", panel), "mean score"), axis(grid.y(panel), nth("x", panel), share));
        vec![(nth("xaxis", panel), x), (nth("yaxis", panel), y)]
    });
    over(axes, json!({ "margin": { "l": 60, "r": 16, "t": grid.margins.0, "b": grid.margins.1 } }))
}

/// Returns the diagonal, the bins with enough people, which are connected, and the other bins, which are not.
fn traces(study: &Study, panel: usize, class: usize) -> Vec<Value> {
    let Some(calibration) = study.calibration[class].as_ref() else { return Vec::new() };
    let (few, enough): (Vec<&Bin>, Vec<&Bin>) =
        calibration.equal_width.bins.iter().filter(|bin| bin.people > 0).partition(|bin| bin.people < FEW);
    let axes = json!({ "xaxis": nth("x", panel), "yaxis": nth("y", panel) });
    let diagonal = json!({
        "type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "hoverinfo": "skip",
        "line": { "color": palette::GUIDE, "width": 1.5, "dash": "dot" },
    });
    let symbol = json!({ "color": palette::class(class), "symbol": "circle", "size": 7 });
    let open = json!({ "color": palette::class(class), "symbol": "circle-open", "size": 6 });
    let all = [diagonal, points(&enough, "lines+markers", class, &symbol), points(&few, "markers", class, &open)];
    all.into_iter().map(|trace| over(trace, axes.clone())).collect()
}

fn points(bins: &[&Bin], mode: &str, class: usize, marker: &Value) -> Value {
    let away = |up: bool| {
        column(bins.iter().map(move |bin| {
            let (observed, interval) = (bin.observed?, bin.interval?);
            Some(if up { interval.high - observed } else { observed - interval.low })
        }))
    };
    json!({
        "type": "scatter", "mode": mode, "x": column(bins.iter().map(|bin| bin.mean_score)),
        "y": column(bins.iter().map(|bin| bin.observed)),
        "customdata": bins.iter().map(|bin| text::counted(bin.people, "person")).collect::<Vec<_>>(),
        "error_y": {
            "type": "data", "symmetric": false, "array": away(true), "arrayminus": away(false), "thickness": 1.2, "width": 3,
        },
        "line": { "width": 1.5, "color": palette::class(class) }, "marker": marker,
        "hovertemplate": "mean score %{x:.3f}<br>share in truth %{y:.3f}<br>%{customdata}<extra></extra>",
    })
}

fn sheet(study: &Study, classes: Range<usize>) -> Sheet {
    let mut sheet = Sheet::new(["class", "from", "to", "people", "mean_score", "observed", "low", "high"]);
    for class in classes {
        let name = &study.classes[class];
        for bin in study.calibration[class].iter().flat_map(|own| &own.equal_width.bins) {
            sheet.push([
                name.clone(),
                full(Some(bin.from)),
                full(Some(bin.to)),
                bin.people.to_string(),
                full(bin.mean_score),
                full(bin.observed),
                full(bin.interval.map(|own| own.low)),
                full(bin.interval.map(|own| own.high)),
            ]);
        }
    }
    sheet
}

const KUIPER: &str = "Expected calibration error: the mean distance between score and truth over ten bins of scores. Kuiper statistic: \
                      the largest surplus or deficit of true members over any range of scores, as a share of all people; it \
                      needs no bins. Correlation: that of the score with the truth, 1 for members and 0 for others.";

fn table(study: &Study) -> Table {
    let row = |(class, name): (usize, &String)| {
        let own = study.calibration[class].as_ref();
        let scores = study.whole.posterior_with_truth.as_ref().map(|shares| shares[class]);
        vec![
            Cell::text(name),
            Cell::number(scores, |share| text::percent(share, 2)),
            Cell::number(study.whole.truth_share(class), |share| text::percent(share, 2)),
            Cell::number(own.map(|own| own.equal_width.expected_error), |error| text::plain(error, 4)),
            Cell::number(own.map(|own| own.equal_count.expected_error), |error| text::plain(error, 4)),
            Cell::number(own.map(|own| own.kuiper), |kuiper| text::plain(kuiper, 4)),
            Cell::number(own.and_then(|own| own.correlation), |correlation| text::plain(correlation, 3)),
        ]
    };
    let columns = [
        "Class",
        "Mean score",
        "In truth",
        "Expected calibration error",
        "With bins of equal counts",
        "Kuiper statistic",
        "Correlation",
    ];
    Table {
        columns: columns.map(String::from).to_vec(),
        rows: study.classes.iter().enumerate().map(row).collect(),
        note: KUIPER.into(),
        ..Table::new("calibration-table", "Scores and truth, by class")
    }
}
