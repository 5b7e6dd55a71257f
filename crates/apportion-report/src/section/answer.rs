//! The answer: the largest error of the counts and its cause in one sentence, one picture, and the counts of each class.

use std::ops::Range;

use apportion::audit::{Bias, GroupTotals};
use apportion::rule::RuleKind;
use apportion::text::{Message, Setting};
use serde_json::{Value, json};

use super::{ADVICE, Section, in_parts};
use crate::chart::{Grid, chart, column, full, labels, nth, over, second_line, titles};
use crate::document::{Block, Cell, Chart, Sheet, Table};
use crate::glossary;
use crate::palette;
use crate::study::{LabelKind, LabelSet, Study};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let charts = in_parts(study.k(), |classes| bars(study, classes));
    let mut blocks: Vec<Block> = charts.into_iter().map(|chart| Block::Chart(Box::new(chart))).collect();
    blocks.push(Block::Table(table(study)));
    blocks.push(Block::Text(ADVICE.into()));
    blocks.push(Block::Glossary);
    Section { id: "answer", title: "The answer", lead: lead(study), blocks }
}

/// Returns whether an error is worth a sentence: at least five people and one percent of the class. Compared with the truth,
/// also at least twice the standard deviation of a count of that size. Smaller errors are rounding or chance.
fn matters(study: &Study, label_set: &LabelSet, off: &Bias, reference: f64, against: Against) -> bool {
    let explained = match against {
        Against::Truth => 2.0 * reference.sqrt(),
        Against::Scores => rounding_of_groups(study, label_set),
    };
    off.people.abs() >= explained.max(0.01 * reference).max(5.0)
}

/// Returns by how many people the rounding of groups can change a count: half a person per group, if the labels have the
/// counts of the scores in each group.
fn rounding_of_groups(study: &Study, label_set: &LabelSet) -> f64 {
    let Some(groups) = study.groups.as_ref().filter(|_| !label_set.in_groups.is_empty()) else { return 0.0 };
    let is_matched = |(totals, labels): (&GroupTotals, &Vec<u64>)| {
        let shares = totals.posterior.iter().flatten();
        shares.zip(labels).all(|(share, &count)| (count as f64 - share * totals.people as f64).abs() < 1.0)
    };
    let are_matched = groups.totals.iter().zip(&label_set.in_groups).all(is_matched);
    if are_matched { 0.5 * groups.totals.len() as f64 } else { 0.0 }
}

/// The reference of an error.
#[derive(Clone, Copy, PartialEq)]
enum Against {
    Truth,
    Scores,
}

/// An error of a class that is worth a sentence.
struct Finding {
    class: usize,
    off: Bias,
    against: Against,
}

impl Finding {
    /// Returns all errors of some labels that are worth a sentence.
    fn all(study: &Study, label_set: &LabelSet, against: Against) -> impl Iterator<Item = Finding> {
        (0..study.k()).filter_map(move |class| {
            let (off, reference) = match against {
                Against::Truth => (study.off_truth(label_set, class)?, study.whole.truth.as_ref()?[class] as f64),
                Against::Scores => (study.off_posterior(label_set, class)?, study.whole.posterior_sum(class)),
            };
            matters(study, label_set, &off, reference, against).then_some(Finding { class, off, against })
        })
    }

    /// Returns the error that a reader should know first: the largest in people, among classes of which it is at least 5%.
    /// In people alone, it would often be a small part of the largest class; in percent alone, a few people of a tiny
    /// class. If no error is that large a part of its class, it is the largest in people.
    fn largest(study: &Study, label_set: &LabelSet, against: Against) -> Option<Finding> {
        const LARGE_PERCENT: f64 = 5.0;
        let people = |a: &Finding, b: &Finding| a.off.people.abs().total_cmp(&b.off.people.abs());
        let is_large = |own: &Finding| own.percent().is_none_or(|percent| percent >= LARGE_PERCENT);
        let large = Finding::all(study, label_set, against).filter(is_large).max_by(people);
        large.or_else(|| Finding::all(study, label_set, against).max_by(people))
    }

