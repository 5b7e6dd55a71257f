//! Determines how labels were made, from their provenance and the settings of the request.

use apportion::rule::Thresholds;
use apportion::text::{Message, Setting};
use apportion::{Classes, Decision, Matrix, Penalty, Reference, Rule, Scores, Settings};
use apportion_io::{ClassColumn, Input, Table, TableOptions};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as NameError, StrDeserializer};

use super::Request;
use super::stop::{Checked, differs};
use crate::class_map::ClassMap;
use crate::estimated_reference::TrainingShares;
use crate::provenance::{Provenance, Recorded};
use crate::rule::RuleName;
use crate::{Context, Error, Result, estimated_reference, memory, table};

/// Settings that need a rule. If one of them is given and the rule is unknown, the default rule is assumed.
const OF_RULES: [Setting; 10] = [
    Setting::Rule,
    Setting::Reference,
    Setting::TrainingShares,
    Setting::Gamma,
    Setting::Penalty,
    Setting::Coverage,
    Setting::AtLeast,
    Setting::AtMost,
    Setting::Tolerance,
    Setting::Nested,
];

/// How labels were made, if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Unknown.
    Unknown,
    /// By match or balance, over all rows.
    Joint,
    /// By a rule that uses one row at a time, or by a decision fitted to other rows: labels must equal those of the
    /// decision.
    Decided,
}

/// The settings with which labels were made, and their rule.
#[derive(Clone, Debug)]
pub(super) struct LabelSettings {
    pub(super) recorded: Recorded,
    pub(super) rule: Option<RuleName>,
}

impl LabelSettings {
    /// Combines the settings of the provenance with those of the request, which take precedence.
    pub(super) fn resolve(request: &Request, provenance: Option<&Provenance>) -> Checked<LabelSettings> {
        let own = &request.settings;
        let given = |setting: &Setting| request.given.contains(setting);
        let base = provenance.map(|provenance| provenance.options.clone()).unwrap_or_default();
        let mut recorded = base.overridden(own, &request.given);
        if recorded.rule.is_none() && provenance.is_none() && OF_RULES.iter().any(given) {
            recorded.rule = own.rule.clone().or_else(|| Some(RuleName::Match.name().into()));
            recorded.reference.clone_from(&own.reference);
            recorded.training_shares.clone_from(&own.training_shares);
            (recorded.gamma, recorded.penalty) = (own.gamma, own.penalty.clone());
        } else if given(&Setting::Rule) {
            recorded.gamma = own.gamma.or(recorded.gamma);
            recorded.penalty = own.penalty.clone().or(recorded.penalty);
            recorded.reference = recorded.reference.or_else(|| own.reference.clone());
            (recorded.at, recorded.at_by_class, recorded.k) = (own.at, own.at_by_class.clone(), own.k);
        }
        let rule = match &recorded.rule {
            None => None,
            Some(name) => match RuleName::parse(name) {
                Some(rule) => Some(rule),
                None => return Err(differs(format!("the provenance names an unknown rule, {name:?}"))),
            },
        };
        Ok(LabelSettings { recorded, rule })
    }

    /// Returns how a job makes labels with these settings, for a table with this number of rows.
    pub(super) fn kind(&self, job: Option<&str>, rows: u64) -> Kind {
        if job == Some("apply") {
            return Kind::Decided;
        }
        match self.rule {
            None => Kind::Unknown,
            Some(RuleName::Match | RuleName::Balance) => {
                let is_sampled = self.recorded.from_sample.is_some_and(|sample| sample < rows);
                if is_sampled || self.is_argmax() { Kind::Decided } else { Kind::Joint }
            }
            Some(RuleName::Argmax | RuleName::Threshold | RuleName::Thompson | RuleName::TopK | RuleName::Learned) => {
                Kind::Decided
            }
        }
    }

    /// Returns whether the rule is balance with the labels of argmax: only accuracy counts, and there are no bounds.
    pub(super) fn is_argmax(&self) -> bool {
        let own = &self.recorded;
        let is_bounded = !own.at_least.is_empty() || !own.at_most.is_empty() || own.tolerance.is_some();
        self.rule == Some(RuleName::Balance) && own.gamma == Some(1.0) && own.coverage.is_none() && !is_bounded
    }

