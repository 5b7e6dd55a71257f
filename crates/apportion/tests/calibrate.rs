//! Calibration against closed forms and brute force, for any order of the rows.
#![allow(clippy::unwrap_used)] // also in helper functions

use std::collections::BTreeMap;

use apportion::calibrate::{Calibration, CrossFit, Fitted, Method, Quality};
use apportion::seed::{below, hash, key_of_text};
use apportion::{Classes, Error, Groups, Keys, Label, Matrix, Scores, UNCODED};

const METHODS: [Method; 2] = [Method::Logistic, Method::Isotonic];

/// Rows of scores with their truth.
#[derive(Clone)]
struct People {
    classes: Classes,
    scores: Vec<f64>,
    truth: Vec<Label>,
    keys: Vec<u64>,
}

impl People {
    fn table(&self) -> Scores<'_> {
        let scores = Scores::new(&self.classes, Matrix::RowsF64(&self.scores)).unwrap();
        scores.with_truth(&self.truth).unwrap().with_keys(Keys::Given(&self.keys)).unwrap()
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.scores[row * self.classes.len()..][..self.classes.len()]
    }

    /// Returns the same rows in another order.
    fn shuffled(&self, seed: u64) -> (People, Vec<usize>) {
        let mut order: Vec<usize> = (0..self.truth.len()).collect();
        order.sort_by_key(|&row| hash(seed, row as u64, 0));
        let people = People {
            classes: self.classes.clone(),
            scores: order.iter().flat_map(|&row| self.row(row).to_vec()).collect(),
            truth: order.iter().map(|&row| self.truth[row]).collect(),
            keys: order.iter().map(|&row| self.keys[row]).collect(),
        };
        (people, order)
    }
}

fn uniform(seed: u64, key: u64, salt: u64) -> f64 {
    below(hash(seed, key, salt), 1 << 53) as f64 / (1u64 << 53) as f64
}

/// People whose true class is drawn from softmax(weights · log score + intercepts).
fn people(rows: usize, seed: u64, weights: [[f64; 3]; 3], intercepts: [f64; 3]) -> People {
    let mut people = People {
        classes: Classes::new(["a", "b", "c"]).unwrap(),
        scores: Vec::new(),
        truth: Vec::new(),
        keys: (0..rows as u64).map(|row| key_of_text(&row.to_string())).collect(),
    };
    for row in 0..rows as u64 {
        let raw = [0, 1, 2].map(|class| (4.0 * uniform(seed, row, class) - 2.0).exp());
        let sum: f64 = raw.iter().sum();
        let scores = raw.map(|raw| raw / sum);
        let logits = [0, 1, 2].map(|class| {
            let own: f64 = (0..3).map(|other| weights[class][other] * f64::ln(scores[other])).sum();
            (own + intercepts[class]).exp()
        });
        let (all, mut left): (f64, f64) = (logits.iter().sum(), uniform(seed, row, 7));
        let class = logits.iter().position(|logit| {
            left -= logit / all;
            left < 0.0
        });
        people.scores.extend(scores);
        people.truth.push(class.unwrap_or(2) as Label);
    }
    people
}

const IDENTITY: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const MIXED: [[f64; 3]; 3] = [[0.6, 0.1, 0.0], [0.3, 0.8, 0.0], [0.0, 0.2, 1.5]];

fn calibrated(people: &People, method: Method) -> Vec<f64> {
    let table = people.table();
    Calibration::fit(&table, method).unwrap().apply_rows(&table, 0..table.rows()).unwrap()
}

