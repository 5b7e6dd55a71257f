//! The summary of labels: counts before and after, the largest bias, and the cost in accuracy; and the drift warning.

use apportion::Decision;
use apportion::audit::{Drift, Section};
use apportion::decision::Fitted;
use apportion::text::{Message, Setting};

use crate::audit::unreliable_labels;
use crate::label::{Aim, Measured};
use crate::labels::RuleResult;
use crate::text;

/// Returns the difference between the count of a class and its expected share of the labels.
fn off_in_people(result: &RuleResult, wanted: &[f64], all: f64, class: usize) -> f64 {
    let share = if all > 0.0 { wanted[class] / all } else { 0.0 };
    result.summary.classes[class].labels as f64 - share * result.summary.labeled as f64
}

/// Returns a warning with a next step if the counts of some classes deviate more than chance explains.
pub fn drift_warning(decision: &Decision, drift: &Drift, summary: &Section) -> Option<Message> {
    let beyond = drift.beyond();
    if beyond.is_empty() {
        return None;
    }
    let one = |&class: &usize| {
        let (off, found) = (drift.people[class], summary.classes[class].labels);
        let expected = found as f64 - off;
        let percent = match expected > 0.5 {
            true => text::signed(Some(100.0 * off / expected), 1, "%; "),
            false => String::new(),
        };
        format!(
            "{} {} instead of {} ({percent}chance explains a difference of at most {})",
            text::shown(&decision.classes().names()[class]),
            text::count(found),
            text::expected_count(expected),
            text::count(drift.explained[class].floor() as u64)
        )
    };
    let listed = beyond.iter().map(one).collect::<Vec<_>>().join(", ");
    let misplaced = drift.misplaced();
    let all = 100.0 * misplaced / summary.labeled.max(1) as f64;
    let people = text::counted(misplaced.round() as u64, "person", "people");
    let problem =
        format!("warning: the counts have drifted: {listed}. In total, the counts are off by {people} ({all:.2}%). ");
    Some(match decision.fitted() {
        Fitted::Learned(_) => {
            let fix = "Either these rows differ from those the model was trained on, so fit again; or the model does not \
                       keep the counts, so use ";
            Message::from(problem) + fix + Setting::Rule.with("match")
        }
        Fitted::Argmax | Fitted::Threshold { .. } | Fitted::Thompson | Fitted::TopK { .. } | Fitted::Prices(_) => {
            let fix = "These rows differ from those the decision was fitted to; fit again on rows like these";
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
        let own = &result.summary.classes[class];
        let mut row = vec![classes[class].clone()];
        match targets {
            Some(targets) => row.push(text::count(targets[class])),
            None => row.extend([text::expected_count(wanted[class]), text::margin(own.count_margin())]),
        }
        row.extend([
            text::count(argmax.summary.classes[class].labels),
            text::signed(off(argmax, class), 1, "%"),
            text::count(own.labels),
            text::signed(off(result, class), 1, "%"),
            text::plain(own.expected_precision(), 3),
            text::plain(own.expected_recall(), 3),
        ]);
        row
    };
    let name = result.name.as_str();
    let rows: Vec<Vec<String>> = (0..classes.len()).map(row).collect();
    let mut header = vec!["class"];
    header.extend(if targets.is_some() { &["target"][..] } else { &["scores sum to", "±95%"] });
    header.extend(["argmax", "off by", name, "off by", "expected precision", "expected recall"]);
    let mut lines = vec![Message::from(text::columns(&header, &rows))];
    lines.extend(unreliable_labels(&result.summary).map(Message::from));
    let uncoded = result.summary.people - result.summary.labeled;
    if uncoded > 0 {
        let (uncoded, people) = (text::count(uncoded), text::count(result.summary.people));
        lines.push(
            format!("unlabeled: {uncoded} of {people} people; \"off by\" compares shares among labeled people").into(),
        );
    }
    let worst = |result: &RuleResult| {
        let all = (0..classes.len()).filter_map(|class| Some((off(result, class)?, class)));
        let (off, class) = all.max_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()))?;
        Some(format!("{} {}", classes[class], text::signed(Some(off), 1, "%")))
    };
    if let (Some(before), Some(after)) = (worst(argmax), worst(result)) {
        lines.push(format!("largest deviation: {before} with argmax, {after} with {name}").into());
    }
    if let Some(sample) = result.sample {
        let (solved, rows) = (text::count(sample.rows), text::count(result.summary.rows));
        let misses = (0..classes.len()).map(|class| off_in_people(result, &wanted, all, class).abs());
        let misplaced = misses.sum::<f64>() / 2.0;
        let share = 100.0 * misplaced / result.summary.labeled.max(1) as f64;
        let solved = format!("solved on a sample of {solved} of {rows} rows: ");
        lines.push(match sample.is_matched {
            true => {
                let people = text::counted(misplaced.round() as u64, "person", "people");
                let off = format!("in total, the counts are off by {people} ({share:.2}%); ");
                Message::from(solved + &off) + Setting::Rule.with("match") + " without a sample makes them exact"
            }
            false => Message::from(solved + "the labels are close to optimal, but this is not proved"),
        });
    }
    if let (Some(groups), Some(_)) = (groups, &result.joint) {
        let far = |class: usize| (result.summary.classes[class].labels as f64 - wanted[class]).abs() >= 1.0;
        let adds_up = *aim == Aim::Scores && (0..classes.len()).any(far);
        let matched =
            Message::from(format!("matched within each of {}", text::counted(*groups as u64, "group", "groups")));
        lines.push(match adds_up {
            true => {
                let why = "; overall totals differ slightly because each group is rounded: use ";
                matched + why + Setting::Nested + " to avoid this"
            }
            false => matched,
        });
    }
    let (before, after) = (argmax.summary.expected_accuracy, result.summary.expected_accuracy);
    let cost = before.zip(after).map(|(before, after)| 100.0 * (after - before));
    let (before, after, cost) = (text::plain(before, 4), text::plain(after, 4), text::signed(cost, 2, " points"));
    lines.push(format!("expected accuracy {after} (argmax {before}: {cost})").into());
    if let Some(joint) = &result.joint {
        lines.push(match joint.certificate.is_closed() {
            true => {
                let within = if groups.is_some() { " in each group" } else { "" };
                format!("optimal (proved): no other labels with these counts{within} have a higher expected accuracy")
                    .into()
            }
            false => {
                let gap = joint.certificate.gap();
                format!("not proved optimal; the gap is at most {gap:.2e}").into()
            }
        });
    }
    if let Some(repeated) = result.joint.as_ref().map(|joint| joint.repeated_keys).filter(|&repeated| repeated > 0) {
        lines.push(match repeated {
            1 => "1 tied row has the same ID as another row; its row number breaks the tie".into(),
            _ => format!(
                "{} tied rows have the same ID as other rows; their row numbers break the ties",
                text::count(repeated)
            )
            .into(),
        });
    }
    Some(text::lines(lines))
}