    /// Returns the largest error in percent, if it is of another class and at least twice as large in percent.
    fn largest_percent(&self, study: &Study, label_set: &LabelSet) -> Option<Finding> {
        let percent = |own: &Finding| own.percent().unwrap_or(f64::INFINITY);
        let all = Finding::all(study, label_set, self.against);
        let largest = all.max_by(|a, b| percent(a).total_cmp(&percent(b)))?;
        (largest.class != self.class && percent(&largest) >= 2.0 * percent(self)).then_some(largest)
    }

    /// Returns the size of the error in percent of the class; `None` if the class is empty.
    fn percent(&self) -> Option<f64> {
        self.off.percent.map(f64::abs)
    }

    /// Returns the error in a few words: "other: 1,462 people too few (−93.1%)".
    fn briefly(&self, study: &Study, label_set: &LabelSet) -> String {
        let size = match label_set.uncoded {
            0 => text::counted(self.off.people.abs().round() as u64, "person"),
            _ => text::points_of(self.off.difference, 2),
        };
        let direction = match (self.off.people < 0.0, label_set.uncoded) {
            (true, 0) => "too few",
            (false, 0) => "too many",
            (true, _) => "too low",
            (false, _) => "too high",
        };
        let percent = self.off.percent.map_or_else(String::new, |own| format!(" ({})", text::signed_percent(own)));
        format!("{}: {size} {direction}{percent}", study.classes[self.class])
    }

    /// Returns the error in words: "overcounts hispanic by 6,112 people (+89.0%: 12,978 labels, 6,866 in truth)".
    fn words(&self, study: &Study, label_set: &LabelSet, would: bool) -> String {
        let class = &study.classes[self.class];
        let verb = match (self.off.people < 0.0, would) {
            (true, true) => "would undercount",
            (false, true) => "would overcount",
            (true, false) => label_set.does("undercounts", "undercount"),
            (false, false) => label_set.does("overcounts", "overcount"),
        };
        let percent = self.off.percent.map_or_else(|| "from 0".into(), text::signed_percent);
        let whom = if self.against == Against::Truth { study.of_whom(label_set) } else { String::new() };
        if label_set.uncoded > 0 {
            let points = text::points_of(self.off.difference, 2);
            return format!("{verb} the share of {class} by {points} ({percent}){whom}");
        }
        let people = text::counted(self.off.people.abs().round() as u64, "person");
        let both = match self.against {
            Against::Truth => {
                let truth = study.whole.truth.as_ref().map_or(0, |truth| truth[self.class]);
                let labels = study.people_by_labels(label_set, self.class);
                format!("{} labels, {} in truth", text::count(labels), text::count(truth))
            }
            Against::Scores => {
                let sum = text::sum(study.whole.posterior_sum(self.class));
                format!("{} labels, {sum} by the scores", text::count(label_set.counts[self.class]))
            }
        };
        format!("{verb} {class} by {people} ({percent}: {both}){whom}")
    }
}

/// Returns a sentence if there is nothing to compare with the reference.
fn nobody(study: &Study) -> Option<String> {
    let subject = study.subject();
    if study.whole.people == 0 {
        return Some("The input has no people to label.".into());
    }
    if subject.labeled() == 0 {
        return Some(format!("No one has a label by {}, so there is nothing to count.", subject.name));
    }
    let none = (0..study.k()).all(|class| study.off(subject, class).is_none());
    none.then(|| format!("No one with known truth has a label by {}, so there is nothing to compare.", subject.name))
}

fn lead(study: &Study) -> String {
    if let Some(sentence) = nobody(study) {
        return sentence;
    }
    let against = if study.has_truth() { Against::Truth } else { Against::Scores };
    match Finding::largest(study, study.subject(), against) {
        Some(finding) => wrong(study, &finding),
        None => right(study),
    }
}

