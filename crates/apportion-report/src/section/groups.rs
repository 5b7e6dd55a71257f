//! Groups: one point per group, the share of all classes but the focus class against their bias (the paper's
//! fig:pocrep), and tables.

use apportion::audit::GroupTotals;
use apportion::text::{Message, Setting};
use serde_json::json;

use super::{Section, nothing};
use crate::chart::{chart, column, full, label, labels, rounded};
use crate::document::{Block, Cell, Chart, Sheet, Table, View, Views};
use crate::palette;
use crate::study::{FEWEST, Groups, LabelSet, Study};
use crate::text;

/// Groups with fewer people are flagged, because their figures are mostly chance.
pub(super) const FEW: u64 = 30;

pub(super) fn section(study: &Study) -> Section {
    let Some(groups) = &study.groups else {
        let message = Message::from("There are no groups: ") + Setting::By.with("COL");
        return nothing("groups", "Groups", study.render(&(message + " shows each county, state or other group.")));
    };
    if let Some(why) = groups.why_hidden() {
        let message = Message::from(format!("{why}. Use ")) + Setting::By;
        let message = message + " for counties, states and other groups of many people, and " + Setting::Id;
        return nothing("groups", "Groups", study.render(&(message + " for IDs of rows.")));
    }
    let mut blocks = vec![Block::Chart(Box::new(points(study, groups))), Block::Table(table(study, groups))];
    blocks.extend(by_class(study, groups).map(|table| Block::Table(table.folded())));
    Section { id: "groups", title: "Groups", lead: lead(study, groups), blocks }
}

fn lead(study: &Study, groups: &Groups) -> String {
    let focus = &study.classes[study.focus];
    let subject = study.subject();
    let (Some((low, of)), Some(off)) = (study.undercounted(subject), study.others_off(subject)) else {
        return format!("No {} has labels.", groups.word);
    };
    let overall = match off.difference {
        own if is_nothing(own) => "overall, their count is that of the scores".to_owned(),
        own if own < 0.0 => format!("overall, by {}", text::points_of(own, 2)),
        own => format!("overall, they are overcounted by {}", text::points_of(own, 2)),
    };
    // With unlabeled people, shares are not counts; "one person" then assumes that everyone is labeled in these shares.
    let whom = if subject.uncoded > 0 { " (in shares of the labeled people)" } else { "" };
    let small = if groups.hidden() > 0 { format!(" with at least {FEWEST} people") } else { String::new() };
    format!(
        "Compared with the scores, {} {} all classes but {focus} together by one person or more{whom} in {} of the \
         {}{small}; {overall}.",
        subject.name,
        subject.does("undercounts", "undercount"),
        text::count(low as u64),
        text::counted(of as u64, &groups.word)
    )
}

/// Returns whether a difference is displayed as zero.
pub(super) fn is_nothing(difference: f64) -> bool {
    (100.0 * difference).abs() < 0.005
}

/// Returns the label sets that have groups, each with whether it is shown only with all rules.
fn with_groups(study: &Study) -> Vec<(&LabelSet, bool)> {
    let all = study.label_sets.iter().enumerate().filter(|(_, label_set)| !label_set.in_groups.is_empty());
    all.map(|(index, label_set)| (label_set, !study.is_main(index))).collect()
}

