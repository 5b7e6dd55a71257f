//! Counts: the error of each class under each rule, in percent and in people, and its causes (the paper's
//! fig:votercounts).

use std::ops::Range;

use apportion::audit::Bias;
use serde_json::{Value, json};

use super::Section;
use super::headline::{WHOLE, in_percent, missing, nobody, worst};
use crate::chart::{Grid, chart, column, full, labels, nth, over, second_line, titles};
use crate::document::{Block, Cell, Chart, Sheet, Table};
use crate::palette;
use crate::study::{LabelSet, Study};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let charts = [Unit::Percent, Unit::People].into_iter().flat_map(|unit| bars(study, unit));
    let mut blocks: Vec<Block> = charts.map(|chart| Block::Chart(Box::new(chart))).collect();
    blocks.extend(rounding(study).map(Block::Text));
    blocks.extend(draws(study).map(Block::Table));
    Section { id: "counts", title: "Counts", lead: lead(study), blocks }
}

fn lead(study: &Study) -> String {
    let subject = study.subject();
    let name = text::begin(&subject.name);
    if let Some(sentence) = nobody(study) {
        return sentence;
    }
    let Some((class, off)) = worst(study, subject) else {
        return even(study, &name);
    };
    let begin = format!(
        "Against {}{}, {} {} {} by {}{}",
        study.reference_word(),
        study.of_whom(subject),
        subject.name,
        subject.does("undercounts", "undercount"),
        study.classes[class],
        missing(subject, &off),
        in_percent(&off)
    );
    let parts = study.split(subject, class).and_then(|parts| {
        let (scores, labels) = (parts.miscalibration.percent?, parts.discretization.percent?);
        Some(format!(
            ": {} comes of the scores (miscalibration), {} of making labels of them (discretization).",
            text::signed_percent(scores),
            text::signed_percent(labels)
        ))
    });
    begin + &parts.unwrap_or_else(|| ".".into())
}

/// Returns the first sentence if no class is undercounted by a person or more. A class may still be overcounted.
fn even(study: &Study, name: &str) -> String {
    let subject = study.subject();
    let offs = (0..study.k()).filter_map(|class| Some((class, study.off(subject, class)?)));
    match offs.max_by(|(_, a), (_, b)| a.people.total_cmp(&b.people)).filter(|(_, off)| off.people >= WHOLE) {
        Some((class, off)) => format!(
            "{name} {} no class by a person or more, and {} {} by {}{}{}.",
            subject.does("undercounts", "undercount"),
            subject.does("overcounts", "overcount"),
            study.classes[class],
            missing(subject, &off),
            in_percent(&off),
            study.of_whom(subject)
        ),
        None => format!(
            "{name} {} every class within a person of {}{}.",
            subject.does("has", "have"),
            study.reference_word(),
            study.of_whom(subject)
        ),
    }
}

/// The unit of the bars.
#[derive(Clone, Copy)]
enum Unit {
    Percent,
    People,
}

impl Unit {
    fn of(self, label_set: &LabelSet, off: &Bias) -> Option<f64> {
        match self {
            Unit::Percent => off.percent,
            Unit::People => label_set.people_off(off),
        }
    }

    fn show(self, number: f64) -> String {
        match self {
            Unit::Percent => text::signed_percent(number),
            Unit::People => text::signed_people(number),
        }
    }

    fn id(self) -> &'static str {
        match self {
            Unit::Percent => "counts-percent",
            Unit::People => "counts-people",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Unit::Percent => "in percent of the class",
            Unit::People => "in people",
        }
    }
}

/// The maximum number of panels on a printed page.
const MOST_PANELS: usize = 9;

/// Returns the charts of a unit: one, or several if there are many classes.
fn bars(study: &Study, unit: Unit) -> Vec<Chart> {
    let parts = study.k().div_ceil(MOST_PANELS);
    let chart = |part: usize| {
        let classes = part * MOST_PANELS..study.k().min((part + 1) * MOST_PANELS);
        let mut title = format!("Difference to {}{}, {}", study.reference_word(), study.among(), unit.words());
        let mut id = unit.id().to_owned();
        if parts > 1 {
            title += &format!(" ({} of {parts})", part + 1);
        }
        if part > 0 {
            id += &format!("-{}", part + 1);
        }
        panels(study, &id, &title, unit, classes)
    };
    (0..parts).map(chart).collect()
}

