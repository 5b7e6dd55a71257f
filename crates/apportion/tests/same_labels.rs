//! The same input, seed and options give the same labels for any number of threads, row order, layout and type of the
//! scores, SIMD level and batch size.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use apportion::rule::*;
use apportion::*;
use common::*;

const SEED: u64 = 11;

struct Table {
    k: usize,
    scores: Vec<f32>,
    keys: Vec<u64>,
    groups: Vec<u32>,
    names: Vec<String>,
}

/// Continuous and lumpy tables that are large enough for sample, box and band, with every number of classes for which
/// the vector code differs.
fn tables() -> Vec<Table> {
    let mut chance = Chance::new(3);
    let large = [(40_000, 6, 0), (60_001, 4, 20), (30_000, 3, 1000), (9_000, 1, 0), (20_000, 9, 6)];
    let small = (2..=8).map(|k| (3_000 + k, k, 0));
    large
        .into_iter()
        .chain(small)
        .map(|(rows, k, parts)| {
            let scores = if parts == 0 { continuous(&mut chance, rows, k) } else { lumpy(&mut chance, rows, k, parts) };
            let keys = (0..rows).map(|row| seed::key_of_text(&format!("NC{row}"))).collect();
            let groups = (0..rows).map(|_| chance.below(5).pow(2) as u32 / 2).collect();
            let names = (0..9).map(|group| format!("county {group}")).collect();
            Table { k, scores: single(&scores), keys, groups, names }
        })
        .collect()
}

fn rules() -> Vec<Rule> {
    vec![
        Rule::Argmax,
        Rule::Threshold(Thresholds::at(0.6).with("c0", 0.8)),
        Rule::Thompson,
        Rule::TopK(2),
        Rule::Match(Match::overall(Reference::Posterior)),
        Rule::Match(Match::overall(Reference::Uniform)),
        Rule::Match(Match::by_group(Reference::Posterior)),
        Rule::Match(Match::overall(Reference::Posterior).with_coverage(0.7)),
        Rule::Match(Match::overall(Reference::Uniform).with_bounds(within(0.02))),
        Rule::Balance(Balance::new(0.9, Match::overall(Reference::Posterior))),
        Rule::Balance(Balance::new(0.97, Match::by_group(Reference::Posterior).with_coverage(0.9))),
        Rule::Balance(Balance::new(0.8, Match::overall(Reference::Uniform)).with_penalty(Penalty::L2Squared)),
        Rule::Balance(Balance::new(0.9, Match::overall(Reference::Posterior)).with_penalty(Penalty::Kl)),
        Rule::Balance(Balance::new(0.9, Match::by_group(Reference::Posterior)).with_penalty(Penalty::L2)),
        Rule::Balance(Balance::new(1.0, Match::overall(Reference::Uniform).with_bounds(within(0.1)))),
        Rule::FromSample(FromSample { joint: JointRule::Match(Match::overall(Reference::Posterior)), rows: 2_000 }),
        Rule::Learned(Learned::new(JointRule::Match(Match::overall(Reference::Posterior))).with_train_rows(500)),
    ]
}

fn within(tolerance: f64) -> Bounds {
    Bounds { tolerance: Some(tolerance), ..Bounds::default() }
}

fn label(table: &Table, matrix: Matrix<'_>, keys: &[u64], groups: &[u32], rule: &Rule, simd: SimdLevel) -> Labeled {
    let classes = classes(table.k);
    let scores = Scores::new(&classes, matrix).unwrap().with_keys(Keys::Given(keys)).unwrap();
    let scores = scores.with_groups(Groups { codes: groups, names: &table.names }).unwrap();
    rule.label(&scores, &Settings { seed: SEED, simd }).unwrap()
}

fn plain(table: &Table, rule: &Rule) -> Labeled {
    label(table, Matrix::RowsF32(&table.scores), &table.keys, &table.groups, rule, SimdLevel::best())
}

#[test]
fn whatever_the_threads() {
    for table in tables() {
        for rule in rules() {
            let expected = plain(&table, &rule);
            for threads in [1, 2, 7] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let found = pool.install(|| plain(&table, &rule));
                assert_eq!(found.labels, expected.labels, "{threads} threads, {rule:?}");
                assert_eq!(found.decision, expected.decision, "{threads} threads, {rule:?}");
            }
        }
    }
}

