//! The result of a rule on a table: what summaries, comparisons and `--json` show of it.

use anyhow::Result;
use apportion::audit::{AuditOptions, Drift, Section, Tally};
use apportion::decision::Fitted;
use apportion::learn::Model;
use apportion::rule::{Allotment, Joint, JointRule};
use apportion::{Classes, Decision, Frontier, Labels, Match, Reference, Rule, Scores, Settings};
use serde_json::{Value, json};

/// The labels of all rows: one per row for each draw, or those of the people that rows represent.
pub(crate) enum Assignment {
    Labels(Vec<Labels>),
    People(Allotment),
}

impl Assignment {
    /// Returns the labels that a rule gives at each draw, its decision, and its certificate.
    pub(crate) fn by(
        rule: &Rule,
        scores: &Scores<'_>,
        settings: &Settings,
        draws: u64,
    ) -> apportion::Result<(Assignment, Decision, Option<Joint>)> {
        if scores.counts().is_some() {
            let allotted = rule.allot(scores, settings)?;
            return Ok((Assignment::People(allotted.allotment), allotted.decision, allotted.joint));
        }
        let labeled = rule.label(scores, settings)?;
        let mut all = vec![labeled.labels];
        for draw in 1..draws {
            all.push(labeled.decision.draw(scores, draw)?);
        }
        Ok((Assignment::Labels(all), labeled.decision, labeled.joint))
    }

    /// Returns the labels that a decision gives.
    pub(crate) fn of(decision: &Decision, scores: &Scores<'_>) -> apportion::Result<Assignment> {
        Ok(match scores.counts() {
            None => Assignment::Labels(vec![decision.apply(scores)?]),
            Some(_) => Assignment::People(decision.allot(scores, 0)?),
        })
    }

    /// Sums the figures of the labels, of the first draw if there are several.
    pub(crate) fn tally(&self, scores: &Scores<'_>, options: &AuditOptions) -> apportion::Result<Tally> {
        match self {
            Assignment::People(allotment) => Tally::of_allotment(scores, allotment, options),
            Assignment::Labels(draws) => Tally::of(scores, &draws[0], options),
        }
    }
}

/// Returns the frontier to the posterior, with which labels are compared; `None` without people.
pub(crate) fn frontier(scores: &Scores<'_>, settings: &Settings) -> apportion::Result<Option<Frontier>> {
    if scores.people() == 0 {
        return Ok(None);
    }
    Frontier::of(&Match::overall(Reference::Posterior), scores, settings).map(Some)
}

/// Returns drift as `--json` prints it.
pub(crate) fn drift_json(drift: &Drift) -> Value {
    json!({ "people": drift.people, "explained": drift.explained, "beyond": drift.worst().is_some() })
}

/// A sample of the rows, which was solved exactly.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) rows: u64,
    /// Whether the rule matches the reference exactly on the sample.
    pub(crate) to_match: bool,
}

/// The result of a rule, or of labels that exist already.
#[derive(Clone)]
pub(crate) struct RuleResult {
    pub(crate) name: String,
    /// Counts, shares, bias and accuracy.
    pub(crate) summary: Section,
    pub(crate) joint: Option<Joint>,
    /// The target of each class, if the rule has one.
    pub(crate) targets: Option<Vec<u64>>,
    /// The rows that were solved, if they are a sample.
    pub(crate) sample: Option<Sample>,
    /// The drift of the counts, if the decision was fitted to other rows.
    pub(crate) drift: Option<Drift>,
    /// The fidelity to the posterior within groups, if it was requested.
    pub(crate) in_groups: Option<f64>,
    /// The distance below the frontier, if it was requested; the inner value is `None` if it is undefined.
    pub(crate) frontier_gap: Option<Option<f64>>,
    /// The counts of each draw, if there are several.
    pub(crate) draws: Vec<Vec<u64>>,
}

impl RuleResult {
    /// Returns the result of argmax.
    pub(crate) fn of_argmax(scores: &Scores<'_>) -> Result<RuleResult> {
        let argmax = Rule::Argmax.fit(scores, &Settings::default())?;
        RuleResult::new("argmax", scores, &Assignment::of(&argmax, scores)?, None)
    }

    /// Summarizes labels, of the first draw if there are several.
    pub(crate) fn new(
        name: &str,
        scores: &Scores<'_>,
        assignment: &Assignment,
        joint: Option<Joint>,
    ) -> Result<RuleResult> {
        let tally = assignment.tally(scores, &AuditOptions::summary())?;
        Ok(RuleResult::of_tally(name, &tally, assignment, joint))
    }

    /// Returns the result from sums of the same labels.
    pub(crate) fn of_tally(name: &str, tally: &Tally, assignment: &Assignment, joint: Option<Joint>) -> RuleResult {
        let draws = match assignment {
            Assignment::People(_) => Vec::new(),
            Assignment::Labels(draws) => draws.iter().map(Labels::counts).collect(),
        };
        RuleResult {
            name: name.to_owned(),
            summary: tally.overall(),
            targets: joint.as_ref().map(|joint| joint.targets.clone()),
            joint,
            sample: None,
            drift: None,
            in_groups: None,
            frontier_gap: None,
            draws,
        }
    }

    /// Adds the targets that the counts should have, if the rule was solved on a sample.
    pub(crate) fn with_targets(mut self, rule: &Rule, scores: &Scores<'_>) -> Result<RuleResult> {
        if let (None, Some((exact, rows))) = (&self.joint, rule.on_sample()) {
            self.targets = Some(exact.targets(scores)?);
            let to_match = matches!(exact, JointRule::Match(_)) && exact.matching().bounds.is_empty();
            self.sample = Some(Sample { rows: rows.min(scores.rows()) as u64, to_match });
        }
        Ok(self)
    }

    /// Returns the result as `--json` prints it. Documented in docs/json.md.
    pub(crate) fn json(&self, classes: &Classes, seed: u64, decision: Option<&Decision>) -> Value {
        let summary = &self.summary;
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
            "rows": summary.rows,
            "people": summary.people,
            "labelled": summary.labeled,
            "classes": classes.names(),
            "counts": summary.counts(),
            "targets": self.targets,
            "expected_accuracy": summary.expected_accuracy,
            "accuracy": summary.accuracy,
            "fidelity": {
                "posterior": summary.fidelity_to_posterior(),
                "truth": summary.fidelity_to_truth(),
            },
            "objective": joint.filter(|joint| joint.gamma_objective.is_none())
                .map_or(summary.label_scores, |joint| joint.certificate.objective()),
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
        if let Some(gap) = self.frontier_gap {
            object["frontier_gap"] = json!(gap);
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
