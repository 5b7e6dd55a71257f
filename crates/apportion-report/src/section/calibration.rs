//! Calibration: the share of true classes by score, per class, with intervals (the paper's fig:calibration-nc).

use apportion::text::{Message, Setting};
use serde_json::{Value, json};

use super::groups::FEW;
use super::{Section, nothing};
use crate::chart::{Legend, NARROW, WIDE, chart, column, full};
use crate::document::{Block, Cell, Chart, Sheet, Table};
use crate::palette;
use crate::study::Study;
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    if study.calibration.iter().all(Option::is_none) {
        let why = if study.truth_given { "The truth that was given is empty: " } else { "No truth was given: " };
        let message = Message::from(why) + Setting::Truth.with("COL");
        let message = message + " shows whether the scores are as often true as they say.";
        return nothing("calibration", "Calibration", study.render(&message));
    }
    let blocks = vec![Block::Chart(Box::new(curves(study))), Block::Table(table(study))];
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
    let whom = if study.has_whole_truth() { "Taken over everybody" } else { "Taken over all whose truth is known" };
    if gap(furthest) >= SMALL {
        let (class, truth, scores) = *furthest;
        let digits = if gap(furthest) < 0.005 { 2 } else { 1 };
        return format!(
            "{whom}, the scores are furthest off for {}: they say {}, and {} are.",
            study.classes[class],
            text::percent(scores, digits),
            text::percent(truth, digits)
        );
    }
    // A small class can be far off relative to its size.
    match all.iter().max_by(|a, b| part(a).total_cmp(&part(b))).filter(|own| part(own) >= SMALL_PART) {
        Some(&(class, truth, scores)) => format!(
            "{whom}, the scores of every class are within {} of the truth; for {}, which is small, they say {}, and {} are.",
            text::points_of(SMALL, 2),
            study.classes[class],
            text::percent(scores, 3),
            text::percent(truth, 3)
        ),
        None => format!("{whom}, the scores of every class are as often true as they say."),
    }
}

fn curves(study: &Study) -> Chart {
    let mut data = vec![json!({
        "type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "name": DIAGONAL, "hoverinfo": "skip",
        "line": { "color": palette::GUIDE, "width": 1.5, "dash": "dot" },
    })];
    let legend = Legend::of(study.classes.iter().map(String::as_str).chain([DIAGONAL]));
    data.extend((0..study.k()).filter_map(|class| curve(study, class, &legend.name(class))));
    let below = |width: f64| 50.0 + legend.height(width);
    // Plotly truncates a legend that is higher than half of its chart.
    let height = |width: f64| (370.0 + below(width)).max(2.2 * legend.height(width));
    let layout = json!({
        "height": height(WIDE), "showlegend": true,
        "legend": legend.layout(),
        "margin": { "l": 60, "r": 16, "t": 16, "b": below(WIDE) },
        "xaxis": { "title": { "text": "mean score" }, "range": [-0.02, 1.02], "zeroline": false, "tickformat": ".1f" },
        "yaxis": { "title": { "text": "share who are of the class" }, "range": [-0.02, 1.02], "zeroline": false, "tickformat": ".1f" },
    });
    let mut chart = chart("calibration", "How often scores are true", data, layout, sheet(study));
    chart.narrow = json!({ "height": height(NARROW), "margin": { "l": 50, "r": 12, "t": 16, "b": below(NARROW) } });
    chart.caption =
        "Ten bins of scores for each class; lines are 95% intervals (Wilson's, as though people were independent). \
                     Above the diagonal, the scores are too low. Small markers: fewer than 30 people."
            .into();
    let say = |class: usize| {
        let own = study.calibration[class].as_ref()?;
        Some(format!("{} {}", study.classes[class], text::plain(own.equal_width.expected_error, 4)))
    };
    let errors: Vec<String> = (0..study.k()).filter_map(say).collect();
    chart.alt = format!("Calibration curves. Expected calibration error: {}.", text::list(&errors));
    chart
}

/// The name of the diagonal, on which scores are perfectly calibrated.
const DIAGONAL: &str = "as often as they say";

fn curve(study: &Study, class: usize, name: &str) -> Option<Value> {
    let bins = &study.calibration[class].as_ref()?.equal_width.bins;
    let bins = || bins.iter().filter(|bin| bin.people > 0);
    let away = |up: bool| {
        column(bins().map(move |bin| {
            let (observed, interval) = (bin.observed?, bin.interval?);
            Some(if up { interval.high - observed } else { observed - interval.low })
        }))
    };
    let sizes: Vec<u8> = bins().map(|bin| if bin.people < FEW { 4 } else { 8 }).collect();
    Some(json!({
        "type": "scatter", "mode": "lines+markers", "name": name,
        "x": column(bins().map(|bin| bin.mean_score)), "y": column(bins().map(|bin| bin.observed)),
        "customdata": bins().map(|bin| text::count(bin.people)).collect::<Vec<_>>(),
        "error_y": {
            "type": "data", "symmetric": false, "array": away(true), "arrayminus": away(false), "thickness": 1.2, "width": 3,
        },
        "line": { "width": 1.5, "color": palette::class(class), "dash": palette::dash(class) },
        "marker": { "color": palette::class(class), "symbol": palette::class_symbol(class), "size": sizes },
        "hovertemplate": "%{fullData.name}<br>mean score %{x:.3f}<br>of the class %{y:.3f}<br>%{customdata} people<extra></extra>",
    }))
}

fn sheet(study: &Study) -> Sheet {
    let mut sheet = Sheet::new(["class", "from", "to", "people", "mean_score", "observed", "low", "high"]);
    for (class, name) in study.classes.iter().enumerate() {
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
                      needs no bins.";

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
        ]
    };
    let columns = [
        "Class",
        "Mean score",
        "In truth",
        "Expected calibration error",
        "The same, bins of equal counts",
        "Kuiper statistic",
    ];
    Table {
        id: "calibration-table".into(),
        caption: "Scores against truth, by class".into(),
        columns: columns.map(String::from).to_vec(),
        rows: study.classes.iter().enumerate().map(row).collect(),
        note: KUIPER.into(),
        sortable: false,
    }
}
