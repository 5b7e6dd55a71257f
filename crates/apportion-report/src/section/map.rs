//! The map: the bias of each group, one panel per rule on a common scale, and where people live (the paper's fig:maps).

use apportion::audit::GroupTotals;
use apportion::rule::RuleKind;
use apportion::text::{Message, Setting};
use serde_json::{Value, json};

use super::groups::{FEW, biases, is_nothing};
use super::{Section, nothing};
use crate::chart::{Grid, chart, column, full, labels, nth, over, second_line, titles};
use crate::document::{Block, Chart, Sheet};
use crate::geometry::Shapes;
use crate::palette;
use crate::study::{Groups, LabelKind, LabelSet, Study, is_shown};
use crate::text;

/// The maximum number of outlines in a page; more would make it slow.
const MOST_OUTLINES: usize = 13_000;

pub(super) fn section(study: &Study) -> Section {
    let (groups, shapes) = match (study.shown_groups(), &study.shapes) {
        (Some(groups), Some(shapes)) => (groups, shapes),
        (None, Some(_)) => return nothing("map", "Map", "Most groups have too few people to be shown: see Groups."),
        _ => {
            let message = Message::from("No outlines were given: ") + Setting::Geometry.with("FILE");
            let message = message + " (GeoJSON, TopoJSON or Shapefile) with " + Setting::By.with("COL");
            return nothing("map", "Map", study.render(&(message + " shows a map.")));
        }
    };
    let shown = shown(study, groups);
    let mut blocks = vec![Block::Chart(Box::new(maps(study, groups, shapes, &shown)))];
    blocks.extend(remarks(groups, shapes).map(Block::Text));
    Section { id: "map", title: "Map", lead: lead(study, groups, shapes), blocks }
}

/// Returns the label sets with a map: all if there are few groups; otherwise the subject and the corrected labels are
/// preferred.
fn shown<'a>(study: &'a Study, groups: &Groups) -> Vec<&'a LabelSet> {
    let most = (MOST_OUTLINES / groups.names.len().max(1)).saturating_sub(1).max(2);
    let all = study.label_sets.iter().enumerate().filter(|(_, label_set)| !label_set.in_groups.is_empty());
    let mut all: Vec<(usize, usize, &LabelSet)> =
        all.map(|(index, label_set)| (rank(study, index, label_set.kind), index, label_set)).collect();
    all.sort_by_key(|(rank, index, _)| (*rank, *index));
    all.truncate(most);
    all.sort_by_key(|(_, index, _)| *index);
    all.into_iter().map(|(_, _, label_set)| label_set).collect()
}

/// Returns the priority of labels for a map; 0 is the highest.
fn rank(study: &Study, index: usize, kind: LabelKind) -> usize {
    if index == study.subject {
        return 0;
    }
    let rank_of_others = if Some(index) == study.corrected { 2 } else { 4 };
    match kind {
        LabelKind::Rule(RuleKind::MatchByGroup) => 1,
        LabelKind::Rule(RuleKind::Thompson) => rank_of_others.min(3),
        LabelKind::Own | LabelKind::OwnColumn | LabelKind::Rule(_) | LabelKind::Batched => rank_of_others,
    }
}

/// Describes the group with the largest undercount, among groups on the map that are large enough, if there are any.
fn lead(study: &Study, groups: &Groups, shapes: &Shapes) -> String {
    let subject = study.subject();
    let is_shown_group = |&group: &usize| shapes.has(group) && groups.totals[group].people >= FEW;
    let mut shown: Vec<usize> = (0..groups.names.len()).filter(is_shown_group).collect();
    if shown.is_empty() {
        shown = (0..groups.names.len()).filter(|&group| shapes.has(group)).collect();
    }
    let offs = shown.into_iter().filter_map(|group| Some((group, study.group_off(subject, group)?)));
    let Some((group, off)) = offs.min_by(|(_, a), (_, b)| a.difference.total_cmp(&b.difference)) else {
        return format!("No {} has labels.", groups.word);
    };
    if off.difference >= 0.0 || is_nothing(off.difference) {
        let focus = &study.classes[study.focus];
        return format!("By {}, all but {focus} are undercounted in no {} on the map.", subject.name, groups.word);
    }
    format!(
        "{} {} most from all but {} in {}: {}, where the scores have them at {}.",
        text::begin(&subject.name),
        subject.does("takes", "take"),
        study.classes[study.focus],
        groups.names[group],
        text::points(off.difference, 2),
        text::percent(groups.totals[group].posterior_of_others(study.focus), 1)
    )
}