#[test]
fn whatever_the_simd_level() {
    for table in tables() {
        for rule in rules() {
            let expected = plain(&table, &rule);
            for level in SimdLevel::available() {
                let rows = Matrix::RowsF32(&table.scores);
                let found = label(&table, rows, &table.keys, &table.groups, &rule, level);
                assert_eq!(found.labels, expected.labels, "{level}, {rule:?}");
                assert_eq!(found.decision, expected.decision, "{level}, {rule:?}");
            }
        }
    }
}

#[test]
fn whatever_the_layout_and_the_type() {
    for table in tables() {
        let double: Vec<f64> = table.scores.iter().map(|&score| f64::from(score)).collect();
        let (singles, doubles) = (columns(&table.scores, table.k), columns(&double, table.k));
        for rule in rules() {
            let expected = plain(&table, &rule);
            for matrix in [
                Matrix::RowsF64(&double),
                Matrix::ColumnsF32(singles.iter().map(Vec::as_slice).collect()),
                Matrix::ColumnsF64(doubles.iter().map(Vec::as_slice).collect()),
            ] {
                let found = label(&table, matrix, &table.keys, &table.groups, &rule, SimdLevel::best());
                assert_eq!(found.labels, expected.labels, "{rule:?}");
                assert_eq!(found.decision, expected.decision, "{rule:?}");
            }
        }
    }
}

#[test]
fn whatever_the_order_of_the_rows() {
    let mut chance = Chance::new(4);
    for table in tables() {
        let rows = table.keys.len();
        let mut order: Vec<usize> = (0..rows).collect();
        chance.shuffle(&mut order);
        let mixed = Table {
            k: table.k,
            scores: order.iter().flat_map(|&row| table.scores[row * table.k..][..table.k].to_vec()).collect(),
            keys: order.iter().map(|&row| table.keys[row]).collect(),
            groups: order.iter().map(|&row| table.groups[row]).collect(),
            names: table.names.clone(),
        };
        for rule in rules() {
            let (expected, found) = (plain(&table, &rule), plain(&mixed, &rule));
            for (index, &row) in order.iter().enumerate() {
                assert_eq!(found.labels.values()[index], expected.labels.values()[row], "{rule:?}, row {row}");
            }
            assert_eq!(found.decision, expected.decision, "{rule:?}");
        }
    }
}

#[test]
fn whatever_the_batches_of_apply() {
    for table in tables() {
        let classes = classes(table.k);
        for rule in rules() {
            let expected = plain(&table, &rule);
            for batch in [1_000, 7_777, 1 << 20] {
                let mut applier = expected.decision.applier();
                let mut found = Vec::new();
                for start in (0..table.keys.len()).step_by(batch) {
                    let end = (start + batch).min(table.keys.len());
                    let matrix = Matrix::RowsF32(&table.scores[start * table.k..end * table.k]);
                    let groups = Groups { codes: &table.groups[start..end], names: &table.names };
                    let scores = Scores::new(&classes, matrix).unwrap();
                    let scores = scores.with_keys(Keys::Given(&table.keys[start..end])).unwrap();
                    found.extend(applier.label(&scores.with_groups(groups).unwrap()).unwrap().into_values());
                }
                assert_eq!(found, expected.labels.values(), "batches of {batch}, {rule:?}");
            }
        }
    }
}

#[test]
fn the_certificate_closes_and_counts_are_the_targets() {
    for table in tables() {
        let classes = classes(table.k);
        let scores = Scores::new(&classes, Matrix::RowsF32(&table.scores)).unwrap();
        for reference in [Reference::Posterior, Reference::Uniform] {
            let labeled = Rule::Match(Match::overall(reference)).label(&scores, &Settings::default()).unwrap();
            let joint = labeled.joint.unwrap();
            assert!(joint.certificate.is_closed());
            assert_eq!(labeled.labels.counts(), joint.targets);
            assert_eq!(labeled.decision.certify(&scores, &labeled.labels).unwrap(), joint.certificate);
        }
    }
}

