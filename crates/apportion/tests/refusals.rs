//! Tests of all errors and their messages, which include row, class and a fix. Nothing panics.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use std::collections::BTreeMap;

use apportion::audit::*;
use apportion::decision::*;
use apportion::rule::*;
use apportion::*;
use common::*;

fn every_rule() -> Vec<Rule> {
    vec![
        Rule::Argmax,
        Rule::Threshold(Thresholds::at(0.5)),
        Rule::Thompson,
        Rule::TopK(2),
        Rule::Match(Match::overall(Reference::Posterior)),
        Rule::Match(Match::overall(Reference::Uniform)),
        Rule::Match(Match::by_group(Reference::Posterior)),
    ]
}

/// Returns the error of every rule on a table with one invalid value in a late row, in every layout.
fn refused(bad: f64, class: usize, scaling: Scaling) -> String {
    const ROWS: usize = 70_000;
    const BAD: usize = 66_000;
    let classes = Classes::new(["white", "black", "other"]).unwrap();
    let unit = if scaling == Scaling::Percent { 100.0 } else { 1.0 };
    let mut values: Vec<f64> = [0.5, 0.25, 0.25].map(|score| score * unit).repeat(ROWS);
    values[BAD * 3 + class] = bad;
    let single = single(&values);
    let (wide, narrow) = (columns(&values, 3), columns(&single, 3));
    let groups: Vec<u32> = (0..ROWS as u32).map(|row| row % 3).collect();
    let names = ["a", "b", "c"].map(String::from);
    let mut messages = Vec::new();
    for matrix in [
        Matrix::RowsF64(&values),
        Matrix::RowsF32(&single),
        Matrix::ColumnsF64(wide.iter().map(Vec::as_slice).collect()),
        Matrix::ColumnsF32(narrow.iter().map(Vec::as_slice).collect()),
    ] {
        let scores = Scores::new(&classes, matrix).unwrap().scaled(scaling);
        let scores = scores.with_groups(Groups { codes: &groups, names: &names }).unwrap();
        messages.push(scores.check().unwrap_err().to_string());
        for rule in every_rule() {
            messages.push(rule.label(&scores, &Settings::default()).unwrap_err().to_string());
        }
        let labels = Labels::new(vec![0; ROWS], &classes).unwrap();
        messages.push(Audit::of(&scores, &labels, &AuditOptions::default()).unwrap_err().to_string());
    }
    for message in &messages {
        assert!(message.starts_with("row 66000: "), "{message}");
        // Single precision may show other digits of the value.
        let kind = |text: &str| text.split_whitespace().filter(|word| word.parse::<f64>().is_err()).count();
        assert_eq!(kind(message), kind(&messages[0]), "{message}");
    }
    messages.swap_remove(0)
}

#[test]
fn values_that_are_no_scores() {
    assert_eq!(
        refused(f64::NAN, 1, Scaling::AsGiven),
        "row 66000: the score of \"black\" is NaN; scores must be finite numbers"
    );
    assert_eq!(
        refused(f64::INFINITY, 2, Scaling::AsGiven),
        "row 66000: the score of \"other\" is inf; scores must be finite numbers"
    );
    assert_eq!(
        refused(-0.25, 1, Scaling::AsGiven),
        "row 66000: the score of \"black\" is -0.25; scores must not be negative"
    );
    assert_eq!(
        refused(0.5, 1, Scaling::AsGiven),
        "row 66000: the scores sum to 1.25 (classes white, black, other), not to 1; to divide each row by its \
         sum, use `Scaling::Normalize`; for percentages, use `Scaling::Percent`"
    );
    assert_eq!(
        refused(-25.0, 0, Scaling::Percent),
        "row 66000: the score of \"white\" is -25; scores must not be negative"
    );
    assert_eq!(
        refused(0.5, 0, Scaling::Percent),
        "row 66000: the scores sum to 50.5 (classes white, black, other), not to 100; to divide each row by \
         its sum, use `Scaling::Normalize`"
    );
    assert_eq!(
        refused(f64::NAN, 0, Scaling::Normalize),
        "row 66000: the score of \"white\" is NaN; scores must be finite numbers"
    );
    assert_eq!(
        refused(-0.5, 0, Scaling::Normalize),
        "row 66000: the score of \"white\" is -0.5; scores must not be negative"
    );
}

