//! The rules side by side: accuracy and fidelity of each, and its error for each class with the causes (the paper's
//! fig:votercounts and tab:table-extended).

use std::ops::Range;

use apportion::audit::Bias;
use serde_json::{Value, json};

use super::{MOST_PANELS, Section, in_parts};
use crate::chart::{Grid, chart, column, full, labels, nth, over, second_line, titles};
use crate::document::{Block, Cell, Chart, Sheet, Table};
use crate::palette;
use crate::study::{LabelSet, Study, part};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let mut blocks = vec![Block::Table(rules(study))];
    let charts = in_parts(study.k(), |classes| bars(study, classes));
    blocks.extend(charts.into_iter().map(|chart| Block::Chart(Box::new(chart))));
    blocks.extend(draws(study).map(Block::Table));
    Section { id: "rules", title: "Rules", lead: lead(study), blocks }
}

fn lead(study: &Study) -> String {
    // The best value, and all label sets that are this good to the three decimals that a reader compares.
    let most = |of: fn(&LabelSet) -> Option<f64>| {
        let all = || study.main().filter(|own| own.uncoded == 0).filter_map(|own| Some((own, of(own)?)));
        let best = all().map(|(_, own)| own).max_by(f64::total_cmp)?;
        let names: Vec<&LabelSet> = all().filter(|(_, own)| best - own < 5e-4).map(|(own, _)| own).collect();
        Some((names, best))
    };
    let name = |all: &[&LabelSet]| text::list(&all.iter().map(|own| &own.name).collect::<Vec<_>>());
    let verb = |all: &[&LabelSet], one, many| if let [own] = all { own.does(one, many) } else { many };
    let (accurate, faithful, word) = if study.has_truth() {
        (most(|own| own.accuracy), most(|own| own.fidelity_to_truth), "accuracy")
    } else {
        (most(|own| own.expected_accuracy), most(|own| own.fidelity_to_posterior), "expected accuracy")
    };
    match (accurate, faithful) {
        (Some((first, a)), Some((second, f))) => format!(
            "Among the rules shown that label everyone, {} {} the most accurate ({word} about {}), and {} {} the counts closest to \
             {} (fidelity about {}){}.",
            name(&first),
            verb(&first, "is", "are"),
            text::plain(a, 3),
            name(&second),
            verb(&second, "has", "have"),
            study.reference_word(),
            text::plain(f, 3),
            if study.among().is_empty() { String::new() } else { format!(",{}", study.among()) }
        ),
        _ => "The rules side by side.".into(),
    }
}

/// Compares the rules side by side.
fn rules(study: &Study) -> Table {
    let (truth, groups) = (study.has_truth(), study.groups.is_some());
    let mut columns = vec!["Rule".to_owned()];
    if truth {
        columns.extend(["Accuracy", "95% interval"].map(String::from));
    }
    columns.extend(["Expected accuracy", "Fidelity to the scores"].map(String::from));
    columns.extend(groups.then(|| "Fidelity within groups".into()));
    columns.extend(truth.then(|| "Fidelity to the truth".into()));
    columns.push("Labeled".into());
    let frontier = study.label_sets.iter().any(|own| own.frontier_gap.is_some());
    columns.extend(frontier.then(|| "Frontier gap".into()));
    let row = |own: &LabelSet| {
        let four = |number: Option<f64>| Cell::number(number, |number| text::plain(number, 4));
        let mut row = vec![Cell::text(&own.name)];
        if truth {
            let interval = own.accuracy_interval();
            let interval = interval.map(|own| format!("{} to {}", text::plain(own.low, 4), text::plain(own.high, 4)));
            row.extend([four(own.accuracy), Cell::text(interval.unwrap_or_else(|| "–".into()))]);
        }
        row.extend([four(own.expected_accuracy), four(own.fidelity_to_posterior)]);
        row.extend(groups.then(|| four(own.fidelity_in_groups)));
        row.extend(truth.then(|| four(own.fidelity_to_truth)));
        let labeled = part(own.labeled(), own.labeled() + own.uncoded);
        row.push(Cell::number(labeled, |share| text::percent(share, 1)));
        row.extend(frontier.then(|| four(own.frontier_gap)));
        row
    };
    Table {
        columns,
        rows: study.label_sets.iter().map(row).collect(),
        note: [if frontier { FRONTIER_GAP } else { "" }, &not_shown(study)].join(" ").trim().to_owned(),
        sortable: true,
        minor_rows: study.minor(),
        ..Table::new("rules-table", "Accuracy and fidelity of each rule")
    }
}

/// Names the rules that are shown on demand.
fn not_shown(study: &Study) -> String {
    let names: Vec<&str> = study.minor().into_iter().map(|index| study.label_sets[index].name.as_str()).collect();
    let rules = text::counted(names.len() as u64, "more rule");
    if names.is_empty() {
        String::new()
    } else {
        format!("“Show {rules}” at the top of the page adds {}.", text::list(&names))
    }
}

const FRONTIER_GAP: &str = "Frontier gap: the expected accuracy that a rule gives up compared with the best labels whose \
                            counts are equally close to the scores. Rules with another reference (the truth, or the counts of each \
                            group) have a gap because they aim at that reference.";

/// Returns a chart with one panel per class and one bar per rule. Bars have two parts if the truth is known.
fn bars(study: &Study, classes: Range<usize>) -> Chart {
    let main: Vec<&LabelSet> = study.main().collect();
    let all: Vec<&LabelSet> = study.label_sets.iter().collect();
    let mut chart = panels(study, &classes, &main);
    if main.len() < all.len() {
        chart.with_all_rules = Some(Box::new(panels(study, &classes, &all)));
    }
    chart
}

