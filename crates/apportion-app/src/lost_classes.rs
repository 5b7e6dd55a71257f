//! Warnings about classes that lose labels: to the rounding of many small groups, or to bounds.

use apportion::text::{Message, Part, Setting};

use crate::label::{Aim, Measured};
use crate::rule::{RuleName, RuleSettings};
use crate::table::TableSettings;
use crate::text;

/// The rounding of groups is pointed out if it changes the count of a class by more than this share…
const MOST_ROUNDED: f64 = 0.05;

/// … and by more than this number of people.
const MOST_PEOPLE: f64 = 5.0;

/// Returns whether there may be warnings about the labels of a rule: if it has groups or bounds.
pub(crate) fn may_warn(rule: &RuleSettings, settings: &TableSettings) -> bool {
    let has_bounds = rule.coverage.is_some() || !rule.at_least.is_empty() || !rule.at_most.is_empty();
    has_bounds || rule.tolerance.is_some() || !settings.by.is_empty() || !rule.nested.is_empty()
}

/// Returns warnings about the labels of a rule.
pub(crate) fn warnings(measured: &Measured, rule: &RuleSettings, settings: &TableSettings) -> Vec<Message> {
    if measured.result.joint.is_none() {
        return Vec::new();
    }
    rounded_groups(measured, rule, settings).into_iter().chain(empty_classes(measured, rule)).collect()
}

/// Returns a warning if the rounding of the groups changes the count of a class.
fn rounded_groups(measured: &Measured, rule: &RuleSettings, settings: &TableSettings) -> Option<Message> {
    let groups = measured.groups.filter(|_| rule.rule == RuleName::Match && measured.aim == Aim::Scores)?;
    let mut changed = Vec::new();
    for class in &measured.result.summary.classes {
        let off = class.labels as f64 - class.posterior_sum;
        if off.abs() > MOST_PEOPLE && off.abs() > MOST_ROUNDED * class.posterior_sum {
            let (labels, percent) = (
                text::counted(class.labels, "label", "labels"),
                text::signed(Some(100.0 * off / class.posterior_sum), 1, "%"),
            );
            let expected = text::expected_count(class.posterior_sum);
            changed.push(format!("{} has {labels} for {expected} expected ({percent})", class.class));
        }
    }
    if changed.is_empty() {
        return None;
    }
    let groups = text::counted(groups as u64, "group", "groups");
    let problem = format!("rounding in {groups} changes the totals: ");
    let fix = ". Use larger groups, or keep the totals with ";
    Some(Message::from(problem + &changed.join(", ")) + fix + Setting::Nested.with(settings.by.join(",")))
}

/// Returns a warning for each class that bounds leave without labels.
fn empty_classes(measured: &Measured, rule: &RuleSettings) -> Vec<Message> {
    let given = [
        (rule.coverage.is_some(), Setting::Coverage),
        (!rule.at_least.is_empty(), Setting::AtLeast),
        (!rule.at_most.is_empty(), Setting::AtMost),
        (rule.tolerance.is_some(), Setting::Tolerance),
    ];
    let bounds = given.into_iter().filter(|(given, _)| *given).map(|(_, setting)| Message::from(setting));
    let Some(bounds) = bounds.reduce(|all, bound| all + ", " + bound) else { return Vec::new() };
    if rule.reference_name() != "posterior" {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    for class in &measured.result.summary.classes {
        let expected = class.posterior_sum * rule.coverage.unwrap_or(1.0);
        // A class that has an upper bound of its own is empty because the user asked for it.
        if class.labels == 0 && expected >= 1.0 && !rule.at_most.contains_key(&class.class) {
            let people = text::expected_count(expected);
            let problem = format!("no one is labeled {:?}, but {people} are expected. The bounds (", class.class);
            let fix: Part = Setting::AtLeast.with(format!("{}={}", class.class, expected.round()));
            warnings.push(
                Message::from(problem) + bounds.clone() + ") allow this; to keep the class, loosen them or add " + fix,
            );
        }
    }
    warnings
}