/// The share of an error that comes from the scores, in three ranges.
enum Cause {
    Scores,
    Labels,
    Both(f64),
}

fn cause(study: &Study, finding: &Finding) -> Cause {
    let parts = study.split(study.subject(), finding.class).filter(|_| finding.against == Against::Truth);
    match parts.map_or(0.0, |parts| parts.miscalibration.people / finding.off.people) {
        share if share >= 0.75 => Cause::Scores,
        share if share > 0.25 => Cause::Both(share),
        _ => Cause::Labels,
    }
}

/// Returns the sentences for labels with an error: its size, its cause, and what to do.
fn wrong(study: &Study, finding: &Finding) -> String {
    let subject = study.subject();
    let begin = format!("{} {}", text::begin(&subject.name), finding.words(study, subject, false));
    let also = finding.largest_percent(study, subject).map_or_else(String::new, |other| {
        format!(" In percent, the largest error is for the class {}.", other.briefly(study, subject))
    });
    let recalibrate = || {
        let message = Message::from(
            "correct the scores, for example by predicting them again with the known share of each class among these people (",
        );
        study.render(&(message + Setting::Margin.with("FILE") + ")"))
    };
    let sum = text::sum(study.people_by_scores(finding.class));
    let class = &study.classes[finding.class];
    match cause(study, finding) {
        Cause::Scores => {
            format!(
                "{begin}.{also} The cause is the scores of {class}, which add up to {sum}: {}. {}",
                recalibrate(),
                rest(study)
            )
        }
        Cause::Both(share) => format!(
            "{begin}.{also} About {} of the error of {class} comes from the scores, which add up to {sum}, and the rest from \
             turning them into labels: {}{}.",
            text::percent(share, 0),
            recalibrate(),
            instead(study, finding.class).map_or_else(String::new, |instead| format!(", and {instead}"))
        ),
        Cause::Labels => {
            let because = match finding.against {
                Against::Truth => format!(": the scores of {class} add up to {sum}, which is closer to the truth"),
                Against::Scores => String::new(),
            };
            let instead = instead(study, finding.class);
            let instead = instead.map_or_else(String::new, |instead| format!(" {}.", text::begin(&instead)));
            format!("{begin}.{also} The cause is turning scores into labels{because}.{instead}")
        }
    }
}

/// Says whether other labels could still gain something if the scores are wrong.
fn rest(study: &Study) -> String {
    let subject = study.subject();
    match Finding::largest(study, subject, Against::Scores) {
        None => format!(
            "Other labels would not help: {} already {} the counts that the scores add up to.",
            subject.name,
            subject.does("has", "have")
        ),
        Some(finding) => {
            let instead = instead(study, finding.class).map_or_else(String::new, |instead| format!("; {instead}"));
            let name = text::begin(&subject.name);
            format!("{name} also {}{instead}.", finding.words(study, subject, false))
        }
    }
}

/// Recommends the corrected labels, with their error for a class and their cost, if they reduce the error.
fn instead(study: &Study, class: usize) -> Option<String> {
    let (subject, corrected) = (study.subject(), study.corrected()?);
    let (before, after) = (study.off(subject, class)?, study.off(corrected, class)?);
    if after.people.abs() > 0.75 * before.people.abs() {
        return None;
    }
    let left = after.percent.map(text::signed_percent)?;
    let cost = match cost(study) {
        Some(cost) if cost < 0.000_05 => " at no cost in expected accuracy".to_owned(),
        Some(cost) => format!(" and costs {} of expected accuracy", text::points_of(cost, 2)),
        None => String::new(),
    };
    let by_group = study.label_sets.iter().find(|own| own.kind == LabelKind::Rule(RuleKind::MatchByGroup));
    let by_group = by_group.zip(study.groups.as_ref()).map_or_else(String::new, |(own, groups)| {
        format!("; for counts that match the scores in each {}, use {}", groups.word, own.name)
    });
    let class = &study.classes[class];
    Some(format!("use {}, which reduces the error of {class} to {left}{cost}{by_group}", corrected.name))
}