fn panels(study: &Study, classes: &Range<usize>, shown: &[&LabelSet]) -> Chart {
    let data = classes.clone().enumerate().flat_map(|(panel, class)| traces(study, shown, panel, class)).collect();
    let titles = titles(&study.classes[classes.clone()]);
    let more = second_line(&titles);
    let grid = |columns: usize| {
        let row = 21.0 * shown.len() as f64 + 78.0 + more;
        Grid { panels: titles.len(), columns, row, gap: 58.0 + more, between: 0.06, margins: (34.0 + more, 36.0) }
    };
    // All classes share one scale, even if they are in several charts.
    let range = (study.k() > MOST_PANELS).then(|| range(study, shown));
    let layout = |columns: usize| layout(&titles, grid(columns), range);
    let title = format!("Difference from {}{}, as a percentage of the class", study.reference_word(), study.among());
    let mut chart = chart("counts-percent", &title, data, layout(titles.len().min(3)), sheet(study, classes.clone()));
    chart.narrow = layout(1);
    chart.caption = if study.has_truth() {
        "Pale: the part that is in the scores (miscalibration). Full: the part from turning scores into labels \
         (discretization). Diamond: their sum. All panels have the same scale."
            .into()
    } else {
        "The shares of the labels minus those of the scores. All panels have the same scale.".into()
    };
    let without: Vec<&str> = shown.iter().filter(|own| own.uncoded > 0).map(|own| own.name.as_str()).collect();
    if !without.is_empty() {
        chart.caption += &format!(" Shares among labeled people: {}.", text::list(&without));
    }
    chart.alt = alt(study, classes);
    chart
}

fn traces(study: &Study, shown: &[&LabelSet], panel: usize, class: usize) -> Vec<Value> {
    let names = labels(shown.iter().map(|label_set| &label_set.name));
    let values = |of: &dyn Fn(&LabelSet) -> Option<Bias>| {
        column(shown.iter().map(|label_set| of(label_set).and_then(|off| off.percent)))
    };
    let bar = |what: &str, opacity: f64, x: Vec<Value>| {
        json!({
            "type": "bar", "orientation": "h", "name": what, "y": names, "x": x,
            "xaxis": nth("x", panel), "yaxis": nth("y", panel),
            "marker": { "color": palette::class(class), "opacity": opacity, "pattern": palette::pattern(class) },
            "hovertemplate": format!("%{{y}}<br>{what} %{{x:0>+.1f}}%<extra></extra>"),
        })
    };
    let total = values(&|label_set| study.off(label_set, class));
    if !study.has_truth() {
        return vec![bar("discretization", 1.0, total)];
    }
    let scores = values(&|label_set| study.split(label_set, class).map(|parts| parts.miscalibration));
    let making = values(&|label_set| study.split(label_set, class).map(|parts| parts.discretization));
    let mut sum = bar("sum", 1.0, total);
    sum["type"] = json!("scatter");
    sum["mode"] = json!("markers");
    sum["marker"] = json!({ "symbol": "diamond-open", "size": 6, "color": palette::GUIDE, "line": { "width": 1.5 } });
    vec![bar("miscalibration", 0.38, scores), bar("discretization", 1.0, making), sum]
}

/// Returns the range of all bars and their parts, with a small margin.
fn range(study: &Study, shown: &[&LabelSet]) -> [f64; 2] {
    let mut ends = [0.0_f64; 2];
    for label_set in shown {
        for class in 0..study.k() {
            let parts = study.split(label_set, class).map(|parts| [parts.miscalibration, parts.discretization]);
            let parts = parts.into_iter().flatten().chain(study.off(label_set, class));
            let parts: Vec<f64> = parts.filter_map(|off| off.percent).collect();
            let below: f64 = parts.iter().take(2).filter(|own| **own < 0.0).sum();
            let above: f64 = parts.iter().take(2).filter(|own| **own > 0.0).sum();
            ends = [ends[0].min(below), ends[1].max(above)];
        }
    }
    let margin = 0.04 * (ends[1] - ends[0]);
    [ends[0] - margin, ends[1] + margin]
}

fn layout(titles: &[String], grid: Grid, range: Option<[f64; 2]>) -> Value {
    let axes = grid.layout(titles, |panel| {
        let mut x = json!({
            "domain": grid.x(panel), "anchor": nth("y", panel), "ticksuffix": "%", "tickangle": 0,
            "nticks": 4, "tickfont": { "size": 11 }, "zeroline": true,
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
        "expected_right",
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
                full(label_set.expected_right(class)),
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

fn alt(study: &Study, classes: &Range<usize>) -> String {
    let of = |label_set: &LabelSet| {
        let each = classes.clone().map(|class| {
            let off = study.off(label_set, class).and_then(|off| off.percent);
            format!("{} {}", study.classes[class], off.map_or_else(|| "unknown".into(), text::signed_percent))
        });
        format!("{}: {}", label_set.name, text::list(&each.collect::<Vec<_>>()))
    };
    let shown = [Some(study.subject()), study.corrected()].into_iter().flatten().map(of).collect::<Vec<_>>();
    format!("Bars for each class and rule. {}.", shown.join(". "))
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
        columns: columns.map(String::from).to_vec(),
        rows: study.classes.iter().enumerate().map(row).collect(),
        note: "The rest of this report is about the first draw.".into(),
        ..Table::new("draws", format!("Counts over {} draws of {}", own.draws.len(), own.name))
    })
}
