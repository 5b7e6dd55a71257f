//! The glossary: the terms of a report, and where they are explained in its text.

use crate::document::Term;
use crate::study::{LabelKind, Study};
use apportion::rule::RuleKind;

/// The terms of every report.
const COMMON: [Term; 12] = [
    Term {
        name: "score",
        definition: "A number from 0 to 1 that says how likely it is that a person is of a class. The scores of a \
                     person add up to 1.",
    },
    Term { name: "label", definition: "The one class that a person is given." },
    Term {
        name: "truth",
        definition: "The known class of a person, from a column of the input. It is used to check labels and scores, and by rules with “truth” in their name.",
    },
    Term {
        name: "argmax",
        definition: "The rule that gives each person the class with the largest score. Compared with the scores, it undercounts classes \
                     that are rarely the most likely one.",
    },
    Term {
        name: "match",
        definition: "The rule that gives each class as many labels as its scores add up to, with the best possible \
                     expected accuracy.",
    },
    Term {
        name: "expected accuracy",
        definition: "The mean score of the labels: the share of labels that are right if the scores are right.",
    },
    Term {
        name: "expected right",
        definition: "The mean score of the labels of a class: how many of them are right if the scores are right.",
    },
    Term {
        name: "fidelity",
        definition: "How close the shares of the classes are to those of the scores (or the truth). 0 is equal; −0.1 \
                     means that the differences of all classes, whether too high or too low, add up to 10 points.",
    },
    Term { name: "frontier", definition: "The best expected accuracy that is possible at each fidelity." },
    Term {
        name: "γ",
        definition: "The weight of accuracy in the rule balance: 1 gives argmax, and 0 gives the counts of match. Values close to 0 usually give these counts as well.",
    },
    Term {
        name: "miscalibration",
        definition: "The part of an error that is in the scores: what they add up to, minus the truth.",
    },
    Term {
        name: "discretization",
        definition: "The part of an error that comes from turning scores into labels: the number of labels, minus what \
                     the scores add up to.",
    },
];

/// Common codes of classes, in small and in capital letters, and what they stand for.
const CODES: [([&str; 2], &str); 9] = [
    (["aian", "AIAN"], "American Indian or Alaska Native"),
    (["aapi", "AAPI"], "Asian American or Pacific Islander"),
    (["api", "API"], "Asian or Pacific Islander"),
    (["nhpi", "NHPI"], "Native Hawaiian or Pacific Islander"),
    (["nhopi", "NHOPI"], "Native Hawaiian or other Pacific Islander"),
    (["mena", "MENA"], "Middle Eastern or North African"),
    (["nhw", "NHW"], "white, not Hispanic"),
    (["nhb", "NHB"], "Black, not Hispanic"),
    (["hisp", "HISP"], "Hispanic or Latino"),
];

