//! Checks values against the declarations of a job.

use apportion::text::{Message, Setting};
use apportion_io::did_you_mean;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Declaration, Job, find, of_job};
use crate::rule::RuleName;
use crate::{Error, Result};

/// Converts values by setting id to a request, after normalizing and checking them.
///
/// # Errors
/// If a setting is unknown, has the wrong type, is out of range, or belongs to another rule.
pub fn from_values<R: DeserializeOwned>(job: Job, mut values: Map<String, Value>) -> Result<R> {
    for (id, value) in &mut values {
        if let Some(declaration) = find(job, id) {
            let normalized = declaration.kind.normalize(value.take());
            *value = normalized.map_err(|problem| in_setting(declaration, problem))?;
        }
    }
    infer_rule(job, &mut values);
    check_values(job, &values)?;
    serde_json::from_value(values.into()).map_err(|error| Error::settings(error.to_string()))
}

/// Sets the rule to balance if the weight of accuracy is given without a rule.
fn infer_rule(job: Job, values: &mut Map<String, Value>) {
    let is_given = |setting: Setting| values.get(setting.id()).is_some_and(|value| !value.is_null());
    if find(job, Setting::Rule.id()).is_some() && is_given(Setting::Gamma) && !is_given(Setting::Rule) {
        values.insert(Setting::Rule.id().into(), RuleName::Balance.name().into());
    }
}

/// Checks a request against the declarations of its job.
///
/// # Errors
/// If a setting is out of range, or belongs to another rule.
pub fn check(job: Job, request: &impl Serialize) -> Result<()> {
    match serde_json::to_value(request) {
        Ok(Value::Object(values)) => check_values(job, &values),
        Ok(_) => Ok(()),
        Err(error) => Err(Error::settings(error.to_string())),
    }
}

fn check_values(job: Job, values: &Map<String, Value>) -> Result<()> {
    for (id, value) in values {
        let Some(declaration) = find(job, id) else { return Err(unknown(job, id)) };
        if !value.is_null() {
            declaration.kind.check(value).map_err(|problem| in_setting(declaration, problem))?;
        }
    }
    check_rules(job, values)
}

fn in_setting(declaration: &Declaration, problem: String) -> Error {
    Error::settings(Message::from(declaration.setting) + ": " + problem)
}

fn unknown(job: Job, id: &str) -> Error {
    let near = did_you_mean(id, of_job(job).map(|(_, declaration)| declaration.setting.id()));
    Error::settings(format!("unknown setting {id:?}{near}"))
}

/// Refuses settings that the rule does not use.
fn check_rules(job: Job, values: &Map<String, Value>) -> Result<()> {
    let rule = values.get("rule").and_then(Value::as_str).unwrap_or(RuleName::default().name());
    for (id, value) in values {
        let Some(declaration) = find(job, id).filter(|_| !value.is_null()) else { continue };
        // The message of `RuleSettings::check` suggests an alternative.
        if declaration.setting == Setting::Tolerance && rule == RuleName::Match.name() {
            continue;
        }
        if !declaration.rules.is_empty() && declaration.rules.iter().all(|own| own.name() != rule) {
            return Err(belongs_to(declaration));
        }
    }
    Ok(())
}

fn belongs_to(declaration: &Declaration) -> Error {
    let mut message = Message::from(declaration.setting) + " requires ";
    for (index, rule) in declaration.rules.iter().enumerate() {
        if index > 0 {
            message = message + " or ";
        }
        message = message + Setting::Rule.with(rule.name());
    }
    Error::settings(message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rule::RuleSettings;
    use crate::{fit, label};

    fn rule(job: Job, values: Value) -> Result<RuleSettings> {
        let Value::Object(values) = values else { return Err(Error::settings("no object")) };
        match job {
            Job::Fit => from_values::<fit::Request>(job, values).map(|request| request.rule),
            _ => from_values::<label::Request>(job, values).map(|request| request.rule),
        }
    }

    #[test]
    fn gamma_without_a_rule_means_balance() {
        for job in [Job::Label, Job::Fit] {
            let own = rule(job, json!({"gamma": 0.5})).unwrap();
            assert_eq!((own.rule, own.gamma), (RuleName::Balance, Some(0.5)));
            assert_eq!(rule(job, json!({"gamma": 0.5, "rule": "learned"})).unwrap().rule, RuleName::Learned);
            assert_eq!(rule(job, json!({"gamma": null})).unwrap().rule, RuleName::Match);
            for other in ["match", "argmax", "threshold"] {
                let refused = rule(job, json!({"gamma": 0.5, "rule": other})).unwrap_err();
                assert_eq!(refused.message().to_string(), "`gamma` requires `rule` balance or `rule` learned");
            }
        }
    }
}
