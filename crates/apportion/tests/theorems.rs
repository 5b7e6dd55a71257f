//! Tests of the paper's theorems on data: the cost of argmax, and bounds on other rules. (Theorem 1 is tested with the
//! audit.)
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use apportion::audit::*;
use apportion::*;
use common::*;

/// Theorem 2 (ii): argmax has the largest expected accuracy of all rules; (iii) on these data, argmax is the only
/// independent rule that reaches the joint optimum for its own counts.
#[test]
fn argmax_is_most_accurate_and_matching_beats_sampling_at_its_counts() {
    let classes = classes(5);
    for seed in 0..40 {
        let values = continuous(&mut Chance::new(seed), 3000, 5);
        let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
        let settings = Settings { seed, ..Settings::default() };
        let value = |labels: &Labels| -> f64 {
            let labels = labels.values().iter().enumerate();
            labels.map(|(row, &label)| values[row * 5 + usize::from(label)]).sum()
        };
        let best = value(&Rule::Argmax.label(&scores, &settings).unwrap().labels);
        for rule in [Rule::Thompson, Rule::TopK(2), Rule::Match(Match::overall(Reference::Posterior))] {
            let labels = rule.label(&scores, &settings).unwrap().labels;
            assert!(value(&labels) < best, "{rule:?}");
            // The best labels with the same counts: at least as good by construction, and better for random labels.
            let counts = Reference::Targets(PerGroup::Overall(labels.counts()));
            let joint = Rule::Match(Match::overall(counts)).label(&scores, &settings).unwrap().labels;
            assert_eq!(joint.counts(), labels.counts());
            let gain = value(&joint) - value(&labels);
            assert!(if matches!(rule, Rule::Match(_)) { gain.abs() < 1e-9 } else { gain > 10.0 }, "{rule:?}: {gain}");
        }
    }
}

/// Compares the gap to the frontier with all labelings of six people whose counts are at least as close.
#[test]
fn below_the_frontier_by_all_labelings() {
    let classes = classes(3);
    for seed in 0..30 {
        // In every other table scores are multiples of 0.1, which creates ties.
        let mut values = continuous(&mut Chance::new(seed), 6, 3);
        if seed % 2 == 1 {
            values.chunks_exact_mut(3).for_each(|row| {
                let (a, b) = ((row[0] * 10.0).round(), (row[1] * 10.0).floor());
                let b = b.min(10.0 - a);
                row.copy_from_slice(&[a / 10.0, b / 10.0, (10.0 - a - b) / 10.0]);
            });
        }
        let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
        let frontier = Frontier::of(&Match::overall(Reference::Posterior), &scores, &Settings::default()).unwrap();
        let targets = frontier.points().last().unwrap().counts;
        let all: Vec<(u64, f64, Section)> = (0..3u32.pow(6))
            .map(|number| {
                let labels: Vec<Label> = (0..6).map(|row| (number / 3u32.pow(row) % 3) as Label).collect();
                let value = labels.iter().enumerate().map(|(row, &label)| values[3 * row + usize::from(label)]).sum();
                let labels = Labels::new(labels, &classes).unwrap();
                let off = labels.counts().iter().zip(&targets).map(|(&count, &target)| count.abs_diff(target)).sum();
                (off, value, Section::summary(&scores, &labels).unwrap())
            })
            .collect();
        for (off, value, label_summary) in &all {
            let as_near = all.iter().filter(|(other, ..)| other <= off);
            let best = as_near.map(|(_, value, _)| *value).fold(0.0, f64::max);
            let above = frontier.frontier_gap(label_summary).unwrap();
            assert!(above >= 0.0 && (above - (best - value) / 6.0).abs() < 1e-10, "{seed}: {above} at {off}");
        }
        for point in frontier.points() {
            let labels = frontier.rule(point.to_gamma).label(&scores, &Settings::default()).unwrap().labels;
            assert_eq!(frontier.frontier_gap(&Section::summary(&scores, &labels).unwrap()), Some(0.0));
        }
    }
}

