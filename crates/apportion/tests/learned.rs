//! Tests of learned rules: their agreement with exact rules as in the paper, reproducibility, serialization, and
//! unusual training sets.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // also in helper functions

mod common;

use apportion::learn::*;
use apportion::rule::*;
use apportion::*;
use common::*;
use proptest::prelude::*;

const LEARNERS: [Learner; 3] = [Learner::Svm, Learner::Logistic, Learner::Forest];
const SETTINGS: Settings = Settings { seed: 5, simd: SimdLevel::Baseline };

fn posterior() -> JointRule {
    JointRule::Match(Match::overall(Reference::Posterior))
}

fn learned(learner: Learner, batch: usize) -> Rule {
    Rule::Learned(Learned::new(posterior()).with_learner(learner).with_train_rows(batch))
}

fn agreement(one: &Labels, other: &Labels) -> f64 {
    let same = one.values().iter().zip(other.values()).filter(|(a, b)| a == b).count();
    same as f64 / one.values().len() as f64
}

/// The paper: "≈ 99% of predicted labels being identical to those of the matching solution", from a batch of 10,000.
#[test]
fn labels_are_those_of_match_but_for_one_in_a_hundred() {
    let (classes, values) = (classes(6), normal(&mut Chance::new(1), 100_000, 0.5));
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let exact = posterior().rule().label(&scores, &SETTINGS).unwrap();
    for (learner, least) in [(Learner::Svm, 0.98), (Learner::Logistic, 0.985), (Learner::Forest, 0.975)] {
        let found = learned(learner, Learned::TRAIN_ROWS).label(&scores, &SETTINGS).unwrap();
        let same = agreement(&found.labels, &exact.labels);
        println!("{learner:?}: {:.2}% of labels as match has them; counts {:?}", 100.0 * same, found.labels.counts());
        assert!(same > least, "{learner:?}: {same}");
    }
}

/// Also between argmax and match.
#[test]
fn balance_is_learned_like_match() {
    let (classes, values) = (classes(6), normal(&mut Chance::new(2), 30_000, 0.5));
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    for gamma in [0.85, 0.9, 0.95, 1.0] {
        let balance = JointRule::Balance(Balance::new(gamma, Match::overall(Reference::Posterior)));
        let exact = balance.rule().label(&scores, &SETTINGS).unwrap();
        let found = Rule::Learned(Learned::new(balance)).label(&scores, &SETTINGS).unwrap();
        let same = agreement(&found.labels, &exact.labels);
        println!("γ = {gamma}: {:.2}%", 100.0 * same);
        assert!(same > 0.97, "γ = {gamma}: {same}");
    }
}

/// A table with keys.
struct Table {
    values: Vec<f32>,
    keys: Vec<u64>,
}

impl Table {
    fn label(&self, learner: Learner) -> Labeled {
        let classes = classes(4);
        let scores = Scores::new(&classes, Matrix::RowsF32(&self.values)).unwrap();
        let scores = scores.with_keys(Keys::Given(&self.keys)).unwrap();
        learned(learner, 1_500).label(&scores, &SETTINGS).unwrap()
    }
}

fn table() -> Table {
    let values = single(&continuous(&mut Chance::new(3), 6_000, 4));
    Table { values, keys: (0..6_000).map(|row| seed::key_of_text(&row.to_string())).collect() }
}

/// Fails if published labels change, which requires a changelog entry.
#[test]
fn labels_of_a_seed_are_frozen() {
    let expected = [
        (Learner::Svm, 17_477_160_647_885_170_928),
        (Learner::Logistic, 17_143_045_773_529_150_171),
        (Learner::Forest, 14_347_792_129_749_643_083),
    ];
    let found = expected.map(|(learner, _)| {
        let labels = table().label(learner).labels;
        (learner, labels.values().iter().fold(0, |hash, &label| seed::hash(hash, u64::from(label), 0)))
    });
    assert_eq!(found, expected);
}

