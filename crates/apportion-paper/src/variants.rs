//! Further rules on simulated voters: top-k and thresholds at more settings, batches, other penalties, and the uniform
//! reference.

use apportion::audit::Section;
use apportion::rule::{Batches, Penalty, Thresholds};
use apportion::{Balance, Match, Reference, Result, Rule, Scores, Settings};
use rayon::prelude::*;

use crate::voters::Outcome;

/// The values of k for top-k sampling, as in the paper's published code.
pub const TOP_K: [usize; 4] = [2, 3, 4, 5];

/// The thresholds.
pub const THRESHOLDS: [f64; 10] = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/// The values of γ for other penalties and for the uniform reference.
pub const VARIANT_GAMMAS: [f64; 5] = [0.99, 0.95, 0.9, 0.85, 0.8];

/// The number of rows per batch in the paper.
pub const BATCH: usize = 10_000;

/// A family of rules with one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Top-k sampling, by k.
    TopK,
    /// Thresholds.
    Threshold,
    /// Match batch by batch; the setting is the number of rows per batch.
    BatchedMatch,
    /// Balance at γ 0.9 batch by batch; the setting is the number of rows per batch.
    BatchedBalance,
    /// Balance with the penalty √Σ (m − p)², by γ.
    L2,
    /// Balance with the penalty Σ m ln(m/p), by γ.
    Kl,
    /// Balance with equal shares as reference, by γ. γ = 0 is match.
    Uniform,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 7] = [
        Family::TopK,
        Family::Threshold,
        Family::BatchedMatch,
        Family::BatchedBalance,
        Family::L2,
        Family::Kl,
        Family::Uniform,
    ];

    /// Returns the name in files and legends.
    pub fn name(self) -> &'static str {
        match self {
            Family::TopK => "top-k",
            Family::Threshold => "threshold",
            Family::BatchedMatch => "match in batches",
            Family::BatchedBalance => "balance γ 0.9 in batches",
            Family::L2 => "balance with l2",
            Family::Kl => "balance with KL",
            Family::Uniform => "balance to uniform",
        }
    }

    /// Returns the name of its setting.
    pub fn setting(self) -> &'static str {
        match self {
            Family::TopK => "k",
            Family::Threshold => "threshold",
            Family::BatchedMatch | Family::BatchedBalance => "rows per batch",
            Family::L2 | Family::Kl | Family::Uniform => "γ",
        }
    }

    fn settings(self) -> Vec<f64> {
        match self {
            Family::TopK => TOP_K.map(|k| k as f64).to_vec(),
            Family::Threshold => THRESHOLDS.to_vec(),
            Family::BatchedMatch | Family::BatchedBalance => vec![BATCH as f64],
            Family::L2 | Family::Kl => VARIANT_GAMMAS.to_vec(),
            Family::Uniform => VARIANT_GAMMAS.into_iter().chain([0.0]).collect(),
        }
    }
}

/// A rule of a family, and its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The family.
    pub family: Family,
    /// The setting.
    pub setting: f64,
    /// The results.
    pub outcome: Outcome,
    /// The number of people of each class, by the labels.
    pub counts: Vec<u64>,
}

/// Runs all rules of all families.
pub(crate) fn variants(scores: &Scores<'_>, settings: &Settings) -> Result<Vec<Variant>> {
    let each = Family::ALL.into_iter().flat_map(|family| family.settings().into_iter().map(move |own| (family, own)));
    let each: Vec<(Family, f64)> = each.collect();
    let run = |(family, setting)| {
        let summary = summary(family, setting, scores, settings)?;
        Ok(Variant { family, setting, outcome: Outcome::from(&summary), counts: summary.counts() })
    };
    each.into_par_iter().map(run).collect()
}

