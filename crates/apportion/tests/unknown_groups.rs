//! Rows whose group is not in a decision by group: refused, labeled at overall prices, or unlabeled.
#![allow(clippy::unwrap_used)] // also in helpers

use apportion::decision::{Fitted, GroupPrices, UnknownGroups};
use apportion::{Bounds, Classes, Decision, Error, Groups, Match, Matrix, Reference, Rule, Scores, Settings, UNCODED};

const VALUES: [f64; 12] = [0.9, 0.1, 0.6, 0.4, 0.7, 0.3, 0.2, 0.8, 0.55, 0.45, 0.35, 0.65];
const CODES: [u32; 6] = [0, 0, 0, 1, 1, 1];

fn scores<'a>(classes: &'a Classes, names: &'a [String]) -> Scores<'a> {
    let scores = Scores::new(classes, Matrix::RowsF64(&VALUES)).unwrap();
    scores.with_groups(Groups { codes: &CODES, names }).unwrap()
}

fn names(names: [&str; 2]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

/// Returns a decision by group with the prices for all rows.
fn fitted(scores: &Scores<'_>) -> Decision {
    let rule = Rule::Match(Match::by_group(Reference::Posterior));
    let overall = rule.without_groups().unwrap();
    assert_eq!(overall, Rule::Match(Match::overall(Reference::Posterior)));
    let overall = overall.fit(scores, &Settings::default()).unwrap();
    let Fitted::Prices(prices) = overall.fitted() else { panic!("match has prices") };
    rule.fit(scores, &Settings::default()).unwrap().with_overall(&prices[0]).unwrap()
}

#[test]
fn unknown_groups_are_labeled_by_their_policy() {
    let classes = Classes::new(["a", "b"]).unwrap();
    let (own, other) = (names(["x", "y"]), names(["x", "z"]));
    let (own, other) = (scores(&classes, &own), scores(&classes, &other));
    let decision = fitted(&own);
    let by_group = decision.apply(&own).unwrap();
    let overall = Rule::Match(Match::overall(Reference::Posterior)).label(&own, &Settings::default()).unwrap().labels;
    assert!(matches!(decision.apply(&other), Err(Error::UnknownGroup { group, .. }) if group == "z"));

    let unlabeled = decision.clone().with_unknown_groups(UnknownGroups::Unlabeled).unwrap();
    let labels = unlabeled.apply(&other).unwrap();
    assert_eq!(labels.values()[..3], by_group.values()[..3]);
    assert_eq!(labels.values()[3..], [UNCODED; 3]);
    assert_eq!(unlabeled.apply(&own).unwrap(), by_group);

    let filled = decision.clone().with_unknown_groups(UnknownGroups::Overall).unwrap();
    let labels = filled.apply(&other).unwrap();
    assert_eq!(labels.values()[..3], by_group.values()[..3]);
    assert_eq!(labels.values()[3..], overall.values()[3..]);

    // The policy is not saved, and the overall prices are.
    let again: Decision = serde_json::from_str(&serde_json::to_string(&filled).unwrap()).unwrap();
    assert_eq!(again, decision);
    assert!(again.apply(&other).is_err());
    assert_eq!(filled.with_unknown_groups(UnknownGroups::Refuse).unwrap(), decision);
}

#[test]
fn overall_prices_belong_to_prices_by_group() {
    let classes = Classes::new(["a", "b"]).unwrap();
    let own = names(["x", "y"]);
    let own = scores(&classes, &own);
    let settings = Settings::default();
    let by_group = Rule::Match(Match::by_group(Reference::Posterior)).fit(&own, &settings).unwrap();
    assert_eq!(by_group.clone().with_unknown_groups(UnknownGroups::Overall), Err(Error::NoOverallPrices));
    let prices = |group: Option<&str>| GroupPrices {
        group: group.map(str::to_owned),
        prices: vec![Some(0.0), Some(0.5)],
        ties: Vec::new(),
    };
    assert!(by_group.clone().with_overall(&prices(Some("x"))).is_err());
    assert!(by_group.with_overall(&GroupPrices { prices: vec![Some(0.0)], ..prices(None) }).is_err());
    let overall = Rule::Match(Match::overall(Reference::Posterior)).fit(&own, &settings).unwrap();
    assert!(overall.clone().with_overall(&prices(None)).is_err());
    // A decision for all rows has no unknown groups.
    assert_eq!(overall.clone().with_unknown_groups(UnknownGroups::Overall).unwrap(), overall);
    assert_eq!(Rule::Argmax.without_groups(), None);
    let bounds = Bounds { tolerance: Some(0.1), ..Bounds::default() };
    assert_eq!(Rule::Match(Match { bounds, ..Match::by_group(Reference::Posterior) }).without_groups(), None);
}
