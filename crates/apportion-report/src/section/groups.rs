//! Groups: a point a county, its share of all but the focus class against their bias (the paper's fig:pocrep), and a table.

use serde_json::{Value, json};

use super::{Section, nothing};
use crate::chart::{chart, column, full, label, labels, rounded};
use crate::document::{Block, Cell, Chart, Sheet, Table, Views};
use crate::palette;
use crate::study::{FEWEST, Groups, Labelling, Study};
use crate::text;

/// Groups of fewer people are flagged: what is said of them is mostly chance.
pub(super) const FEW: u64 = 30;

pub(super) fn section(study: &Study) -> Section {
    let Some(groups) = &study.groups else {
        return nothing("groups", "Groups", "No groups were named: --by COL shows each county, state or other group.");
    };
    let blocks = vec![Block::Chart(Box::new(points(study, groups))), Block::Table(table(study, groups))];
    Section { id: "groups", title: "Groups", lead: lead(study, groups), blocks }
}

fn lead(study: &Study, groups: &Groups) -> String {
    let (focus, words) = (&study.classes[study.focus], text::plural(2, &groups.word));
    let subject = study.subject();
    let (Some((low, of)), Some(off)) = (study.undercounted(subject), study.others_off(subject)) else {
        return format!("No {} has labels.", groups.word);
    };
    let overall = match off.difference {
        own if is_nothing(own) => "and are as many overall as the scores say".to_owned(),
        own if own < 0.0 => format!("and by {} overall", text::points_of(own, 2)),
        own => format!("and overcounted by {} overall", text::points_of(own, 2)),
    };
    // Shares among some are no counts: by what would be a person, were all labelled in these shares.
    let whom = if subject.uncoded > 0 { ", were all labelled as those with a label are," } else { "" };
    format!(
        "By {}, all but {focus} are undercounted by a person or more{whom} in {} of {} {words}, {overall}.",
        subject.name,
        text::count(low as u64),
        text::count(of as u64)
    )
}

/// Whether a difference is shown as none.
pub(super) fn is_nothing(difference: f64) -> bool {
    (100.0 * difference).abs() < 0.005
}

/// The labellings, the subject first.
fn order(study: &Study) -> Vec<&Labelling> {
    let rest = study.labellings.iter().enumerate().filter(|(place, _)| *place != study.subject);
    let with_groups = std::iter::once(study.subject()).chain(rest.map(|(_, labelling)| labelling));
    with_groups.filter(|labelling| !labelling.in_groups.is_empty()).collect()
}

fn points(study: &Study, groups: &Groups) -> Chart {
    let focus = label(&study.classes[study.focus]);
    let bias = |labelling: &Labelling| {
        let each = (0..groups.names.len()).map(|group| Some(100.0 * study.group_off(labelling, group)?.difference));
        (column(each), column([study.others_off(labelling).map(|off| 100.0 * off.difference)]))
    };
    let shown = order(study);
    let (of_groups, overall) = bias(shown[0]);
    // The more points, the smaller: thousands must not cover each other.
    let most = if groups.names.len() > 500 { 5.0 } else { 13.0 };
    let size = |people: u64| rounded(5.0 + most * (people as f64 / largest(groups)).sqrt());
    let hover = "%{text}<br>%{x:.1f}% by the scores<br>off by %{y:0>+.2f} points<extra></extra>";
    let data = vec![
        json!({
            "type": "scatter", "mode": "markers", "name": "groups", "text": labels(&groups.names),
            "x": column(groups.backdrops.iter().map(|own| own.others_told(study.focus).map(|share| 100.0 * share))),
            "y": of_groups, "hovertemplate": hover,
            "marker": {
                "size": groups.backdrops.iter().map(|own| size(own.people)).collect::<Vec<_>>(),
                "color": palette::UNCODED, "opacity": 0.7, "line": { "width": 0 },
            },
        }),
        json!({
            "type": "scatter", "mode": "markers+text", "name": "overall", "text": ["overall"], "textposition": "top center",
            "x": column([Some(100.0 * study.whole.others(study.focus))]), "y": overall, "hovertemplate": hover,
            "marker": { "symbol": "diamond", "size": 14, "color": palette::ACCENT, "line": { "width": 1.5, "color": "#fff" } },
        }),
    ];
    let layout = json!({
        "height": 440,
        "margin": { "l": 60, "r": 16, "t": 16, "b": 48 },
        "xaxis": { "title": { "text": format!("all but {focus}, % by the scores") }, "ticksuffix": "%", "zeroline": false },
        "yaxis": { "title": { "text": "bias of the labels, points" }, "zeroline": true, "zerolinewidth": 2, "rangemode": "tozero" },
    });
    let title = format!("Bias by {}: all but {}", groups.word, study.classes[study.focus]);
    let mut chart = chart("groups", &title, data, layout, sheet(study, groups));
    let choice = |labelling: &&Labelling| {
        let (of_groups, overall) = bias(labelling);
        (labelling.name.clone(), json!({ "y": [of_groups, overall] }))
    };
    chart.views = Some(Views { label: "Labelled by".into(), choices: shown.iter().map(choice).collect() });
    chart.caption = format!(
        "A point is a {}, the larger the more people. Below the line, all but {} are undercounted.",
        groups.word, study.classes[study.focus]
    );
    chart.alt = alt(study, groups);
    chart
}