/// Returns the loss of expected accuracy due to the corrected labels, if both label everyone. Otherwise the two are not
/// comparable.
fn cost(study: &Study) -> Option<f64> {
    let (corrected, subject) = (study.corrected()?, study.subject());
    let is_known = corrected.uncoded == 0 && subject.uncoded == 0;
    is_known.then_some(subject.expected_accuracy? - corrected.expected_accuracy?)
}

/// Returns the sentences for labels without an error that is worth a sentence.
fn right(study: &Study) -> String {
    let subject = study.subject();
    let (name, have) = (text::begin(&subject.name), subject.does("has", "have"));
    let first = if study.has_truth() {
        let counts = subject.does("counts", "count");
        format!("{name} {counts} every class correctly, up to rounding and chance{}.", study.of_whom(subject))
    } else {
        let message = format!(
            "{name} {have} the counts that the scores add up to, so other labels would not improve them. \
             To check whether the scores are right, give a column of known classes ("
        );
        study.render(&(Message::from(message) + Setting::Truth.with("COL") + ")."))
    };
    let against = if study.has_truth() { Against::Truth } else { Against::Scores };
    let argmax = study.argmax().and_then(|argmax| Some((argmax, Finding::largest(study, argmax, against)?)));
    let argmax = argmax.map(|(argmax, finding)| format!(" Argmax {}.", finding.words(study, argmax, true)));
    first + &argmax.unwrap_or_default()
}

/// Returns the label sets in the picture: the subject, and argmax or, if that is the subject, the corrected labels.
fn shown(study: &Study) -> Vec<&LabelSet> {
    std::iter::once(study.subject()).chain(study.argmax().or_else(|| study.corrected())).collect()
}

/// A bar of the picture: its name, the number of people of a class, and its error in percent.
type Bar = (String, f64, Option<f64>);

/// Formats a number of people: sums of scores have a decimal if they are small.
fn number(people: f64) -> String {
    if people.fract() == 0.0 { text::count(people as u64) } else { text::sum(people) }
}

fn bars_of(study: &Study, class: usize) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    let scores = study.people_by_scores(class);
    let truth = study.whole.truth.as_ref().filter(|_| study.has_truth()).map(|truth| truth[class] as f64);
    bars.extend(truth.map(|truth| ("truth".to_owned(), truth, None)));
    let off = truth.filter(|truth| *truth > 0.0).map(|truth| 100.0 * (scores / truth - 1.0));
    bars.push(("scores".to_owned(), scores, off));
    for own in shown(study) {
        let percent = study.off(own, class).and_then(|off| off.percent);
        bars.push((own.name.clone(), study.people_by_labels(own, class) as f64, percent));
    }
    bars
}

/// Returns the picture: a panel for each class, with its people in truth, by the scores and by labels.
fn bars(study: &Study, classes: Range<usize>) -> Chart {
    let data = classes.clone().enumerate().map(|(panel, class)| trace(study, panel, class)).collect();
    let titles = titles(&study.classes[classes.clone()]);
    let more = second_line(&titles);
    let rows = bars_of(study, 0).len() as f64;
    let grid = |columns: usize| Grid {
        panels: titles.len(),
        columns,
        row: 21.0 * rows + 46.0 + more,
        gap: 40.0 + more,
        between: 0.035,
        margins: (32.0 + more, 8.0),
    };
    let layout = |columns: usize| layout(study, &titles, classes.clone(), grid(columns));
    let title = format!("People of each class{}", study.among());
    let mut chart = chart("counts", &title, data, layout(titles.len().min(3)), sheet(study, classes.clone()));
    chart.narrow = layout(1);
    chart.caption = format!(
        "Truth: the people of the class. Scores: what the scores add up to. Percent: the difference from {}{}. Each class has \
         its own scale.",
        study.reference_word(),
        if shown(study).iter().any(|own| own.uncoded > 0) { ", in shares of the labeled people" } else { "" }
    );
    if !study.has_truth() {
        chart.caption = chart.caption.replace("Truth: the people of the class. ", "");
    }
    chart.caption += &glossary::codes(study).map(|(code, name)| format!(" {code}: {name}.")).collect::<String>();
    chart.alt = alt(study, classes);
    chart
}