#[test]
fn tied_rows_with_one_key_are_told_apart_by_their_order() {
    let classes = classes(2);
    let values = [0.5f32; 2 * 50_000];
    let keys = vec![1; 50_000];
    let scores = Scores::new(&classes, Matrix::RowsF32(&values)).unwrap().with_keys(Keys::Given(&keys)).unwrap();
    let labeled = Rule::Match(Match::overall(Reference::Posterior)).label(&scores, &Settings::default()).unwrap();
    assert_eq!(labeled.labels.counts(), [25_000, 25_000]);
    let joint = labeled.joint.unwrap();
    assert_eq!((joint.tied_rows, joint.repeated_keys), (50_000, 49_999));
    assert_eq!(labeled.decision.apply(&scores).unwrap(), labeled.labels);
}

#[test]
fn another_seed_settles_ties_otherwise() {
    let classes = classes(2);
    let values = [0.5f32; 2 * 1000];
    let scores = Scores::new(&classes, Matrix::RowsF32(&values)).unwrap();
    let of_seed = |seed| {
        let settings = Settings { seed, ..Settings::default() };
        Rule::Match(Match::overall(Reference::Posterior)).label(&scores, &settings).unwrap().labels
    };
    assert_ne!(of_seed(1), of_seed(2));
    assert_eq!(of_seed(1).counts(), of_seed(2).counts());
}

/// Files sorted by geography: blocks of similar rows, for which a sample is not representative.
#[test]
fn sorted_files_are_matched_exactly() {
    for (seed, parts) in (1126..1142).map(|seed| (seed, 0.0)).chain((1250..1262).map(|seed| (seed, 256.0))) {
        let (mut drawn, mut left, mut base, mut values) = (0, 0, Vec::new(), Vec::new());
        let mut unit = || {
            drawn += 1;
            (seed::hash(seed, drawn, 77) >> 11) as f64 / (1u64 << 53) as f64
        };
        let k = 2 + (unit() * 4.0) as usize;
        let rows = 33_000 + (unit() * 10_000.0) as usize;
        let mean = 50.0 + 3000.0 * unit();
        for _ in 0..rows {
            if left == 0 {
                left = 1 + (mean * unit()) as usize;
                base = (0..k).map(|_| unit().powi(6)).collect();
            }
            left -= 1;
            let weights: Vec<f64> = base.iter().map(|weight| weight + 0.02 * unit()).collect();
            let sum: f64 = weights.iter().sum();
            let mut row: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
            if parts > 0.0 {
                row.iter_mut().for_each(|score| *score = (*score * parts).floor() / parts);
                row[0] += 1.0 - row.iter().sum::<f64>();
            }
            values.extend(single(&row));
        }
        let classes = classes(k);
        let scores = Scores::new(&classes, Matrix::RowsF32(&values)).unwrap();
        for reference in [Reference::Uniform, Reference::Posterior] {
            let labeled = Rule::Match(Match::overall(reference)).label(&scores, &Settings::default()).unwrap();
            let joint = labeled.joint.unwrap();
            assert_eq!(labeled.labels.counts(), joint.targets, "seed {seed}");
            assert_eq!(labeled.decision.certify(&scores, &labeled.labels).unwrap(), joint.certificate);
        }
    }
}

/// Enough classes that their codes use the highest bit.
#[test]
fn many_classes_are_matched_exactly() {
    let k = 200;
    let classes = classes(k);
    let values = single(&continuous(&mut Chance::new(6), 800, k));
    let scores = Scores::new(&classes, Matrix::RowsF32(&values)).unwrap();
    for reference in [Reference::Posterior, Reference::Uniform] {
        let labeled = Rule::Match(Match::overall(reference)).label(&scores, &Settings::default()).unwrap();
        assert_eq!(labeled.labels.counts(), labeled.joint.as_ref().unwrap().targets);
        let proof = labeled.decision.certify(&scores, &labeled.labels).unwrap();
        assert_eq!(proof, labeled.joint.unwrap().certificate);
        assert_eq!(labeled.decision.apply(&scores).unwrap(), labeled.labels);
    }
    let argmax = Rule::Argmax.label(&scores, &Settings::default()).unwrap().labels;
    for (row, &label) in values.chunks(k).zip(argmax.values()) {
        let best = (0..k).fold(0, |best, class| if row[class] > row[best] { class } else { best });
        assert_eq!(usize::from(label), best);
    }
}
