//! An audit as text: tables by class, a few lines, and the groups with the largest bias.

use apportion::audit::{Audit, Bias, ClassAudit, GroupSection, Interval, Intervals, Section, UncodedPolicy};
use apportion::text::{Message, Setting};

use super::Response;
use super::advice::{off_classes, unreliable_labels};
use crate::text;

impl Response {
    /// Returns the audit as text.
    pub fn text(&self) -> Message {
        let section = &self.audit.overall;
        let mut before = vec![size(section, self.audit.options.uncoded), counts(section)];
        before.extend(against_known(section));
        before.extend(unreliable_labels(section));
        before.extend(accuracy(section));
        before.extend(argmax(&self.audit));
        before.extend(self.frontier_gap.map(|gap| frontier_gap(gap, !self.audit.groups.is_empty())));
        before.extend(unlabeled(section));
        let mut after = Vec::new();
        after.extend(against_truth(section).map(Message::from));
        after.extend(off_classes(&self.audit));
        after.extend(section.intervals.as_ref().map(|own| intervals(section, own).into()));
        let drifted = self.drifted.as_ref().map(|drifted| drifted.words.clone());
        let before = before.into_iter().map(Message::from).chain(drifted);
        text::lines(before.chain(after).chain(by_group(&self.audit)))
    }
}

/// Returns the number of rows or people, of labels, and of unlabeled people that the policy counts or leaves out.
fn size(section: &Section, policy: UncodedPolicy) -> String {
    let (one, several) = if section.people == section.rows { ("row", "rows") } else { ("person", "people") };
    let labeled = text::count(section.people - section.uncoded);
    let unlabeled = text::count(section.uncoded);
    let unlabeled = match policy {
        UncodedPolicy::Drop if section.uncoded > 0 => format!(", {unlabeled} unlabeled left out"),
        UncodedPolicy::Argmax if section.uncoded > 0 => {
            format!(", {unlabeled} unlabeled counted as their most likely class")
        }
        UncodedPolicy::Keep | UncodedPolicy::Drop | UncodedPolicy::Argmax => String::new(),
    };
    format!("{}, {labeled} labeled{unlabeled}", text::counted(section.people, one, several))
}

/// Returns the counts of each class, how often their labels are expected to be correct, and their bias.
fn counts(section: &Section) -> String {
    let with_truth = section.with_truth > 0;
    let mut header =
        vec!["class", "labels", "expected precision", "expected recall", "scores sum to", "±95%", "off by", ""];
    if with_truth {
        header.extend(["truth", "off by", ""]);
    }
    let mut rows = Vec::with_capacity(section.classes.len());
    for class in &section.classes {
        let mut row = vec![class.class.clone(), text::count(class.labels)];
        row.extend([class.expected_precision(), class.expected_recall()].map(|rate| text::plain(rate, 3)));
        row.extend([text::expected_count(class.posterior_sum), text::margin(class.count_margin())]);
        row.extend(bias(class.against_posterior));
        if with_truth {
            row.push(class.truth_count.map_or_else(|| "–".into(), text::count));
            row.extend(bias(class.against_truth));
        }
        rows.push(row);
    }
    text::columns(&header, &rows)
}

/// Returns the counts compared with the known shares, if they are given.
fn against_known(section: &Section) -> Option<String> {
    section.classes.iter().find_map(|class| class.given_share)?;
    let header = ["class", "labels", "known share", "in people", "off by", ""];
    let labeled: u64 = section.classes.iter().map(|class| class.labels).sum();
    let mut rows = Vec::with_capacity(section.classes.len());
    for class in &section.classes {
        let share = class.given_share.unwrap_or(0.0);
        let mut row = vec![class.class.clone(), text::count(class.labels), format!("{:.2}%", 100.0 * share)];
        row.push(text::expected_count(share * labeled as f64));
        row.extend(bias(class.against_given));
        rows.push(row);
    }
    Some(format!("compared with the known shares:\n{}", text::columns(&header, &rows)))
}