#[test]
fn logistic_is_at_the_minimum() {
    for (seed, rows) in [(1, 40), (2, 500), (3, 5000)] {
        let people = people(rows, seed, MIXED, [0.3, -0.2, 0.0]);
        let calibration = Calibration::fit(&people.table(), Method::Logistic).unwrap();
        let Fitted::Logistic { weights, intercepts } = calibration.fitted() else { panic!("{calibration:?}") };
        let fitted = calibrated(&people, Method::Logistic);
        // The objective is convex: at the minimum the gradient vanishes.
        for class in 0..3 {
            let residual =
                |row: usize| fitted[row * 3 + class] - if usize::from(people.truth[row]) == class { 1.0 } else { 0.0 };
            let total: f64 = (0..rows).map(residual).sum();
            assert!(total.abs() < 1e-6, "the mean score is not the share of the truth: {total}");
            for other in 0..3 {
                let slope: f64 = (0..rows).map(|row| residual(row) * people.row(row)[other].ln()).sum();
                let ridge = weights[class][other] - IDENTITY[class][other];
                assert!((slope + ridge).abs() < 1e-6, "{slope} {ridge}");
            }
        }
        assert!(intercepts.iter().sum::<f64>().abs() < 1e-9);
    }
}

#[test]
fn logistic_finds_the_model_behind_the_truth() {
    let people = people(200_000, 5, MIXED, [0.3, -0.2, 0.0]);
    let table = people.table();
    let fitted = calibrated(&people, Method::Logistic);
    let mut largest: f64 = 0.0;
    for row in 0..table.rows() {
        let logits = [0, 1, 2].map(|class| {
            let own: f64 = (0..3).map(|other| MIXED[class][other] * people.row(row)[other].ln()).sum();
            (own + [0.3, -0.2, 0.0][class]).exp()
        });
        let all: f64 = logits.iter().sum();
        (0..3).for_each(|class| largest = largest.max((fitted[row * 3 + class] - logits[class] / all).abs()));
    }
    assert!(largest < 0.02, "{largest}");
}

#[test]
fn scores_of_two_classes_become_the_shares_of_cells() {
    // Two different rows: both models can give each its share of the truth.
    let classes = Classes::new(["a", "b"]).unwrap();
    let (mut scores, mut truth) = (Vec::new(), Vec::new());
    for (score, members, of) in [(0.3, 2000, 10_000), (0.8, 9000, 10_000)] {
        for person in 0..of {
            scores.extend([score, 1.0 - score]);
            truth.push(u8::from(person >= members));
        }
    }
    let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap().with_truth(&truth).unwrap();
    for (method, tolerance) in [(Method::Logistic, 1e-4), (Method::Isotonic, 1e-11)] {
        let calibration = Calibration::fit(&table, method).unwrap();
        for (score, expected) in [(0.3, 0.2), (0.8, 0.9)] {
            let mut row = [score, 1.0 - score];
            calibration.apply(&mut row).unwrap();
            assert!((row[0] - expected).abs() < tolerance && (row[0] + row[1] - 1.0).abs() < 1e-12, "{row:?}");
        }
    }
}

#[test]
fn results_do_not_depend_on_order_counts_or_threads() {
    let mut people = people(3000, 9, MIXED, [0.0; 3]);
    (0..3000).step_by(7).for_each(|row| people.truth[row] = UNCODED);
    let (shuffled, order) = people.shuffled(4);
    for method in METHODS {
        let (table, other) = (people.table(), shuffled.table());
        let fit = |table: &Scores<'_>, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| CrossFit::fit(table, method, 3).unwrap())
        };
        let (one, two) = (fit(&table, 1), fit(&other, 3));
        assert_eq!(one, two);
        let (before, after) = (one.apply_rows(&table, 0..3000).unwrap(), two.apply_rows(&other, 0..3000).unwrap());
        for (position, &row) in order.iter().enumerate() {
            assert_eq!(before[row * 3..][..3], after[position * 3..][..3]);
        }
        // Ranges of rows are parts of the whole, and rows sum to one.
        assert_eq!(one.apply_rows(&table, 100..200).unwrap(), before[300..600]);
        assert!(before.chunks_exact(3).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
        // A row that represents two people is two rows.
        let counts: Vec<u64> = (0..3000).map(|row| row % 3).collect();
        let repeated: Vec<usize> = (0..3000).flat_map(|row| vec![row; row % 3]).collect();
        let scores: Vec<f64> = repeated.iter().flat_map(|&row| people.row(row).to_vec()).collect();
        let truth: Vec<Label> = repeated.iter().map(|&row| people.truth[row]).collect();
        let rows = Scores::new(&people.classes, Matrix::RowsF64(&scores)).unwrap().with_truth(&truth).unwrap();
        let counted = people.table().with_counts(&counts).unwrap();
        assert_eq!(Calibration::fit(&rows, method).unwrap(), Calibration::fit(&counted, method).unwrap());
        assert_eq!(Quality::of(&rows).unwrap(), Quality::of(&counted).unwrap());
    }
}

