//! What a rule did to a table: for the summary, for comparisons, and as JSON.

use anyhow::Result;
use apportion::{Allotment, Audit, AuditOptions, Decision, Fitted, Joint, Labels, Scores, Section};
use serde_json::{Value, json};

/// What rows were given: a label each, at every draw, or labels for the people that they stand for.
pub(crate) enum Given {
    Labels(Vec<Labels>),
    People(Allotment),
}

impl Given {
    /// What a decision gives.
    pub(crate) fn of(decision: &Decision, scores: &Scores<'_>) -> apportion::Result<Given> {
        Ok(match scores.counts() {
            None => Given::Labels(vec![decision.apply(scores)?]),
            Some(_) => Given::People(decision.allot(scores, 0)?),
        })
    }
}

/// Labels, looked at.
pub(crate) struct Outcome {
    pub(crate) name: String,
    pub(crate) audit: Audit,
    pub(crate) joint: Option<Joint>,
    /// The counts of every draw, where there are several.
    draws: Vec<Vec<u64>>,
}

impl Outcome {
    /// Looks at what was given; of several draws at the first.
    pub(crate) fn new(name: &str, scores: &Scores<'_>, given: &Given, joint: Option<Joint>) -> Result<Outcome> {
        let options = AuditOptions::default();
        let (audit, draws) = match given {
            Given::People(allotment) => (Audit::of_people(scores, allotment, &options)?, Vec::new()),
            Given::Labels(draws) => {
                (Audit::of(scores, &draws[0], &options)?, draws.iter().map(Labels::counts).collect())
            }
        };
        Ok(Outcome { name: name.to_owned(), audit, joint, draws })
    }

    pub(crate) fn section(&self) -> &Section {
        &self.audit.overall
    }

    pub(crate) fn counts(&self) -> Vec<u64> {
        self.section().classes.iter().map(|class| class.labels).collect()
    }

    /// As `--json` prints it. Documented in docs/json.md.
    pub(crate) fn json(&self, seed: u64, decision: Option<&Decision>) -> Value {
        let section = self.section();
        let objective = section.expected_accuracy.map(|mean| mean * section.labelled as f64);
        let joint = self.joint.as_ref();
        let prices = decision.and_then(|decision| match decision.fitted() {
            Fitted::Prices(prices) => Some(json!(prices)),
            _ => None,
        });
        let mut object = json!({
            "rule": self.name,
            "rows": section.rows,
            "people": section.people,
            "labelled": section.labelled,
            "classes": self.audit.classes.names(),
            "counts": self.counts(),
            "targets": joint.map(|joint| &joint.targets),
            "expected_accuracy": section.expected_accuracy,
            "accuracy": section.accuracy,
            "fidelity": {
                "posterior": section.against_posterior.as_ref().map(|distance| distance.fidelity),
                "truth": section.against_truth.as_ref().map(|distance| distance.fidelity),
            },
            "objective": joint.filter(|joint| joint.gamma_objective.is_none())
                .map(|joint| joint.certificate.objective()).or(objective),
            "gamma_objective": joint.and_then(|joint| joint.gamma_objective),
            "prices": prices,
            "certificate": joint.map(|joint| json!({
                "primal": joint.certificate.primal.to_string(),
                "dual": joint.certificate.dual.to_string(),
                "gap": joint.certificate.gap(),
            })),
            "seed": seed,
            "tied_rows": joint.map(|joint| joint.tied_rows),
        });
        if self.draws.len() > 1 {
            object["draws"] = json!(self.draws);
        }
        object
    }
}
