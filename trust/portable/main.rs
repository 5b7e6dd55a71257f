//! Prints a hash of the labels of 13 rules on three tables, to compare processors; the output must be identical on all
//! of them.
//!
//! It is not part of a crate: build it as a binary that depends only on `crates/apportion`, for the target to compare.
use apportion::rule::*;
use apportion::*;
fn fnv(labels: &[Label]) -> u64 {
    labels.iter().fold(0xcbf29ce484222325u64, |h, &l| (h ^ l as u64).wrapping_mul(0x100000001b3))
}
fn main() {
    for &(rows, k, parts) in &[(4_000usize, 6usize, 0u32), (2_000, 4, 16), (1_000, 12, 0)] {
        let classes = Classes::new((0..k).map(|c| format!("c{c}"))).unwrap();
        let mut q: Vec<f32> = Vec::new();
        for r in 0..rows {
            let w: Vec<u64> = (0..k)
                .map(|c| {
                    let x = seed::hash(5, r as u64, c as u64) >> 44;
                    if parts > 0 { x * parts as u64 >> 20 } else { x * x >> 24 }
                })
                .map(|x| x + 1)
                .collect();
            let s: u64 = w.iter().sum();
            q.extend(w.iter().map(|&x| (x as f64 / s as f64) as f32));
        }
        let keys: Vec<u64> = (0..rows).map(|r| seed::key_of_text(&format!("NC{r}"))).collect();
        let codes: Vec<u32> = (0..rows).map(|r| (seed::hash(9, r as u64, 1) % 7) as u32).collect();
        let names: Vec<String> = (0..7).map(|g| format!("g{g}")).collect();
        let scores = Scores::new(&classes, Matrix::RowsF32(&q))
            .unwrap()
            .with_keys(Keys::Given(&keys))
            .unwrap()
            .with_groups(Groups { codes: &codes, names: &names })
            .unwrap();
        let rules: Vec<(&str, Rule)> = vec![
            ("argmax", Rule::Argmax),
            ("threshold", Rule::Threshold(Thresholds::at(0.4))),
            ("thompson", Rule::Thompson),
            ("top-2", Rule::TopK(2)),
            ("match", Rule::Match(Match::overall(Reference::Posterior))),
            ("uniform", Rule::Match(Match::overall(Reference::Uniform))),
            ("by group", Rule::Match(Match::by_group(Reference::Posterior))),
            ("coverage", Rule::Match(Match::overall(Reference::Posterior).with_coverage(0.7))),
            ("balance", Rule::Balance(Balance::new(0.9, Match::overall(Reference::Posterior)))),
            ("kl", Rule::Balance(Balance::new(0.9, Match::overall(Reference::Posterior)).with_penalty(Penalty::Kl))),
            ("l2", Rule::Balance(Balance::new(0.9, Match::by_group(Reference::Posterior)).with_penalty(Penalty::L2))),
            (
                "sample",
                Rule::FromSample(FromSample {
                    exact: JointRule::Match(Match::overall(Reference::Posterior)),
                    rows: 2_000,
                }),
            ),
            (
                "learned",
                Rule::Learned(
                    Learned::new(JointRule::Match(Match::overall(Reference::Posterior))).with_train_rows(500),
                ),
            ),
        ];
        for (name, rule) in rules {
            let found = rule.label(&scores, &Settings { seed: 11, ..Settings::default() }).unwrap();
            println!("{rows}x{k} {name}: {:016x}", fnv(found.labels.values()));
        }
    }
    println!("pointer {} bits, {} endian", usize::BITS, if cfg!(target_endian = "big") { "big" } else { "little" });
}