#[test]
fn a_row_is_corrected_by_models_that_did_not_see_it() {
    let people = people(400, 11, IDENTITY, [0.5, 0.0, 0.0]);
    for method in METHODS {
        let before = CrossFit::fit(&people.table(), method, 0).unwrap();
        let own = before.apply_rows(&people.table(), 0..400).unwrap();
        for row in [0, 17, 399] {
            let mut other = people.clone();
            other.truth[row] = (other.truth[row] + 1) % 3;
            let after = CrossFit::fit(&other.table(), method, 0).unwrap();
            assert_ne!(before.overall(), after.overall());
            let changed = after.apply_rows(&other.table(), 0..400).unwrap();
            assert_eq!(own[row * 3..][..3], changed[row * 3..][..3]);
            assert_ne!(own, changed);
        }
        // Without its truth, a row is corrected by the model of all others.
        let mut unknown = people.clone();
        unknown.truth[17] = UNCODED;
        let fit = CrossFit::fit(&unknown.table(), method, 0).unwrap();
        let found = fit.apply_rows(&unknown.table(), 17..18).unwrap();
        assert_eq!(found, fit.overall().apply_rows(&unknown.table(), 17..18).unwrap());
        assert_eq!(fit.folds(), 5);
        assert_eq!(fit.overall().people(), 399);
    }
}

#[test]
fn calibration_improves_scores_that_are_off() {
    let people = people(20_000, 13, MIXED, [0.8, -0.4, 0.0]);
    let table = people.table();
    let before = Quality::of(&table).unwrap().unwrap();
    for method in METHODS {
        let values = CrossFit::fit(&table, method, 0).unwrap().apply_rows(&table, 0..table.rows()).unwrap();
        let after = Scores::new(&people.classes, Matrix::RowsF64(&values)).unwrap();
        let after = Quality::of(&after.with_truth(&people.truth).unwrap()).unwrap().unwrap();
        assert!(after.log_loss < before.log_loss && after.brier < before.brier, "{method:?}: {after:?}");
        for (before, after) in before.classes.iter().zip(&after.classes) {
            assert!(after.expected_error < 0.02 && after.kuiper < 0.02, "{method:?}: {before:?} {after:?}");
        }
    }
}

