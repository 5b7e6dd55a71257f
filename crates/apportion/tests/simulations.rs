//! Tests of the paper's simulations: closed forms, calibration, and reproducible rows.
#![allow(clippy::unwrap_used)] // also in helper functions

use apportion::simulate::*;
use apportion::{Error, Label};

const ROWS: u64 = 200_000;

struct Table {
    k: usize,
    truth: Vec<usize>,
    scores: Vec<f64>,
}

fn table(generator: &impl Generator) -> Table {
    let k = generator.classes();
    let mut scores = vec![0.0; k * ROWS as usize];
    let truth =
        scores.chunks_exact_mut(k).zip(0..).map(|(row, index)| usize::from(generator.row(index, row))).collect();
    Table { k, truth, scores }
}

impl Table {
    fn rows(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.truth.iter().copied().zip(self.scores.chunks_exact(self.k))
    }

    /// Returns a mean and its standard error.
    fn mean(&self, what: impl Fn(usize, &[f64]) -> f64) -> (f64, f64) {
        let (mut sum, mut squares) = (0.0, 0.0);
        for (truth, row) in self.rows() {
            let value = what(truth, row);
            sum += value;
            squares += value * value;
        }
        let mean = sum / ROWS as f64;
        (mean, ((squares / ROWS as f64 - mean * mean).max(0.0) / ROWS as f64).sqrt())
    }

    /// Returns the mean of 1 − q\[truth\] and its standard error.
    fn mae(&self) -> (f64, f64) {
        self.mean(|truth, row| 1.0 - row[truth])
    }

    /// Checks that scores are calibrated, in tenths of the scores of each class.
    fn check_calibration(&self) {
        for class in 0..self.k {
            for tenth in 0..10 {
                let (mut off, mut variance) = (0.0, 0.0);
                for (truth, row) in self.rows().filter(|(_, row)| (row[class] * 10.0).min(9.0) as usize == tenth) {
                    off += row[class] - f64::from(u8::from(truth == class));
                    variance += row[class] * (1.0 - row[class]);
                }
                assert!(off.abs() <= 5.0 * f64::sqrt(variance) + 1e-6, "class {class}, tenth {tenth}: off by {off}");
            }
        }
    }
}

/// Checks that a mean is within five standard errors of its expected value.
fn near((mean, error): (f64, f64), expected: f64) {
    assert!((mean - expected).abs() <= 5.0 * error + 1e-9, "{mean} ± {error} where {expected} is expected");
}

fn argmax(row: &[f64]) -> usize {
    (0..row.len()).fold(0, |best, class| if row[class] > row[best] { class } else { best })
}

/// The paper reports 0.42 for σ = 0.5. A variance of 0.5 gives 0.41; a standard deviation of 0.5 (a variance of 0.25)
/// gives 0.25.
#[test]
fn normal_points_have_the_paper_s_error() {
    let table = table(&Normal::new(&PAPER_PRIOR, 0.5, 1).unwrap());
    let (mae, error) = table.mae();
    assert!((mae - 0.41).abs() < 0.005 && error < 0.001, "{mae} ± {error}");
    // The error implied by the scores has the same expected value.
    let (implied, implied_error) = table.mean(|_, row| 1.0 - row.iter().map(|q| q * q).sum::<f64>());
    assert!((implied - mae).abs() < 5.0 * error.hypot(implied_error));
    table.check_calibration();
    let far = self::table(&Normal::new(&PAPER_PRIOR, 0.25, 1).unwrap()).mae().0;
    assert!((far - 0.25).abs() < 0.005, "{far}");
}

/// For two classes, the log odds are normal, with mean and variance computed by hand.
#[test]
fn two_normal_classes_have_normal_log_odds() {
    let variance = 0.8;
    let table = table(&Normal::new(&[0.7, 0.3], variance, 3).unwrap());
    let odds = |row: &[f64]| (row[0] / row[1]).ln() - (0.7f64 / 0.3).ln();
    for (class, sign) in [(0, 1.0), (1, -1.0)] {
        let own: Vec<f64> = table.rows().filter(|(truth, _)| *truth == class).map(|(_, row)| odds(row)).collect();
        let n = own.len() as f64;
        let mean = own.iter().sum::<f64>() / n;
        let spread = own.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / n;
        // (x0 − x1)/variance is normal around ±1/variance, with variance 2/variance.
        assert!((mean - sign / variance).abs() < 5.0 * (2.0 / variance / n).sqrt(), "{mean}");
        assert!((spread - 2.0 / variance).abs() < 5.0 * 2.0 / variance * (2.0 / n).sqrt(), "{spread}");
    }
}

/// The score is Bayes' rule with the densities written out.
#[test]
fn variance_goes_from_all_known_to_nothing_known() {
    let sure = table(&Normal::new(&PAPER_PRIOR, 1e-10, 2).unwrap());
    assert!(sure.rows().all(|(truth, row)| row[truth] == 1.0));
    let unsure = table(&Normal::new(&PAPER_PRIOR, 1e10, 2).unwrap());
    assert!(unsure.rows().all(|(_, row)| row.iter().zip(PAPER_PRIOR).all(|(q, p)| (q - p).abs() < 1e-3)));
    for (class, share) in PAPER_PRIOR.into_iter().enumerate() {
        near(sure.mean(|truth, _| f64::from(u8::from(truth == class))), share);
    }
}

