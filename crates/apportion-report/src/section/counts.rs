//! Counts: how far each class is off under each rule, in percent and in people, and why (the paper's fig:votercounts).

use serde_json::{Value, json};

use super::Section;
use super::glance::{in_percent, missing, nobody, worst};
use crate::chart::{Grid, chart, column, full, labels, nth, over};
use crate::document::{Block, Chart, Sheet};
use crate::palette;
use crate::study::{Labelling, Off, Study};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let charts = [percent(study), people(study)].map(|chart| Block::Chart(Box::new(chart)));
    Section { id: "counts", title: "Counts", lead: lead(study), blocks: charts.to_vec() }
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
    let parts = study.parts(subject, class).and_then(|parts| {
        let (scores, labels) = (parts.miscalibration.percent?, parts.discretization.percent?);
        Some(format!(
            ": {} comes of the scores (miscalibration), {} of making labels of them (discretization).",
            text::signed_percent(scores),
            text::signed_percent(labels)
        ))
    });
    begin + &parts.unwrap_or_else(|| ".".into())
}

/// Where no class is undercounted by a person: some may be overcounted.
fn even(study: &Study, name: &str) -> String {
    let subject = study.subject();
    let offs = (0..study.k()).filter_map(|class| Some((class, study.off(subject, class)?)));
    match offs.max_by(|(_, a), (_, b)| a.people.total_cmp(&b.people)).filter(|(_, off)| off.people >= 1.0) {
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

/// What a bar is long for.
#[derive(Clone, Copy)]
enum Unit {
    Percent,
    People,
}

impl Unit {
    fn of(self, labelling: &Labelling, off: &Off) -> Option<f64> {
        match self {
            Unit::Percent => off.percent,
            Unit::People => labelling.people_off(off),
        }
    }

    fn show(self, number: f64) -> String {
        match self {
            Unit::Percent => text::signed_percent(number),
            Unit::People => format!("{} people", text::people(number)),
        }
    }
}

fn percent(study: &Study) -> Chart {
    let title = format!("Difference to {}{}, in percent of the class", study.reference_word(), study.among());
    bars(study, "counts-percent", &title, Unit::Percent)
}

fn people(study: &Study) -> Chart {
    let title = format!("Difference to {}{}, in people", study.reference_word(), study.among());
    bars(study, "counts-people", &title, Unit::People)
}

/// A panel for each class, a bar for each rule, in two parts where the truth is known.
fn bars(study: &Study, id: &str, title: &str, unit: Unit) -> Chart {
    let data = (0..study.k()).flat_map(|class| traces(study, class, unit)).collect();
    let grid = |columns: usize| {
        let row = 21.0 * study.labellings.len() as f64 + 86.0;
        Grid { panels: study.k(), columns, row, gap: 64.0, between: 0.035, margins: (36.0, 44.0) }
    };
    let wide = grid(study.k().min(3));
    let mut chart = chart(id, title, data, layout(study, wide, unit), sheet(study));
    chart.narrow = layout(study, grid(1), unit);
    chart.caption = if study.has_truth() {
        "Pale: what the scores do (miscalibration). Full: what making labels of them adds (discretization). Diamond: both \
         together. All panels have one scale."
            .into()
    } else {
        "The shares of the labels, less those of the scores. All panels have one scale.".into()
    };
    let without: Vec<&str> =
        study.labellings.iter().filter(|own| own.uncoded > 0).map(|own| own.name.as_str()).collect();
    if !without.is_empty() {
        chart.caption += &match unit {
            Unit::Percent => format!(" Shares among those labelled: {}.", text::list(&without)),
            Unit::People => format!(" Without a bar, since people are left without a label: {}.", text::list(&without)),
        };
    }
    chart.alt = alt(study, unit);
    chart
}

fn traces(study: &Study, class: usize, unit: Unit) -> Vec<Value> {
    let names = labels(study.labellings.iter().map(|labelling| &labelling.name));
    let values = |of: &dyn Fn(&Labelling) -> Option<Off>| {
        column(study.labellings.iter().map(|labelling| of(labelling).and_then(|off| unit.of(labelling, &off))))
    };
    let bar = |what: &str, opacity: f64, x: Vec<Value>| {
        let format = if matches!(unit, Unit::Percent) { "%{x:0>+.1f}%" } else { "%{x:0>+,.0f} people" };
        json!({
            "type": "bar", "orientation": "h", "name": what, "y": names, "x": x,
            "xaxis": nth("x", class), "yaxis": nth("y", class),
            "marker": { "color": palette::class(class), "opacity": opacity },
            "hovertemplate": format!("%{{y}}<br>{what} {format}<extra></extra>"),
        })
    };
    let total = values(&|labelling| study.off(labelling, class));
    if !study.has_truth() {
        return vec![bar("discretization", 1.0, total)];
    }
    let scores = values(&|labelling| study.parts(labelling, class).map(|parts| parts.miscalibration));
    let making = values(&|labelling| study.parts(labelling, class).map(|parts| parts.discretization));
    let mut sum = bar("together", 1.0, total);
    sum["type"] = json!("scatter");
    sum["mode"] = json!("markers");
    sum["marker"] = json!({ "symbol": "diamond-open", "size": 6, "color": palette::GUIDE, "line": { "width": 1.5 } });
    vec![bar("miscalibration", 0.38, scores), bar("discretization", 1.0, making), sum]
}

fn layout(study: &Study, grid: Grid, unit: Unit) -> Value {
    let titles = labels(&study.classes);
    let (suffix, format) = if matches!(unit, Unit::Percent) { ("%", "") } else { ("", "~s") };
    let axes = grid.layout(&titles, |panel| {
        let mut x = json!({
            "domain": grid.x(panel), "anchor": nth("y", panel), "ticksuffix": suffix, "tickformat": format, "tickangle": 0, "nticks": if grid.columns == 1 { 4 } else { 5 }, "zeroline": true,
        });
        if panel > 0 {
            x["matches"] = json!("x");
        }
        let y = json!({
            "domain": grid.y(panel), "anchor": nth("x", panel), "autorange": "reversed", "ticks": "",
            "showticklabels": grid.is_first(panel), "showgrid": false, "zeroline": false,
        });
        vec![(nth("xaxis", panel), x), (nth("yaxis", panel), y)]
    });
    over(json!({ "barmode": "relative", "bargap": 0.3 }), axes)
}

fn sheet(study: &Study) -> Sheet {
    let mut sheet = Sheet::new([
        "rule",
        "class",
        "labels",
        "labels_with_truth",
        "difference",
        "people",
        "percent",
        "miscalibration_percent",
        "discretization_percent",
    ]);
    for labelling in &study.labellings {
        let judged = labelling.counts_with_truth();
        for (class, name) in study.classes.iter().enumerate() {
            let (off, parts) = (study.off(labelling, class), study.parts(labelling, class));
            sheet.push([
                labelling.name.clone(),
                name.clone(),
                labelling.counts[class].to_string(),
                judged.as_ref().map_or_else(String::new, |counts| counts[class].to_string()),
                full(off.map(|off| off.difference)),
                full(off.and_then(|off| labelling.people_off(&off))),
                full(off.and_then(|off| off.percent)),
                full(parts.and_then(|parts| parts.miscalibration.percent)),
                full(parts.and_then(|parts| parts.discretization.percent)),
            ]);
        }
    }
    sheet
}

fn alt(study: &Study, unit: Unit) -> String {
    let of = |labelling: &Labelling| {
        let each = study.classes.iter().enumerate().map(|(class, name)| {
            let off = study.off(labelling, class).and_then(|off| unit.of(labelling, &off));
            format!("{name} {}", off.map_or_else(|| "unknown".into(), |number| unit.show(number)))
        });
        format!("{}: {}", labelling.name, text::list(&each.collect::<Vec<_>>()))
    };
    let shown = [Some(study.subject()), study.remedy()].into_iter().flatten().map(of).collect::<Vec<_>>();
    format!("Bars for each class and rule. {}.", shown.join(". "))
}
