//! Declarations of the settings of all jobs: id, kind, range, default, rules that use the setting, and help.
//!
//! Front ends build their options, keywords and help from these declarations, and [`check`] checks requests against
//! them.

mod check;
mod kind;
mod other_jobs;
mod predict;
mod rule;
mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

use apportion::text::{Message, Setting};

pub use check::{check, from_values};
pub use kind::Kind;

use crate::rule::RuleName;

/// A job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Job {
    /// Labels a table.
    Label,
    /// Audits existing labels.
    Audit,
    /// Compares rules.
    Compare,
    /// Compares an outcome between classes.
    Disparity,
    /// Lists the optimal trade-offs between accuracy and fidelity.
    Frontier,
    /// Fits a rule and saves its decision.
    Fit,
    /// Labels a table with a saved decision.
    Apply,
    /// Corrects scores with known truth.
    Calibrate,
    /// Writes a decision as SQL.
    Export,
    /// Checks labels against their scores.
    Verify,
    /// Prints the provenance of a file.
    Provenance,
    /// Computes scores from names and places.
    Predict,
    /// Explains the scores of one row.
    Explain,
    /// Describes the columns of a file.
    Describe,
    /// Lists the built-in tables.
    TablesList,
    /// Describes a built-in table.
    TablesShow,
    /// Writes a built-in table to a file.
    TablesExport,
    /// Converts files of the Census Bureau to a table.
    TablesImport,
    /// Checks a table of names or places.
    TablesCheck,
    /// Simulates a voter file.
    SimulateVoters,
    /// Simulates scores with normal noise.
    SimulateNormal,
    /// Simulates scores from one category.
    SimulateCategorical,
    /// Simulates the worst case of argmax.
    SimulateWorstCase,
    /// Reproduces the experiments of the paper.
    Reproduce,
    /// Demonstrates the program on built-in data.
    Demo,
}

impl Job {
    /// All jobs.
    pub const ALL: [Job; 25] = [
        Job::Label,
        Job::Audit,
        Job::Compare,
        Job::Disparity,
        Job::Frontier,
        Job::Fit,
        Job::Apply,
        Job::Calibrate,
        Job::Export,
        Job::Verify,
        Job::Provenance,
        Job::Predict,
        Job::Explain,
        Job::Describe,
        Job::TablesList,
        Job::TablesShow,
        Job::TablesExport,
        Job::TablesImport,
        Job::TablesCheck,
        Job::SimulateVoters,
        Job::SimulateNormal,
        Job::SimulateCategorical,
        Job::SimulateWorstCase,
        Job::Reproduce,
        Job::Demo,
    ];
}

/// Related settings of some jobs, under a heading in the help.
#[derive(Debug)]
pub struct Group {
    /// The heading.
    pub heading: &'static str,
    /// The jobs that have the settings.
    pub jobs: &'static [Job],
    /// The settings, in help order.
    pub settings: &'static [Declaration],
}

/// A declaration of a setting.
#[derive(Debug)]
pub struct Declaration {
    /// Its id.
    pub setting: Setting,
    /// Its type and range.
    pub kind: Kind,
    /// The placeholder for values in the help: `COL[,COL]`.
    pub value: &'static str,
    /// The help, with other settings as placeholders.
    pub help: &'static [Words],
    /// The default as text, if there is one.
    pub default: Option<&'static str>,
    /// The rules that use it; all if empty.
    pub rules: &'static [RuleName],
    /// Whether the job requires it.
    pub is_required: bool,
}

/// A part of a help text.
#[derive(Clone, Copy, Debug)]
pub enum Words {
    /// Text.
    Text(&'static str),
    /// Another setting.
    Setting(Setting),
}

impl Declaration {
    /// Returns the help, for a front end to render.
    pub fn help(&self) -> Message {
        let mut help = Message::default();
        for words in self.help {
            help = match words {
                Words::Text(text) => help + *text,
                Words::Setting(setting) => help + *setting,
            };
        }
        help
    }

    const fn of(setting: Setting, kind: Kind, value: &'static str, help: &'static [Words]) -> Declaration {
        Declaration { setting, kind, value, help, default: None, rules: &[], is_required: false }
    }

    const fn default(mut self, default: &'static str) -> Declaration {
        self.default = Some(default);
        self
    }

    const fn rules(mut self, rules: &'static [RuleName]) -> Declaration {
        self.rules = rules;
        self
    }

    const fn required(mut self) -> Declaration {
        self.is_required = true;
        self
    }
}

/// Returns all groups of settings.
fn groups() -> impl Iterator<Item = &'static Group> {
    table::GROUPS.iter().chain(rule::GROUPS).chain(predict::GROUPS).chain(other_jobs::GROUPS)
}

/// Returns the settings of a job with their headings, in help order.
pub fn of_job(job: Job) -> impl Iterator<Item = (&'static str, &'static Declaration)> {
    let own = groups().filter(move |group| group.jobs.contains(&job));
    own.flat_map(|group| group.settings.iter().map(|setting| (group.heading, setting)))
}

/// Returns the declaration of a setting of a job, by its id.
pub fn find(job: Job, id: &str) -> Option<&'static Declaration> {
    BY_ID.get(&(job, id)).copied()
}

/// All declarations: a request looks up dozens of them.
static BY_ID: LazyLock<HashMap<(Job, &str), &Declaration>> = LazyLock::new(|| {
    let own = |&job: &Job| of_job(job).map(move |(_, declaration)| ((job, declaration.setting.id()), declaration));
    Job::ALL.iter().flat_map(own).collect()
});

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_setting_is_declared_and_none_twice_for_a_job() {
        let mut declared = BTreeSet::new();
        for job in Job::ALL {
            let mut own = BTreeSet::new();
            for (_, declaration) in of_job(job) {
                assert!(own.insert(declaration.setting), "{job:?} has {:?} twice", declaration.setting);
                for words in declaration.help {
                    if let Words::Setting(other) = words {
                        assert!(find(job, other.id()).is_some(), "help of {:?} names {other:?}", declaration.setting);
                    }
                }
            }
            declared.extend(own);
        }
        for setting in Setting::ALL {
            assert!(declared.contains(setting), "{setting:?} is not declared");
        }
    }

    #[test]
    fn defaults_are_values_of_their_kind() {
        for job in Job::ALL {
            for (_, declaration) in of_job(job) {
                let Some(default) = declaration.default else { continue };
                let texts: Vec<String> = match declaration.kind.is_list() {
                    true => default.split(',').map(str::to_owned).collect(),
                    false => vec![default.to_owned()],
                };
                assert!(declaration.kind.read(&texts).is_ok(), "{:?}: {default}", declaration.setting);
            }
        }
    }
}
