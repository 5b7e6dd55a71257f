//! Messages for faults of labels.

use apportion::text::{Message, Setting};
use apportion::verify::{Fault, GRID, Move};

use super::checks::Facts;
use super::pass::located;
use crate::text;

/// Returns the message for a fault in the labels of a group, with a hint if it is unknown how they were made.
pub(super) fn fault_message(fault: &Fault, facts: &Facts<'_>, group: Option<&str>) -> Message {
    with_hint(fault_text(fault, facts, group).into(), facts, Setting::Coverage)
}

/// Adds a hint to a difference if it is unknown how the labels were made.
pub(super) fn with_hint(difference: Message, facts: &Facts<'_>, example: Setting) -> Message {
    if facts.provenance.is_some() {
        return difference;
    }
    let settings = Message::from("such as ") + Setting::By + " or " + example;
    let hint = Message::from(". If the labels were made with other options, ") + settings;
    difference + hint + ", use the same options here, or name the provenance file with " + Setting::Provenance
}

fn fault_text(fault: &Fault, facts: &Facts<'_>, group: Option<&str>) -> String {
    let name = |class: usize| facts.classes.names().get(class).map_or("Uncoded", String::as_str);
    let place = group.map_or_else(String::new, |group| format!("group {group:?}: "));
    match fault {
        Fault::Uncoded { found, expected } => {
            let found = text::counted(*found, "person is", "people are");
            format!("{place}{found} unlabeled, but {} should be", text::count(*expected))
        }
        Fault::Count { class, found, least, most } => {
            let found = text::counted(*found, "person is", "people are");
            let (least, most) = (text::count(*least), text::count(*most));
            let target = if least == most { least } else { format!("{least} to {most}") };
            format!("{place}{found} {:?}, but the target is {target}", name(*class))
        }
        Fault::Exchange { moves, gain } => {
            let gain = GRID.total(*gain);
            let moved = |own: &Move| {
                format!("{} from {:?} to {:?}", located(facts.output, own.row), name(own.from), name(own.to))
            };
            let moves = moves.iter().map(moved).collect::<Vec<_>>().join("; ");
            format!(
                "{place}the labels are not optimal: these changes keep the counts and raise the sum of the scores by {gain:.3e}: {moves}"
            )
        }
        Fault::Price { row, label, better, .. } => {
            let row = located(facts.output, *row);
            let (label, better) = (name(*label), name(*better));
            format!("{place}{row}: the label is {label:?}, but at the prices of the decision {better:?} is better")
        }
    }
}
