//! The few lines that `label` and `apply` end with: counts before and after, the worst bias, and what it cost.

use apportion::ClassAudit;

use crate::outcome::Outcome;
use crate::text;

/// What the counts are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The sums of the scores.
    Scores,
    /// What was asked for, which is something else.
    Targets,
}

/// Counts of argmax and of the rule, by how much they are off, the worst of these, and the cost in expected accuracy.
pub(crate) fn summary(argmax: &Outcome, outcome: &Outcome, aim: Aim) -> String {
    let targets = outcome.joint.as_ref().map(|joint| &joint.targets).filter(|_| aim == Aim::Targets);
    let asked: u64 = targets.map_or(0, |targets| targets.iter().sum());
    let off = |class: usize, own: &ClassAudit| match targets {
        None => own.against_posterior.as_ref().and_then(|bias| bias.percent),
        Some(targets) => {
            let wanted = targets[class] as f64 / asked.max(1) as f64;
            own.share.filter(|_| wanted > 0.0).map(|share| 100.0 * (share - wanted) / wanted)
        }
    };
    let both = || argmax.section().classes.iter().zip(&outcome.section().classes).enumerate();
    let row = |(class, (before, after)): (usize, (&ClassAudit, &ClassAudit))| {
        vec![
            after.class.clone(),
            targets.map_or_else(|| format!("{:.1}", after.posterior_sum), |targets| text::count(targets[class])),
            text::count(before.labels),
            text::signed(off(class, before), 1, "%"),
            text::count(after.labels),
            text::signed(off(class, after), 1, "%"),
        ]
    };
    let held = if targets.is_some() { "asked for" } else { "scores sum to" };
    let name = outcome.name.as_str();
    let table =
        text::columns(&["class", held, "argmax", "off by", name, "off by"], &both().map(row).collect::<Vec<_>>());
    let mut lines = vec![table];
    let uncoded = outcome.section().uncoded;
    if uncoded > 0 {
        lines.push(format!("without a label: {} of {}", text::count(uncoded), text::count(outcome.section().people)));
    }
    let worst = |outcome: &Outcome| {
        let all = outcome.section().classes.iter().enumerate();
        let all = all.filter_map(|(class, own)| Some((off(class, own)?, own.class.as_str())));
        let (off, class) = all.max_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()))?;
        Some(format!("{class} {off:+.1}%"))
    };
    if let (Some(before), Some(after)) = (worst(argmax), worst(outcome)) {
        lines.push(format!("furthest off: {before} by argmax, {after} by {name}"));
    }
    let (before, after) = (argmax.section().expected_accuracy, outcome.section().expected_accuracy);
    let cost = before.zip(after).map(|(before, after)| 100.0 * (after - before));
    let (before, after, cost) = (text::plain(before, 4), text::plain(after, 4), text::signed(cost, 2, " points"));
    lines.push(format!("expected accuracy {after} (argmax {before}: {cost})"));
    if let Some(repeated) = outcome.joint.as_ref().map(|joint| joint.repeated_keys).filter(|&repeated| repeated > 0) {
        let rows = text::count(repeated);
        lines.push(format!(
            "{rows} tied rows share their identifier with another: their order in the file told them apart"
        ));
    }
    lines.join("\n")
}