/// Returns a bias in points and in percent.
fn bias(bias: Option<Bias>) -> [String; 2] {
    let points = bias.map(|bias| 100.0 * bias.difference);
    [text::signed(points, 2, " points"), text::signed(bias.and_then(|bias| bias.percent), 1, "%")]
}

/// Returns lines on accuracy and fidelity, by the scores and by the truth.
fn accuracy(section: &Section) -> Vec<String> {
    let mut lines = vec![format!(
        "expected accuracy {}, fidelity to the posterior {}",
        text::plain(section.expected_accuracy, 4),
        text::plain(section.fidelity_to_posterior(), 4)
    )];
    if section.with_truth > 0 {
        let interval =
            section.accuracy_interval.map_or_else(String::new, |own| format!(" (95% interval {})", range(own, 4)));
        lines.push(format!(
            "accuracy {}{interval}, fidelity to the truth {}, over {} labels with known truth",
            text::plain(section.accuracy, 4),
            text::plain(section.fidelity_to_truth(), 4),
            text::count(section.labeled_with_truth())
        ));
    }
    lines
}

/// Returns an interval: "0.7912 to 0.8034".
fn range(interval: Interval, decimals: usize) -> String {
    format!("{} to {}", text::plain(Some(interval.low), decimals), text::plain(Some(interval.high), decimals))
}

/// Returns lines on argmax: its agreement with the labels, ties, and its bias with the bound of Theorem 1.
fn argmax(audit: &Audit) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(agreement) = audit.overall.argmax_agreement {
        let tied = audit.overall.tied.unwrap_or(0);
        let ties = match tied {
            0 => String::new(),
            1 => "; 1 person has several classes with the largest score".to_owned(),
            _ => format!("; {} people have several classes with the largest score", text::count(tied)),
        };
        lines.push(format!("{:.1}% of labels are the argmax class{ties}", 100.0 * agreement));
    }
    let error = &audit.overall.score_error;
    if let (Some(argmax), Some(mae)) = (error.argmax, error.implied_mae) {
        let people = (argmax.bias.abs() * audit.overall.included as f64).round();
        lines.push(format!(
            "for comparison: argmax labels would {} {} by {}, which is {:.2} points (theoretical maximum for these scores: \
             {:.2}, Theorem 1)",
            if argmax.bias < 0.0 { "undercount" } else { "overcount" },
            audit.classes.names()[argmax.class],
            text::counted(people as u64, "person", "people"),
            100.0 * argmax.bias.abs(),
            100.0 * mae
        ));
    }
    lines
}

/// Returns a line on Theorem 2: the accuracy that the labels give up.
fn frontier_gap(gap: f64, has_groups: bool) -> String {
    if gap < 5e-5 {
        return "on the frontier: no labels with equally good totals are more accurate in expectation (Theorem 2)"
            .into();
    }
    let points = format!("{:.2} points", 100.0 * gap);
    let groups =
        if has_groups { "; labels matched within groups give this up for the counts of the groups" } else { "" };
    format!(
        "{points} below the frontier: other labels with equally good totals would be {points} more accurate in expectation \
         (Theorem 2){groups}"
    )
}

/// Describes unlabeled people, if there are any.
fn unlabeled(section: &Section) -> Option<String> {
    let rows = section.uncoded_rows.as_ref()?;
    let mean = |(class, mean): (&ClassAudit, &f64)| format!("{} {mean:.3}", class.class);
    let means: Vec<String> = section.classes.iter().zip(&rows.mean_scores).map(mean).collect();
    let [low, middle, high] = rows.top_score_quartiles;
    Some(format!(
        "unlabeled: {} of {} people; quartiles of their largest score: {low:.3}, {middle:.3}, {high:.3}\n\
         mean scores of unlabeled people: {}",
        text::count(rows.people),
        text::count(section.people),
        means.join(", ")
    ))
}