/// Returns a chart with one panel per class and one bar per rule. Bars have two parts if the truth is known.
fn panels(study: &Study, id: &str, title: &str, unit: Unit, classes: Range<usize>) -> Chart {
    let data = classes.clone().enumerate().flat_map(|(panel, class)| traces(study, panel, class, unit)).collect();
    let titles = titles(&study.classes[classes.clone()]);
    let more = second_line(&titles);
    let grid = |columns: usize| {
        let row = 21.0 * study.label_sets.len() as f64 + 86.0 + more;
        Grid { panels: titles.len(), columns, row, gap: 64.0 + more, between: 0.035, margins: (36.0 + more, 44.0) }
    };
    // All classes share one scale, even if they are in several charts.
    let range = (study.k() > MOST_PANELS).then(|| range(study, unit));
    let layout = |columns: usize| layout(&titles, grid(columns), unit, range);
    let mut chart = chart(id, title, data, layout(titles.len().min(3)), sheet(study, classes.clone()));
    chart.narrow = layout(1);
    chart.caption = if study.has_truth() {
        "Pale: what the scores do (miscalibration). Full: what making labels of them adds (discretization). Diamond: both \
         together. All panels have one scale."
            .into()
    } else {
        "The shares of the labels, less those of the scores. All panels have one scale.".into()
    };
    let without: Vec<&str> =
        study.label_sets.iter().filter(|own| own.uncoded > 0).map(|own| own.name.as_str()).collect();
    if !without.is_empty() {
        chart.caption += &match unit {
            Unit::Percent => format!(" Shares among those labeled: {}.", text::list(&without)),
            Unit::People => format!(" Without a bar, since people are left without a label: {}.", text::list(&without)),
        };
    }
    chart.alt = alt(study, unit, classes);
    chart
}

/// Explains rounding if a class is small: whole people cannot match its share more closely.
fn rounding(study: &Study) -> Option<String> {
    let sum = |class: usize| study.whole.posterior_sum(class);
    let some = (0..study.k()).filter(|&class| sum(class) > 0.0 && sum(class) < 100.0);
    let class = some.min_by(|&a, &b| sum(a).total_cmp(&sum(b)))?;
    let much = if sum(class) > 1.0 { text::percent(1.0 / sum(class), 1) } else { "more than all".into() };
    Some(format!(
        "Labels are whole people, and sums of scores are not: counts that are as right as can be are off by up to a person, \
         which is {much} of {} ({} by the scores).",
        study.classes[class],
        text::sum(sum(class))
    ))
}

/// Returns the range of all bars and their parts, with a small margin.
fn range(study: &Study, unit: Unit) -> [f64; 2] {
    let mut ends = [0.0_f64; 2];
    for label_set in &study.label_sets {
        for class in 0..study.k() {
            let parts = study.split(label_set, class).map(|parts| [parts.miscalibration, parts.discretization]);
            let parts = parts.into_iter().flatten().chain(study.off(label_set, class));
            let parts: Vec<f64> = parts.filter_map(|off| unit.of(label_set, &off)).collect();
            let below: f64 = parts.iter().take(2).filter(|own| **own < 0.0).sum();
            let above: f64 = parts.iter().take(2).filter(|own| **own > 0.0).sum();
            ends = [ends[0].min(below), ends[1].max(above)];
        }
    }
    let room = 0.04 * (ends[1] - ends[0]);
    [ends[0] - room, ends[1] + room]
}

/// Returns the counts of several draws. The rest of the report describes the first draw.
fn draws(study: &Study) -> Option<Table> {
    let own = study.label_sets.iter().find(|own| own.draws.len() > 1)?;
    let row = |(class, name): (usize, &String)| {
        let counts = || own.draws.iter().map(|counts| counts[class]);
        let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        let mean = counts().map(|count| count as f64).sum::<f64>() / own.draws.len() as f64;
        let people = |number: u64| Cell::number(Some(number as f64), |_| text::count(number));
        let sum = study.whole.posterior_sum(class);
        vec![
            Cell::text(name),
            Cell::number(Some(sum), text::sum),
            people(own.draws[0][class]),
            Cell::number(Some(mean), text::sum),
            people(least),
            people(most),
        ]
    };
    let columns = ["Class", "By the scores", "First draw", "Mean", "Least", "Most"];
    Some(Table {
        id: "draws".into(),
        caption: format!("Labels over {} draws of {}", own.draws.len(), own.name),
        columns: columns.map(String::from).to_vec(),
        rows: study.classes.iter().enumerate().map(row).collect(),
        note: "All else in this report is of the first draw.".into(),
        sortable: false,
    })
}