fn summary(family: Family, setting: f64, scores: &Scores<'_>, settings: &Settings) -> Result<Section> {
    let posterior = || Match::overall(Reference::Posterior);
    let batches = Batches { size: BATCH, within_groups: false };
    let rule = match family {
        Family::TopK => Rule::TopK(setting as usize),
        Family::Threshold => Rule::Threshold(Thresholds::at(setting)),
        Family::L2 => Rule::Balance(Balance::new(setting, posterior()).with_penalty(Penalty::L2)),
        Family::Kl => Rule::Balance(Balance::new(setting, posterior()).with_penalty(Penalty::Kl)),
        Family::Uniform => Rule::Balance(Balance::new(setting, Match::overall(Reference::Uniform))),
        Family::BatchedMatch => {
            let batched = batches.label_match(&posterior(), scores, settings)?;
            return Section::summary(scores, &batched.labels);
        }
        Family::BatchedBalance => {
            let batched = batches.label_balance(&Balance::new(0.9, posterior()), scores, settings)?;
            return Section::summary(scores, &batched.labels);
        }
    };
    Section::summary(scores, &rule.label(scores, settings)?.labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::simulate::{Normal, PAPER_PRIOR};
    use apportion::{Classes, Label, Matrix};

    use crate::dataset::Dataset;

    const ROWS: usize = 8;
    const K: usize = 3;

    /// Scores without ties, and truths.
    fn few() -> (Vec<f64>, Vec<Label>) {
        let mut state = 12_345_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            0.05 + (state >> 40) as f64 / (1u64 << 24) as f64
        };
        let mut values = Vec::new();
        for _ in 0..ROWS {
            let row = [2.0 * next(), next(), next()];
            values.extend(row.map(|value| value / row.iter().sum::<f64>()));
        }
        (values, vec![0, 1, 2, 0, 0, 1, 0, 2])
    }

    /// Distance of shares m from a reference p.
    fn distance(family: Family, m: [f64; K], p: [f64; K]) -> f64 {
        let both = m.into_iter().zip(p);
        match family {
            Family::L2 => both.map(|(m, p)| (m - p) * (m - p)).sum::<f64>().sqrt(),
            Family::Kl => both.map(|(m, p)| if m > 0.0 { m * (m / p).ln() } else { 0.0 }).sum(),
            _ => both.map(|(m, p)| (m - p).abs()).sum(),
        }
    }

    /// The best of all 6,561 labelings of eight rows, by the definition of each rule.
    #[test]
    fn penalties_and_the_uniform_reference_are_those_of_all_labelings() {
        let (values, truth) = few();
        let classes = Classes::new(["a", "b", "c"]).unwrap();
        let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap().with_truth(&truth).unwrap();
        let posterior: [f64; K] =
            std::array::from_fn(|class| values.iter().skip(class).step_by(K).sum::<f64>() / ROWS as f64);
        let share_of = |labels: &[usize; ROWS]| -> [f64; K] {
            std::array::from_fn(|class| labels.iter().filter(|&&own| own == class).count() as f64 / ROWS as f64)
        };
        for family in [Family::L2, Family::Kl, Family::Uniform] {
            let reference = if family == Family::Uniform { [1.0 / 3.0; K] } else { posterior };
            for gamma in family.settings() {
                let labelings = (0..K.pow(ROWS as u32))
                    .map(|code| -> [usize; ROWS] { std::array::from_fn(|row| code / K.pow(row as u32) % K) });
                let objective = |labels: &[usize; ROWS]| {
                    let score: f64 = labels.iter().enumerate().map(|(row, own)| values[row * K + own]).sum();
                    // At γ = 0, fidelity comes first and accuracy second.
                    let gamma = if gamma == 0.0 { 1e-6 } else { gamma };
                    gamma * score / ROWS as f64 - (1.0 - gamma) * distance(family, share_of(labels), reference)
                };
                let best = labelings.max_by(|a, b| objective(a).total_cmp(&objective(b))).unwrap();
                let right = best.iter().zip(&truth).filter(|(own, truth)| **own == usize::from(**truth)).count();
                let found = Outcome::from(&summary(family, gamma, &scores, &Settings::default()).unwrap());
                assert_eq!(found.accuracy, right as f64 / ROWS as f64, "{family:?} at {gamma}");
                let expected = -distance(Family::Uniform, share_of(&best), posterior);
                assert!((found.fidelity_to_posterior - expected).abs() < 1e-9, "{family:?} at {gamma}: {found:?}");
            }
        }
    }

    /// Thresholds against a count of rows, top-k against the renormalized scores, batches against match.
    #[test]
    fn thresholds_top_k_and_batches_are_those_of_a_direct_computation() {
        let rows = 25_000;
        let dataset = Dataset::draw(&Normal::new(&PAPER_PRIOR, 0.5, 3).unwrap(), rows as u64).unwrap();
        let scores = dataset.scores().unwrap();
        let (values, truth) = dataset.rows();
        let all = variants(&scores, &Settings::default()).unwrap();
        assert_eq!(all.len(), 4 + 10 + 1 + 1 + 5 + 5 + 6);
        let posterior: Vec<f64> =
            (0..6).map(|class| values.iter().skip(class).step_by(6).sum::<f64>() / rows as f64).collect();
        let to_posterior = |shares: &[f64]| -shares.iter().zip(&posterior).map(|(a, b)| (a - b).abs()).sum::<f64>();
        for variant in &all {
            let found = variant.outcome;
            match variant.family {
                Family::Threshold => {
                    let (mut labeled, mut right, mut counts) = (0, 0, [0.0; 6]);
                    for (row, truth) in values.chunks_exact(6).zip(truth) {
                        if let Some(class) = row.iter().position(|&score| score >= variant.setting) {
                            labeled += 1;
                            right += usize::from(class == usize::from(*truth));
                            counts[class] += 1.0;
                        }
                    }
                    let shares = counts.map(|count| count / f64::from(labeled));
                    assert!((found.coverage - f64::from(labeled) / rows as f64).abs() < 1e-12, "{variant:?}");
                    assert!((found.accuracy - right as f64 / f64::from(labeled)).abs() < 1e-12, "{variant:?}");
                    assert!((found.fidelity_to_posterior - to_posterior(&shares)).abs() < 1e-6, "{variant:?}");
                }
                Family::TopK => {
                    let (mut right, mut shares) = (0.0, [0.0; 6]);
                    for (row, truth) in values.chunks_exact(6).zip(truth) {
                        let mut sorted = row.to_vec();
                        sorted.sort_by(|a, b| b.total_cmp(a));
                        let (least, sum) = (
                            sorted[variant.setting as usize - 1],
                            sorted[..variant.setting as usize].iter().sum::<f64>(),
                        );
                        let chance = |class: usize| if row[class] >= least { row[class] / sum } else { 0.0 };
                        right += chance(usize::from(*truth)) / rows as f64;
                        shares.iter_mut().enumerate().for_each(|(class, share)| *share += chance(class) / rows as f64);
                    }
                    // Five standard errors of 25,000 draws.
                    assert!((found.accuracy - right).abs() < 5.0 * 0.5 / (rows as f64).sqrt(), "{variant:?}: {right}");
                    let expected = to_posterior(&shares);
                    assert!((found.fidelity_to_posterior - expected).abs() < 0.02, "{variant:?}: {expected}");
                }
                Family::BatchedMatch => {
                    // Three batches, each off by less than one person per class.
                    assert!(found.fidelity_to_posterior > -3.0 * 6.0 / rows as f64, "{variant:?}");
                    let whole = Rule::Match(Match::overall(Reference::Posterior));
                    let whole = Outcome::of(&whole, &scores, &Settings::default()).unwrap();
                    assert!((found.accuracy - whole.accuracy).abs() < 0.003 && found != whole, "{variant:?}");
                }
                _ => assert_eq!(found.coverage, 1.0),
            }
        }
        // With a single batch, there is no difference.
        let small = Dataset::draw(&Normal::new(&PAPER_PRIOR, 0.5, 3).unwrap(), 500).unwrap();
        let (scores, settings) = (small.scores().unwrap(), Settings::default());
        let balance = Rule::Balance(Balance::new(0.9, Match::overall(Reference::Posterior)));
        let expected = Outcome::of(&balance, &scores, &settings).unwrap();
        let batched = summary(Family::BatchedBalance, BATCH as f64, &scores, &settings).unwrap();
        assert_eq!(Outcome::from(&batched), expected);
    }
}
