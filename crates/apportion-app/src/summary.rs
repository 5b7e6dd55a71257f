//! The summary of labels: counts before and after, the largest bias, and the cost in accuracy; and the drift warning.

use apportion::Decision;
use apportion::audit::{Drift, Section};
use apportion::decision::Fitted;
use apportion::text::{Message, Setting};

use crate::label::{Aim, Measured};
use crate::labels::RuleResult;
use crate::text;

/// Returns the difference between the count of a class and its expected share of the labels.
fn off_in_people(result: &RuleResult, wanted: &[f64], all: f64, class: usize) -> f64 {
    let share = if all > 0.0 { wanted[class] / all } else { 0.0 };
    result.summary.classes[class].labels as f64 - share * result.summary.labeled as f64
}

/// Returns a warning with a next step if the counts deviate more than chance explains.
pub fn drift_warning(decision: &Decision, drift: &Drift, summary: &Section) -> Option<Message> {
    let class = drift.worst()?;
    let (off, name) = (drift.people[class], &decision.classes().names()[class]);
    let wanted = summary.classes[class].labels as f64 - off;
    let percent = if wanted > 0.5 { format!(", {:+.1}%", 100.0 * off / wanted) } else { String::new() };
    let (explained, misplaced) = (drift.explained[class], drift.misplaced());
    let all = 100.0 * misplaced / summary.labeled.max(1) as f64;
    let problem = format!(
        "warning: the counts have drifted: {name} is off by {off:+.0} people{percent}, where rows that are alike have \
         {explained:.0} at most by chance; in all, {misplaced:.0} people ({all:.2}%) are in a wrong class by count. "
    );
    Some(match decision.fitted() {
        Fitted::Learned(_) => {
            let fix = "Either these rows are not like those that the model learned from: fit again; or it has not learned to \
                       keep the counts: use ";
            Message::from(problem) + fix + Setting::Rule.with("match")
        }
        Fitted::Argmax | Fitted::Threshold { .. } | Fitted::Thompson | Fitted::TopK { .. } | Fitted::Prices(_) => {
            let fix = "These rows are not like those that the decision was fitted to: fit again, to rows like these";
            Message::from(problem) + fix
        }
    })
}

/// Returns the counts of argmax and of the rule, their deviations, the largest deviation, and the cost in expected
/// accuracy; `None` if the labels of argmax were not computed.
pub fn summary(measured: &Measured) -> Option<Message> {
    let Measured { classes, groups, result, argmax, aim } = measured;
    let argmax = argmax.as_ref()?;
    let targets = result.targets.as_ref().filter(|_| *aim == Aim::Targets);
    let wanted: Vec<f64> = match targets {
        Some(targets) => targets.iter().map(|&target| target as f64).collect(),
        None => result.summary.posterior_sums(),
    };
    let all: f64 = targets.map_or(result.summary.people as f64, |_| wanted.iter().sum());
    // Shares are compared, because unlabeled rows are not counted.
    let off = |result: &RuleResult, class: usize| {
        let share = result.summary.classes[class].labels as f64 / result.summary.labeled.max(1) as f64;
        (wanted[class] > 0.0).then(|| 100.0 * (share * all / wanted[class] - 1.0))
    };
    let row = |class: usize| {
        vec![
            classes[class].clone(),
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
    let mut lines = vec![Message::from(text::columns(&["class", held, "argmax", "off by", name, "off by"], &rows))];
    let uncoded = result.summary.people - result.summary.labeled;
    if uncoded > 0 {
        let (uncoded, people) = (text::count(uncoded), text::count(result.summary.people));
        lines.push(format!("without a label: {uncoded} of {people}; shares of the others are what is off").into());
    }
    let worst = |result: &RuleResult| {
        let all = (0..classes.len()).filter_map(|class| Some((off(result, class)?, class)));
        let (off, class) = all.max_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()))?;
        Some(format!("{} {off:+.1}%", classes[class]))
    };
    if let (Some(before), Some(after)) = (worst(argmax), worst(result)) {
        lines.push(format!("furthest off: {before} by argmax, {after} by {name}").into());
    }
    if let Some(sample) = result.sample {
        let (solved, rows) = (text::count(sample.rows), text::count(result.summary.rows));
        let misses = (0..classes.len()).map(|class| off_in_people(result, &wanted, all, class).abs());
        let misplaced = misses.sum::<f64>() / 2.0;
        let share = 100.0 * misplaced / result.summary.labeled.max(1) as f64;
        let solved = format!("solved for {solved} of {rows} rows: ");
        lines.push(match sample.is_matched {
            true => {
                let people = text::count(misplaced.round() as u64);
                let off = format!("the counts of all are off by {people} people in sum ({share:.2}%); ");
                Message::from(solved + &off) + Setting::Rule.with("match") + " without a sample makes them exact"
            }
            false => Message::from(solved + "the labels of all are near the best, and not proved"),
        });
    }
    if let (Some(groups), Some(_)) = (groups, &result.joint) {
        let far = |class: usize| (result.summary.classes[class].labels as f64 - wanted[class]).abs() >= 1.0;
        let adds_up = *aim == Aim::Scores && (0..classes.len()).any(far);
        let matched = Message::from(format!("matched in each of {} groups", text::count(*groups as u64)));
        lines.push(match adds_up {
            true => matched + "; what is off in all is their rounding, which " + Setting::Nested + " keeps out",
            false => matched,
        });
    }
    let (before, after) = (argmax.summary.expected_accuracy, result.summary.expected_accuracy);
    let cost = before.zip(after).map(|(before, after)| 100.0 * (after - before));
    let (before, after, cost) = (text::plain(before, 4), text::plain(after, 4), text::signed(cost, 2, " points"));
    lines.push(format!("expected accuracy {after} (argmax {before}: {cost})").into());
    if let Some(joint) = &result.joint {
        lines.push(match joint.certificate.is_closed() {
            true => "proved: no labels with these counts have a larger sum of scores".into(),
            false => {
                let gap = joint.certificate.gap();
                format!("not proved to be the best; what is missing is {gap:.2e} at most").into()
            }
        });
    }
    if let Some(repeated) = result.joint.as_ref().map(|joint| joint.repeated_keys).filter(|&repeated| repeated > 0) {
        let rows = text::count(repeated);
        let told = "tied rows share their identifier with another: their order in the file told them apart";
        lines.push(format!("{rows} {told}").into());
    }
    Some(text::lines(lines))
}
