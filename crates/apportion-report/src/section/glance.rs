//! At a glance: how many people, the worst undercount, and what matching would change at which price.

use super::Section;
use crate::document::{Block, Card};
use crate::study::{Labelling, Off, Study};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let mut cards =
        vec![Card { name: "People".into(), figure: text::count(study.whole.people), note: people_note(study) }];
    cards.extend(worst_cards(study));
    cards.extend(remedy_cards(study));
    let advice = "Labels of this kind are estimates about groups. They are not fit for decisions about a person.";
    Section {
        id: "glance",
        title: "At a glance",
        lead: lead(study),
        blocks: vec![Block::Cards(cards), Block::Text(advice.into())],
    }
}

/// The class with the most people too few.
pub(super) fn worst(study: &Study, labelling: &Labelling) -> Option<(usize, Off)> {
    let offs = (0..study.k()).filter_map(|class| Some((class, study.off(labelling, class)?)));
    offs.filter(|(_, off)| off.people <= -0.5).min_by(|(_, a), (_, b)| a.people.total_cmp(&b.people))
}

/// How many are missing.
pub(super) fn missing(off: &Off) -> String {
    text::count(off.people.abs().round() as u64)
}

/// The same in percent, after it.
pub(super) fn in_percent(off: &Off) -> String {
    off.percent.map_or_else(String::new, |percent| format!(" ({})", text::signed_percent(percent)))
}

fn lead(study: &Study) -> String {
    let subject = study.subject();
    let Some((class, off)) = worst(study, subject) else {
        let begin = format!(
            "{} {} no class by a person or more",
            text::begin(&subject.name),
            subject.does("undercounts", "undercount")
        );
        return begin + &argmax_instead(study).unwrap_or_else(|| ".".into());
    };
    let name = &study.classes[class];
    let there_are = if study.has_truth() { "there are in truth" } else { "the scores say" };
    let begin = format!(
        "{} {} {} fewer {name} than {there_are}{}",
        text::begin(&subject.name),
        subject.does("counts", "count"),
        missing(&off),
        in_percent(&off)
    );
    let Some(remedy) = study.remedy() else { return format!("{begin}.") };
    let after = study.off(remedy, class).and_then(|off| off.percent);
    let after = after.map_or_else(|| "nothing".to_owned(), text::signed_percent);
    match price(study) {
        Some(price) if price < 0.0 => format!(
            "{begin}; {} brings that to {after}, for {} of expected accuracy.",
            remedy.name,
            text::points_of(price, 2)
        ),
        _ => format!("{begin}; {} brings that to {after}, at no cost in expected accuracy.", remedy.name),
    }
}

/// What the likeliest class would have done, where the subject does no harm.
fn argmax_instead(study: &Study) -> Option<String> {
    let argmax = study.labellings.iter().find(|own| own.name == "argmax")?;
    let (class, off) = worst(study, argmax)?;
    let name = &study.classes[class];
    Some(format!("; argmax would count {} fewer {name}{}.", missing(&off), in_percent(&off)))
}

/// What matching does to the expected accuracy.
fn price(study: &Study) -> Option<f64> {
    Some(study.remedy()?.expected_accuracy? - study.subject().expected_accuracy?)
}

fn people_note(study: &Study) -> String {
    let mut note = format!("{} rows", text::count(study.rows));
    if let Some(groups) = &study.groups {
        note +=
            &format!(", {} {}", text::count(groups.names.len() as u64), text::plural(groups.names.len(), &groups.word));
    }
    let known = study.whole.with_truth();
    if known == study.whole.people {
        note += ", truth known of all";
    } else if known > 0 {
        note += &format!(", truth known of {}", text::count(known));
    }
    format!("{note}. This report is about {}.", study.subject().name)
}

fn worst_cards(study: &Study) -> Vec<Card> {
    let subject = study.subject();
    let Some((class, off)) = worst(study, subject) else { return Vec::new() };
    let mut cards = vec![Card {
        name: format!("Most people missing: {}", study.classes[class]),
        figure: text::people(off.people),
        note: format!(
            "{} by {}, against {}.",
            off.percent.map_or_else(|| "–".into(), text::signed_percent),
            subject.name,
            study.reference_word()
        ),
    }];
    let offs = (0..study.k()).filter_map(|class| Some((class, study.off(subject, class)?)));
    let deepest = offs.filter_map(|(class, off)| Some((class, off, off.percent?)));
    if let Some((deep, off, percent)) = deepest.min_by(|a, b| a.2.total_cmp(&b.2)).filter(|(deep, ..)| *deep != class) {
        cards.push(Card {
            name: format!("Largest part missing: {}", study.classes[deep]),
            figure: text::signed_percent(percent),
            note: format!("{} people by {}.", text::people(off.people), subject.name),
        });
    }
    cards
}

fn remedy_cards(study: &Study) -> Vec<Card> {
    let (Some(remedy), subject) = (study.remedy(), study.subject()) else { return Vec::new() };
    let mut cards = Vec::new();
    let fidelity = |labelling: &Labelling| {
        if study.has_truth() { labelling.fidelity_to_truth } else { labelling.fidelity_to_posterior }
    };
    if let (Some(before), Some(after)) = (fidelity(subject), fidelity(remedy)) {
        cards.push(Card {
            name: format!("What {} changes", remedy.name),
            figure: text::plain(after, 3),
            note: format!(
                "Fidelity to {}, which was {} by {}. 0 is right.",
                study.reference_word(),
                text::plain(before, 3),
                subject.name
            ),
        });
    }
    if let Some(price) = price(study) {
        let real = subject.accuracy.zip(remedy.accuracy);
        let real = real.map(|(before, after)| format!(" Against the truth: {}.", text::points(after - before, 2)));
        cards.push(Card {
            name: "Its price".into(),
            figure: text::points(price, 2),
            note: format!("Of expected accuracy.{}", real.unwrap_or_default()),
        });
    }
    cards
}
