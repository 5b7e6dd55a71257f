//! Groups: one point per group, the share of all classes but the focus class against their bias (the paper's
//! fig:pocrep), and tables. Labels are compared with the truth, if it is known, and with the scores.

use apportion::audit::{Bias, GroupTotals};
use apportion::text::{Message, Setting};
use serde_json::{Value, json};

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
        let message = Message::from("There are no groups. To see each county, state or other group, name its column (");
        return nothing("groups", "Groups", study.render(&(message + Setting::By.with("COL") + ").")));
    };
    if let Some(why) = groups.why_hidden() {
        let message = Message::from(format!("{why}. Use ")) + Setting::By;
        let message = message + " for counties, states and other groups of many people, and " + Setting::Id;
        return nothing("groups", "Groups", study.render(&(message + " for IDs of rows.")));
    }
    let mut blocks = vec![Block::Chart(Box::new(points(study, groups))), Block::Table(table(study, groups))];
    blocks.extend(by_class(study, groups).map(|table| Block::Table(table.folded())));
    blocks.extend(without_map(study, groups).map(Block::Text));
    let lead = lead(study, groups, study.subject(), references(study)[0]);
    Section { id: "groups", title: "Groups", lead, blocks }
}

/// Says how to get a map, if no outlines were given.
fn without_map(study: &Study, groups: &Groups) -> Option<String> {
    let message = Message::from(format!("To add a map, give a file with the outline of each {} (", groups.word));
    let message = message + Setting::Geometry.with("FILE") + "; GeoJSON, TopoJSON or Shapefile).";
    study.shapes.is_none().then(|| study.render(&message))
}

/// The reference of the labels of groups.
#[derive(Clone, Copy, PartialEq)]
enum Against {
    Truth,
    Scores,
}

impl Against {
    fn word(self) -> &'static str {
        match self {
            Against::Truth => "truth",
            Against::Scores => "scores",
        }
    }

    /// Returns the heading of its views.
    fn heading(self) -> &'static str {
        match self {
            Against::Truth => "compared with the truth",
            Against::Scores => "compared with the scores",
        }
    }

    /// Returns the bias of all classes but the focus class, in a group.
    fn in_group(self, study: &Study, label_set: &LabelSet, group: usize) -> Option<Bias> {
        match self {
            Against::Truth => study.group_off_truth(label_set, group),
            Against::Scores => study.group_off(label_set, group),
        }
    }

    /// Returns the bias of all classes but the focus class, among all people.
    fn overall(self, study: &Study, label_set: &LabelSet) -> Option<Bias> {
        match self {
            Against::Truth => study.others_off_truth(label_set),
            Against::Scores => study.others_off(label_set),
        }
    }
}

/// Returns what labels are compared with: the truth first, if it is known.
fn references(study: &Study) -> Vec<Against> {
    let has_truth = study.label_sets.iter().any(|own| !own.in_groups_with_truth.is_empty());
    if has_truth { vec![Against::Truth, Against::Scores] } else { vec![Against::Scores] }
}

fn lead(study: &Study, groups: &Groups, label_set: &LabelSet, against: Against) -> String {
    match against {
        Against::Truth => against_truth(study, groups, label_set),
        Against::Scores => against_scores(study, groups, label_set),
    }
}

/// The number of groups that the first sentence names.
const NAMED: usize = 3;