/// Returns the classes of a study that are common codes, and what they stand for.
pub(crate) fn codes(study: &Study) -> impl Iterator<Item = (&'static str, &'static str)> {
    let class = |name: &String| {
        let find = |(codes, meaning): &([&'static str; 2], &'static str)| {
            codes.iter().find(|code| *code == name).map(|code| (*code, *meaning))
        };
        CODES.iter().find_map(find)
    };
    study.classes.iter().filter_map(class)
}

/// Returns the terms of a study.
pub(crate) fn terms(study: &Study) -> Vec<Term> {
    let is_used = |term: &Term| match term.name {
        "truth" | "miscalibration" | "discretization" => study.has_truth(),
        "frontier" | "γ" => study.trade.is_some(),
        _ => true,
    };
    let mut terms: Vec<Term> = COMMON.into_iter().filter(is_used).collect();
    let has = |kind| study.label_sets.iter().any(|own| own.kind == LabelKind::Rule(kind));
    let own = |kind, name, definition| has(kind).then_some(Term { name, definition });
    terms.extend(own(
        RuleKind::MatchByGroup,
        "match by group",
        "The rule match, applied to the people of each group separately, so that the counts of each group are those that its scores add up to.",
    ));
    terms.extend(own(
        RuleKind::Threshold,
        "threshold",
        "The rule that gives a person the likeliest class if its score is large enough (0.8 unless set otherwise), and \
         no label otherwise.",
    ));
    terms.extend(own(
        RuleKind::Balance,
        "balance",
        "The rule that trades expected accuracy for fidelity, with the weight γ.",
    ));
    terms.extend(own(RuleKind::Learned, "learned", "Labels of a linear model that was trained on labels of match."));
    terms.extend(own(
        RuleKind::Thompson,
        "thompson",
        "The rule that draws each label at random, with the scores as probabilities.",
    ));
    terms.extend(own(
        RuleKind::TopK,
        "top-2",
        "The rule that draws each label at random among the two likeliest classes.",
    ));
    terms.extend(codes(study).map(|(name, definition)| Term { name, definition }));
    if study.label_sets.iter().any(|own| own.uncoded > 0) {
        terms.push(Term { name: "Uncoded", definition: "People without a label." });
    }
    terms
}

/// Returns the identifier of a term's definition in the page.
pub(crate) fn anchor(term: &Term) -> String {
    let name: String =
        term.name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    format!("term-{}", if term.name == "γ" { "gamma" } else { name.as_str() })
}

/// A text, cut into pieces that are terms and pieces that are not. Each term is found once, where it first occurs.
pub(crate) fn pieces<'t>(text: &'t str, terms: &'t [Term]) -> Vec<(&'t str, Option<&'t Term>)> {
    let mut found: Vec<(usize, usize, &Term)> = Vec::new();
    // Longer names first, so that "match by group" is not read as "match".
    let mut by_length: Vec<&Term> = terms.iter().collect();
    by_length.sort_by_key(|term| std::cmp::Reverse(term.name.len()));
    for term in by_length {
        let is_free = |&(start, end): &(usize, usize)| found.iter().all(|&(from, to, _)| end <= from || start >= to);
        if let Some((start, end)) = places(text, term.name).find(is_free) {
            found.push((start, end, term));
        }
    }
    found.sort_by_key(|&(start, ..)| start);
    let (mut pieces, mut last) = (Vec::new(), 0);
    for (start, end, term) in found {
        pieces.extend((start > last).then(|| (&text[last..start], None)));
        pieces.push((&text[start..end], Some(term)));
        last = end;
    }
    pieces.extend((last < text.len()).then(|| (&text[last..], None)));
    pieces
}

/// Returns the places of a word in a text, in either case of its first letter and with a plural s.
fn places<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (usize, usize)> + 't {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.char_indices().filter_map(move |(start, first)| {
        let rest = text.get(start..start + name.len())?;
        let mut letters = name.chars();
        let same = letters.next()?.to_lowercase().eq(first.to_lowercase())
            && rest.get(first.len_utf8()..)? == letters.as_str();
        let before = text[..start].chars().next_back();
        let mut end = start + name.len();
        if text[end..].starts_with('s') && name != "match" {
            end += 1;
        }
        let after = text[end..].chars().next();
        let stands_alone = !before.is_some_and(is_word) && !after.is_some_and(is_word);
        (same && stands_alone).then_some((start, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_found_once_and_the_longest_first() {
        let terms = [COMMON[0].clone(), COMMON[4].clone(), Term { name: "match by group", definition: "" }];
        let found = |text| -> Vec<String> {
            let marked = |(piece, term): &(&str, Option<&Term>)| term.map(|_| (*piece).to_owned());
            pieces(text, &terms).iter().filter_map(marked).collect()
        };
        assert_eq!(found("Match by group: the scores match, and a score"), ["Match by group", "scores", "match"]);
        assert_eq!(found("matches, rematch, scoreboard, the_score"), Vec::<String>::new());
        let text = "no term, <b>é</b> match";
        assert_eq!(pieces(text, &terms).iter().map(|(piece, _)| *piece).collect::<String>(), text);
    }
}
