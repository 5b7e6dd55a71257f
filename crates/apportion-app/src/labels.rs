//! The result of a rule on a table: labels or allotments, their counts and accuracy, and their certificate.

use apportion::audit::{AuditOptions, ClassAudit, Drift, Section, Tally};
use apportion::decision::{Fitted, GroupPrices};
use apportion::learn::{Linear, Model};
use apportion::rule::{Allotment, Joint, JointRule};
use apportion::{Classes, Decision, Label, Labels, Rule, Scores, Settings, UNCODED};
use apportion_io::{Assigned, Table};
use serde::Serialize;

use crate::Result;
use crate::provenance::SavedCertificate;

/// The labels of rows: one label per row and draw, or the number of people with each label if rows represent several.
#[derive(Clone, Debug)]
pub enum Assignment {
    /// A label for each row, at every draw.
    Labels(Vec<Labels>),
    /// The number of people of each row in each class.
    People(Allotment),
}

impl Assignment {
    /// Returns the assignment of a rule for each of some draws, with its decision and certificate.
    ///
    /// # Errors
    /// If the rule cannot be solved for these scores.
    pub fn of_rule(
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

    /// Returns the assignment of a decision.
    ///
    /// # Errors
    /// If the decision does not fit these scores.
    pub fn of_decision(decision: &Decision, scores: &Scores<'_>) -> apportion::Result<Assignment> {
        Ok(match scores.counts() {
            None => Assignment::Labels(vec![decision.apply(scores)?]),
            Some(_) => Assignment::People(decision.allot(scores, 0)?),
        })
    }

    /// Sums the figures of the labels; if there are several draws, those of the first.
    ///
    /// # Errors
    /// If the scores cannot be read.
    pub fn tally(&self, scores: &Scores<'_>, options: &AuditOptions) -> apportion::Result<Tally> {
        match self {
            Assignment::People(allotment) => Tally::of_allotment(scores, allotment, options),
            Assignment::Labels(draws) => Tally::of(scores, &draws[0], options),
        }
    }

    /// Returns the columns to write.
    pub fn assigned(&self) -> Assigned<'_> {
        match self {
            Assignment::Labels(draws) => Assigned::Labels(draws),
            Assignment::People(allotment) => Assigned::People(allotment),
        }
    }

    /// Returns the columns in memory, for all rows of the table.
    pub fn columns(&self, table: &Table) -> Vec<LabelColumn> {
        match self {
            Assignment::Labels(draws) => draws.iter().map(|labels| codes(table, labels.values())).collect(),
            Assignment::People(allotment) => {
                let people = |class: usize| (0..table.rows()).map(move |row| allotment.row(row)[class]);
                let column = |class| LabelColumn::People(table.row_mask().spread(people(class)).collect());
                (0..=table.classes().len()).map(column).collect()
            }
        }
    }
}

/// Labels in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelColumn {
    /// The class index of each row; −1 for unlabeled rows.
    Codes(Vec<i16>),
    /// The number of people of each row in a class; `None` for excluded rows. The last column contains unlabeled
    /// people.
    People(Vec<Option<u64>>),
}

impl LabelColumn {
    /// Returns the codes of the labels of all rows.
    pub(crate) fn of(labels: &[Label]) -> LabelColumn {
        LabelColumn::Codes(labels.iter().map(code).collect())
    }
}

fn code(&label: &Label) -> i16 {
    if label == UNCODED { -1 } else { i16::from(label) }
}

fn codes(table: &Table, labels: &[Label]) -> LabelColumn {
    if table.row_mask().total() == labels.len() {
        return LabelColumn::of(labels);
    }
    let all = table.row_mask().spread(labels.iter().map(code));
    LabelColumn::Codes(all.map(|code| code.unwrap_or(-1)).collect())
}

/// The labels of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLabels {
    /// The name of the group.
    pub name: String,
    /// The number of people with each label, then without a label.
    pub counts: Vec<u64>,
    /// The target of each class, if the rule is by group and has targets.
    pub targets: Option<Vec<u64>>,
}

impl GroupLabels {
    /// Counts the labels of every group; if there are several draws, those of the first.
    pub fn all(assignment: &Assignment, scores: &Scores<'_>, result: &RuleResult) -> Vec<GroupLabels> {
        let Some(groups) = scores.groups() else { return Vec::new() };
        let classes = scores.classes().len();
        let mut counts = vec![vec![0; classes + 1]; groups.names.len()];
        for (row, &code) in groups.codes.iter().enumerate() {
            let own = &mut counts[code as usize];
            match assignment {
                Assignment::Labels(draws) => own[usize::from(draws[0].values()[row]).min(classes)] += 1,
                Assignment::People(people) => {
                    people.row(row).iter().zip(own).for_each(|(people, count)| *count += people);
                }
            }
        }
        let targets = result.joint.as_ref().map(|joint| &joint.group_targets[..]).unwrap_or_default();
        let group = |(index, counts): (usize, Vec<u64>)| GroupLabels {
            name: groups.names[index].clone(),
            counts,
            targets: targets.get(index).cloned(),
        };
        counts.into_iter().enumerate().map(group).collect()
    }
}