fn points(study: &Study, groups: &Groups) -> Chart {
    let focus = label(&text::short(&study.classes[study.focus], 16));
    let bias = |label_set: &LabelSet| {
        let each = groups.shown().map(|group| Some(100.0 * study.group_off(label_set, group)?.difference));
        (column(each), column([study.others_off(label_set).map(|off| 100.0 * off.difference)]))
    };
    let totals: Vec<&GroupTotals> = groups.shown().map(|group| &groups.totals[group]).collect();
    let (of_groups, overall) = bias(study.subject());
    // Charts with many points use smaller points, so that they do not cover each other.
    let most = if groups.names.len() > 500 { 5.0 } else { 13.0 };
    let size = |people: u64| rounded(5.0 + most * (people as f64 / largest(groups)).sqrt());
    let hover = "%{text}<br>%{x:.1f}% by the scores<br>off by %{y:0>+.2f} points<extra></extra>";
    let data = vec![
        json!({
            "type": "scatter", "mode": "markers", "name": "groups", "text": labels(groups.shown().map(|group| &groups.names[group])),
            "x": column(totals.iter().map(|own| Some(100.0 * own.posterior_of_others(study.focus)))),
            "y": of_groups, "hovertemplate": hover,
            "marker": {
                "size": totals.iter().map(|own| size(own.people)).collect::<Vec<_>>(),
                "color": palette::UNCODED, "opacity": 0.7, "line": { "width": 0 },
            },
        }),
        json!({
            "type": "scatter", "mode": "markers+text", "name": "overall", "text": ["overall"], "textposition": "top center",
            "x": column([Some(100.0 * study.whole.posterior_of_others(study.focus))]), "y": overall, "hovertemplate": hover,
            "marker": { "symbol": "diamond", "size": 14, "color": palette::ACCENT, "line": { "width": 1.5, "color": "#fff" } },
        }),
    ];
    let layout = json!({
        "height": 340,
        "margin": { "l": 60, "r": 16, "t": 16, "b": 48 },
        "xaxis": { "title": { "text": format!("all but {focus}, % by the scores") }, "ticksuffix": "%", "zeroline": false },
        "yaxis": { "title": { "text": "labels minus scores, points" }, "zeroline": true, "zerolinewidth": 2, "rangemode": "tozero" },
    });
    let title = format!("Bias by {}: all but {}", groups.word, study.classes[study.focus]);
    let mut chart = chart("groups", &title, data, layout, sheet(study, groups));
    let choice = |&(label_set, is_minor): &(&LabelSet, bool)| {
        let (of_groups, overall) = bias(label_set);
        View { name: label_set.name.clone(), update: json!({ "y": [of_groups, overall] }), is_minor }
    };
    // The subject is the first view; the others follow in the usual order.
    let mut shown = with_groups(study);
    shown.sort_by_key(|(label_set, _)| !std::ptr::eq(*label_set, study.subject()));
    chart.views = Some(Views { label: "Labeled by".into(), choices: shown.iter().map(choice).collect() });
    chart.caption = format!(
        "Each point is a {}; larger points have more people. Below the line, the labels have fewer people in classes other than {} than the scores.",
        groups.word, study.classes[study.focus]
    );
    chart.alt = alt(study, groups);
    chart
}

fn largest(groups: &Groups) -> f64 {
    groups.totals.iter().map(|own| own.people).max().unwrap_or(1).max(1) as f64
}

fn alt(study: &Study, groups: &Groups) -> String {
    let subject = study.subject();
    let shown = groups.shown().count();
    let offs = || groups.shown().filter_map(|group| Some((group, study.group_off(subject, group)?.difference)));
    let worst = offs().min_by(|(_, a), (_, b)| a.total_cmp(b));
    let best = offs().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let say = |end: Option<(usize, f64)>| {
        end.map_or_else(String::new, |(group, off)| format!("{}, {}", groups.names[group], text::points(off, 2)))
    };
    format!(
        "A point for each of {}. By {}, the bias of all classes but {} ranges from {} to {}.",
        text::counted(shown as u64, &groups.word),
        subject.name,
        study.classes[study.focus],
        say(worst),
        say(best)
    )
}

/// Writes the bias of all classes but the focus class for every label set, then the bias of each class for the subject.
fn sheet(study: &Study, groups: &Groups) -> Sheet {
    let mut sheet = Sheet::new([
        "rule",
        "group",
        "class",
        "people",
        "labels",
        "posterior_share",
        "difference",
        "people_off",
        "percent",
    ]);
    let k = study.k();
    let mut push = |label_set: &LabelSet, group: usize, class: Option<usize>| {
        let (own, labels) = (&groups.totals[group], &label_set.in_groups[group]);
        let (name, people, share, off) = match class {
            Some(class) => (
                study.classes[class].clone(),
                labels[class],
                own.posterior_share(class),
                study.class_off(label_set, group, class),
            ),
            None => (
                format!("all but {}", study.classes[study.focus]),
                labels[..k].iter().sum::<u64>() - labels[study.focus],
                own.posterior_of_others(study.focus),
                study.group_off(label_set, group),
            ),
        };
        let is_whole = labels.get(k).is_none_or(|&uncoded| uncoded == 0);
        sheet.push([
            label_set.name.clone(),
            groups.names[group].clone(),
            name,
            own.people.to_string(),
            people.to_string(),
            full(Some(share)),
            full(off.map(|off| off.difference)),
            full(off.filter(|_| is_whole).map(|off| off.people)),
            full(off.and_then(|off| off.percent)),
        ]);
    };
    for (label_set, _) in with_groups(study) {
        groups.shown().for_each(|group| push(label_set, group, None));
    }
    for group in groups.shown().filter(|_| !study.subject().in_groups.is_empty()) {
        (0..k).for_each(|class| push(study.subject(), group, Some(class)));
    }
    sheet
}

