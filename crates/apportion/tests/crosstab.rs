//! A backdrop and a crossing say of people and labels what a whole audit says.

use apportion::audit::{Audit, AuditOptions, Crosstab, PopulationTotals, calibration_in_tenths, posterior_coverage};
use apportion::rule::Thresholds;
use apportion::{Classes, Groups, Labels, Matrix, Rule, Scores, Settings, UNCODED};

#[test]
fn a_crossing_agrees_with_the_audit() {
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
    let crosstab = Crosstab::of(&scores, &labels).unwrap();
    assert_eq!(crosstab.groups(), 3);
    assert_eq!(Some(crosstab.confusion()), audit.overall.confusion.as_ref().map(|confusion| confusion.people.clone()));
    let population = PopulationTotals::of(&scores).unwrap();
    for (totals, section) in std::iter::once((&population.whole, &audit.overall))
        .chain(audit.groups.iter().map(|group| (&population.groups[group.code], &group.section)))
    {
        assert_eq!(totals.people, section.people);
        let of =
            |each: &dyn Fn(&apportion::audit::ClassAudit) -> Option<f64>| section.classes.iter().map(each).collect();
        assert_eq!(totals.posterior, of(&|class| class.posterior_share));
        assert_eq!(totals.posterior_with_truth, of(&|class| class.posterior_share_with_truth));
        let truth: Option<Vec<u64>> = section.classes.iter().map(|class| class.truth_count).collect();
        assert_eq!(totals.truth, truth);
    }
    for (own, class) in calibration_in_tenths(&scores).unwrap().iter().zip(&audit.overall.classes) {
        assert_eq!(own.as_ref(), class.calibration.as_ref().map(|whole| &whole.equal_width));
    }
    let is_labeled = |row: usize| (labels.values()[row] != UNCODED).into();
    let coverage = posterior_coverage(&scores, &population.whole, is_labeled).unwrap();
    for (own, class) in coverage.iter().zip(&audit.overall.classes) {
        assert!((own.unwrap() - class.posterior_coverage.unwrap()).abs() < 1e-12);
    }
    for group in &audit.groups {
        let own: Vec<u64> =
            group.section.classes.iter().map(|class| class.labels).chain([group.section.uncoded]).collect();
        assert_eq!(crosstab.labels_in(group.code), own);
    }
    assert_eq!(crosstab.labels_in(2), [0; 4]);

    // The same, where each row stands for two: with counts, and as an allotment.
    let counts = vec![2; rows];
    let doubled = scores.clone().with_counts(&counts).unwrap();
    let twice: Vec<u64> = crosstab.labels_in(1).iter().map(|people| 2 * people).collect();
    assert_eq!(Crosstab::of(&doubled, &labels).unwrap().labels_in(1), twice);
    let allotted = Rule::Threshold(Thresholds::at(0.6)).allot(&doubled, &Settings::default()).unwrap();
    assert_eq!(Crosstab::of_allotment(&doubled, &allotted.allotment).unwrap().labels_in(1), twice);
    assert!(Crosstab::of(&scores, &Labels::new(vec![0], &classes).unwrap()).is_err());
}