/// A sample of the rows that was solved exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its number of rows.
    pub rows: u64,
    /// Whether its counts match the reference.
    pub is_matched: bool,
}

/// The labels of a rule, with their counts, accuracy and certificate.
#[derive(Clone, Debug)]
pub struct RuleResult {
    /// The name of the rule.
    pub name: String,
    /// Counts, accuracy and fidelity.
    pub summary: Section,
    /// The certificate, if the rule is joint.
    pub joint: Option<Joint>,
    /// The targets, if the rule has a reference.
    pub targets: Option<Vec<u64>>,
    /// The sample, if only a sample was solved.
    pub sample: Option<Sample>,
    /// The difference between the counts and the expected counts of the decision, if it was fitted to other rows.
    pub drift: Option<Drift>,
    /// The fidelity to the posterior within groups, if requested.
    pub in_groups: Option<f64>,
    /// The distance below the frontier, if requested; the inner value is `None` if it is undefined.
    pub frontier_gap: Option<Option<f64>>,
    /// The counts of each draw.
    pub draws: Vec<Vec<u64>>,
}

impl RuleResult {
    /// Returns the result of argmax.
    ///
    /// # Errors
    /// If the scores cannot be read.
    pub fn of_argmax(scores: &Scores<'_>) -> Result<RuleResult> {
        let argmax = Rule::Argmax.fit(scores, &Settings::default())?;
        RuleResult::new("argmax", scores, &Assignment::of_decision(&argmax, scores)?, None)
    }

    /// Measures an assignment; if there are several draws, the first.
    ///
    /// # Errors
    /// If the scores cannot be read.
    pub fn new(name: &str, scores: &Scores<'_>, assignment: &Assignment, joint: Option<Joint>) -> Result<RuleResult> {
        let tally = assignment.tally(scores, &AuditOptions::summary())?;
        Ok(RuleResult::of_tally(name, &tally, assignment, joint))
    }

    /// Returns the result from the sums of the same labels.
    pub fn of_tally(name: &str, tally: &Tally, assignment: &Assignment, joint: Option<Joint>) -> RuleResult {
        let draws = match assignment {
            Assignment::People(_) => Vec::new(),
            Assignment::Labels(draws) => draws.iter().map(Labels::counts).collect(),
        };
        let targets = joint.as_ref().map(|joint| joint.targets.clone());
        RuleResult {
            name: name.to_owned(),
            summary: tally.overall(),
            joint,
            targets,
            sample: None,
            drift: None,
            in_groups: None,
            frontier_gap: None,
            draws,
        }
    }

    /// Adds the targets of a rule that was solved on a sample.
    ///
    /// # Errors
    /// If they cannot be computed.
    pub fn with_targets(mut self, rule: &Rule, scores: &Scores<'_>) -> Result<RuleResult> {
        if let (None, Some((joint, rows))) = (&self.joint, rule.on_sample()) {
            self.targets = Some(joint.targets(scores)?);
            let is_matched = matches!(joint, JointRule::Match(_)) && joint.matching().bounds.is_empty();
            self.sample = Some(Sample { rows: rows.min(scores.rows()) as u64, is_matched });
        }
        Ok(self)
    }

    /// Returns the serialized form of the result.
    pub fn contract(&self, classes: &Classes, seed: u64, decision: Option<&Decision>) -> LabelContract {
        let (summary, joint) = (&self.summary, self.joint.as_ref());
        let (prices, model) = match decision.map(Decision::fitted) {
            Some(Fitted::Prices(prices)) => (Some(prices.clone()), None),
            Some(Fitted::Learned(model)) => (None, Some(ModelContract::of(model))),
            Some(Fitted::Argmax | Fitted::Threshold { .. } | Fitted::Thompson | Fitted::TopK { .. }) | None => {
                (None, None)
            }
        };
        let objective = joint.filter(|joint| joint.gamma_objective.is_none());
        LabelContract {
            rule: self.name.clone(),
            rows: summary.rows,
            people: summary.people,
            labeled: summary.labeled,
            classes: classes.names().to_vec(),
            counts: summary.counts(),
            targets: self.targets.clone(),
            expected_precision: summary.classes.iter().map(ClassAudit::expected_precision).collect(),
            expected_recall: summary.classes.iter().map(ClassAudit::expected_recall).collect(),
            count_sd: summary.classes.iter().map(|class| class.count_sd).collect(),
            expected_accuracy: summary.expected_accuracy,
            accuracy: summary.accuracy,
            fidelity: FidelityContract {
                posterior: summary.fidelity_to_posterior(),
                truth: summary.fidelity_to_truth(),
                posterior_in_groups: self.in_groups,
            },
            objective: objective.map_or(summary.label_scores, |joint| joint.certificate.objective()),
            gamma_objective: joint.and_then(|joint| joint.gamma_objective),
            prices,
            certificate: joint.map(SavedCertificate::of),
            seed,
            tied_rows: joint.map(|joint| joint.tied_rows),
            frontier_gap: self.frontier_gap,
            model,
            sample: self.sample.map(|sample| sample.rows),
            drift: self.drift.as_ref().map(DriftContract::of),
            draws: if self.draws.len() > 1 { self.draws.clone() } else { Vec::new() },
        }
    }
}

