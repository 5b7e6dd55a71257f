//! What a rule did to a table: for the summary, for comparisons, and as JSON.

use anyhow::Result;
use apportion::audit::{Crosstab, Drift, LabelSummary};
use apportion::decision::Fitted;
use apportion::learn::Model;
use apportion::rule::{Allotment, Joint, JointRule};
use apportion::{Classes, Decision, Frontier, Labels, Match, Reference, Rule, Scores, Settings};
use serde_json::{Value, json};

/// What rows were given: a label each, at every draw, or labels for the people that they stand for.
pub(crate) enum Given {
    Labels(Vec<Labels>),
    People(Allotment),
}

impl Given {
    /// What a rule gives, at each of some draws; its decision, and its proof.
    pub(crate) fn by(
        rule: &Rule,
        scores: &Scores<'_>,
        settings: &Settings,
        draws: u64,
    ) -> apportion::Result<(Given, Decision, Option<Joint>)> {
        if scores.counts().is_some() {
            let allotted = rule.allot(scores, settings)?;
            return Ok((Given::People(allotted.allotment), allotted.decision, allotted.joint));
        }
        let labelled = rule.label(scores, settings)?;
        let mut all = vec![labelled.labels];
        for draw in 1..draws {
            all.push(labelled.decision.draw(scores, draw)?);
        }
        Ok((Given::Labels(all), labelled.decision, labelled.joint))
    }

    /// What a decision gives.
    pub(crate) fn of(decision: &Decision, scores: &Scores<'_>) -> apportion::Result<Given> {
        Ok(match scores.counts() {
            None => Given::Labels(vec![decision.apply(scores)?]),
            Some(_) => Given::People(decision.allot(scores, 0)?),
        })
    }

    /// People by group, truth and label; of several draws at the first.
    pub(crate) fn crossing(&self, scores: &Scores<'_>) -> apportion::Result<Crosstab> {
        match self {
            Given::People(allotment) => Crosstab::of_allotment(scores, allotment),
            Given::Labels(draws) => Crosstab::of(scores, &draws[0]),
        }
    }
}

/// The frontier that labels are held against, the one to the posterior; none of nobody.
pub(crate) fn frontier(scores: &Scores<'_>, settings: &Settings) -> apportion::Result<Option<Frontier>> {
    let walk = || Frontier::of(&Match::overall(Reference::Posterior), scores, settings);
    (scores.people() > 0).then(walk).transpose()
}

/// Drift as `--json` prints it.
pub(crate) fn drift_json(drift: &Drift) -> Value {
    json!({ "people": drift.people, "explained": drift.explained, "beyond": drift.worst().is_some() })
}

/// A sample of the rows, which was solved exactly.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) rows: u64,
    /// Whether the counts were to be those of the reference.
    pub(crate) to_match: bool,
}

/// Labels, looked at.
#[derive(Clone)]
pub(crate) struct Outcome {
    pub(crate) name: String,
    pub(crate) glance: LabelSummary,
    pub(crate) joint: Option<Joint>,
    /// The reference in whole numbers, where the rule aims at one.
    pub(crate) targets: Option<Vec<u64>>,
    /// What was solved, where it was a sample of the rows.
    pub(crate) sample: Option<Sample>,
    /// By how much the counts are off what the decision was fitted to give, where it was fitted to other rows.
    pub(crate) drift: Option<Drift>,
    /// The fidelity to the posterior within groups, where it was asked for.
    pub(crate) in_groups: Option<f64>,
    /// How far it lies below the frontier; none within where that cannot be said.
    pub(crate) below_frontier: Option<Option<f64>>,
    /// The counts of every draw, where there are several.
    pub(crate) draws: Vec<Vec<u64>>,
}

impl Outcome {
    /// What argmax would give.
    pub(crate) fn of_argmax(scores: &Scores<'_>) -> Result<Outcome> {
        let argmax = Rule::Argmax.fit(scores, &Settings::default())?;
        Outcome::new("argmax", scores, &Given::of(&argmax, scores)?, None)
    }

    /// Looks at what was given; of several draws at the first.
    pub(crate) fn new(name: &str, scores: &Scores<'_>, given: &Given, joint: Option<Joint>) -> Result<Outcome> {
        let (glance, draws) = match given {
            Given::People(allotment) => (LabelSummary::of_allotment(scores, allotment)?, Vec::new()),
            Given::Labels(draws) => (LabelSummary::of(scores, &draws[0])?, draws.iter().map(Labels::counts).collect()),
        };
        let targets = joint.as_ref().map(|joint| joint.targets.clone());
        Ok(Outcome {
            name: name.to_owned(),
            glance,
            joint,
            targets,
            sample: None,
            drift: None,
            in_groups: None,
            below_frontier: None,
            draws,
        })
    }

    /// Says what the counts should have been, where the rule was solved on a sample.
    pub(crate) fn held_against(mut self, rule: &Rule, scores: &Scores<'_>) -> Result<Outcome> {
        if let (None, Some((exact, rows))) = (&self.joint, rule.on_sample()) {
            self.targets = Some(exact.targets(scores)?);
            let to_match = matches!(exact, JointRule::Match(_)) && exact.matching().bounds.is_empty();
            self.sample = Some(Sample { rows: rows.min(scores.rows()) as u64, to_match });
        }
        Ok(self)
    }

    /// As `--json` prints it. Documented in docs/json.md.
    pub(crate) fn json(&self, classes: &Classes, seed: u64, decision: Option<&Decision>) -> Value {
        let glance = &self.glance;
        let joint = self.joint.as_ref();
        let (prices, model) = match decision.map(Decision::fitted) {
            Some(Fitted::Prices(prices)) => (Some(json!(prices)), None),
            // Trees are for programs: `fit` writes them.
            Some(Fitted::Learned(Model::Forest(forest))) => {
                (None, Some(json!({ "learner": "forest", "trees": forest.trees.len() })))
            }
            Some(Fitted::Learned(model)) => (None, Some(json!(model))),
            _ => (None, None),
        };
        let mut object = json!({
            "rule": self.name,
            "rows": glance.rows,
            "people": glance.people,
            "labelled": glance.labeled,
            "classes": classes.names(),
            "counts": glance.counts,
            "targets": self.targets,
            "expected_accuracy": glance.expected_accuracy,
            "accuracy": glance.accuracy,
            "fidelity": {
                "posterior": glance.fidelity_to_posterior,
                "truth": glance.fidelity_to_truth,
            },
            "objective": joint.filter(|joint| joint.gamma_objective.is_none())
                .map_or(glance.label_scores, |joint| joint.certificate.objective()),
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
        if let Some(fidelity) = self.in_groups {
            object["fidelity"]["posterior_in_groups"] = json!(fidelity);
        }
        if let Some(below) = self.below_frontier {
            object["below_frontier"] = json!(below);
        }
        if let Some(model) = model {
            object["model"] = model;
        }
        if let Some(sample) = self.sample {
            object["sample"] = json!(sample.rows);
        }
        if let Some(drift) = &self.drift {
            object["drift"] = drift_json(drift);
        }
        if self.draws.len() > 1 {
            object["draws"] = json!(self.draws);
        }
        object
    }
}
