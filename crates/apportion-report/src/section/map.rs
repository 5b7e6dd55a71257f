//! The map: the bias of one class in each group, by argmax and by other labels side by side (the paper's fig:maps).

use serde_json::{Value, json};

use super::groups::{FEW, is_nothing};
use super::{Section, nothing};
use crate::chart::{Grid, chart, column, full, labels, nth, over};
use crate::document::{Block, Chart, Sheet, View, Views};
use crate::geometry::Shapes;
use crate::palette;
use crate::study::{Groups, LabelSet, Study};
use crate::text;

/// The maximum number of values in the page; more would make it slow.
const MOST_VALUES: usize = 80_000;

/// Returns the section, or `None` if there are no outlines.
pub(super) fn section(study: &Study) -> Option<Section> {
    let shapes = study.shapes.as_ref()?;
    Some(match study.shown_groups() {
        Some(groups) => of_groups(study, groups, shapes),
        None => nothing("map", "Map", "Most groups have too few people to be shown; see Groups."),
    })
}

fn of_groups(study: &Study, groups: &Groups, shapes: &Shapes) -> Section {
    let shown: Vec<&LabelSet> = study.contrast().into_iter().filter(|own| !own.in_groups.is_empty()).collect();
    let classes = classes(study, groups, &shown);
    let Some(&first) = classes.first() else { return nothing("map", "Map", format!("No {} has labels.", groups.word)) };
    let mut blocks = vec![Block::Chart(Box::new(maps(study, groups, shapes, &shown, &classes)))];
    blocks.extend(remarks(groups, shapes).map(Block::Text));
    Section { id: "map", title: "Map", lead: lead(study, groups, shapes, &shown, first), blocks }
}

/// Returns the classes that can be chosen, in descending order of the bias of the first labels over all groups.
fn classes(study: &Study, groups: &Groups, shown: &[&LabelSet]) -> Vec<usize> {
    let Some(first) = shown.first() else { return Vec::new() };
    let size = |class: usize| {
        let people = |group: usize| study.class_off(first, group, class).map_or(0.0, |off| off.people.abs());
        groups.shown().map(people).sum::<f64>()
    };
    let mut classes: Vec<(usize, f64)> = (0..study.k()).map(|class| (class, size(class))).collect();
    classes.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let most = (MOST_VALUES / (groups.names.len() * shown.len()).max(1)).max(1);
    classes.into_iter().map(|(class, _)| class).take(most).collect()
}

/// Names the groups with the largest bias of a class before, and says how large the largest is after.
fn lead(study: &Study, groups: &Groups, shapes: &Shapes, shown: &[&LabelSet], class: usize) -> String {
    let worst = |label_set: &LabelSet| {
        let is_on_map = |&group: &usize| shapes.has(group) && groups.totals[group].people >= FEW;
        let mut on_map: Vec<usize> = groups.shown().filter(is_on_map).collect();
        if on_map.is_empty() {
            on_map = groups.shown().filter(|&group| shapes.has(group)).collect();
        }
        let offs =
            on_map.into_iter().filter_map(|group| Some((group, study.class_off(label_set, group, class)?.difference)));
        offs.max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs())).filter(|(_, off)| !is_nothing(*off))
    };
    let name = &study.classes[class];
    let Some(first) = shown.first() else { return String::new() };
    let Some((group, off)) = worst(first) else {
        return format!(
            "By {}, the count of {name} equals the sum of the scores in each {} on the map.",
            first.name, groups.word
        );
    };
    let verb = if off < 0.0 { first.does("undercounts", "undercount") } else { first.does("overcounts", "overcount") };
    let begin = format!(
        "Compared with the scores, {} {verb} {name} most in {}, by {}",
        first.name,
        groups.names[group],
        text::points_of(off, 2)
    );
    match shown.get(1).map(|own| (own, worst(own))) {
        Some((own, Some((group, off)))) => {
            let off = text::points(off, 2);
            format!(
                "{begin}. With {}, the largest difference from the scores is {off} ({}).",
                own.name, groups.names[group]
            )
        }
        Some((own, None)) => format!("{begin}. With {}, no {} differs from the scores.", own.name, groups.word),
        None => format!("{begin}."),
    }
}

/// Returns the biases of a class in all groups with an outline, in points, and the indices of these groups.
fn values(
    study: &Study,
    groups: &Groups,
    shapes: &Shapes,
    label_set: &LabelSet,
    class: usize,
) -> (Vec<usize>, Vec<f64>) {
    let value = |group: usize| Some((group, 100.0 * study.class_off(label_set, group, class)?.difference));
    groups.shown().filter(|&group| shapes.has(group)).filter_map(value).unzip()
}