/// Returns a table of figures that need truth: the parts of the bias, calibration, precision and recall.
fn against_truth(section: &Section) -> Option<String> {
    if section.with_truth == 0 {
        return None;
    }
    let header = [
        "class",
        "miscalibration",
        "discretization",
        "calibration error",
        "Kuiper",
        "correlation",
        "precision",
        "recall",
    ];
    let mut rows = Vec::with_capacity(section.classes.len());
    for class in &section.classes {
        let (split, calibration) = (class.split.as_ref(), class.calibration.as_ref());
        rows.push(vec![
            class.class.clone(),
            text::signed(split.and_then(|split| split.miscalibration.percent), 1, "%"),
            text::signed(split.and_then(|split| split.discretization.percent), 1, "%"),
            text::plain(calibration.map(|own| own.equal_width.expected_error), 4),
            text::plain(calibration.map(|own| own.kuiper), 4),
            text::plain(calibration.and_then(|own| own.correlation), 3),
            text::plain(class.rates.and_then(|rates| rates.precision), 3),
            text::plain(class.rates.and_then(|rates| rates.recall), 3),
        ]);
    }
    Some(format!(
        "\ncompared with the truth (bias in percent of the true share: miscalibration is due to the scores, discretization to \
         the labels):\n{}",
        text::columns(&header, &rows)
    ))
}

/// Returns the bootstrap confidence intervals.
fn intervals(section: &Section, own: &Intervals) -> String {
    let with_truth = section.with_truth > 0;
    let mut header = vec!["class", "share, %", "bias, points"];
    header.extend(with_truth.then_some("bias compared with truth, points"));
    let mut rows = Vec::with_capacity(section.classes.len());
    for (class, audit) in section.classes.iter().enumerate() {
        let mut row = vec![audit.class.clone(), in_percent(own.share[class])];
        row.push(in_percent(own.bias_against_posterior[class]));
        row.extend(with_truth.then(|| in_percent(own.bias_against_truth[class])));
        rows.push(row);
    }
    let four = |interval: Option<Interval>| interval.map_or_else(|| "–".into(), |own| range(own, 4));
    let mut lines = vec![
        "\n95% intervals (bootstrap):".to_owned(),
        text::columns(&header, &rows),
        format!(
            "expected accuracy {}, fidelity to the posterior {}",
            four(own.expected_accuracy),
            four(own.fidelity_to_posterior)
        ),
    ];
    if with_truth {
        let (accuracy, fidelity) = (four(own.accuracy), four(own.fidelity_to_truth));
        lines.push(format!("accuracy {accuracy}, fidelity to the truth {fidelity}"));
    }
    lines.join("\n")
}

/// Returns an interval of shares in percent or points.
fn in_percent(interval: Option<Interval>) -> String {
    let Some(own) = interval else { return "–".into() };
    range(Interval { low: 100.0 * own.low, high: 100.0 * own.high }, 2)
}

/// The number of groups shown; JSON contains all groups.
const SHOWN: usize = 10;

/// Groups with fewer people are hidden, as in reports, because they could identify individuals.
const LEAST_PEOPLE: u64 = 5;