#[test]
fn labels_do_not_depend_on_threads() {
    let table = table();
    for learner in LEARNERS {
        let expected = table.label(learner);
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| table.label(learner));
            assert_eq!(found.decision, expected.decision, "{learner:?}, {threads} threads");
            assert_eq!(found.labels, expected.labels, "{learner:?}, {threads} threads");
        }
    }
}

#[test]
fn labels_do_not_depend_on_the_order_of_rows() {
    let table = table();
    let mut order: Vec<usize> = (0..table.keys.len()).collect();
    Chance::new(4).shuffle(&mut order);
    let mixed = Table {
        values: order.iter().flat_map(|&row| table.values[row * 4..][..4].to_vec()).collect(),
        keys: order.iter().map(|&row| table.keys[row]).collect(),
    };
    for learner in LEARNERS {
        let (expected, found) = (table.label(learner), mixed.label(learner));
        assert_eq!(found.decision, expected.decision, "{learner:?}");
        assert!(order.iter().zip(found.labels.values()).all(|(&row, label)| expected.labels.values()[row] == *label));
    }
}

#[test]
fn labels_do_not_depend_on_the_batches_of_apply() {
    let table = table();
    let classes = classes(4);
    for learner in LEARNERS {
        let expected = table.label(learner);
        for rows in [1, 100, 1_024] {
            let mut applier = expected.decision.applier();
            let mut found = Vec::new();
            for part in table.values.chunks(rows * 4) {
                let scores = Scores::new(&classes, Matrix::RowsF32(part)).unwrap();
                found.extend(applier.label(&scores).unwrap().into_values());
            }
            assert_eq!(found, expected.labels.values(), "{learner:?}, {rows} rows");
        }
    }
}

#[test]
fn models_are_saved_as_they_are() {
    let table = table();
    for learner in LEARNERS {
        let decision = table.label(learner).decision;
        let json = serde_json::to_string(&decision).unwrap();
        println!("{learner:?}: {} bytes", json.len());
        assert_eq!(serde_json::from_str::<Decision>(&json).unwrap(), decision, "{learner:?}");
    }
}