#[test]
fn quality_is_computed_from_its_definition() {
    let people = people(500, 17, MIXED, [0.0; 3]);
    let quality = Quality::of(&people.table()).unwrap().unwrap();
    let rows = || (0..500).map(|row| (people.row(row), usize::from(people.truth[row])));
    let mean = |sum: f64| sum / 500.0;
    let log_loss = mean(rows().map(|(row, truth)| -row[truth].ln()).sum());
    assert!((quality.log_loss - log_loss).abs() < 1e-9);
    let largest = |row: &[f64]| (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
    let accuracy = mean(rows().filter(|(row, truth)| largest(row) == *truth).count() as f64);
    assert!((quality.argmax_accuracy - accuracy).abs() < 1e-12);
    let mut brier_sum = 0.0;
    for (class, own) in quality.classes.iter().enumerate() {
        let is = |truth: usize| if truth == class { 1.0 } else { 0.0 };
        let brier = mean(rows().map(|(row, truth)| (row[class] - is(truth)).powi(2)).sum());
        brier_sum += brier;
        let mut expected_error = 0.0;
        for bin in 0..10 {
            let inside = |row: &[f64]| (row[class] * 10.0) as usize == bin;
            let off: f64 = rows().filter(|(row, _)| inside(row)).map(|(row, truth)| row[class] - is(truth)).sum();
            expected_error += mean(off.abs());
        }
        assert!((own.brier - brier).abs() < 1e-9 && (own.expected_error - expected_error).abs() < 1e-9, "{own:?}");
        let share = mean(rows().filter(|(row, _)| largest(row) == class).count() as f64);
        let truth = mean(rows().map(|(_, truth)| is(truth)).sum());
        assert!((own.argmax_bias - (share - truth)).abs() < 1e-12 && (own.truth_share - truth).abs() < 1e-12);
        assert!((own.mean_score - mean(rows().map(|(row, _)| row[class]).sum())).abs() < 1e-9);
    }
    assert!((quality.brier - brier_sum).abs() < 1e-9);
    let none = People { truth: vec![UNCODED; 500], ..people };
    assert_eq!(Quality::of(&none.table()).unwrap(), None);
}

#[test]
fn a_saved_calibration_gives_the_same_scores() {
    let people = people(2000, 19, MIXED, [0.1, 0.2, 0.3]);
    let table = people.table();
    for method in METHODS {
        let own =
            Calibration::fit(&table, method).unwrap().with_score_columns(vec!["x".into(), "y".into(), "z".into()]);
        let json = serde_json::to_string(&own).unwrap();
        let read: Calibration = serde_json::from_str(&json).unwrap();
        assert_eq!((read.method(), &read), (method, &own));
        for (found, wrong) in [
            ("\"version\":1", "\"version\":9"),
            ("[\"a\",\"b\",\"c\"]", "[\"a\",\"b\"]"),
            ("[\"x\",\"y\",\"z\"]", "[\"x\"]"),
            ("\"model\":{", "\"model\":{\"weights\":[],\"curves\":[],"),
        ] {
            assert!(json.contains(found), "{json}");
            assert!(serde_json::from_str::<Calibration>(&json.replace(found, wrong)).is_err(), "{wrong}");
        }
    }
    let curve = |scores: &str, values: &str| {
        let curve = format!("{{\"scores\":{scores},\"values\":{values}}}");
        let model = format!("{{\"method\":\"isotonic\",\"curves\":[{curve},{curve}]}}");
        serde_json::from_str::<Calibration>(&format!(
            "{{\"version\":1,\"classes\":[\"a\",\"b\"],\"people\":3,\"model\":{model}}}"
        ))
    };
    assert!(curve("[0.1,0.2]", "[0.5,0.6]").is_ok());
    for (scores, values) in
        [("[]", "[]"), ("[0.1]", "[0.5,0.6]"), ("[0.2,0.1]", "[0,1]"), ("[0.1,0.2]", "[1,0]"), ("[0.1]", "[1.5]")]
    {
        assert!(curve(scores, values).is_err(), "{scores} {values}");
    }
}

#[test]
fn a_row_whose_values_are_all_zero_keeps_its_scores() {
    let json = r#"{"version":1,"classes":["a","b"],"people":3,"model":{"method":"isotonic","curves":[
        {"scores":[0.5,0.9],"values":[0,1]},{"scores":[0.5,0.9],"values":[0,1]}]}}"#;
    let calibration: Calibration = serde_json::from_str(json).unwrap();
    let mut row = [0.45, 0.55];
    calibration.apply(&mut row).unwrap();
    assert!((row[0] - 0.0).abs() < 1e-12 && (row[1] - 1.0).abs() < 1e-12, "{row:?}");
    let mut zero = [0.5, 0.5];
    calibration.apply(&mut zero).unwrap();
    assert_eq!(zero, [0.5, 0.5]);
    assert!(calibration.apply(&mut [1.0]).is_err());
}

