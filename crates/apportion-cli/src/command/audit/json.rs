//! An audit as `--json` prints it. Documented in docs/json.md.

use apportion::audit::{Bias, ClassAudit, Distance, Others, Section, Split};
use serde_json::{Value, json};

use super::{Drifted, Findings};
use crate::rule_result::drift_json;

/// Returns all figures: those of all rows, and in `groups` those of each group.
pub(super) fn of(findings: &Findings) -> Value {
    let audit = &findings.audit;
    let names = audit.classes.names();
    let mut all = section(&audit.overall, names);
    all["classes"] = json!(names);
    all["frontier_gap"] = json!(findings.frontier_gap);
    all["confusion"] = json!(audit.overall.confusion.as_ref().map(|confusion| &confusion.people));
    all["calibration"] = by_class(&audit.overall, |class| json!(class.calibration));
    if let Some(intervals) = &audit.overall.intervals {
        all["intervals"] = json!(intervals);
    }
    if let Some(Drifted { drift: Some(drift), .. }) = &findings.drifted {
        all["drift"] = drift_json(drift);
    }
    all["focus"] = json!(audit.focus.map(|focus| &names[focus]));
    if let Some(undercounted) = &audit.undercounted {
        all["undercounted"] = json!(undercounted);
    }
    if let Some(fidelity) = audit.fidelity_in_groups {
        all["fidelity"]["posterior_in_groups"] = json!(fidelity);
    }
    let mut groups = Vec::with_capacity(audit.groups.len());
    for group in &audit.groups {
        let mut own = section(&group.section, names);
        own["group"] = json!(group.name);
        groups.push(own);
    }
    all["groups"] = groups.into();
    all
}

/// Returns the figures of all rows or of one group.
fn section(section: &Section, names: &[String]) -> Value {
    let error = &section.score_error;
    json!({
        "rows": section.rows,
        "people": section.people,
        "labelled": section.counts().iter().sum::<u64>(),
        "uncoded": section.uncoded,
        "coverage": section.coverage,
        "with_truth": section.with_truth,
        "counts": section.counts(),
        "shares": by_class(section, |class| json!(class.share)),
        "posterior_sums": section.posterior_sums(),
        "truth_counts": by_class(section, |class| json!(class.truth_count)),
        "accuracy": section.accuracy,
        "accuracy_interval": section.accuracy_interval,
        "expected_accuracy": section.expected_accuracy,
        "fidelity": {
            "posterior": section.fidelity_to_posterior(),
            "truth": section.fidelity_to_truth(),
        },
        "distance": {
            "posterior": section.against_posterior.map(distance),
            "truth": section.against_truth.map(distance),
        },
        "bias": {
            "posterior": by_class(section, |class| json!(class.against_posterior.map(|bias| bias.difference))),
            "truth": by_class(section, |class| json!(class.against_truth.map(|bias| bias.difference))),
        },
        "bias_percent": {
            "posterior": by_class(section, |class| percent(class.against_posterior)),
            "truth": by_class(section, |class| percent(class.against_truth)),
        },
        "bias_people": {
            "posterior": by_class(section, |class| json!(class.against_posterior.map(|bias| bias.people))),
            "truth": by_class(section, |class| json!(class.against_truth.map(|bias| bias.people))),
        },
        "split": by_class(section, |class| split(class.split)),
        "calibration_error": by_class(section, |class| {
            json!(class.calibration.as_ref().map(|own| own.equal_width.expected_error))
        }),
        "kuiper": by_class(section, |class| json!(class.calibration.as_ref().map(|own| own.kuiper))),
        "rates": by_class(section, |class| json!(class.rates)),
        "class_coverage": {
            "posterior": by_class(section, |class| json!(class.posterior_coverage)),
            "truth": by_class(section, |class| json!(class.truth_coverage)),
        },
        "mae": error.implied_mae,
        "mae_in_truth": error.observed_mae,
        "argmax_bias": error.argmax.map(|argmax| json!({
            "class": names[argmax.class],
            "bias": argmax.bias,
            "bound_holds": argmax.bound_holds,
        })),
        "argmax_counts": by_class(section, |class| json!(class.argmax)),
        "argmax_agreement": section.argmax_agreement,
        "tied": section.tied,
        "uncoded_rows": section.uncoded_rows,
        "others": section.others.as_ref().map(others),
    })
}

/// Returns a list with a value for each class.
fn by_class(section: &Section, value: impl Fn(&ClassAudit) -> Value) -> Value {
    section.classes.iter().map(value).collect()
}

/// Returns a distance without its fidelity, which has a key of its own.
fn distance(distance: Distance) -> Value {
    json!({ "l1": distance.l1, "l2": distance.l2, "kl": distance.kl })
}

fn percent(bias: Option<Bias>) -> Value {
    json!(bias.and_then(|bias| bias.percent))
}

/// Returns both parts of a bias in percent of the true share; null if no one is of the class.
fn split(split: Option<Split>) -> Value {
    let parts = split.and_then(|split| Some((split.miscalibration.percent?, split.discretization.percent?)));
    match parts {
        Some((miscalibration, discretization)) => {
            json!({ "miscalibration": miscalibration, "discretization": discretization })
        }
        None => Value::Null,
    }
}

/// Returns the shares of all classes except the focus class, together.
fn others(others: &Others) -> Value {
    json!({
        "share": others.share,
        "posterior_share": others.posterior_share,
        "truth_share": others.truth_share,
        "bias": {
            "posterior": others.against_posterior.map(|bias| bias.difference),
            "truth": others.against_truth.map(|bias| bias.difference),
        },
    })
}