#[test]
fn models_that_cannot_be_are_refused() {
    let read = |model: &str| {
        let json = format!(r#"{{"version":2,"classes":["a","b"],"seed":0,"rule":{{"learned":{model}}}}}"#);
        serde_json::from_str::<Decision>(&json).map_err(|error| error.to_string())
    };
    assert!(read(r#"{"learner":"svm","planes":[{"weights":[1,-1],"intercept":0.5},null]}"#).is_ok());
    assert!(read(r#"{"learner":"forest","trees":[[[0,0.5,2],0,1]]}"#).is_ok());
    for (model, problem) in [
        (r#"{"learner":"svm","planes":[null,null]}"#, "exclude every class"),
        (r#"{"learner":"svm","planes":[null]}"#, "one plane per class"),
        (r#"{"learner":"logistic","planes":[{"weights":[1],"intercept":0},null]}"#, "one weight per class"),
        (r#"{"learner":"logistic","planes":[{"weights":[1,1e300],"intercept":0},null]}"#, "out of range"),
        (r#"{"learner":"forest","trees":[]}"#, "no trees"),
        (r#"{"learner":"forest","trees":[[]]}"#, "not end in leaves"),
        (r#"{"learner":"forest","trees":[[2]]}"#, "an invalid child"),
        (r#"{"learner":"forest","trees":[[[0,0.5,0],0]]}"#, "an invalid child"),
        (r#"{"learner":"forest","trees":[[[0,0.5,9],0]]}"#, "an invalid child"),
        (r#"{"learner":"forest","trees":[[[7,0.5,2],0,1]]}"#, "an invalid child"),
    ] {
        let said = read(model).unwrap_err();
        assert!(said.contains(problem), "{model}: {said}");
    }
}

/// Scores on both sides of a plane. The learned boundary must be that of match.
#[test]
fn two_classes_are_told_apart_where_match_does() {
    let classes = classes(2);
    let values: Vec<f64> =
        (0..1_000).flat_map(|row| [f64::from(row) / 1000.0, 1.0 - f64::from(row) / 1000.0]).collect();
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let shares = Match::overall(Reference::Shares(PerGroup::Overall(vec![0.3, 0.7])));
    for learner in LEARNERS {
        let rule = Rule::Learned(Learned::new(JointRule::Match(shares.clone())).with_learner(learner));
        let counts = rule.label(&scores, &SETTINGS).unwrap().labels.counts();
        assert!(counts[0].abs_diff(300) <= 5, "{learner:?}: {counts:?}");
    }
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let (classes, values) = (classes(2), vec![0.5; 20]);
    let names = ["a".to_owned()];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let scores = scores.with_groups(Groups { codes: &[0; 10], names: &names }).unwrap();
    let refused = |exact: JointRule, scores: &Scores<'_>| {
        Rule::Learned(Learned::new(exact)).fit(scores, &SETTINGS).unwrap_err().to_string()
    };
    let said = refused(JointRule::Match(Match::by_group(Reference::Posterior)), &scores);
    assert!(said.contains("match by group"), "{said}");
    let said = refused(JointRule::Match(Match::overall(Reference::Posterior).with_coverage(0.5)), &scores);
    assert!(said.contains("match with coverage"), "{said}");
    let counted = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap().with_counts(&[2; 10]).unwrap();
    let said = refused(posterior(), &counted);
    assert!(said.contains("use match, or a sample"), "{said}");
    let none = Scores::new(&classes, Matrix::RowsF64(&[])).unwrap();
    assert!(refused(posterior(), &none).contains("at least 1"));
}

/// A model gives all people of a row the same label.
#[test]
fn people_of_a_row_have_one_label() {
    let (classes, values) = (classes(3), continuous(&mut Chance::new(6), 50, 3));
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let labeled = learned(Learner::Svm, 50).label(&scores, &SETTINGS).unwrap();
    let counted = scores.clone().with_counts(&[3; 50]).unwrap();
    let allotment = labeled.decision.allot(&counted, 0).unwrap();
    for (row, label) in labeled.labels.values().iter().enumerate() {
        assert_eq!(allotment.row(row)[usize::from(*label)], 3);
    }
}

/// Identical rows with several labels: once the weights are found, a common shift of all intercepts costs nothing, and
/// the search must not follow it.
#[test]
fn rows_alike_with_several_labels_are_learned_from() {
    for (seed, rows, k, batch, parts) in [(18, 6, 4, 28, 3), (19, 14, 2, 21, 3), (19, 28, 2, 26, 5), (35, 17, 4, 54, 2)]
    {
        let (classes, values) = (classes(k), lumpy(&mut Chance::new(seed), 1, k, parts).repeat(rows));
        let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
        let labeled = learned(Learner::Logistic, batch).label(&scores, &SETTINGS).unwrap();
        assert_eq!(labeled.labels.counts().iter().max(), Some(&(rows as u64)), "all rows have one label");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// One class, one row, identical rows with the same or several labels, or fewer rows than the training size: every
    /// row has a label, and the label occurs in the training set.
    #[test]
    fn odd_batches_are_learned_from(
        seed in 0u64..1000, rows in 1usize..40, k in 1usize..5, batch in 1usize..60, parts in 1u64..6, alike in any::<bool>(),
    ) {
        let classes = classes(k);
        let values = match alike {
            true => lumpy(&mut Chance::new(seed), 1, k, parts).repeat(rows),
            false => lumpy(&mut Chance::new(seed), rows, k, parts),
        };
        let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
        for learner in LEARNERS {
            let labeled = learned(learner, batch).label(&scores, &SETTINGS).unwrap();
            prop_assert_eq!(labeled.labels.counts().iter().sum::<u64>(), rows as u64);
            let json = serde_json::to_string(&labeled.decision).unwrap();
            let again: Decision = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&again.apply(&scores).unwrap(), &labeled.labels);
        }
    }
}
