//! Labels a voter file, saves a decision and audits the labels, with keys, groups, truth, shares by county and a
//! bootstrap.
#![allow(clippy::print_stdout)]

use apportion::audit::{Audit, AuditOptions, Bootstrap};
use apportion::rule::Thresholds;
use apportion::{Classes, Decision, Groups, Keys, Label, Match, Matrix, Reference, Rule, Scores, Settings, seed};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The columns of a voter file: an ID, a county, the truth, and one score column per class.
    let classes = Classes::new(["white", "black", "other"])?;
    let rows = 20_000;
    let chance = |row: usize, salt: u64| (seed::hash(7, row as u64, salt) >> 11) as f32 / (1u64 << 53) as f32;
    let ids: Vec<String> = (0..rows).map(|row| format!("NC{row:06}")).collect();
    let counties = ["Anson", "Bertie", "Wake"].map(String::from);
    let county_of: Vec<u32> = (0..rows).map(|row| (3.0 * chance(row, 1)) as u32).collect();
    let black: Vec<f32> = (0..rows).map(|row| (0.2 + 0.2 * county_of[row] as f32) * chance(row, 2)).collect();
    let other: Vec<f32> = (0..rows).map(|row| 0.1 * chance(row, 3)).collect();
    let white: Vec<f32> = black.iter().zip(&other).map(|(black, other)| 1.0 - black - other).collect();
    let truth: Vec<Label> = (0..rows)
        .map(|row| if chance(row, 4) < black[row] { 1 } else { 2 * Label::from(chance(row, 5) < other[row]) })
        .collect();

    // A view of the columns, without copies. With IDs as keys, labels do not depend on the row order.
    let keys: Vec<u64> = ids.iter().map(|id| seed::key_of_text(id)).collect();
    let scores = Scores::new(&classes, Matrix::ColumnsF32(vec![&white, &black, &other]))?
        .with_keys(Keys::Given(&keys))?
        .with_groups(Groups { codes: &county_of, names: &counties })?
        .with_truth(&truth)?;

    let rules = [
        ("argmax", Rule::Argmax),
        ("threshold .8, black .6", Rule::Threshold(Thresholds::at(0.8).with("black", 0.6))),
        ("thompson", Rule::Thompson),
        ("top-2", Rule::TopK(2)),
        ("match", Rule::Match(Match::overall(Reference::Posterior))),
        ("match by county", Rule::Match(Match::by_group(Reference::Posterior))),
    ];
    let options = AuditOptions { bootstrap: Some(Bootstrap::default()), ..AuditOptions::default() };
    println!(
        "{:<24} {:>20} {:>9} {:>9}   {:<17} undercounted",
        "rule", "counts", "accuracy", "fidelity", "accuracy 95%"
    );
    for (name, rule) in &rules {
        let labeled = rule.label(&scores, &Settings { seed: 1, ..Settings::default() })?;
        let audit = Audit::of(&scores, &labeled.labels, &options)?;
        let interval = audit.overall.intervals.as_ref().and_then(|intervals| intervals.accuracy);
        println!(
            "{name:<24} {:>20} {:>9.4} {:>9.4}   {:<17} {}",
            format!("{:?}", labeled.labels.counts()),
            audit.overall.accuracy.unwrap_or_default(),
            audit.overall.against_posterior.map_or(0.0, |distance| distance.fidelity),
            interval.map_or_else(String::new, |interval| format!("[{:.4}, {:.4}]", interval.low, interval.high)),
            audit.undercounted.map_or_else(String::new, |u| format!("{} of {}", u.by_a_person_or_more, u.of)),
        );
        if let Some(joint) = &labeled.joint {
            assert!(joint.certificate.is_closed());
            assert_eq!(labeled.labels.counts(), joint.targets);
        }
    }

    // A decision is small and serializable. It gives the same rows the same labels, and can label other rows.
    let decision = rules[5].1.fit(&scores, &Settings::default())?;
    let json = serde_json::to_string_pretty(&decision)?;
    let again: Decision = serde_json::from_str(&json)?;
    assert_eq!(again.apply(&scores)?, decision.apply(&scores)?);
    println!("\nThe decision of the last rule, {} bytes:\n{json}", json.len());
    Ok(())
}