/// The gap is defined only if everyone is labeled, the people are those of the frontier, and the frontier is not by
/// group.
#[test]
fn below_the_frontier_only_where_it_can_be_said() {
    let classes = classes(2);
    let scores = Scores::new(&classes, Matrix::RowsF64(&[0.9, 0.1, 0.6, 0.4])).unwrap();
    let (aim, settings) = (Match::overall(Reference::Posterior), Settings::default());
    let frontier = Frontier::of(&aim, &scores, &settings).unwrap();
    let label_summary =
        |labels: &[Label]| Section::summary(&scores, &Labels::new(labels.to_vec(), &classes).unwrap()).unwrap();
    assert!((frontier.frontier_gap(&label_summary(&[1, 0])).unwrap() - 0.4).abs() < 1e-11, "argmax is as near");
    assert_eq!(frontier.frontier_gap(&label_summary(&[0, UNCODED])), None);
    let twice = scores.clone().with_counts(&[2, 2]).unwrap();
    assert_eq!(Frontier::of(&aim, &twice, &settings).unwrap().frontier_gap(&label_summary(&[0, 0])), None, "others");
    let groups = ["a".to_owned(), "b".to_owned()];
    let grouped = scores.clone().with_groups(Groups { codes: &[0, 1], names: &groups }).unwrap();
    let by_group = Frontier::of(&Match::by_group(Reference::Posterior), &grouped, &settings).unwrap();
    assert_eq!(by_group.frontier_gap(&label_summary(&[0, 0])), None);
}

/// Sampling is unbiased, for each row and in total, and depends on the key only.
#[test]
fn thompson_draws_each_class_with_its_probability() {
    let classes = classes(4);
    let rows = 200_000;
    let values = [0.4, 0.3, 0.2, 0.1].repeat(rows);
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let settings = Settings { seed: 9, ..Settings::default() };
    let near = |counts: Vec<u64>, shares: [f64; 4]| {
        for (count, share) in counts.iter().zip(shares) {
            let deviation = (rows as f64 * share * (1.0 - share)).sqrt();
            assert!((*count as f64 - rows as f64 * share).abs() <= 4.5 * deviation, "{counts:?}");
        }
    };
    let thompson = Rule::Thompson.fit(&scores, &settings).unwrap();
    let first = thompson.apply(&scores).unwrap();
    near(first.counts(), [0.4, 0.3, 0.2, 0.1]);
    assert_eq!(thompson.draw(&scores, 0).unwrap(), first);
    let second = thompson.draw(&scores, 1).unwrap();
    near(second.counts(), [0.4, 0.3, 0.2, 0.1]);
    // Two draws agree with probability Σ p².
    let agreed = first.values().iter().zip(second.values()).filter(|(a, b)| a == b).count();
    assert!((agreed as f64 / rows as f64 - 0.3).abs() < 0.006);
    near(Rule::TopK(2).label(&scores, &settings).unwrap().labels.counts(), [4.0 / 7.0, 3.0 / 7.0, 0.0, 0.0]);
}

/// Top-k includes all classes that tie with the k-th.
#[test]
fn top_k_keeps_ties() {
    let classes = classes(4);
    let values = [0.4, 0.2, 0.2, 0.2].repeat(10_000);
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let counts = Rule::TopK(2).label(&scores, &Settings::default()).unwrap().labels.counts();
    assert!(counts.iter().all(|&count| count > 1800), "{counts:?}");
    let argmax = Rule::TopK(1).label(&scores, &Settings::default()).unwrap().labels.counts();
    assert_eq!(argmax, [10_000, 0, 0, 0]);
}

/// Fails if seeded labels change, which requires a changelog entry.
#[test]
fn seeded_labels_are_frozen() {
    let classes = classes(3);
    let values = [0.5, 0.25, 0.25].repeat(24);
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let text = |rule: Rule| -> String {
        let labels = rule.label(&scores, &Settings { seed: 42, ..Settings::default() }).unwrap().labels;
        labels.values().iter().map(|label| char::from(b'0' + label)).collect()
    };
    assert_eq!(text(Rule::Thompson), "102210100000112102102010");
    assert_eq!(text(Rule::TopK(1)), "000000000000000000000000");
    assert_eq!(text(Rule::Match(Match::overall(Reference::Posterior))), "200000111210020001202021");
}