fn largest(groups: &Groups) -> f64 {
    groups.backdrops.iter().map(|own| own.people).max().unwrap_or(1).max(1) as f64
}

fn alt(study: &Study, groups: &Groups) -> String {
    let subject = study.subject();
    let offs = (0..groups.names.len()).filter_map(|group| Some((group, study.group_off(subject, group)?.difference)));
    let worst = offs.clone().min_by(|(_, a), (_, b)| a.total_cmp(b));
    let best = offs.max_by(|(_, a), (_, b)| a.total_cmp(b));
    let say = |end: Option<(usize, f64)>| {
        end.map_or_else(String::new, |(group, off)| format!("{}, {}", groups.names[group], text::points(off, 2)))
    };
    format!(
        "A point for each of {} {}. By {}, the bias of all but {} goes from {} to {}.",
        text::count(groups.names.len() as u64),
        text::plural(groups.names.len(), &groups.word),
        subject.name,
        study.classes[study.focus],
        say(worst),
        say(best)
    )
}

fn sheet(study: &Study, groups: &Groups) -> Sheet {
    let mut sheet = Sheet::new(["rule", "group", "people", "posterior_share", "difference", "people_off"]);
    for labelling in order(study) {
        for (group, name) in groups.names.iter().enumerate() {
            let own = &groups.backdrops[group];
            let off = study.group_off(labelling, group);
            let is_whole = labelling.in_groups[group].get(study.k()).is_none_or(|&uncoded| uncoded == 0);
            sheet.push([
                labelling.name.clone(),
                name.clone(),
                own.people.to_string(),
                full(own.others_told(study.focus)),
                full(off.map(|off| off.difference)),
                full(off.filter(|_| is_whole).map(|off| off.people)),
            ]);
        }
    }
    sheet
}

fn table(study: &Study, groups: &Groups) -> Table {
    let shown = order(study);
    let focus = &study.classes[study.focus];
    let mut columns = vec![text::begin(&groups.word), "People".into(), format!("All but {focus}, by the scores")];
    columns.extend(shown.iter().map(|labelling| text::begin(&labelling.name)));
    let row = |(group, name): (usize, &String)| {
        let own = &groups.backdrops[group];
        let flag = if own.people < FEW { " °" } else { "" };
        let mut row = vec![
            Cell::text(format!("{name}{flag}")),
            Cell::number(Some(own.people as f64), |_| text::count(own.people)),
            Cell::number(own.others_told(study.focus), |share| text::percent(share, 1)),
        ];
        let off = |labelling: &&Labelling| study.group_off(labelling, group).map(|off| 100.0 * off.difference);
        row.extend(shown.iter().map(|labelling| Cell::number(off(labelling), |points| text::signed(points, 2))));
        row
    };
    let rows: Vec<Vec<Cell>> = groups.names.iter().enumerate().map(row).collect();
    let few = groups.backdrops.iter().filter(|own| own.people < FEW).count();
    let mut note = match few {
        0 => String::new(),
        few => format!(
            "° {} {} of fewer than {FEW} people: mostly chance.",
            text::count(few as u64),
            text::plural(few, &groups.word)
        ),
    };
    if groups.backdrops.iter().any(|own| !own.is_told()) {
        note += &format!(" Of fewer than {FEWEST} nothing is said: it would be said of each of them.");
    }
    let caption = format!("All but {focus} in each {}: the labels' share less the scores', in points", groups.word);
    Table { id: "groups-table".into(), caption, columns, rows, note, sortable: true }
}

/// For other sections: the biases of all groups, in points, by a labelling.
pub(super) fn biases(study: &Study, groups: &Groups, labelling: &Labelling) -> Vec<Value> {
    column((0..groups.names.len()).map(|group| Some(100.0 * study.group_off(labelling, group)?.difference)))
}