fn trace(study: &Study, panel: usize, class: usize) -> Value {
    let bars = bars_of(study, class);
    let color = |(name, ..): &Bar| if name == "truth" { palette::UNCODED } else { palette::class(class) };
    let opacity = |(name, ..): &Bar| match name.as_str() {
        "truth" => 1.0,
        "scores" => 0.4,
        name if name == study.subject().name => 1.0,
        _ => 0.65,
    };
    let words = |(_, people, percent): &Bar| {
        let percent = percent.map_or_else(String::new, |percent| format!(" ({})", text::signed_percent(percent)));
        format!("{}{percent}", number(*people))
    };
    json!({
        "type": "bar", "orientation": "h", "y": labels(bars.iter().map(|(name, ..)| name)),
        "x": column(bars.iter().map(|(_, people, _)| Some(*people))),
        "text": bars.iter().map(words).collect::<Vec<_>>(), "textposition": "outside", "cliponaxis": false,
        "textfont": { "size": 11 }, "xaxis": nth("x", panel), "yaxis": nth("y", panel),
        "marker": {
            "color": bars.iter().map(color).collect::<Vec<_>>(), "opacity": bars.iter().map(opacity).collect::<Vec<_>>(),
            "pattern": palette::pattern(class),
        },
        "hovertemplate": "%{y}<br>%{text}<extra></extra>",
    })
}

fn layout(study: &Study, titles: &[String], classes: Range<usize>, grid: Grid) -> Value {
    let axes = grid.layout(titles, |panel| {
        let most = bars_of(study, classes.start + panel).iter().fold(1.0, |most: f64, (_, people, _)| most.max(*people));
        // The space to the right of the longest bar is for its text.
        let x = json!({
            "domain": grid.x(panel), "anchor": nth("y", panel), "range": [0.0, 2.1 * most], "visible": false, "fixedrange": true,
        });
        let y = json!({
            "domain": grid.y(panel), "anchor": nth("x", panel), "autorange": "reversed", "ticks": "", "type": "category",
            "showticklabels": grid.is_first(panel), "showgrid": false, "zeroline": false,
        });
        vec![(nth("xaxis", panel), x), (nth("yaxis", panel), y)]
    });
    let margin = json!({ "l": 60, "r": 16, "t": grid.margins.0, "b": grid.margins.1 });
    over(json!({ "bargap": 0.2, "margin": margin }), axes)
}

fn sheet(study: &Study, classes: Range<usize>) -> Sheet {
    let mut sheet = Sheet::new(["class", "by", "people", "percent_off"]);
    for class in classes {
        for (name, people, percent) in bars_of(study, class) {
            sheet.push([study.classes[class].clone(), name, full(Some(people)), full(percent)]);
        }
    }
    sheet
}

fn alt(study: &Study, classes: Range<usize>) -> String {
    let of = |class: usize| {
        let words = |(name, people, _): &Bar| format!("{name} {}", number(*people));
        let bars: Vec<String> = bars_of(study, class).iter().map(words).collect();
        format!("{}: {}", study.classes[class], bars.join(", "))
    };
    format!("Bars for each class. {}.", classes.map(of).collect::<Vec<_>>().join(". "))
}