/// Labels of a rule: their counts, targets, accuracy and certificate.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "RuleResult"))]
pub struct LabelContract {
    /// The name of the rule; for `apply`, the name `apply`.
    pub rule: String,
    /// The number of rows.
    pub rows: u64,
    /// The number of people that the rows represent.
    pub people: u64,
    /// The number of people with a label.
    pub labeled: u64,
    /// The names of the classes. Other lists are in this order.
    pub classes: Vec<String>,
    /// The number of people with each label.
    pub counts: Vec<u64>,
    /// The target of each class; null if the rule has no reference.
    pub targets: Option<Vec<u64>>,
    /// The share of the labels of each class that is expected to be correct: their mean score. Null without labels.
    pub expected_precision: Vec<Option<f64>>,
    /// The share of the people of each class that is expected to have its label; null if its scores sum to 0.
    pub expected_recall: Vec<Option<f64>>,
    /// The standard deviation of the true count of each class, given the scores: √Σ q(1 − q).
    pub count_sd: Vec<f64>,
    /// The mean score of the labels; null without labels.
    pub expected_accuracy: Option<f64>,
    /// The share of correct labels among labels with known truth; null without truth.
    pub accuracy: Option<f64>,
    /// How close the shares of the labels are to a reference: −Σ |share − reference|, at most 0.
    pub fidelity: FidelityContract,
    /// The sum of the scores of the labels.
    pub objective: f64,
    /// γ · mean score − (1 − γ) · distance, for balance; null for other rules.
    pub gamma_objective: Option<f64>,
    /// The prices of the classes, for all rows or for each group; null if the rule has no prices.
    pub prices: Option<Vec<GroupPrices>>,
    /// The certificate of optimality; null for rules without one.
    pub certificate: Option<SavedCertificate>,
    /// The seed of draws and ties.
    pub seed: u64,
    /// The number of rows with several equally good classes, for joint rules; null for other rules.
    pub tied_rows: Option<u64>,
    /// Other labels with equally good counts would be this much more accurate in expectation; null if rows are unlabeled.
    /// For `compare` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-nullable" = true)))]
    pub frontier_gap: Option<Option<f64>>,
    /// The model of the learned rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelContract>,
    /// The number of rows that were solved, if only a sample was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
    /// The difference between the counts and the expected counts of the decision. For `apply` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftContract>,
    /// The counts of each draw, if there are several. All other figures describe the first draw.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub draws: Vec<Vec<u64>>,
}

/// The model of the learned rule. A saved decision has all trees of a forest.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "ModelSummary"))]
#[serde(tag = "learner", rename_all = "kebab-case")]
pub enum ModelContract {
    /// A linear support vector machine.
    Svm(Linear),
    /// Logistic regression.
    Logistic(Linear),
    /// A random forest.
    Forest {
        /// The number of trees.
        trees: usize,
    },
}

impl ModelContract {
    /// Returns a model as JSON.
    pub fn of(model: &Model) -> ModelContract {
        match model {
            Model::Svm(linear) => ModelContract::Svm(linear.clone()),
            Model::Logistic(linear) => ModelContract::Logistic(linear.clone()),
            Model::Forest(forest) => ModelContract::Forest { trees: forest.trees.len() },
        }
    }
}

/// How close the shares of labels are to a reference: −Σ |share − reference|.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Fidelity"))]
pub struct FidelityContract {
    /// The fidelity to the mean scores; null without labels.
    pub posterior: Option<f64>,
    /// The fidelity to the shares of the truth; null without truth.
    pub truth: Option<f64>,
    /// The mean fidelity to the mean scores within groups, weighted by people, if there are groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posterior_in_groups: Option<f64>,
}

/// The difference between counts and the expected counts of a decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Drift"))]
pub struct DriftContract {
    /// The excess of people in each class.
    pub people: Vec<f64>,
    /// The difference of each class that chance and rounding explain if these rows are similar to those of the fit.
    pub explained: Vec<f64>,
    /// Whether the difference of a class exceeds `explained`.
    pub beyond: bool,
}

impl DriftContract {
    /// Returns drift as JSON.
    pub fn of(drift: &Drift) -> DriftContract {
        DriftContract {
            people: drift.people.clone(),
            explained: drift.explained.clone(),
            beyond: !drift.beyond().is_empty(),
        }
    }
}
