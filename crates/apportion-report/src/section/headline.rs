//! The headline: the number of people, the worst undercount, and the effect and cost of matching.

use apportion::audit::Bias;

use super::{ADVICE, Section};
use crate::document::{Block, Card};
use crate::study::{LabelKind, LabelSet, Study};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let mut cards =
        vec![Card { name: "People".into(), figure: text::count(study.whole.people), note: people_note(study) }];
    cards.extend(worst_cards(study));
    cards.extend(remedy_cards(study));
    Section {
        id: "glance",
        title: "At a glance",
        lead: lead(study),
        blocks: vec![Block::Cards(cards), Block::Text(ADVICE.into())],
    }
}

/// One person, up to rounding error. Labels are whole people and sums of scores are not, so even correct counts differ
/// by a fraction of a person.
pub(super) const WHOLE: f64 = 1.0 - 1e-9;

/// Returns the class that is undercounted by the most people, at least one.
pub(super) fn worst(study: &Study, label_set: &LabelSet) -> Option<(usize, Bias)> {
    let offs = (0..study.k()).filter_map(|class| Some((class, study.off(label_set, class)?)));
    offs.filter(|(_, off)| off.people <= -WHOLE).min_by(|(_, a), (_, b)| a.people.total_cmp(&b.people))
}

/// Formats the size of an undercount in people or, if some people are unlabeled, in points of the share.
pub(super) fn missing(label_set: &LabelSet, off: &Bias) -> String {
    match label_set.people_off(off) {
        Some(people) => text::count(people.abs().round() as u64),
        None => text::points_of(off.difference, 2),
    }
}

/// Formats the bias in percent, in parentheses.
pub(super) fn in_percent(off: &Bias) -> String {
    off.percent.map_or_else(String::new, |percent| format!(" ({})", text::signed_percent(percent)))
}

/// Returns a sentence if there is nothing to compare with the reference.
pub(super) fn nobody(study: &Study) -> Option<String> {
    let subject = study.subject();
    if study.whole.people == 0 {
        return Some("There is nobody to label.".into());
    }
    if subject.labeled() == 0 {
        return Some(format!("Nobody has a label by {}: there is nothing to count.", subject.name));
    }
    let none = (0..study.k()).all(|class| study.off(subject, class).is_none());
    none.then(|| format!("Nobody whose truth is known has a label by {}: there is nothing to compare.", subject.name))
}

fn lead(study: &Study) -> String {
    if let Some(sentence) = nobody(study) {
        return sentence;
    }
    let subject = study.subject();
    let Some((class, off)) = worst(study, subject) else {
        let begin = format!(
            "{} {} no class by a person or more{}",
            text::begin(&subject.name),
            subject.does("undercounts", "undercount"),
            study.of_whom(subject)
        );
        return begin + &argmax_instead(study).unwrap_or_else(|| ".".into());
    };
    let name = &study.classes[class];
    let begin = if subject.uncoded > 0 {
        let says = if study.has_truth() { "it has in truth" } else { "the scores say" };
        format!(
            "{} {} {name} a share {} smaller than {says}{}{}",
            text::begin(&subject.name),
            subject.does("gives", "give"),
            missing(subject, &off),
            in_percent(&off),
            study.of_whom(subject)
        )
    } else {
        let there_are = if study.has_truth() { "there are in truth" } else { "the scores say" };
        format!(
            "{} {} {} fewer {name} than {there_are}{}{}",
            text::begin(&subject.name),
            subject.does("counts", "count"),
            missing(subject, &off),
            study.of_whom(subject),
            in_percent(&off)
        )
    };
    remedied(study, class, &off).map_or_else(|| format!("{begin}."), |end| format!("{begin}; {end}."))
}

/// Describes how the corrected labels change an undercount and what that costs, as far as both are known.
fn remedied(study: &Study, class: usize, before: &Bias) -> Option<String> {
    let corrected = study.corrected()?;
    let (before, after) = (before.percent?, study.off(corrected, class)?.percent?);
    let does = if after.abs() < before.abs() { "brings that to" } else { "has it at" };
    let begin = format!("{} {does} {}", corrected.name, text::signed_percent(after));
    Some(match price(study) {
        Some(price) if text::plain(100.0 * price, 2) == "0.00" || price > 0.0 => {
            format!("{begin}, at no cost in expected accuracy")
        }
        Some(price) => format!("{begin}, for {} of expected accuracy", text::points_of(price, 2)),
        None => begin,
    })
}