/// Names the groups with the largest error against the truth, in people.
fn against_truth(study: &Study, groups: &Groups, label_set: &LabelSet) -> String {
    let worst_class = |group: usize| {
        let all = (0..study.k()).filter_map(|class| Some((class, study.class_off_truth(label_set, group, class)?)));
        let (class, off) = all.max_by(|(_, a), (_, b)| a.people.abs().total_cmp(&b.people.abs()))?;
        Some((group, class, off)).filter(|_| off.people.abs() >= 1.0)
    };
    let mut worst: Vec<(usize, usize, Bias)> = groups.shown().filter_map(worst_class).collect();
    worst.sort_by(|(.., a), (.., b)| b.people.abs().total_cmp(&a.people.abs()));
    if worst.is_empty() {
        return format!(
            "Compared with the truth{}, {} {} every class in each {} correctly, to the person.",
            study.among(),
            label_set.name,
            label_set.does("counts", "count"),
            groups.word
        );
    }
    let name = |(group, class, off): &(usize, usize, Bias)| {
        let people = text::counted(off.people.abs().round() as u64, "person");
        let direction = if off.people < 0.0 { "too few" } else { "too many" };
        let percent = off.percent.map_or_else(String::new, |own| format!(", {}", text::signed_percent(own)));
        format!("{} ({}: {people} {direction}{percent})", groups.names[*group], study.classes[*class])
    };
    let named: Vec<String> = worst.iter().take(NAMED).map(name).collect();
    let whom = if label_set.uncoded > 0 { " (in shares of the labeled people)" } else { "" };
    let overall = study
        .others_off_truth(label_set)
        .map_or_else(String::new, |off| format!(". Overall, {} together are {}", others(study), direction(off)));
    format!(
        "Compared with the truth{}, the {} with the largest {} of {}{whom} {} {}{overall}.",
        study.among(),
        text::plural(named.len(), &groups.word),
        text::plural(named.len(), "error"),
        label_set.name,
        text::verb(named.len(), "is", "are"),
        text::list(&named)
    )
}

/// Returns the words for all classes except the focus class. Class names keep the spelling of the file, so that a reader
/// finds the same words in sentences, tables and data; whether "black" is a name of people is not known to a report.
fn others(study: &Study) -> String {
    format!("classes other than {}", study.classes[study.focus])
}

/// Returns an overall difference in words.
fn direction(off: Bias) -> String {
    if is_nothing(off.difference) {
        return "counted correctly".to_owned();
    }
    let direction = if off.difference < 0.0 { "undercounted" } else { "overcounted" };
    let people = text::counted(off.people.abs().round() as u64, "person");
    format!("{direction} by {people} ({})", text::points_of(off.difference, 2))
}

fn against_scores(study: &Study, groups: &Groups, label_set: &LabelSet) -> String {
    let (Some((low, of)), Some(off)) = (study.undercounted(label_set), study.others_off(label_set)) else {
        return format!("No {} has labels.", groups.word);
    };
    let overall = match off.difference {
        own if is_nothing(own) => "have the count of the scores".to_owned(),
        _ => format!("are {}", direction(off)),
    };
    // With unlabeled people, shares are not counts; "one person" then assumes that everyone is labeled in these shares.
    let whom = if label_set.uncoded > 0 { " (in shares of the labeled people)" } else { "" };
    let small = if groups.hidden() > 0 { format!(" with at least {FEWEST} people") } else { String::new() };
    format!(
        "Compared with the scores, {} {} {} together by one person or more{whom} in {} of the {}{small}. Overall, they \
         {overall}.",
        label_set.name,
        label_set.does("undercounts", "undercount"),
        others(study),
        text::count(low as u64),
        text::counted(of as u64, &groups.word)
    )
}

/// Returns whether a difference is displayed as zero.
pub(super) fn is_nothing(difference: f64) -> bool {
    (100.0 * difference).abs() < 0.005
}

/// Returns the label sets that have groups, each with whether it is shown only with all rules. The subject is first; the
/// others follow in the usual order.
fn with_groups(study: &Study) -> Vec<(&LabelSet, bool)> {
    let all = study.label_sets.iter().enumerate().filter(|(_, label_set)| !label_set.in_groups.is_empty());
    let mut all: Vec<_> = all.map(|(index, label_set)| (label_set, !study.is_main(index))).collect();
    all.sort_by_key(|(label_set, _)| !std::ptr::eq(*label_set, study.subject()));
    all
}

/// The biases of one label set in all groups, as points of a chart.
struct Biases {
    /// For each shown group, its index and its bias in points.
    of_groups: Vec<(usize, Option<f64>)>,
    overall: Option<f64>,
    /// The range of the axis.
    range: [f64; 2],
}