fn traces(study: &Study, panel: usize, class: usize, unit: Unit) -> Vec<Value> {
    let names = labels(study.label_sets.iter().map(|label_set| &label_set.name));
    let values = |of: &dyn Fn(&LabelSet) -> Option<Bias>| {
        column(study.label_sets.iter().map(|label_set| of(label_set).and_then(|off| unit.of(label_set, &off))))
    };
    let bar = |what: &str, opacity: f64, x: Vec<Value>| {
        let format = if matches!(unit, Unit::Percent) { "%{x:0>+.1f}%" } else { "%{x:0>+,.0f} people" };
        json!({
            "type": "bar", "orientation": "h", "name": what, "y": names, "x": x,
            "xaxis": nth("x", panel), "yaxis": nth("y", panel),
            "marker": { "color": palette::class(class), "opacity": opacity, "pattern": { "shape": palette::hatch(class) } },
            "hovertemplate": format!("%{{y}}<br>{what} {format}<extra></extra>"),
        })
    };
    let total = values(&|label_set| study.off(label_set, class));
    if !study.has_truth() {
        return vec![bar("discretization", 1.0, total)];
    }
    let scores = values(&|label_set| study.split(label_set, class).map(|parts| parts.miscalibration));
    let making = values(&|label_set| study.split(label_set, class).map(|parts| parts.discretization));
    let mut sum = bar("together", 1.0, total);
    sum["type"] = json!("scatter");
    sum["mode"] = json!("markers");
    sum["marker"] = json!({ "symbol": "diamond-open", "size": 6, "color": palette::GUIDE, "line": { "width": 1.5 } });
    vec![bar("miscalibration", 0.38, scores), bar("discretization", 1.0, making), sum]
}

fn layout(titles: &[String], grid: Grid, unit: Unit, range: Option<[f64; 2]>) -> Value {
    let (suffix, format) = if matches!(unit, Unit::Percent) { ("%", "") } else { ("", "~s") };
    let axes = grid.layout(titles, |panel| {
        let mut x = json!({
            "domain": grid.x(panel), "anchor": nth("y", panel), "ticksuffix": suffix, "tickformat": format, "tickangle": 0,
            "nticks": if grid.columns == 1 { 4 } else { 5 }, "zeroline": true,
        });
        if let Some(range) = range {
            x["range"] = json!(range);
        }
        if panel > 0 {
            x["matches"] = json!("x");
        }
        let y = json!({
            "domain": grid.y(panel), "anchor": nth("x", panel), "autorange": "reversed", "ticks": "",
            "showticklabels": grid.is_first(panel), "showgrid": false, "zeroline": false,
        });
        vec![(nth("xaxis", panel), x), (nth("yaxis", panel), y)]
    });
    let margin = json!({ "l": 60, "r": 16, "t": grid.margins.0, "b": grid.margins.1 });
    over(json!({ "barmode": "relative", "bargap": 0.3, "margin": margin }), axes)
}

fn sheet(study: &Study, classes: Range<usize>) -> Sheet {
    let mut sheet = Sheet::new([
        "rule",
        "class",
        "labels",
        "labels_with_truth",
        "posterior_sum",
        "difference",
        "people",
        "percent",
        "miscalibration_percent",
        "discretization_percent",
    ]);
    for label_set in &study.label_sets {
        let judged = label_set.counts_with_truth();
        for class in classes.clone() {
            let (off, parts) = (study.off(label_set, class), study.split(label_set, class));
            sheet.push([
                label_set.name.clone(),
                study.classes[class].clone(),
                label_set.counts[class].to_string(),
                judged.as_ref().map_or_else(String::new, |counts| counts[class].to_string()),
                full(Some(study.whole.posterior_sum(class))),
                full(off.map(|off| off.difference)),
                full(off.and_then(|off| label_set.people_off(&off))),
                full(off.and_then(|off| off.percent)),
                full(parts.and_then(|parts| parts.miscalibration.percent)),
                full(parts.and_then(|parts| parts.discretization.percent)),
            ]);
        }
    }
    sheet
}

fn alt(study: &Study, unit: Unit, classes: Range<usize>) -> String {
    let of = |label_set: &LabelSet| {
        let each = classes.clone().map(|class| {
            let off = study.off(label_set, class).and_then(|off| unit.of(label_set, &off));
            format!("{} {}", study.classes[class], off.map_or_else(|| "unknown".into(), |number| unit.show(number)))
        });
        format!("{}: {}", label_set.name, text::list(&each.collect::<Vec<_>>()))
    };
    let shown = [Some(study.subject()), study.corrected()].into_iter().flatten().map(of).collect::<Vec<_>>();
    format!("Bars for each class and rule. {}.", shown.join(". "))
}