    /// Returns the penalty with which balance measures the distance from the reference.
    pub(super) fn penalty(&self) -> Result<Penalty> {
        let Some(name) = self.recorded.penalty.as_deref() else { return Ok(Penalty::default()) };
        let deserializer: StrDeserializer<'_, NameError> = name.into_deserializer();
        Penalty::deserialize(deserializer).map_err(|_| Error::data(format!("unknown penalty {name:?}")))
    }

    /// Returns the columns that define the groups.
    pub(super) fn groups(&self) -> &[String] {
        if self.recorded.nested.is_empty() { &self.recorded.by } else { &self.recorded.nested }
    }

    /// Returns the decision of a rule that uses one row at a time, which its settings define; `None` for other rules.
    pub(super) fn simple_decision(&self, classes: &Classes) -> Result<Option<Decision>> {
        let own = &self.recorded;
        let rule = match self.rule {
            Some(RuleName::Argmax) => Rule::Argmax,
            Some(RuleName::Balance) if self.is_argmax() => Rule::Argmax,
            Some(RuleName::Threshold) => {
                Rule::Threshold(Thresholds { default: own.at.unwrap_or(0.8), by_class: own.at_by_class.clone() })
            }
            Some(RuleName::Thompson) => Rule::Thompson,
            Some(RuleName::TopK) => Rule::TopK(own.k.unwrap_or(2)),
            None | Some(RuleName::Match | RuleName::Balance | RuleName::Learned) => return Ok(None),
        };
        let no_rows = Scores::new(classes, Matrix::RowsF64(&[]))?;
        let settings = Settings { seed: own.seed.unwrap_or(0), ..Settings::default() };
        Ok(Some(rule.fit(&no_rows, &settings)?))
    }

    /// Returns the options for reading the scores.
    pub(super) fn table_options(
        &self,
        request: &Request,
        decision: Option<&Decision>,
        input: &Input,
    ) -> Result<TableOptions> {
        let own = &self.recorded;
        let known = input.columns(0)?;
        let fit_info = decision.and_then(Decision::fit_info);
        let of_decision = fit_info.map_or(&[][..], |info| &info.scores);
        let has = |columns: &[String]| !columns.is_empty() && columns.iter().all(|name| known.contains(name));
        let scores = [&own.scores[..], of_decision].into_iter().find(|columns| has(columns)).unwrap_or_default();
        let classes = match decision {
            Some(decision) if own.classes.is_empty() && !scores.is_empty() => decision.classes().names().to_vec(),
            Some(_) | None => own.classes.clone(),
        };
        let by = match fit_info {
            Some(info) if self.groups().is_empty() => info.groups.clone(),
            Some(_) | None => self.groups().to_vec(),
        };
        Ok(TableOptions {
            scores: scores.to_vec(),
            classes,
            id: own.id.clone(),
            by,
            by_setting: if own.nested.is_empty() { Setting::By } else { Setting::Nested },
            count: own.count.clone(),
            truth: truth_column(own)?,
            normalize: own.normalize,
            only_with_truth: own.only_with_truth,
            skip_missing: own.skip_missing,
            memory: request.memory.unwrap_or_else(memory::default),
            ..TableOptions::default()
        })
    }
}

impl LabelSettings {
    /// Estimates the reference again from the scores; `None` if it was not estimated.
    pub(super) fn estimated_reference(&self, options: &TableOptions, input: &Input) -> Result<Option<Reference>> {
        let own = &self.recorded;
        let name = own.reference.as_deref().unwrap_or_default();
        if estimated_reference::method(name).is_none() {
            return Ok(None);
        }
        let training = TrainingShares { training_shares: own.training_shares.clone(), training_table: None };
        training.check(name, None, own.truth.is_some())?;
        let table = Table::read(input, options)?;
        let estimated = training.estimate_with(name, &table, &table.scores()?, None, &Context::default())?;
        Ok(estimated.map(|own| own.estimate.reference()))
    }
}

/// Returns the options for reading the truth.
fn truth_column(recorded: &Recorded) -> Result<Option<ClassColumn>> {
    let Some(column) = recorded.truth.clone() else { return Ok(None) };
    let map = ClassMap::from_texts(&recorded.truth_map)
        .map_err(|problem| Error::Settings(Message::from(Setting::TruthMap) + ": " + problem))?;
    let (exclude, ethnicity) = (recorded.truth_exclude.clone(), recorded.truth_ethnicity.clone());
    Ok(Some(table::truth_column(column, &map, exclude, ethnicity)))
}
