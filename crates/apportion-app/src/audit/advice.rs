//! Advice on labels: classes whose counts are off, because of the scores or of the labels, and labels that are often
//! wrong.

use apportion::audit::{Audit, Bias, ClassAudit, GroupSection, Section};
use apportion::text::{Message, Setting};

use crate::text;

/// A part of the bias that is smaller than this, in percent of the true share, gets no advice.
const LEAST_PERCENT: f64 = 5.0;

/// Standard deviations of the true count that chance explains.
const CHANCE: f64 = 2.0;

/// Labels of a class are mostly wrong if their expected precision is lower than this.
const LEAST_PRECISION: f64 = 0.5;

/// Labels of a class say almost nothing about a person if their expected precision is lower than this.
const NOISE: f64 = 0.2;

/// Returns a sentence for each class whose count is off compared with the truth.
pub(super) fn off_classes(audit: &Audit) -> Vec<Message> {
    (0..audit.classes.len()).filter_map(|class| off_class(audit, class)).collect()
}

fn off_class(audit: &Audit, class: usize) -> Option<Message> {
    let own = &audit.overall.classes[class];
    let (split, name) = (own.split?, &own.class);
    // Two parts that cancel need no advice: labels with the counts of a known reference correct the scores.
    own.against_truth.filter(|bias| is_off(*bias, 1.0))?;
    let by_scores = Some(split.miscalibration).filter(|bias| is_off(*bias, chance(&audit.overall, own)));
    // The labels are compared with the scores, not with the truth: they cannot undercount by more than 100%.
    let is_same = |bias: &Bias| bias.difference * split.discretization.difference > 0.0;
    let by_labels = own.against_posterior.filter(|bias| is_off(*bias, 1.0) && is_same(bias));
    let by_labels = by_labels.filter(|_| is_off(split.discretization, 1.0));
    let shares = || Message::from("for example with known class shares (") + Setting::Margin + " of predict)";
    let rule = match is_matched_in_groups(audit, class) {
        true => Message::from("each group is rounded, so use larger groups or ") + Setting::Nested,
        false => Message::from("use ") + Setting::Rule.with("match"),
    };
    Some(match (by_scores.map(direction), by_labels.map(direction)) {
        (Some((verb, amount)), None) => {
            Message::from(format!("The scores {verb} {name} by {amount}: recalibrate them, ")) + shares() + "."
        }
        (None, Some((verb, amount))) => {
            Message::from(format!("Compared with the scores, the labels {verb} {name} by {amount}: ")) + rule + "."
        }
        (Some((verb, amount)), Some((other, more))) => {
            let both =
                format!("The scores {verb} {name} by {amount}; compared with them, the labels {other} it by {more}: ");
            Message::from(both) + "recalibrate the scores, " + shares() + ", and " + rule + "."
        }
        (None, None) => return None,
    })
}

/// Returns whether each group has the count of a class that its scores sum to, rounded.
fn is_matched_in_groups(audit: &Audit, class: usize) -> bool {
    let is_matched = |group: &GroupSection| {
        let own = &group.section.classes[class];
        (own.labels as f64 - own.posterior_sum).abs() < 1.0
    };
    !audit.groups.is_empty() && audit.groups.iter().all(is_matched)
}

/// Returns the number of people by which chance lets the true count of a class differ from the sum of its scores. The
/// variance of the count is at most that sum.
fn chance(section: &Section, class: &ClassAudit) -> f64 {
    let expected = class.posterior_share_with_truth.unwrap_or(0.0) * section.with_truth as f64;
    CHANCE * expected.sqrt()
}

/// Returns whether a part of the bias is large in percent, and larger than some number of people.
fn is_off(bias: Bias, people: f64) -> bool {
    bias.percent.is_none_or(|percent| percent.abs() >= LEAST_PERCENT) && bias.people.abs() >= people.max(1.0)
}

/// Returns a verb for the sign of a bias, and its size.
fn direction(bias: Bias) -> (&'static str, String) {
    let verb = if bias.difference > 0.0 { "overcount" } else { "undercount" };
    let size = match bias.percent {
        Some(percent) => format!("{:.1}%", percent.abs()),
        None => text::counted(bias.people.abs().round() as u64, "person", "people"),
    };
    (verb, size)
}

/// Returns sentences about the classes whose labels are expected to be wrong more often than right.
pub(crate) fn unreliable_labels(section: &Section) -> Option<String> {
    let (mut wrong, mut noise) = (Vec::new(), Vec::new());
    for class in &section.classes {
        let Some(precision) = class.expected_precision() else { continue };
        if precision < LEAST_PRECISION {
            wrong.push(format!("{} ({precision:.3})", class.class));
        }
        if precision < NOISE {
            noise.push(class.class.as_str());
        }
    }
    if wrong.is_empty() {
        return None;
    }
    let advice = "Use them for counts, not for decisions about a person.";
    let mut sentences =
        format!("Most labels of these classes are expected to be wrong: {}. {advice}", wrong.join(", "));
    if !noise.is_empty() {
        let classes = noise.join(", ");
        sentences += &format!(" Fewer than 20% of the labels of {classes} are expected to be correct.");
    }
    Some(sentences)
}