#[test]
fn truth_that_cannot_be_used_is_refused() {
    let problem = |people: &People| {
        METHODS.map(|method| match CrossFit::fit(&people.table(), method, 0) {
            Err(Error::NotCalibrated { problem }) => problem,
            other => panic!("{other:?}"),
        })
    };
    let all = people(300, 23, IDENTITY, [0.0; 3]);
    let with_truth = |truth: Vec<Label>| problem(&People { truth, ..all.clone() });
    assert!(with_truth(vec![UNCODED; 300]).iter().all(|problem| problem.contains("no row has a known true class")));
    assert!(with_truth(vec![1; 300]).iter().all(|problem| problem.contains("all people with known truth are \"b\"")));
    let two = (0..300u16).map(|row| (row % 2) as Label).collect();
    assert!(with_truth(two).iter().all(|problem| problem.contains("is \"c\"")));
    let rare = (0..300).map(|row| if row == 3 { 2 } else { (row % 2) as Label }).collect();
    assert!(with_truth(rare).iter().all(|problem| problem.contains("too few people")));
    let classes = Classes::new(["a"]).unwrap();
    let one = Scores::new(&classes, Matrix::RowsF64(&[1.0])).unwrap().with_truth(&[0]).unwrap();
    assert!(matches!(Calibration::fit(&one, Method::Logistic), Err(Error::NotCalibrated { .. })));
    let many = Classes::new((0..21).map(|class| class.to_string())).unwrap();
    let (scores, truth) = (vec![1.0 / 21.0; 21 * 21], (0..21).collect::<Vec<Label>>());
    let table = Scores::new(&many, Matrix::RowsF64(&scores)).unwrap().with_truth(&truth).unwrap();
    assert!(matches!(Calibration::fit(&table, Method::Logistic), Err(Error::NotCalibrated { .. })));
    assert!(Calibration::fit(&table, Method::Isotonic).is_ok());
}

#[test]
fn constant_and_extreme_scores_are_calibrated() {
    let classes = Classes::new(["a", "b", "c"]).unwrap();
    let truth: Vec<Label> = (0..100).map(|row| if row < 50 { 0 } else { 1 + (row % 4 == 0) as Label }).collect();
    let constant: Vec<f64> = [0.2, 0.3, 0.5].repeat(100);
    // The true class is certain, except for its floor.
    let certain: Vec<f64> =
        truth.iter().flat_map(|&truth| (0..3).map(move |class| if class == truth { 1.0 } else { 0.0 })).collect();
    for method in METHODS {
        let table = Scores::new(&classes, Matrix::RowsF64(&constant)).unwrap().with_truth(&truth).unwrap();
        let mut row = [0.2, 0.3, 0.5];
        Calibration::fit(&table, method).unwrap().apply(&mut row).unwrap();
        for (found, expected) in row.into_iter().zip([0.5, 0.38, 0.12]) {
            assert!((found - expected).abs() < 1e-6, "{method:?}: {row:?}");
        }
        let table = Scores::new(&classes, Matrix::RowsF64(&certain)).unwrap().with_truth(&truth).unwrap();
        let values = Calibration::fit(&table, method).unwrap().apply_rows(&table, 0..100).unwrap();
        let right = values.chunks_exact(3).zip(&truth).all(|(row, &truth)| row[usize::from(truth)] > 0.999);
        assert!(right, "{method:?}: {values:?}");
    }
}

/// People in groups whose intercepts differ by `shifts`; group g has g + 1 parts of the people.
struct Grouped {
    people: People,
    codes: Vec<u32>,
    names: Vec<String>,
}