/// Returns the bias at the end of the color scale: the 98th percentile, so that a very small group does not make all
/// others pale.
fn scale(values: &[Vec<f64>]) -> f64 {
    let mut all: Vec<f64> = values.iter().flatten().map(|own| own.abs()).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() * 98 / 100).copied().unwrap_or(1.0).max(0.5)
}

fn maps(study: &Study, groups: &Groups, shapes: &Shapes, shown: &[&LabelSet], classes: &[usize]) -> Chart {
    let of_class = |class: usize| {
        let all: Vec<Vec<f64>> = shown.iter().map(|own| values(study, groups, shapes, own, class).1).collect();
        let most = (100.0 * scale(&all)).ceil() / 100.0;
        let z: Vec<Vec<Value>> =
            all.iter().map(|own| column(own.iter().map(|own| Some((100.0 * own).round() / 100.0)))).collect();
        (z, most)
    };
    let (first, most) = of_class(classes[0]);
    let colors: Vec<Value> = palette::DIVERGING.iter().map(|(at, color)| json!([at, color])).collect();
    let trace = |(panel, z): (usize, Vec<Value>)| {
        let (known, _) = values(study, groups, shapes, shown[panel], classes[0]);
        json!({
            "type": "choropleth", "geo": nth("geo", panel), "geojson": "shapes", "featureidkey": "id", "locations": known,
            "z": z, "zmin": -most, "zmax": most, "colorscale": colors, "showscale": panel == 0,
            "text": labels(known.iter().map(|&group| &groups.names[group])),
            "marker": { "line": { "width": if groups.names.len() > 500 { 0.0 } else { 0.4 }, "color": palette::GUIDE } },
            "colorbar": { "orientation": "h", "thickness": 10, "y": 0, "yanchor": "top", "title": { "text": "bias, points", "side": "bottom" } },
            "hovertemplate": "%{text}<br>%{z:0>+.2f} points<extra></extra>",
        })
    };
    let data = first.into_iter().enumerate().map(trace).collect();
    let titles = labels(shown.iter().map(|own| &own.name));
    let grid =
        Grid { panels: shown.len(), columns: shown.len(), row: 360.0, gap: 30.0, between: 0.02, margins: (36.0, 80.0) };
    let maps = grid.layout(&titles, |panel| {
        let domain = json!({ "x": grid.x(panel), "y": grid.y(panel) });
        vec![(nth("geo", panel), over(shapes.view(), json!({ "domain": domain, "visible": false })))]
    });
    let layout = over(maps, json!({ "margin": { "l": 8, "r": 8, "t": grid.margins.0, "b": grid.margins.1 } }));
    let title = format!("Bias of one class in each {}, in points", groups.word);
    let mut chart = chart("map", &title, data, layout, sheet(study, groups, shown, classes));
    let choice = |&class: &usize| {
        let (z, most) = of_class(class);
        let update = json!({ "z": z, "zmin": vec![-most; shown.len()], "zmax": vec![most; shown.len()] });
        let lead = Some(lead(study, groups, shapes, shown, class));
        View { name: study.classes[class].clone(), update, lead, ..View::default() }
    };
    chart.views = Some(Views { label: "Class".into(), choices: classes.iter().map(choice).collect() });
    chart.caption =
        "The share of the labels minus that of the scores. Orange: fewer labels than the scores say. Purple: more. \
                     Both maps have the same scale; values beyond it have the color of its end."
            .into();
    let drawn = groups.shown().filter(|&group| shapes.has(group)).count();
    let about = lead(study, groups, shapes, shown, classes[0]);
    chart.alt = format!("Maps of {}. {about}", text::counted(drawn as u64, &groups.word));
    chart
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

fn sheet(study: &Study, groups: &Groups, shown: &[&LabelSet], classes: &[usize]) -> Sheet {
    let names = shown.iter().map(|label_set| format!("bias by {}", label_set.name));
    let mut sheet = Sheet::new(["group".to_owned(), "class".into(), "posterior_share".into()].into_iter().chain(names));
    for &class in classes {
        for group in groups.shown() {
            let head = [
                groups.names[group].clone(),
                study.classes[class].clone(),
                full(Some(groups.totals[group].posterior_share(class))),
            ];
            let offs = shown.iter().map(|own| full(study.class_off(own, group, class).map(|off| off.difference)));
            sheet.push(head.into_iter().chain(offs));
        }
    }
    sheet
}