/// Returns the number of groups in which classes other than the focus class are undercounted, and the groups with the
/// largest bias.
fn by_group(audit: &Audit) -> Vec<Message> {
    let (Some(under), Some(focus)) = (&audit.undercounted, audit.focus) else { return Vec::new() };
    let focus = &audit.classes.names()[focus];
    let mut lines: Vec<Message> = vec![
        format!(
            "\nclasses other than {focus} together are undercounted, compared with the scores, by one person or more in {} of {} (by a fraction of a person in {})",
            text::count(under.by_a_person_or_more as u64),
            text::counted(under.of as u64, "group", "groups"),
            text::count(under.groups.saturating_sub(under.by_a_person_or_more) as u64)
        )
        .into(),
    ];
    if let Some(fidelity) = audit.fidelity_in_groups {
        lines.push(format!("fidelity to the posterior within groups {}", text::plain(Some(fidelity), 4)).into());
    }
    lines.extend(groups_against_truth(audit).into_iter().map(Message::from));
    let large = |group: &&GroupSection| group.section.people >= LEAST_PEOPLE;
    let mut rows: Vec<(f64, Vec<String>)> = audit.groups.iter().filter(large).filter_map(group_row).collect();
    rows.sort_by(|(a, _), (b, _)| b.abs().total_cmp(&a.abs()));
    let shown: Vec<Vec<String>> = rows.iter().take(SHOWN).map(|(_, row)| row.clone()).collect();
    if !shown.is_empty() {
        let header = ["group", "people", "% by labels", "% by scores", "off by"];
        lines.push(
            format!("classes other than {focus}, compared with the scores, in the groups with the largest difference:")
                .into(),
        );
        lines.push(text::columns(&header, &shown).into());
    }
    let small = audit.groups.iter().filter(|group| group.section.people < LEAST_PEOPLE).count();
    if small > 0 {
        let groups = text::counted(small as u64, "group", "groups");
        let hidden = format!("{groups} with fewer than {LEAST_PEOPLE} people not shown; use ");
        lines.push(Message::from(hidden) + Setting::Json + " to see all groups");
    }
    if rows.len() > SHOWN {
        let more = text::counted((rows.len() - SHOWN) as u64, "more group", "more groups");
        lines.push(Message::from(format!("… and {more}; use ")) + Setting::Json + " to see all groups");
    }
    lines
}

/// Returns the groups with the largest error against the truth, in people, each with its class of the largest error.
fn groups_against_truth(audit: &Audit) -> Vec<String> {
    let mut worst: Vec<(&GroupSection, &ClassAudit, Bias)> = Vec::new();
    for group in audit.groups.iter().filter(|group| group.section.with_truth >= LEAST_PEOPLE) {
        let classes = group.section.classes.iter().filter_map(|class| Some((class, class.against_truth?)));
        let largest = classes.max_by(|(_, a), (_, b)| a.people.abs().total_cmp(&b.people.abs()));
        worst.extend(largest.map(|(class, bias)| (group, class, bias)));
    }
    if worst.is_empty() {
        return Vec::new();
    }
    worst.sort_by(|(.., a), (.., b)| b.people.abs().total_cmp(&a.people.abs()));
    let mut rows = Vec::with_capacity(SHOWN);
    for (group, class, bias) in worst.into_iter().take(SHOWN) {
        rows.push(vec![
            group.name.clone(),
            text::count(group.section.people),
            class.class.clone(),
            text::count(class.labels),
            class.truth_count.map_or_else(|| "–".into(), text::count),
            signed_people(bias.people),
            text::signed(bias.percent, 1, "%"),
        ]);
    }
    let header = ["group", "people", "class", "labels", "truth", "off by", ""];
    let title = "compared with the truth, the groups with the largest error in people, each with its class of the largest error:";
    vec![title.to_owned(), text::columns(&header, &rows)]
}

/// Returns a difference in people, with its sign and thousands separators.
fn signed_people(people: f64) -> String {
    let count = people.abs().round() as u64;
    let sign = match count {
        0 => "",
        _ if people < 0.0 => "-",
        _ => "+",
    };
    format!("{sign}{}", text::count(count))
}

/// Returns the bias of a group and its row of the table.
fn group_row(group: &GroupSection) -> Option<(f64, Vec<String>)> {
    let others = group.section.others?;
    let off = others.against_posterior?.difference;
    let percent = |share: Option<f64>| text::plain(share.map(|share| 100.0 * share), 2);
    let row = vec![
        group.name.clone(),
        text::count(group.section.people),
        percent(others.share),
        percent(others.posterior_share),
        text::signed(Some(100.0 * off), 2, " points"),
    ];
    Some((off, row))
}