impl Grouped {
    fn new(rows: usize, seed: u64, shifts: &[[f64; 3]]) -> Grouped {
        let parts = (shifts.len() * (shifts.len() + 1) / 2) as u64;
        let of = |row: u64| {
            let part = below(hash(seed, row, 50), parts);
            (0..shifts.len() as u64).find(|&group| part < (group + 1) * (group + 2) / 2).unwrap()
        };
        let codes: Vec<u32> = (0..rows as u64).map(|row| of(row) as u32).collect();
        let mut all = people(rows, seed, IDENTITY, [0.0; 3]);
        // The truth is drawn again with the intercepts of the group.
        for row in 0..rows {
            let shift = shifts[codes[row] as usize];
            let logits = [0, 1, 2].map(|class| all.row(row)[class] * f64::exp(shift[class]));
            let (sum, mut left): (f64, f64) = (logits.iter().sum(), uniform(seed, row as u64, 60));
            let class = logits.iter().position(|logit| {
                left -= logit / sum;
                left < 0.0
            });
            all.truth[row] = class.unwrap_or(2) as Label;
        }
        Grouped { people: all, codes, names: (0..shifts.len()).map(|group| format!("group {group}")).collect() }
    }

    fn table(&self) -> Scores<'_> {
        self.people.table().with_groups(Groups { codes: &self.codes, names: &self.names }).unwrap()
    }
}

fn log_loss(people: &People, scores: &[f64]) -> f64 {
    let rows = scores.chunks_exact(3).zip(&people.truth);
    rows.map(|(row, &truth)| -row[usize::from(truth)].ln()).sum::<f64>() / people.truth.len() as f64
}

/// Shifts with mean zero for each class.
fn shifts(groups: usize, size: f64) -> Vec<[f64; 3]> {
    let draw = |group: usize, class: u64| size * (2.0 * uniform(77, group as u64, class) - 1.0);
    let all: Vec<[f64; 3]> = (0..groups).map(|group| [0, 1, 2].map(|class| draw(group, class))).collect();
    let mean = [0, 1, 2].map(|class: usize| all.iter().map(|own| own[class]).sum::<f64>() / groups as f64);
    all.into_iter().map(|own| [0, 1, 2].map(|class| own[class] - mean[class])).collect()
}

#[test]
fn group_intercepts_are_at_the_maximum_of_likelihood_and_prior() {
    let own = Grouped::new(3000, 31, &shifts(12, 1.0));
    let calibration = Calibration::fit_by_group(&own.table()).unwrap();
    let groups = calibration.groups().unwrap();
    assert!(groups.deviation > 0.2 && groups.intercepts.len() == 12, "{groups:?}");
    let fitted = calibration.apply_rows(&own.table(), 0..3000).unwrap();
    for (code, name) in own.names.iter().enumerate() {
        let intercepts = &groups.intercepts[name];
        assert!(intercepts.iter().sum::<f64>().abs() < 1e-9);
        for class in 0..3 {
            let rows = (0..3000).filter(|&row| own.codes[row] as usize == code);
            let residual = |row: usize| {
                fitted[row * 3 + class] - if usize::from(own.people.truth[row]) == class { 1.0 } else { 0.0 }
            };
            let slope = rows.map(residual).sum::<f64>() + intercepts[class] / groups.deviation.powi(2);
            assert!(slope.abs() < 1e-6, "{name}, class {class}: {slope}");
        }
    }
}

#[test]
fn group_intercepts_are_found_and_small_groups_shrink() {
    let truth = shifts(12, 1.0);
    let own = Grouped::new(60_000, 33, &truth);
    let found = Calibration::fit_by_group(&own.table()).unwrap().groups().unwrap().clone();
    let variance = truth.iter().flatten().map(|own| own * own).sum::<f64>() / 36.0;
    assert!((0.6..1.6).contains(&(found.deviation / variance.sqrt())), "{} {variance}", found.deviation);
    for (code, shift) in truth.iter().enumerate().skip(6) {
        let mean = shift.iter().sum::<f64>() / 3.0;
        for (found, shift) in found.intercepts[&own.names[code]].iter().zip(shift) {
            let off = found - (shift - mean);
            assert!(off.abs() < 0.2, "group {code}: {off}");
        }
    }
    // The same groups with few people: their intercepts are closer to zero, because the prior shrinks them more.
    let few = Grouped::new(300, 35, &truth);
    let shrunk = Calibration::fit_by_group(&few.table()).unwrap().groups().unwrap().clone();
    let size = |own: &[f64]| own.iter().map(|own| own * own).sum::<f64>().sqrt();
    // A group of fewer than five people has none, because they would show the classes of these people.
    let people = |code: u32| few.codes.iter().filter(|own| **own == code).count();
    for code in 0..12 {
        assert_eq!(shrunk.intercepts.contains_key(&few.names[code as usize]), people(code) >= 5, "{code}");
    }
    assert!((0..12).any(|code| people(code) < 5));
    let of =
        |groups: &BTreeMap<String, Vec<f64>>| shrunk.intercepts.keys().map(|name| size(&groups[name])).sum::<f64>();
    assert!(of(&shrunk.intercepts) < 0.9 * of(&found.intercepts), "{shrunk:?} {found:?}");
}