#[test]
fn whatever_the_vector_code() {
    let mut chance = Chance::new(5);
    for k in 2..=9 {
        let classes = classes(k);
        let sound = single(&continuous(&mut chance, 600, k));
        for bad in [f32::NAN, f32::INFINITY, -1e-3, 1.01] {
            let (row, class) = (chance.below(600) as usize, chance.below(k as u64) as usize);
            let mut scores = sound.clone();
            scores[row * k + class] = bad;
            let columns = columns(&scores, k);
            let columns = columns.iter().map(Vec::as_slice).collect();
            for matrix in [Matrix::RowsF32(&scores), Matrix::ColumnsF32(columns)] {
                let table = Scores::new(&classes, matrix).unwrap();
                for simd in SimdLevel::available() {
                    for rule in [Rule::Argmax, Rule::Match(Match::overall(Reference::Posterior))] {
                        let error = rule.label(&table, &Settings { simd, ..Settings::default() }).unwrap_err();
                        assert!(error.to_string().starts_with(&format!("row {row}:")), "{bad} at {row}: {error}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_row_without_anything_to_normalise() {
    let classes = classes(2);
    let values = [0.5, 0.5, 0.0, 0.0];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap().scaled(Scaling::Normalize);
    for rule in [Rule::Argmax, Rule::Thompson, Rule::Match(Match::overall(Reference::Posterior))] {
        let error = rule.label(&scores, &Settings::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "row 1: the scores sum to 0 (classes c0, c1), not to more than 0; leave the row out"
        );
    }
}

/// Negative rounding errors are not divided by a tiny row sum, which could turn them into any score.
#[test]
fn noise_below_zero_is_normalised_away() {
    let classes = classes(2);
    let values = [1e-6, -0.9e-12, 0.5, 0.5, 0.3, 0.7, 0.4, 0.6];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap().scaled(Scaling::Normalize);
    let labeled = Rule::Match(Match::overall(Reference::Posterior)).label(&scores, &Settings::default()).unwrap();
    assert_eq!(labeled.labels.counts(), [2, 2]);
    let values = [1e-6, -0.9e-6, 0.5, 0.5];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap().scaled(Scaling::Normalize);
    assert!(matches!(scores.check(), Err(Error::Negative { row: 0, .. })));
}

#[test]
fn groups_without_rows_need_no_reference_and_names_are_not_repeated() {
    let classes = classes(2);
    let values = [0.5; 4];
    let names = ["a".to_owned(), "unused".to_owned()];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let grouped = scores.clone().with_groups(Groups { codes: &[0, 0], names: &names }).unwrap();
    let reference = Reference::Shares(PerGroup::ByGroup(BTreeMap::from([("a".to_owned(), vec![0.5, 0.5])])));
    let labeled = Rule::Match(Match::by_group(reference)).label(&grouped, &Settings::default()).unwrap();
    assert_eq!(labeled.labels.counts(), [1, 1]);
    let twice = ["a".to_owned(), "a".to_owned()];
    let error = scores.with_groups(Groups { codes: &[0, 1], names: &twice }).unwrap_err();
    assert_eq!(error.to_string(), "group \"a\" is listed twice; give every group one code");
}

#[test]
fn an_independent_rule_proves_nothing() {
    let classes = classes(2);
    let values = [0.5; 4];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    for rule in [Rule::Thompson, Rule::TopK(1), Rule::Threshold(Thresholds::at(0.5))] {
        let labeled = rule.label(&scores, &Settings::default()).unwrap();
        let error = labeled.decision.certify(&scores, &labeled.labels).unwrap_err();
        assert_eq!(error, Error::NoPrices);
    }
    // Argmax is optimal for its counts. Other labels are not, and Uncoded labels never are.
    let values = [0.9, 0.1, 0.2, 0.8];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let argmax = Rule::Argmax.label(&scores, &Settings::default()).unwrap();
    assert!(argmax.decision.certify(&scores, &argmax.labels).unwrap().is_closed());
    for other in [vec![1, 0], vec![0, UNCODED]] {
        let other = Labels::new(other, &classes).unwrap();
        assert!(!argmax.decision.certify(&scores, &other).unwrap().is_closed());
    }
}

/// Thresholds are compared in the precision of the scores.
#[test]
fn thresholds_are_reached_in_the_precision_of_the_scores() {
    let classes = classes(2);
    let bar = Rule::Threshold(Thresholds::at(0.7));
    let labels = |matrix| {
        let scores = Scores::new(&classes, matrix).unwrap();
        bar.label(&scores, &Settings::default()).unwrap().labels.into_values()
    };
    assert_eq!(labels(Matrix::RowsF64(&[0.7, 0.3, 0.69999999, 0.30000001])), [0, UNCODED]);
    assert_eq!(labels(Matrix::RowsF32(&[0.7, 0.3, 0.6999, 0.3001])), [0, UNCODED]);
}

#[test]
fn the_limits_themselves_are_allowed() {
    let classes = classes(2);
    // Small negative rounding errors, and sums within 0.001 of one.
    let values = [1.0, -1e-6, 0.5, 0.4991, 0.6, 0.4009, 0.3, 0.7];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    for rule in [Rule::Argmax, Rule::Thompson, Rule::TopK(1), Rule::Match(Match::overall(Reference::Posterior))] {
        rule.label(&scores, &Settings::default()).unwrap();
    }
}

#[test]
fn percentages_and_normalised_rows_give_the_labels_of_the_scores() {
    let classes = classes(3);
    let values = continuous(&mut Chance::new(8), 5000, 3);
    let hundred: Vec<f64> = values.iter().map(|value| value * 64.0).collect();
    let rule = Rule::Match(Match::overall(Reference::Posterior));
    let label = |values: &[f64], scaling| {
        let scores = Scores::new(&classes, Matrix::RowsF64(values)).unwrap().scaled(scaling);
        rule.label(&scores, &Settings::default()).unwrap().labels
    };
    let expected = label(&values, Scaling::Normalize);
    assert_eq!(label(&hundred, Scaling::Normalize), expected);
    let percent: Vec<f64> = values.iter().map(|value| value * 100.0).collect();
    let agreement = label(&percent, Scaling::Percent);
    assert_eq!(agreement.counts(), expected.counts());
}

#[test]
fn class_names() {
    assert_eq!(Classes::new(Vec::<String>::new()), Err(Error::NoClasses));
    assert_eq!(
        Classes::new(["a", "a"]).unwrap_err().to_string(),
        "class name \"a\" is given twice; class names must be unique, not empty and not Uncoded"
    );
    for empty in ["", " ", "\t"] {
        assert!(matches!(Classes::new([empty]), Err(Error::ClassName { problem: "empty", .. })));
    }
    for reserved in ["Uncoded", "uncoded", " UNCODED "] {
        let refused = Classes::new(["a", reserved]);
        assert!(matches!(refused, Err(Error::ClassName { problem: "reserved for unlabeled rows", .. })));
    }
    assert!(Classes::new(["uncoded people", "encoded"]).is_ok());
    let many = (0..=Classes::MAX).map(|class| class.to_string());
    assert!(matches!(Classes::new(many), Err(Error::TooManyClasses { found: 251, limit: 250 })));
    let two = Classes::new(["a", "b"]).unwrap();
    assert_eq!(two.position("c").unwrap_err().to_string(), "unknown class \"c\"; the classes are a, b");
}

#[test]
fn shapes() {
    let classes = classes(2);
    let values = [0.5; 6];
    let length = |result: Result<Scores<'_>>| matches!(result, Err(Error::Length { .. }));
    assert!(length(Scores::new(&classes, Matrix::RowsF64(&values[..5]))));
    assert!(length(Scores::new(&classes, Matrix::ColumnsF64(vec![&values]))));
    assert!(length(Scores::new(&classes, Matrix::ColumnsF64(vec![&values, &values[..5]]))));
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    assert!(length(scores.clone().with_truth(&[0])));
    assert!(length(scores.clone().with_counts(&[0])));
    assert!(length(scores.clone().with_keys(Keys::Given(&[0]))));
    assert!(length(scores.clone().with_groups(Groups { codes: &[0], names: &[] })));
    assert!(matches!(scores.clone().with_truth(&[0, 2, 1]), Err(Error::Code { row: 1, code: 2, last: 1, .. })));
    assert!(scores.clone().with_truth(&[0, UNCODED, 1]).is_ok());
    let groups = Groups { codes: &[0, 0, 1], names: &["a".into()] };
    assert!(matches!(scores.clone().with_groups(groups), Err(Error::Code { row: 2, code: 1, last: 0, .. })));
    assert!(matches!(scores.clone().with_counts(&[u64::MAX, 1, 1]), Err(Error::TooManyPeople { .. })));
    assert!(matches!(Labels::new(vec![7], &classes), Err(Error::Code { what: "label", .. })));
}

#[test]
fn rules_and_their_parameters() {
    let classes = classes(2);
    let values = [0.5; 6];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let error = |rule: Rule| rule.label(&scores, &Settings::default()).unwrap_err().to_string();
    assert_eq!(error(Rule::TopK(0)), "k of top-k is 0; it must be at least 1");
    assert_eq!(
        error(Rule::Threshold(Thresholds::at(1.5))),
        "the threshold of \"c0\" is 1.5; it must be between 0 and 1"
    );
    assert!(error(Rule::Threshold(Thresholds::at(f64::NAN))).contains("NaN"));
    assert_eq!(
        error(Rule::Threshold(Thresholds::at(0.5).with("purple", 0.1))),
        "unknown class \"purple\"; the classes are c0, c1"
    );
    assert!(error(Rule::Match(Match::overall(Reference::Truth))).starts_with("the reference truth needs a true class"));
    assert!(error(Rule::Match(Match::by_group(Reference::Posterior))).starts_with("matching by group needs a group"));
    let counted = scores.clone().with_counts(&[1, 2, 3]).unwrap();
    for rule in [Rule::Thompson, Rule::TopK(1), Rule::Match(Match::overall(Reference::Posterior))] {
        let error = rule.label(&counted, &Settings::default()).unwrap_err();
        assert!(matches!(error, Error::CountsUnsupported { .. }), "{error}");
    }
}

#[test]
fn references() {
    let classes = classes(2);
    let values = [0.5; 6];
    let names = ["a".to_owned(), "b".to_owned()];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let scores = scores.with_groups(Groups { codes: &[0, 0, 1], names: &names }).unwrap();
    let scores = scores.with_truth(&[0, 1, UNCODED]).unwrap();
    let overall = |reference| {
        let rule = Rule::Match(Match::overall(reference));
        rule.label(&scores, &Settings::default()).map(|labeled| labeled.labels.counts())
    };
    let by_group = |reference| {
        let rule = Rule::Match(Match::by_group(reference));
        rule.label(&scores, &Settings::default()).map(|labeled| labeled.labels.counts())
    };
    let targets = |counts: [u64; 2]| Reference::Targets(PerGroup::Overall(counts.to_vec()));
    let shares = |shares: &[f64]| Reference::Shares(PerGroup::Overall(shares.to_vec()));
    assert_eq!(overall(targets([2, 1])), Ok(vec![2, 1]));
    assert_eq!(
        overall(targets([2, 2])).unwrap_err().to_string(),
        "the targets sum to 4, but the number of rows to label is 3; the two must be equal (in each group, if groups are matched)"
    );
    assert!(matches!(overall(Reference::Targets(PerGroup::Overall(vec![3]))), Err(Error::Length { .. })));
    assert_eq!(
        overall(shares(&[0.5])).unwrap_err().to_string(),
        "the reference has 1 share for 2 classes; give one share per class"
    );
    assert!(overall(shares(&[0.5, 0.6])).unwrap_err().to_string().contains("sums to 1.1"));
    assert!(overall(shares(&[1.5, -0.5])).unwrap_err().to_string().contains("share of -0.5"));
    assert!(overall(shares(&[f64::NAN, 1.0])).unwrap_err().to_string().contains("share of NaN"));
    let one = BTreeMap::from([("a".to_owned(), vec![0.5, 0.5])]);
    let reference = Reference::Shares(PerGroup::ByGroup(one));
    assert!(overall(reference.clone()).unwrap_err().to_string().contains("given by group"));
    assert_eq!(
        by_group(reference).unwrap_err().to_string(),
        "group \"b\" is not in the reference, which has 1 group; add the group to the reference"
    );
    assert_eq!(
        by_group(Reference::Truth).unwrap_err().to_string(),
        "the reference of group \"b\" cannot be the truth, because no row has a true class; choose another"
    );
}

#[test]
fn decisions() {
    let two = classes(2);
    let values = [0.5; 6];
    let names = ["a".to_owned(), "b".to_owned()];
    let groups = |codes| Groups { codes, names: &names };
    let scores = Scores::new(&two, Matrix::RowsF64(&values)).unwrap();
    let fitted = scores.clone().with_groups(groups(&[0, 0, 0])).unwrap();
    let rule = Rule::Match(Match::by_group(Reference::Posterior));
    let decision = rule.fit(&fitted, &Settings::default()).unwrap();
    assert!(matches!(decision.apply(&scores), Err(Error::Missing { .. })));
    let other = scores.clone().with_groups(groups(&[0, 1, 0])).unwrap();
    assert_eq!(
        decision.apply(&other).unwrap_err().to_string(),
        "group \"b\" is not in the decision, which has 1 group; fit again on data with this group, or leave out its rows"
    );
    let three = classes(3);
    let scores = Scores::new(&three, Matrix::RowsF64(&values)).unwrap();
    assert!(matches!(decision.apply(&scores), Err(Error::ClassesDiffer { .. })));

    let read = |json: &str| serde_json::from_str::<Decision>(json).map_err(|error| error.to_string());
    let saved = |rule: &str| format!(r#"{{"version":2,"classes":["a","b"],"seed":0,"rule":{rule}}}"#);
    assert!(read(&saved(r#""argmax""#)).is_ok());
    for (rule, problem) in [
        (r#"{"prices":[{"prices":[0.0]}]}"#, "must be one per class"),
        (r#"{"prices":[{"prices":[null,null]}]}"#, "exclude every class"),
        (r#"{"prices":[{"prices":[0.0,1e300]}]}"#, "out of range"),
        (r#"{"prices":[{"group":"x","prices":[0,0]},{"group":"x","prices":[0,0]}]}"#, "twice"),
        (r#"{"threshold":{"at":[0.5]}}"#, "1 thresholds for 2 classes"),
        (r#"{"threshold":{"at":[0.5,2.0]}}"#, "between 0 and 1"),
        (r#"{"top-k":{"k":0}}"#, "k is 0"),
    ] {
        let error = read(&saved(rule)).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
    for other in [1, 9] {
        let error = read(&saved(r#""argmax""#).replace(":2,", &format!(":{other},"))).unwrap_err();
        assert!(error.contains(&format!("version {other}")), "{error}");
    }
    assert!(read(&saved(r#""argmax""#).replace(r#""b""#, r#""a""#)).unwrap_err().contains("given twice"));
}

#[test]
fn no_rows_and_one_class_are_outcomes() {
    for k in [1, 3] {
        let classes = classes(k);
        let scores = Scores::new(&classes, Matrix::RowsF64(&[])).unwrap();
        let groups = ["a".to_owned()];
        let scores = scores.with_groups(Groups { codes: &[], names: &groups }).unwrap().with_truth(&[]).unwrap();
        for rule in every_rule().into_iter().chain([Rule::Match(Match::overall(Reference::Truth))]) {
            let labeled = rule.label(&scores, &Settings::default()).unwrap();
            assert_eq!(labeled.labels.counts(), vec![0; k]);
            assert!(labeled.joint.is_none_or(|joint| joint.certificate.is_closed()));
            assert_eq!(labeled.decision.apply(&scores).unwrap(), labeled.labels);
        }
    }
    let classes = classes(1);
    let values = [1.0; 10];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let labeled = Rule::Match(Match::overall(Reference::Posterior)).label(&scores, &Settings::default()).unwrap();
    assert_eq!(labeled.labels.counts(), [10]);
}

#[test]
fn a_class_without_a_target_is_never_given() {
    let classes = classes(3);
    let values = continuous(&mut Chance::new(2), 10_000, 3);
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let reference = Reference::Targets(PerGroup::Overall(vec![0, 10_000, 0]));
    let labeled = Rule::Match(Match::overall(reference)).label(&scores, &Settings::default()).unwrap();
    assert_eq!(labeled.labels.counts(), [0, 10_000, 0]);
    let Fitted::Prices(prices) = labeled.decision.fitted() else { panic!("prices") };
    assert_eq!(prices[0].prices, [None, Some(0.0), None]);
}

/// Options that cannot be combined are named in the error.
#[test]
fn options_that_do_not_go_together() {
    let classes = classes(2);
    let names = ["a", "b"].map(String::from);
    let table = Scores::new(&classes, Matrix::RowsF64(&[0.6, 0.4, 0.3, 0.7])).unwrap();
    let table = table.with_groups(Groups { codes: &[0, 1], names: &names }).unwrap();
    let settings = Settings::default();
    let posterior = || Match::overall(Reference::Posterior);
    let nested = || Match::nested(Reference::Posterior, vec![0, 0]);
    let bounds = || Bounds { tolerance: Some(0.1), ..Bounds::default() };
    let l2 = |aim: Match| Rule::Balance(Balance::new(0.9, aim).with_penalty(Penalty::L2));
    let error = |rule: Rule| rule.label(&table, &settings).unwrap_err().to_string();
    for (rule, names) in [
        (Rule::Match(nested().with_coverage(0.5)), "nested cannot be used with coverage: "),
        (Rule::Match(nested().with_bounds(bounds())), "nested cannot be used with bounds: "),
        (Rule::Match(Match { by_group: false, ..nested() }), "nested cannot be used with matching overall: "),
        (Rule::Balance(Balance::new(0.9, nested())), "balance cannot be used with nested targets: "),
        (l2(posterior().with_coverage(0.5)), "the penalty l2 cannot be used with coverage or bounds: "),
        (l2(posterior().with_bounds(bounds())), "the penalty l2 cannot be used with coverage or bounds: "),
    ] {
        let message = error(rule);
        assert!(message.starts_with(names), "{message}");
    }
    for aim in [nested(), posterior().with_coverage(0.5), posterior().with_bounds(bounds())] {
        let message = Frontier::of(&aim, &table, &settings).unwrap_err().to_string();
        assert!(message.starts_with("the frontier cannot be used with "), "{message}");
    }
    let batches = Batches { size: 10, within_groups: false };
    let message = batches.label_match(&nested(), &table, &settings).unwrap_err().to_string();
    assert!(message.starts_with("batches cannot be used with nested targets: "), "{message}");
    let message = Batches { size: 0, ..batches }.label_match(&posterior(), &table, &settings).unwrap_err().to_string();
    assert_eq!(message, "the size of a batch is 0; it must be at least 1");
    let argmax = Balance::new(1.0, posterior());
    assert!(Batches { size: 0, ..batches }.label_balance(&argmax, &table, &settings).is_err());
    let counted = table.clone().with_counts(&[1, 2]).unwrap();
    assert!(matches!(batches.label_balance(&argmax, &counted, &settings), Err(Error::CountsUnsupported { .. })));
    let given = Match::overall(Reference::Targets(PerGroup::Overall(vec![1, 1])));
    let message = batches.label_match(&given, &table, &settings).unwrap_err().to_string();
    assert!(message.starts_with("batches cannot be used with given targets: "), "{message}");
    let wrong = Match::nested(Reference::Posterior, vec![0]);
    assert!(error(Rule::Match(wrong)).contains("the list of larger units has 1 entry; expected 2"));
}

#[test]
fn shares_and_bounds_out_of_range() {
    let classes = classes(2);
    let table = Scores::new(&classes, Matrix::RowsF64(&[0.6, 0.4, 0.3, 0.7])).unwrap();
    let settings = Settings::default();
    let posterior = || Match::overall(Reference::Posterior);
    let error = |rule: Rule| rule.label(&table, &settings).unwrap_err().to_string();
    let least = |name: &str, bound| Bounds { at_least: BTreeMap::from([(name.into(), bound)]), ..Bounds::default() };
    let bounded = |bounds| Rule::Match(posterior().with_bounds(bounds));
    for gamma in [-0.1, 0.0005, 1.1, f64::NAN] {
        let message = error(Rule::Balance(Balance::new(gamma, posterior())));
        assert!(message.starts_with("gamma is ") && message.ends_with("0, or from 0.001 to 1"), "{message}");
    }
    assert!(error(Rule::Match(posterior().with_coverage(1.5))).starts_with("coverage is 1.5"));
    assert!(error(Rule::Match(posterior().with_coverage(f64::NAN))).starts_with("coverage is NaN"));
    assert!(error(bounded(least("c9", Bound::Count(1)))).contains("unknown class \"c9\""));
    assert!(error(bounded(least("c0", Bound::Share(1.5)))).contains("the bound of \"c0\" is 1.5"));
    assert!(
        error(bounded(Bounds { tolerance: Some(-1.0), ..Bounds::default() }))
            .contains("the tolerance of the bounds is -1")
    );
    let message = error(bounded(least("c0", Bound::Count(3))));
    assert!(message.contains("at least 3 people and at most 2 in class \"c0\""), "{message}");
    let mut both = least("c0", Bound::Count(2));
    both.at_least.insert("c1".into(), Bound::Count(1));
    assert!(error(bounded(both)).contains("require at least 3 people in total, but the number of people is 2"));
    let most = ["c0", "c1"].map(|name| (name.into(), Bound::Share(0.0))).into();
    let most = Bounds { at_most: most, ..Bounds::default() };
    assert!(error(bounded(most)).contains("allow at most 0 people in total, but the number of people is 2"));
}

/// An empty table without groups is valid.
#[test]
fn a_table_without_rows_and_groups_has_no_labels() {
    let classes = Classes::new(["a", "b"]).unwrap();
    let scores = Scores::new(&classes, Matrix::RowsF64(&[])).unwrap();
    let scores = scores.with_groups(Groups { codes: &[], names: &[] }).unwrap();
    let labeled = Rule::Match(Match::by_group(Reference::Posterior)).label(&scores, &Settings::default()).unwrap();
    assert!(labeled.labels.values().is_empty());
}