/// Returns a name, flagged if the figures are of so few people that they are mostly chance.
fn flagged(name: &str, is_few: bool) -> Cell {
    Cell::text(if is_few { format!("{name} °") } else { name.to_owned() })
}

fn table(study: &Study, groups: &Groups) -> Table {
    let shown = with_groups(study);
    let focus = &study.classes[study.focus];
    let mut columns = vec![text::begin(&groups.word), "People".into(), format!("All but {focus}, by the scores")];
    let minor = shown.iter().enumerate().filter(|(_, (_, is_minor))| *is_minor);
    let minor_columns = minor.map(|(index, _)| index + columns.len()).collect();
    columns.extend(shown.iter().map(|(label_set, _)| text::begin(&label_set.name)));
    let row = |group: usize| {
        let own = &groups.totals[group];
        let mut row = vec![
            flagged(&groups.names[group], own.people < FEW),
            Cell::number(Some(own.people as f64), |_| text::count(own.people)),
            Cell::number(Some(own.posterior_of_others(study.focus)), |share| text::percent(share, 1)),
        ];
        let off = |label_set: &LabelSet| study.group_off(label_set, group).map(|off| 100.0 * off.difference);
        row.extend(shown.iter().map(|(label_set, _)| Cell::number(off(label_set), |points| text::signed(points, 2))));
        row
    };
    let few = groups.shown().filter(|&group| groups.totals[group].people < FEW).count();
    let mut notes = Vec::new();
    if few > 0 {
        notes.push(format!(
            "° {} with fewer than {FEW} people: mostly chance.",
            text::counted(few as u64, &groups.word)
        ));
    }
    if groups.hidden() > 0 {
        notes.push(format!(
            "{} with fewer than {FEWEST} people {} hidden, because the figures could identify individuals.",
            text::counted(groups.hidden() as u64, &groups.word),
            text::verb(groups.hidden(), "is", "are")
        ));
    }
    let caption =
        format!("All but {focus} in each {}: share of the labels minus that of the scores, in points", groups.word);
    let rows = groups.shown().map(row).collect();
    Table { columns, rows, note: notes.join(" "), sortable: true, minor_columns, ..Table::new("groups-table", caption) }
}

/// The maximum number of rows in the table of classes by group.
const MOST_ROWS: usize = 3_000;

/// Returns the subject's figures for each class in each group. If there are very many groups, only the largest are
/// shown.
fn by_class(study: &Study, groups: &Groups) -> Option<Table> {
    let subject = study.subject();
    let mut shown: Vec<usize> = groups.shown().filter(|_| !subject.in_groups.is_empty()).collect();
    let (all, most) = (shown.len(), (MOST_ROWS / study.k()).max(1));
    if all > most {
        shown.sort_by_key(|&group| std::cmp::Reverse(groups.totals[group].people));
        shown.truncate(most);
        shown.sort_unstable();
    }
    let row = |group: usize, class: usize| {
        let (own, off) = (&groups.totals[group], study.class_off(subject, group, class));
        let sum = own.posterior_sum(class);
        let labels = subject.in_groups[group][class];
        vec![
            flagged(&groups.names[group], own.people < FEW || sum < FEWEST as f64),
            Cell::text(&study.classes[class]),
            Cell::number(Some(sum), text::sum),
            Cell::number(Some(labels as f64), |_| text::count(labels)),
            Cell::number(off.map(|off| 100.0 * off.difference), |points| text::signed(points, 2)),
            Cell::number(off.and_then(|off| off.percent), text::signed_percent),
        ]
    };
    let rows: Vec<Vec<Cell>> =
        shown.iter().flat_map(|&group| (0..study.k()).map(move |class| row(group, class))).collect();
    let mut notes = vec![format!(
        "° Fewer than {FEW} people in the {}, or fewer than {FEWEST} of the class by the scores: mostly chance.",
        groups.word
    )];
    if shown.len() < all {
        let (largest, all) = (text::counted(shown.len() as u64, &groups.word), text::count(all as u64));
        let message = Message::from(format!("The table shows the {largest} with the most people, of {all}; "));
        notes.push(study.render(&(message + Setting::Figures.with("DIR") + " writes all.")));
    }
    let columns = ["Class", "By the scores", "Labels", "Difference, points", "Difference, %"].map(String::from);
    (!rows.is_empty()).then(|| Table {
        columns: std::iter::once(text::begin(&groups.word)).chain(columns).collect(),
        rows,
        note: notes.join(" "),
        sortable: true,
        ..Table::new("groups-classes", format!("Each class in each {}, by {}", groups.word, subject.name))
    })
}
