//! The totals and label counts of a tally equal the figures of the audit.

use apportion::audit::{Audit, AuditOptions, Tally};
use apportion::rule::Thresholds;
use apportion::{Classes, Groups, Labels, Matrix, Rule, Scores, Settings, UNCODED};

#[test]
fn totals_agree_with_the_audit() {
    let classes = Classes::new(["a", "b", "c"]).unwrap();
    let rows = 5_000usize;
    let mut q = Vec::new();
    for row in 0..rows {
        let (a, b) = ((row * 37 % 101) as f64, (row * 53 % 89) as f64);
        q.extend([a / (a + b + 20.0), b / (a + b + 20.0), 20.0 / (a + b + 20.0)]);
    }
    let names = vec!["north".to_owned(), "south".to_owned(), "nobody".to_owned()];
    let codes: Vec<u32> = (0..rows).map(|row| (row % 7 == 0).into()).collect();
    let truth: Vec<_> = (0..rows).map(|row| if row % 5 == 4 { UNCODED } else { (row % 3) as _ }).collect();
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
    let scores = scores.with_groups(Groups { codes: &codes, names: &names }).unwrap().with_truth(&truth).unwrap();
    let labels = Rule::Threshold(Thresholds::at(0.6)).label(&scores, &Settings::default()).unwrap().labels;

    let audit = Audit::of(&scores, &labels, &AuditOptions::default()).unwrap();
    let tally = Tally::of(&scores, &labels, &AuditOptions::summary_by_group()).unwrap();
    assert_eq!(tally.groups(), 3);
    let groups = audit.groups.iter().map(|group| (Some(group.code), &group.section));
    for (group, section) in std::iter::once((None, &audit.overall)).chain(groups) {
        let totals = tally.totals(group);
        assert_eq!(totals.people, section.people);
        let of =
            |each: &dyn Fn(&apportion::audit::ClassAudit) -> Option<f64>| section.classes.iter().map(each).collect();
        assert_eq!(totals.posterior, of(&|class| class.posterior_share));
        assert_eq!(totals.posterior_with_truth, of(&|class| class.posterior_share_with_truth));
        let truth: Option<Vec<u64>> = section.classes.iter().map(|class| class.truth_count).collect();
        assert_eq!(totals.truth, truth);
        assert_eq!(totals.with_truth(), section.with_truth);
        assert_eq!(totals.truth_share(1), section.classes[1].truth_share);
        let others = section.classes[1].posterior_share.unwrap() + section.classes[2].posterior_share.unwrap();
        assert!((totals.posterior_of_others(0) - others).abs() < 1e-12);
        let labels: Vec<u64> = section.counts().into_iter().chain([section.uncoded]).collect();
        assert_eq!(tally.labels(group), labels);
    }
    assert_eq!(tally.labels(Some(2)), [0; 4]);
    assert_eq!((tally.totals(Some(2)).people, tally.totals(Some(2)).posterior_share(1)), (0, 0.0));

    // The same if each row represents two people: with counts, and as an allotment.
    let counts = vec![2; rows];
    let doubled = scores.clone().with_counts(&counts).unwrap();
    let twice: Vec<u64> = tally.labels(Some(1)).iter().map(|people| 2 * people).collect();
    let options = AuditOptions::summary_by_group();
    assert_eq!(Tally::of(&doubled, &labels, &options).unwrap().labels(Some(1)), twice);
    let allotted = Rule::Threshold(Thresholds::at(0.6)).allot(&doubled, &Settings::default()).unwrap();
    assert_eq!(Tally::of_allotment(&doubled, &allotted.allotment, &options).unwrap().labels(Some(1)), twice);
    assert!(Tally::of(&scores, &Labels::new(vec![0], &classes).unwrap(), &options).is_err());
}
