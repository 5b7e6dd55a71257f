//! The summary that `label` and `apply` print last: counts before and after, the worst bias, and the cost in accuracy.

use apportion::Decision;
use apportion::audit::{Drift, Section};
use apportion::decision::Fitted;
use apportion_io::Table;

use crate::rule_result::RuleResult;
use crate::text;

/// What the counts are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The sums of the scores.
    Scores,
    /// Targets that differ from the sums of the scores.
    Targets,
}

/// Returns the difference between the count of a class and its expected share of the labels.
fn off_in_people(result: &RuleResult, wanted: &[f64], all: f64, class: usize) -> f64 {
    let share = if all > 0.0 { wanted[class] / all } else { 0.0 };
    result.summary.classes[class].labels as f64 - share * result.summary.labeled as f64
}

/// Returns a warning with a next step if the counts deviate more than chance explains.
pub(crate) fn drift_warning(decision: &Decision, drift: &Drift, summary: &Section) -> Option<String> {
    let class = drift.worst()?;
    let (off, name) = (drift.people[class], &decision.classes().names()[class]);
    let wanted = summary.classes[class].labels as f64 - off;
    let percent = if wanted > 0.5 { format!(", {:+.1}%", 100.0 * off / wanted) } else { String::new() };
    let (explained, misplaced) = (drift.explained[class], drift.misplaced());
    let all = 100.0 * misplaced / summary.labeled.max(1) as f64;
    let way_on = match decision.fitted() {
        Fitted::Learned(_) => {
            "Either these rows are not like those that the model learned from: fit again; or it has not learned to keep the \
             counts: use --rule match"
        }
        _ => "These rows are not like those that the decision was fitted to: fit again, to rows like these",
    };
    Some(format!(
        "warning: the counts have drifted: {name} is off by {off:+.0} people{percent}, where rows that are alike have \
         {explained:.0} at most by chance; in all, {misplaced:.0} people ({all:.2}%) are in a wrong class by count. {way_on}"
    ))
}

/// Returns the counts of argmax and of the rule, their deviations, the worst of these, and the cost in expected accuracy.
pub(crate) fn summary(table: &Table, argmax: &RuleResult, result: &RuleResult, aim: Aim) -> String {
    let classes = table.classes();
    let targets = result.targets.as_ref().filter(|_| aim == Aim::Targets);
    let wanted: Vec<f64> = match targets {
        Some(targets) => targets.iter().map(|&target| target as f64).collect(),
        None => result.summary.posterior_sums(),
    };
    let all: f64 = targets.map_or(result.summary.people as f64, |_| wanted.iter().sum());
    // Shares are compared, since rows without a label have none.
    let off = |result: &RuleResult, class: usize| {
        let share = result.summary.classes[class].labels as f64 / result.summary.labeled.max(1) as f64;
        (wanted[class] > 0.0).then(|| 100.0 * (share * all / wanted[class] - 1.0))
    };
    let row = |class: usize| {
        vec![
            classes.names()[class].clone(),
            targets.map_or_else(|| format!("{:.1}", wanted[class]), |targets| text::count(targets[class])),
            text::count(argmax.summary.classes[class].labels),
            text::signed(off(argmax, class), 1, "%"),
            text::count(result.summary.classes[class].labels),
            text::signed(off(result, class), 1, "%"),
        ]
    };
    let held = if targets.is_some() { "asked for" } else { "scores sum to" };
    let name = result.name.as_str();
    let rows: Vec<Vec<String>> = (0..classes.len()).map(row).collect();
    let mut lines = vec![text::columns(&["class", held, "argmax", "off by", name, "off by"], &rows)];
    let uncoded = result.summary.people - result.summary.labeled;
    if uncoded > 0 {
        let (uncoded, people) = (text::count(uncoded), text::count(result.summary.people));
        lines.push(format!("without a label: {uncoded} of {people}; shares of the others are what is off"));
    }
    let worst = |result: &RuleResult| {
        let all = (0..classes.len()).filter_map(|class| Some((off(result, class)?, class)));
        let (off, class) = all.max_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()))?;
        Some(format!("{} {off:+.1}%", classes.names()[class]))
    };
    if let (Some(before), Some(after)) = (worst(argmax), worst(result)) {
        lines.push(format!("furthest off: {before} by argmax, {after} by {name}"));
    }
    if let Some(sample) = result.sample {
        let (solved, rows) = (text::count(sample.rows), text::count(result.summary.rows));
        let misses = (0..classes.len()).map(|class| off_in_people(result, &wanted, all, class).abs());
        let misplaced = misses.sum::<f64>() / 2.0;
        let share = 100.0 * misplaced / result.summary.labeled.max(1) as f64;
        lines.push(match sample.to_match {
            true => format!(
                "solved for {solved} of {rows} rows: the counts of all are off by {} people in sum ({share:.2}%); --rule match \
                 without a sample makes them exact",
                text::count(misplaced.round() as u64)
            ),
            false => format!("solved for {solved} of {rows} rows: the labels of all are near the best, and not proved"),
        });
    }
    if let (Some(groups), Some(_)) = (table.group_count(), &result.joint) {
        let far = |class: usize| (result.summary.classes[class].labels as f64 - wanted[class]).abs() >= 1.0;
        let adds_up = aim == Aim::Scores && (0..classes.len()).any(far);
        let way = if adds_up { "; what is off in all is their rounding, which --nested keeps out" } else { "" };
        lines.push(format!("matched in each of {} groups{way}", text::count(groups as u64)));
    }
    let (before, after) = (argmax.summary.expected_accuracy, result.summary.expected_accuracy);
    let cost = before.zip(after).map(|(before, after)| 100.0 * (after - before));
    let (before, after, cost) = (text::plain(before, 4), text::plain(after, 4), text::signed(cost, 2, " points"));
    lines.push(format!("expected accuracy {after} (argmax {before}: {cost})"));
    if let Some(joint) = &result.joint {
        lines.push(match joint.certificate.is_closed() {
            true => "proved: no labels with these counts have a larger sum of scores".into(),
            false => format!("not proved to be the best; what is missing is {:.2e} at most", joint.certificate.gap()),
        });
    }
    if let Some(repeated) = result.joint.as_ref().map(|joint| joint.repeated_keys).filter(|&repeated| repeated > 0) {
        let rows = text::count(repeated);
        lines.push(format!(
            "{rows} tied rows share their identifier with another: their order in the file told them apart"
        ));
    }
    lines.join("\n")
}
