//! Tests on a synthetic North Carolina of 100,000 voters, against the optimum found by POT's `emd` and argmax labels
//! from NumPy.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use apportion::audit::*;
use apportion::*;
use common::voters::*;
use parquet::record::RowAccessor;

#[test]
fn the_matched_objective_is_that_of_an_independent_solver() {
    let Some(voters) = voters() else { return };
    let scores = Scores::new(&voters.classes, Matrix::RowsF64(&voters.scores)).unwrap();
    let settings = Settings::default();
    let matched = Rule::Match(Match::overall(Reference::Posterior)).label(&scores, &settings).unwrap();
    let joint = matched.joint.unwrap();
    assert!((joint.certificate.objective() - 78236.0170387).abs() < 1e-6, "{}", joint.certificate.objective());
    assert!(joint.certificate.is_closed());
    assert_eq!(matched.decision.certify(&scores, &matched.labels).unwrap(), joint.certificate);

    let argmax = Rule::Argmax.label(&scores, &settings).unwrap();
    let mut counts = vec![0; CLASSES.len()];
    for (index, row) in rows("nc_synth_100k_matched.parquet").unwrap().iter().enumerate() {
        assert_eq!(voters.classes.name(argmax.labels.values()[index]), row.get_string(1).unwrap());
        counts[voters.classes.position(row.get_string(2).unwrap()).unwrap()] += 1;
    }
    assert_eq!(matched.labels.counts(), counts);
}

#[test]
fn every_county_is_matched_to_its_own_posterior_and_truth() {
    let Some(voters) = voters() else { return };
    let groups = Groups { codes: &voters.counties, names: &voters.county_names };
    let scores = Scores::new(&voters.classes, Matrix::RowsF64(&voters.scores)).unwrap();
    let scores = scores.with_groups(groups).unwrap().with_truth(&voters.truth).unwrap();
    let settings = Settings::default();
    for reference in [Reference::Posterior, Reference::Truth] {
        let matched = Rule::Match(Match::by_group(reference.clone())).label(&scores, &settings).unwrap();
        assert!(matched.joint.as_ref().unwrap().certificate.is_closed());
        let proof = matched.decision.certify(&scores, &matched.labels).unwrap();
        assert_eq!(proof, matched.joint.unwrap().certificate);
        assert_eq!(matched.decision.apply(&scores).unwrap(), matched.labels);
        let audit = Audit::of(&scores, &matched.labels, &AuditOptions::default()).unwrap();
        if reference == Reference::Posterior {
            let undercounted = audit.undercounted.unwrap();
            assert_eq!((undercounted.by_a_person_or_more, undercounted.of), (0, 100));
        }
        for group in &audit.groups {
            let distance = match reference {
                Reference::Posterior => group.section.against_posterior.as_ref().unwrap(),
                _ => group.section.against_truth.as_ref().unwrap(),
            };
            // Largest remainders differ by less than one person per class.
            assert!(-distance.fidelity < CLASSES.len() as f64 / group.section.people as f64, "{}", group.name);
        }
    }
}