impl Biases {
    fn of(study: &Study, groups: &Groups, label_set: &LabelSet, against: Against) -> Biases {
        let points = |off: Bias| 100.0 * off.difference;
        let of_group = |group: usize| (group, against.in_group(study, label_set, group).map(points));
        let of_groups: Vec<(usize, Option<f64>)> = groups.shown().map(of_group).collect();
        let overall = against.overall(study, label_set).map(points);
        let known =
            of_groups.iter().filter_map(|(group, bias)| Some((bias.as_ref().copied()?, groups.totals[*group].people)));
        let range = bulk(known.collect(), overall.unwrap_or(0.0));
        Biases { of_groups, overall, range }
    }

    /// Returns the groups above or below the axis, with their bias.
    fn beyond(&self, is_above: bool) -> Vec<(usize, f64)> {
        let is_beyond = |bias: &f64| if is_above { *bias > self.range[1] } else { *bias < self.range[0] };
        self.of_groups.iter().filter_map(|(group, bias)| Some((*group, bias.filter(is_beyond)?))).collect()
    }

    /// Returns the traces: the groups on the axis, those above and below it, and all people.
    fn traces(&self, study: &Study, groups: &Groups) -> [Value; 4] {
        let share = |group: &usize| Some(100.0 * groups.totals[*group].posterior_of_others(study.focus));
        let beyond = |is_above: bool| {
            let all = self.beyond(is_above);
            let words = |(group, bias): &(usize, f64)| {
                format!("{}<br>off by {} points", label(&groups.names[*group]), text::signed(*bias, 2))
            };
            json!({
                "x": column(all.iter().map(|(group, _)| share(group))),
                "y": vec![rounded(self.range[usize::from(is_above)]); all.len()],
                "text": all.iter().map(words).collect::<Vec<_>>(),
            })
        };
        let is_on_axis = |bias: &f64| (self.range[0]..=self.range[1]).contains(bias);
        let on_axis = column(self.of_groups.iter().map(|(_, bias)| bias.filter(is_on_axis)));
        // The shares and names of these groups are the same in all views.
        let first = json!({ "x": null, "y": on_axis, "text": null });
        [first, beyond(true), beyond(false), json!({ "x": null, "y": column([self.overall]), "text": null })]
    }

    /// Returns the changes of a view to the traces.
    fn update(&self, study: &Study, groups: &Groups) -> Value {
        let traces = self.traces(study, groups);
        let each = |name: &str| traces.iter().map(|trace| trace[name].clone()).collect::<Vec<_>>();
        json!({ "x": each("x"), "y": each("y"), "text": each("text") })
    }

    /// Names the groups beyond the axis.
    fn note(&self, groups: &Groups) -> String {
        let mut all = self.beyond(true);
        all.extend(self.beyond(false));
        all.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
        if all.is_empty() {
            return String::new();
        }
        let name = |(group, bias): &(usize, f64)| {
            let people = text::counted(groups.totals[*group].people, "person");
            format!("{} ({people}) {}", groups.names[*group], text::signed(*bias, 1))
        };
        let mut named: Vec<String> = all.iter().take(NAMED).map(name).collect();
        if all.len() > NAMED {
            named.push(format!("{} more", all.len() - NAMED));
        }
        format!(
            "Triangles at the edge: {} beyond the axis, in points: {}.",
            text::counted(all.len() as u64, &groups.word),
            text::list(&named)
        )
    }
}

/// Returns the range of an axis for biases with their numbers of people. If the groups of a few people are far from the
/// others, they are beyond the axis.
fn bulk(mut biases: Vec<(f64, u64)>, overall: f64) -> [f64; 2] {
    /// Groups of at most this share of the people, at each end, can be beyond the axis.
    const FEW_PEOPLE: f64 = 0.01;
    biases.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let all: u64 = biases.iter().map(|(_, people)| people).sum();
    let end = |is_high: bool| {
        let mut people = 0;
        let is_inside = |index: &usize| {
            people += biases[*index].1;
            people as f64 > FEW_PEOPLE * all as f64
        };
        let index = if is_high { (0..biases.len()).rev().find(is_inside) } else { (0..biases.len()).find(is_inside) };
        index.map_or(overall, |index| biases[index].0)
    };
    let (low, high) = (end(false), end(true));
    let (low, high) = (low.min(overall).min(0.0), high.max(overall).max(0.0));
    let (least, most) =
        (biases.first().map_or(low, |own| own.0.min(low)), biases.last().map_or(high, |own| own.0.max(high)));
    // A group a little beyond the others is shown in its place.
    let far = 0.5 * (high - low);
    let bottom = if least < low - far { low - 0.2 * far } else { least };
    let top = if most > high + far { high + 0.2 * far } else { most };
    [bottom, top]
}