#[test]
fn categories_follow_their_closed_forms() {
    for signal in [0.0, 0.3, 0.8, 1.0] {
        let people = Categorical::new(&PAPER_PRIOR, signal, 7).unwrap();
        let table = table(&people);
        near(table.mae(), people.mae());
        table.check_calibration();
        for (class, bias) in people.argmax_bias().into_iter().enumerate() {
            let found = table.mean(|_, row| f64::from(u8::from(argmax(row) == class)) - PAPER_PRIOR[class]);
            near(found, bias);
            assert!(bias <= people.mae() + 1e-12, "Theorem 1 (iii) at {signal}");
        }
    }
    // Theorem 1 (i) and (ii).
    let nothing = Categorical::new(&PAPER_PRIOR, 0.0, 7).unwrap().argmax_bias();
    let expected = [0.5, -0.25, -0.125, -0.0625, -0.03125, -0.03125];
    assert!(nothing.iter().zip(expected).all(|(bias, expected)| (bias - expected).abs() < 1e-12));
    assert!(Categorical::new(&PAPER_PRIOR, 1.0, 7).unwrap().argmax_bias().iter().all(|bias| bias.abs() < 1e-12));
}

#[test]
fn the_worst_case_is_as_bad_as_its_error() {
    for (classes, unknown, others) in [(6, 0.2, 0.0), (6, 1.0, 0.0), (3, 0.5, 0.3), (2, 0.4, 0.6)] {
        let people = WorstCase::new(classes, unknown, others, 5).unwrap();
        let table = table(&people);
        table.check_calibration();
        near(table.mae(), people.mae());
        let prior = people.prior();
        assert!((prior.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (class, share) in prior.iter().enumerate() {
            near(table.mean(|truth, _| f64::from(u8::from(truth == class))), *share);
        }
        near(table.mean(|_, row| f64::from(u8::from(argmax(row) == 0)) - prior[0]), people.mae());
        // Relative to the sums of the scores, bias and error are equal in every table.
        let (bias, _) = table.mean(|_, row| f64::from(u8::from(argmax(row) == 0)) - row[0]);
        assert!((bias - table.mae().0).abs() < 1e-9);
    }
}

/// Fails if published files change, which requires a changelog entry.
#[test]
fn rows_are_frozen() {
    let rows = |generator: &dyn Generator| -> Vec<(Label, Vec<i64>)> {
        let row = |index| {
            let mut scores = vec![0.0; generator.classes()];
            let truth = generator.row(index, &mut scores);
            (truth, scores.iter().map(|score: &f64| (score * 1e6).round() as i64).collect())
        };
        [0, 1, u64::MAX].map(row).to_vec()
    };
    let normal = rows(&Normal::new(&[0.5, 0.3, 0.2], 0.5, 1).unwrap());
    let categorical = rows(&Categorical::new(&[0.5, 0.3, 0.2], 0.4, 1).unwrap());
    let worst = rows(&WorstCase::new(3, 0.6, 0.2, 1).unwrap());
    let frozen = |rows: [(Label, [i64; 3]); 3]| rows.map(|(truth, scores)| (truth, scores.to_vec())).to_vec();
    assert_eq!(
        normal,
        frozen([(1, [136731, 861699, 1570]), (0, [360225, 614206, 25569]), (0, [949493, 18357, 32150])])
    );
    assert_eq!(
        categorical,
        frozen([(2, [357143, 214286, 428571]), (0, [750000, 150000, 100000]), (1, [312500, 562500, 125000])])
    );
    assert_eq!(worst, frozen([(1, [333333; 3]), (2, [333333; 3]), (1, [0, 1000000, 0])]));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let is_refused = |result: Result<(), Error>| assert!(matches!(result, Err(Error::Parameter { .. })), "{result:?}");
    is_refused(Normal::new(&PAPER_PRIOR, 0.0, 0).map(drop));
    is_refused(Normal::new(&PAPER_PRIOR, f64::NAN, 0).map(drop));
    is_refused(Normal::new(&[0.5, 0.4], 1.0, 0).map(drop));
    is_refused(Normal::new(&[1.5, -0.5], 1.0, 0).map(drop));
    is_refused(Categorical::new(&PAPER_PRIOR, 1.1, 0).map(drop));
    is_refused(WorstCase::new(1, 0.5, 0.0, 0).map(drop));
    is_refused(WorstCase::new(3, 0.5, 0.6, 0).map(drop));
    assert!(matches!(Normal::new(&[], 1.0, 0), Err(Error::NoClasses)));
    assert!(matches!(WorstCase::new(251, 0.5, 0.0, 0), Err(Error::TooManyClasses { .. })));
}