/// Returns the counts of each class, each next to how many of its labels are right. The subject is first.
fn table(study: &Study) -> Table {
    let subject = study.subject();
    let has_truth = study.has_truth();
    let others: Vec<&LabelSet> = study.main().filter(|own| !std::ptr::eq(*own, subject)).collect();
    let rights = || has_truth.then(|| "Right in truth".to_owned()).into_iter().chain(["Expected right".to_owned()]);
    let mut columns = vec!["Class".to_owned(), "Labels".into(), "Off by".into()];
    columns.extend(rights());
    let mut spans = vec![(String::new(), 1), (text::begin(&subject.name), columns.len() - 1)];
    columns.extend(has_truth.then(|| "In truth".to_owned()));
    columns.push("By the scores".into());
    spans.push(("All people".into(), 1 + usize::from(has_truth)));
    for own in &others {
        let before = columns.len();
        columns.push("Labels".into());
        columns.extend(rights());
        spans.push((text::begin(&own.name), columns.len() - before));
    }
    let mut note = String::new();
    if has_truth {
        note += "Right in truth: the share of the labels of the class that are right. ";
    }
    note += &format!(
        "Expected right: this share if the scores are right. Off by: the labels minus {}{}.",
        study.reference_word(),
        study.of_whom(subject)
    );
    note += &rounding(study).map_or_else(String::new, |rounding| format!(" {rounding}"));
    Table {
        columns,
        spans,
        rows: (0..study.k()).map(|class| row(study, &others, class)).collect(),
        note,
        sortable: true,
        ..Table::new("classes", format!("Counts of each class{}, and how many labels are right", study.among()))
    }
}

/// Returns the figures of a class: of the subject, of all people, and of the other labels.
fn row(study: &Study, others: &[&LabelSet], class: usize) -> Vec<Cell> {
    let (subject, has_truth) = (study.subject(), study.has_truth());
    let share = |share: Option<f64>| Cell::number(share, |share| text::percent(share, 0));
    let labels = |own: &LabelSet| {
        let labels = study.people_by_labels(own, class);
        Cell::number(Some(labels as f64), |_| text::count(labels))
    };
    let rights = |own: &LabelSet| {
        let in_truth = has_truth.then(|| share(own.right(class)));
        in_truth.into_iter().chain([share(own.expected_right(class))]).collect::<Vec<_>>()
    };
    let mut row = vec![Cell::text(&study.classes[class]), labels(subject), error(study, class)];
    row.extend(rights(subject));
    let truth = study.whole.truth.as_ref().map(|truth| truth[class] as f64);
    row.extend(has_truth.then(|| Cell::number(truth, |people| text::count(people as u64))));
    row.push(Cell::number(Some(study.people_by_scores(class)), text::sum));
    for own in others {
        row.push(labels(own));
        row.extend(rights(own));
    }
    row
}

/// Returns the error of the subject in people or, if some people are unlabeled, in points, and in percent.
fn error(study: &Study, class: usize) -> Cell {
    let subject = study.subject();
    let off = study.off(subject, class);
    let percent =
        off.and_then(|off| off.percent).map_or_else(String::new, |own| format!(" ({})", text::signed_percent(own)));
    let people = off.map(|off| subject.people_off(&off).unwrap_or(100.0 * off.difference));
    let shown =
        |own: f64| if subject.uncoded > 0 { format!("{} points", text::signed(own, 2)) } else { text::people(own) };
    Cell::number(people, |own| format!("{}{percent}", shown(own)))
}

/// Explains rounding if a class is small: whole people cannot equal a sum of scores.
fn rounding(study: &Study) -> Option<String> {
    let sum = |class: usize| study.whole.posterior_sum(class);
    let small = (0..study.k()).filter(|&class| sum(class) > 0.0 && sum(class) < 100.0);
    let class = small.min_by(|&a, &b| sum(a).total_cmp(&sum(b)))?;
    Some(format!(
        "Labels are whole people, so correct counts can differ from the scores by up to one person, which is much of a small \
         class such as {} ({} by the scores).",
        study.classes[class],
        text::sum(sum(class))
    ))
}