/// Returns the vertical axis of a view.
fn axis(range: [f64; 2], against: Against) -> Value {
    let margin = (0.07 * (range[1] - range[0])).max(0.01);
    json!({
        "title": { "text": format!("labels minus {}, points", against.word()) }, "zeroline": true, "zerolinewidth": 2,
        "range": [rounded(range[0] - margin), rounded(range[1] + margin)],
    })
}

fn points(study: &Study, groups: &Groups) -> Chart {
    let focus = label(&text::short(&study.classes[study.focus], 16));
    let against = references(study)[0];
    let first = Biases::of(study, groups, study.subject(), against);
    let layout = json!({
        "height": 340,
        "margin": { "l": 60, "r": 16, "t": 16, "b": 48 },
        "xaxis": { "title": { "text": format!("not {focus}, % by the scores") }, "ticksuffix": "%", "zeroline": false },
        "yaxis": axis(first.range, against),
    });
    let title = format!("Bias by {}: {} together", groups.word, others(study));
    let mut chart = chart("groups", &title, traces(study, groups, &first), layout, sheet(study, groups));
    let view = |against: Against, label_set: &LabelSet, is_minor: bool| {
        let biases = Biases::of(study, groups, label_set, against);
        View {
            name: label_set.name.clone(),
            heading: (references(study).len() > 1).then_some(against.heading()),
            update: biases.update(study, groups),
            layout: json!({ "yaxis": axis(biases.range, against) }),
            lead: Some(lead(study, groups, label_set, against)),
            note: biases.note(groups),
            is_minor,
        }
    };
    let views =
        |against: Against| with_groups(study).into_iter().map(move |(own, is_minor)| view(against, own, is_minor));
    let choices = references(study).into_iter().flat_map(views).collect();
    chart.views = Some(Views { label: "Labeled by".into(), choices });
    chart.caption = format!(
        "Each point is a {}; larger points have more people. Below the line, the labels have too few people in {}.",
        groups.word,
        others(study)
    );
    chart.alt = alt(study, groups);
    chart
}

/// Returns the traces of the view that is shown first.
fn traces(study: &Study, groups: &Groups, biases: &Biases) -> Vec<Value> {
    let totals: Vec<&GroupTotals> = groups.shown().map(|group| &groups.totals[group]).collect();
    // Charts with many points use smaller points, so that they do not cover each other.
    let most = if groups.names.len() > 500 { 5.0 } else { 13.0 };
    let size = |people: u64| rounded(5.0 + most * (people as f64 / largest(groups)).sqrt());
    let hover = "%{text}<br>%{x:.1f}% by the scores<br>off by %{y:0>+.2f} points<extra></extra>";
    let [first, above, below, all] = biases.traces(study, groups);
    let beyond = |own: &Value, symbol: &str| {
        json!({
            "type": "scatter", "mode": "markers", "name": "beyond the axis", "x": own["x"], "y": own["y"], "text": own["text"],
            "hovertemplate": "%{text}<extra></extra>",
            "marker": { "symbol": symbol, "size": 11, "color": palette::ACCENT },
        })
    };
    vec![
        json!({
            "type": "scatter", "mode": "markers", "name": "groups", "text": labels(groups.shown().map(|group| &groups.names[group])),
            "x": column(totals.iter().map(|own| Some(100.0 * own.posterior_of_others(study.focus)))),
            "y": first["y"], "hovertemplate": hover,
            "marker": {
                "size": totals.iter().map(|own| size(own.people)).collect::<Vec<_>>(),
                "color": palette::UNCODED, "opacity": 0.7, "line": { "width": 0 },
            },
        }),
        beyond(&above, "triangle-up"),
        beyond(&below, "triangle-down"),
        json!({
            "type": "scatter", "mode": "markers+text", "name": "overall", "text": ["overall"], "textposition": "top center",
            "x": column([Some(100.0 * study.whole.posterior_of_others(study.focus))]), "y": all["y"], "hovertemplate": hover,
            "marker": { "symbol": "diamond", "size": 14, "color": palette::ACCENT, "line": { "width": 1.5, "color": "#fff" } },
        }),
    ]
}