fn maps(study: &Study, groups: &Groups, shapes: &Shapes, shown: &[&LabelSet]) -> Chart {
    let panels = shown.len() + 1;
    let most = scale(study, groups, shown);
    let of_others = |own: &GroupTotals| is_shown(own).then(|| 100.0 * own.posterior_of_others(study.focus));
    let share = column(groups.totals.iter().map(of_others));
    let trace = |panel: usize, z: Vec<Value>, axis: &str, hover: &str| {
        let known: Vec<usize> = (0..z.len()).filter(|&group| shapes.has(group) && !z[group].is_null()).collect();
        let pick = |all: &[Value]| known.iter().map(|&group| all[group].clone()).collect::<Vec<_>>();
        let names: Vec<Value> = labels(&groups.names).into_iter().map(Value::from).collect();
        json!({
            "type": "choropleth", "geo": nth("geo", panel), "geojson": "shapes", "featureidkey": "id",
            "locations": known, "z": pick(&z), "text": pick(&names), "coloraxis": axis,
            "marker": { "line": { "width": if groups.names.len() > 500 { 0.0 } else { 0.4 }, "color": palette::GUIDE } },
            "hovertemplate": format!("%{{text}}<br>{hover}<extra></extra>"),
        })
    };
    let mut data = vec![trace(0, share, "coloraxis", "%{z:.1f}% by the scores")];
    data.extend(shown.iter().enumerate().map(|(index, label_set)| {
        trace(index + 1, biases(study, groups, label_set), "coloraxis2", "off by %{z:0>+.2f} points")
    }));
    let focus = &study.classes[study.focus];
    let first = format!("all but {}, % by the scores", text::short(focus, 20));
    let titles = titles(std::iter::once(&first).chain(shown.iter().map(|label_set| &label_set.name)));
    let more = second_line(&titles);
    let grid = |columns: usize| Grid {
        panels,
        columns,
        row: shapes.row_height(columns) + more,
        gap: 30.0 + more,
        between: 0.02,
        margins: (36.0 + more, 100.0),
    };
    let layout = |columns| layout(&grid(columns), &titles, shapes, most);
    let title = format!("Where all but {focus} live, and the bias of their counts, in points");
    let mut chart = chart("map", &title, data, layout(if panels > 4 { 3 } else { 2 }), sheet(study, groups));
    chart.narrow = layout(1);
    chart.caption = format!(
        "Orange: fewer labels than the scores say. Purple: more. One scale for all rules; what is beyond it has its last \
         colour.{}",
        if shown.len() < study.label_sets.len() {
            format!(" Shown are {} of {} ways of labeling.", shown.len(), study.label_sets.len())
        } else {
            String::new()
        }
    );
    let drawn = groups.shown().filter(|&group| shapes.has(group)).count();
    chart.alt = format!("Maps of {}. {}", text::counted(drawn as u64, &groups.word), lead(study, groups, shapes));
    chart
}

/// Returns the bias at the end of the color scale: the 98th percentile, so that a very small group does not make all
/// others pale.
fn scale(study: &Study, groups: &Groups, shown: &[&LabelSet]) -> f64 {
    let all = shown.iter().flat_map(|label_set| biases(study, groups, label_set));
    let mut all: Vec<f64> = all.filter_map(|own| own.as_f64()).map(f64::abs).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() * 98 / 100).copied().unwrap_or(1.0).max(0.5)
}

fn layout(grid: &Grid, titles: &[String], shapes: &Shapes, most: f64) -> Value {
    let maps = grid.layout(titles, |panel| {
        let domain = json!({ "x": grid.x(panel), "y": grid.y(panel) });
        vec![(nth("geo", panel), over(shapes.view(), json!({ "domain": domain, "visible": false })))]
    });
    let bar = |title: &str, x: f64| {
        json!({
            "orientation": "h", "thickness": 10, "len": 0.42, "x": x, "xanchor": "left", "y": 0, "yanchor": "top", "ypad": 26,
            "title": { "text": title, "side": "bottom" }, "outlinewidth": 0,
        })
    };
    let scale = |stops: &[(f64, &str)]| stops.iter().map(|(at, color)| json!([at, color])).collect::<Vec<_>>();
    over(
        maps,
        json!({
            "margin": { "l": 8, "r": 8, "t": grid.margins.0, "b": grid.margins.1 },
            "coloraxis": {
                "colorscale": scale(&palette::SEQUENTIAL), "cmin": 0,
                "colorbar": over(bar("% by the scores", 0.02), json!({ "ticksuffix": "%" })),
            },
            "coloraxis2": {
                "colorscale": scale(&palette::DIVERGING), "cmin": -most, "cmax": most,
                "colorbar": bar("bias, points", 0.55),
            },
        }),
    )
}

/// Lists groups without an outline and outlines without a group.
fn remarks(groups: &Groups, shapes: &Shapes) -> impl Iterator<Item = String> {
    let without: Vec<&str> =
        groups.shown().filter(|&group| !shapes.has(group)).map(|group| groups.names[group].as_str()).collect();
    let word = &groups.word;
    let first = (!without.is_empty()).then(|| {
        format!(
            "{} of {} {} no outline: {}.",
            without.len(),
            text::counted(groups.shown().count() as u64, word),
            text::verb(without.len(), "has", "have"),
            some(&without)
        )
    });
    let unused: Vec<&str> = shapes.unused().iter().map(String::as_str).collect();
    let second = (!unused.is_empty()).then(|| {
        let (outlines, have) = (text::counted(unused.len() as u64, "outline"), text::verb(unused.len(), "has", "have"));
        format!("{outlines} {have} no {word} in the table: {}.", some(&unused))
    });
    first.into_iter().chain(second)
}

/// Lists the first few names and the number of the others.
fn some(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    if names.len() <= SHOWN {
        return text::list(names);
    }
    format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN)
}

fn sheet(study: &Study, groups: &Groups) -> Sheet {
    let all: Vec<&LabelSet> = study.label_sets.iter().filter(|label_set| !label_set.in_groups.is_empty()).collect();
    let names = all.iter().map(|label_set| format!("bias by {}", label_set.name));
    let mut sheet = Sheet::new(["group".to_owned(), "posterior_share".into()].into_iter().chain(names));
    for group in groups.shown() {
        let (own, name) = (&groups.totals[group], &groups.names[group]);
        let share = Some(own.posterior_of_others(study.focus));
        let offs = all.iter().map(|label_set| full(study.group_off(label_set, group).map(|off| off.difference)));
        sheet.push([name.clone(), full(share)].into_iter().chain(offs));
    }
    sheet
}