/// Describes the undercount that argmax would cause, if the subject causes no undercount.
fn argmax_instead(study: &Study) -> Option<String> {
    let argmax = study.label_sets.iter().find(|own| own.kind == LabelKind::ARGMAX)?;
    let (class, off) = worst(study, argmax)?;
    let name = &study.classes[class];
    Some(format!("; argmax would count {} fewer {name}{}.", missing(argmax, &off), in_percent(&off)))
}

/// Returns the change of expected accuracy due to matching, if both label everyone. Otherwise the two are not
/// comparable.
fn price(study: &Study) -> Option<f64> {
    let (corrected, subject) = (study.corrected()?, study.subject());
    let is_known = corrected.uncoded == 0 && subject.uncoded == 0;
    is_known.then_some(corrected.expected_accuracy? - subject.expected_accuracy?)
}

fn people_note(study: &Study) -> String {
    let mut note = text::counted(study.rows, "row");
    if let Some(groups) = &study.groups {
        note += &format!(", {}", text::counted(groups.names.len() as u64, &groups.word));
    }
    let known = study.whole.with_truth();
    if study.has_whole_truth() {
        note += ", truth known of all";
    } else if known > 0 {
        note += &format!(", truth known of {}", text::count(known));
    }
    let draws = match study.subject().draws.len() {
        0 | 1 => String::new(),
        draws => format!(", the first of {draws} draws"),
    };
    format!("{note}. This report is about {}{draws}.", study.subject().name)
}

/// Formats a bias in people or, if some people are unlabeled, in points.
fn amount(label_set: &LabelSet, off: &Bias) -> String {
    label_set.people_off(off).map_or_else(|| text::points(off.difference, 2), text::people)
}

fn worst_cards(study: &Study) -> Vec<Card> {
    let subject = study.subject();
    let Some((class, off)) = worst(study, subject) else { return Vec::new() };
    let mut cards = vec![Card {
        name: if subject.uncoded > 0 {
            format!("Most of the share missing: {}", study.classes[class])
        } else {
            format!("Most people missing: {}", study.classes[class])
        },
        figure: amount(subject, &off),
        note: format!(
            "{} by {}, against {}{}.",
            off.percent.map_or_else(|| "–".into(), text::signed_percent),
            subject.name,
            study.reference_word(),
            study.of_whom(subject)
        ),
    }];
    let offs = (0..study.k()).filter_map(|class| Some((class, study.off(subject, class)?)));
    let deepest = offs.filter_map(|(class, off)| Some((class, off, off.percent?)));
    if let Some((deep, off, percent)) = deepest.min_by(|a, b| a.2.total_cmp(&b.2)).filter(|(deep, ..)| *deep != class) {
        cards.push(Card {
            name: format!("Largest part missing: {}", study.classes[deep]),
            figure: text::signed_percent(percent),
            note: format!(
                "{} by {}.",
                subject.people_off(&off).map_or_else(|| text::points(off.difference, 2), text::signed_people),
                subject.name
            ),
        });
    }
    cards
}

fn remedy_cards(study: &Study) -> Vec<Card> {
    let (Some(corrected), subject) = (study.corrected(), study.subject()) else { return Vec::new() };
    let mut cards = Vec::new();
    let fidelity = |label_set: &LabelSet| {
        if study.has_truth() { label_set.fidelity_to_truth } else { label_set.fidelity_to_posterior }
    };
    if let (Some(before), Some(after)) = (fidelity(subject), fidelity(corrected)) {
        cards.push(Card {
            name: format!("What {} changes", corrected.name),
            figure: text::plain(after, 3),
            note: format!(
                "Fidelity to {}, which was {} by {}{}. 0 is right.",
                study.reference_word(),
                text::plain(before, 3),
                subject.name,
                study.of_whom(subject)
            ),
        });
    }
    if let Some(price) = price(study) {
        let real = subject.accuracy.zip(corrected.accuracy);
        let real = real.map(|(before, after)| format!(" Against the truth: {}.", text::points(after - before, 2)));
        cards.push(Card {
            name: "Its price".into(),
            figure: text::points(price, 2),
            note: format!("Of expected accuracy.{}", real.unwrap_or_default()),
        });
    }
    cards
}