fn largest(groups: &Groups) -> f64 {
    groups.totals.iter().map(|own| own.people).max().unwrap_or(1).max(1) as f64
}

/// Describes the view that is shown first.
fn alt(study: &Study, groups: &Groups) -> String {
    let (subject, against) = (study.subject(), references(study)[0]);
    let shown = groups.shown().count();
    let offs = || groups.shown().filter_map(|group| Some((group, against.in_group(study, subject, group)?.difference)));
    let least = offs().min_by(|(_, a), (_, b)| a.total_cmp(b));
    let most = offs().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let range = least.zip(most).map_or_else(String::new, |((low, least), (high, most))| {
        let (low, high) = (&groups.names[low], &groups.names[high]);
        format!(
            " By {}, the labels minus the {} range from {} ({low}) to {} ({high}), for {} together.",
            subject.name,
            against.word(),
            text::points(least, 2),
            text::points(most, 2),
            others(study)
        )
    });
    format!("A point for each of {}.{range}", text::counted(shown as u64, &groups.word))
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
        "truth",
        "error_vs_truth",
        "error_vs_truth_percent",
    ]);
    let k = study.k();
    let mut push = |label_set: &LabelSet, group: usize, class: Option<usize>| {
        let (own, labels) = (&groups.totals[group], &label_set.in_groups[group]);
        let (name, people, share) = match class {
            Some(class) => (study.classes[class].clone(), labels[class], own.posterior_share(class)),
            None => (
                others(study),
                labels[..k].iter().sum::<u64>() - labels[study.focus],
                own.posterior_of_others(study.focus),
            ),
        };
        let (off, off_truth) = match class {
            Some(class) => (study.class_off(label_set, group, class), study.class_off_truth(label_set, group, class)),
            None => (study.group_off(label_set, group), study.group_off_truth(label_set, group)),
        };
        let truth = off_truth.and(own.truth.as_ref()).map(|truth| match class {
            Some(class) => truth[class],
            None => own.with_truth() - truth[study.focus],
        });
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
            truth.map_or_else(String::new, |truth| truth.to_string()),
            full(off_truth.filter(|_| is_whole).map(|off| off.people)),
            full(off_truth.and_then(|off| off.percent)),
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

/// Returns a difference in people. If some people are unlabeled, it is the difference of the shares, times the people.
fn people_off(off: Option<Bias>) -> Cell {
    Cell::number(off.map(|off| off.people.round()), text::people)
}

/// Returns a number with the digits that matter for sorting. Tables of groups are large.
fn short(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// Returns the headings over the columns of a table of groups: all numbers are people.
fn spans(before: usize, has_truth: bool, others: &str, compared: usize, shown: usize) -> Vec<(String, usize)> {
    let mut spans = vec![(String::new(), before), (format!("{others}people"), 1 + usize::from(has_truth))];
    spans.extend(has_truth.then(|| ("Labels minus truth, people".to_owned(), compared)));
    spans.push(("Labels minus scores, people".into(), shown));
    spans
}

fn table(study: &Study, groups: &Groups) -> Table {
    let shown = with_groups(study);
    let has_truth = references(study)[0] == Against::Truth;
    let compared: Vec<&LabelSet> =
        shown.iter().filter(|(_, is_minor)| has_truth && !is_minor).map(|own| own.0).collect();
    let others = text::begin(&others(study));
    let mut columns = vec![text::begin(&groups.word), "All people".into()];
    columns.extend(has_truth.then(|| "In truth".to_owned()));
    columns.push("By the scores".into());
    columns.extend(compared.iter().map(|label_set| text::begin(&label_set.name)));
    let minor = shown.iter().enumerate().filter(|(_, (_, is_minor))| *is_minor);
    let minor_columns = minor.map(|(index, _)| index + columns.len()).collect();
    columns.extend(shown.iter().map(|(label_set, _)| text::begin(&label_set.name)));
    let row = |group: usize| {
        let own = &groups.totals[group];
        let truth = own.truth.as_ref().filter(|_| own.with_truth() >= FEWEST);
        let truth = truth.map(|truth| own.with_truth() - truth[study.focus]);
        let sum = own.people as f64 * own.posterior_of_others(study.focus);
        let mut row = vec![
            flagged(&groups.names[group], own.people < FEW),
            Cell::number(Some(own.people as f64), |_| text::count(own.people)),
        ];
        row.extend(has_truth.then(|| Cell::number(truth.map(|own| own as f64), |own| text::count(own as u64))));
        row.push(Cell::number(Some(short(sum)), text::sum));
        row.extend(compared.iter().map(|own| people_off(study.group_off_truth(own, group))));
        row.extend(shown.iter().map(|(label_set, _)| people_off(study.group_off(label_set, group))));
        row
    };
    Table {
        columns,
        spans: spans(2, has_truth, &format!("{others}, "), compared.len(), shown.len()),
        rows: groups.shown().map(row).collect(),
        note: remarks(study, groups, shown.iter().map(|own| own.0)),
        sortable: true,
        minor_columns,
        ..Table::new("groups-table", format!("{others} together in each {}{}", groups.word, study.among()))
    }
}

/// Explains flags, hidden groups, and figures of rules that leave people unlabeled.
fn remarks<'a>(study: &Study, groups: &Groups, label_sets: impl Iterator<Item = &'a LabelSet>) -> String {
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
    let with_truth = study.has_truth() && !study.has_whole_truth();
    notes.extend(with_truth.then(|| "Labels minus truth: of the people with known truth.".to_owned()));
    let leaves: Vec<&str> = label_sets.filter(|own| own.uncoded > 0).map(|own| own.name.as_str()).collect();
    if !leaves.is_empty() {
        notes.push(format!(
            "People without a label: the figures of {} assume the same shares among them as among labeled people.",
            text::list(&leaves)
        ));
    }
    notes.join(" ")
}

/// The maximum number of rows in the table of classes by group.
const MOST_ROWS: usize = 3_000;

/// Returns the figures of each class in each group, by the rules that are always shown. If there are very many groups, only
/// the largest are shown.
fn by_class(study: &Study, groups: &Groups) -> Option<Table> {
    let rules: Vec<&LabelSet> =
        with_groups(study).into_iter().filter(|(_, is_minor)| !is_minor).map(|own| own.0).collect();
    let mut shown: Vec<usize> = groups.shown().filter(|_| !rules.is_empty()).collect();
    let (all, most) = (shown.len(), (MOST_ROWS / study.k()).max(1));
    if all > most {
        shown.sort_by_key(|&group| std::cmp::Reverse(groups.totals[group].people));
        shown.truncate(most);
        shown.sort_unstable();
    }
    let has_truth = references(study)[0] == Against::Truth;
    let row = |group: usize, class: usize| {
        let own = &groups.totals[group];
        let sum = own.posterior_sum(class);
        let mut row = vec![
            flagged(&groups.names[group], own.people < FEW || sum < FEWEST as f64),
            Cell::text(&study.classes[class]),
        ];
        if has_truth {
            let truth = own.truth.as_ref().filter(|_| own.with_truth() >= FEWEST).map(|truth| truth[class]);
            row.push(Cell::number(truth.map(|own| own as f64), |own| text::count(own as u64)));
        }
        row.push(Cell::number(Some(short(sum)), text::sum));
        if has_truth {
            row.extend(rules.iter().map(|own| people_off(study.class_off_truth(own, group, class))));
        }
        row.extend(rules.iter().map(|own| people_off(study.class_off(own, group, class))));
        row
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
    let mut columns = vec![text::begin(&groups.word), "Class".into()];
    columns.extend(has_truth.then(|| "In truth".to_owned()));
    columns.push("By the scores".into());
    let names = || rules.iter().map(|own| text::begin(&own.name));
    columns.extend(names().filter(|_| has_truth));
    columns.extend(names());
    (!rows.is_empty()).then(|| Table {
        columns,
        spans: spans(2, has_truth, "All ", rules.len(), rules.len()),
        rows,
        note: notes.join(" "),
        sortable: true,
        ..Table::new("groups-classes", format!("Each class in each {}", groups.word))
    })
}