#[test]
fn groups_improve_other_rows_if_they_differ_and_do_no_harm_otherwise() {
    for (size, seed) in [(1.0, 41), (0.0, 43)] {
        let shifts = shifts(20, size);
        let (own, others) = (Grouped::new(4000, seed, &shifts), Grouped::new(20_000, seed + 1, &shifts));
        let overall = Calibration::fit(&own.table(), Method::Logistic).unwrap();
        let by_group = Calibration::fit_by_group(&own.table()).unwrap();
        let loss = |calibration: &Calibration| {
            log_loss(&others.people, &calibration.apply_rows(&others.table(), 0..20_000).unwrap())
        };
        let (overall, by_group) = (loss(&overall), loss(&by_group));
        println!("size {size}: log loss {overall:.4} overall, {by_group:.4} by group");
        match size > 0.0 {
            true => assert!(by_group < overall - 0.02, "{overall} {by_group}"),
            false => assert!(by_group < overall + 0.0005, "{overall} {by_group}"),
        }
    }
}

#[test]
fn calibrations_by_group_do_not_depend_on_order_and_are_saved() {
    let own = Grouped::new(2000, 51, &shifts(5, 1.0));
    let (shuffled, order) = own.people.shuffled(3);
    // Other codes for the same groups.
    let names: Vec<String> = own.names.iter().rev().cloned().collect();
    let codes = order.iter().map(|&row| 4 - own.codes[row]).collect();
    let other = Grouped { people: shuffled, codes, names };
    let (one, two) =
        (CrossFit::fit_by_group(&own.table(), 3).unwrap(), CrossFit::fit_by_group(&other.table(), 3).unwrap());
    assert_eq!(one, two);
    let (before, after) =
        (one.apply_rows(&own.table(), 0..2000).unwrap(), two.apply_rows(&other.table(), 0..2000).unwrap());
    for (position, &row) in order.iter().enumerate() {
        assert_eq!(before[row * 3..][..3], after[position * 3..][..3]);
    }
    let saved = one.overall().clone().with_group_columns(vec!["county".into()]);
    let json = serde_json::to_string(&saved).unwrap();
    assert_eq!(serde_json::from_str::<Calibration>(&json).unwrap(), saved);
    for (found, wrong) in [
        ("\"deviation\":", "\"deviation\":-"),
        ("\"group 1\":[", "\"group 1\":[1.0,"),
        ("\"logistic\"", "\"isotonic\""),
    ] {
        assert!(json.contains(found), "{json}");
        assert!(serde_json::from_str::<Calibration>(&json.replace(found, wrong)).is_err(), "{wrong}");
    }
    // A group that is not in the calibration, and a table without groups, use the intercepts of all rows.
    let unknown = Grouped { names: (5..10).map(|group| format!("group {group}")).collect(), ..own };
    let rows = saved.apply_rows(&unknown.table(), 0..10).unwrap();
    assert_eq!(rows, saved.apply_rows(&unknown.people.table(), 0..10).unwrap());
    assert_ne!(rows, before[..30]);
    assert!(Calibration::fit_by_group(&unknown.people.table()).is_err());
}
