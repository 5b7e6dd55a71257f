//! The expected labels under the settings with which they were made: the reference of each group, and the counts that
//! it allows.

use std::collections::BTreeMap;
use std::path::Path;

use apportion::decision::Fitted;
use apportion::rule::Bound;
use apportion::text::{Message, Setting};
use apportion::verify::{AllowedCounts, TargetSpec, Verifier, weights_of_shares, weights_of_sums};
use apportion::{Bounds, Classes, Decision, Penalty, PerGroup, Reference};
use apportion_io::MemoryTable;

use super::settings::LabelSettings;
use super::stop::{Checked, differs};
use crate::provenance::RecordedBound;
use crate::reference;
use crate::rule::RuleName;
use crate::{Context, Error, Result};

/// The default weight of accuracy in balance.
const DEFAULT_GAMMA: f64 = 0.9;

/// The expected labels of a joint rule.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    reference: Reference,
    bounds: Bounds,
    coverage: Option<f64>,
    /// The weight of accuracy and the penalty of balance.
    balance: Option<(f64, Penalty)>,
    pub(super) is_nested: bool,
}

impl Expected {
    /// Returns the expected labels; `estimated` is the reference if it is estimated from the scores.
    pub(super) fn new(
        settings: &LabelSettings,
        classes: &Classes,
        shares: Option<&MemoryTable>,
        estimated: Option<Reference>,
    ) -> Result<Expected> {
        let own = &settings.recorded;
        let name = own.reference.as_deref();
        reference::check_table(name, shares)?;
        let name = reference::name(name, shares);
        if shares.is_none() && reference::is_file(name) && !Path::new(name).is_file() {
            return Err(Error::data(format!("the reference file {name:?} was not found")));
        }
        let reference = match estimated {
            Some(estimated) => estimated,
            None => reference::read(name, shares, classes, settings.groups(), &Context::default())?,
        };
        let penalty = settings.penalty()?;
        let is_balance = settings.rule == Some(RuleName::Balance);
        Ok(Expected {
            reference,
            bounds: Bounds { at_least: bounds(&own.at_least), at_most: bounds(&own.at_most), tolerance: own.tolerance },
            coverage: own.coverage,
            balance: is_balance.then(|| (own.gamma.unwrap_or(DEFAULT_GAMMA), penalty)),
            is_nested: !own.nested.is_empty(),
        })
    }

    /// Returns whether optimality over all counts is proved only by a bound, which is not computed here.
    pub(super) fn is_bounded_only(&self) -> bool {
        matches!(self.balance, Some((gamma, Penalty::L2)) if gamma > 0.0 && gamma < 1.0)
    }

    /// Returns whether the reference is given as shares.
    pub(super) fn is_shares(&self) -> bool {
        matches!(self.reference, Reference::Shares(_))
    }

    /// Returns the reference of a group, as weights of the classes.
    pub(super) fn weights(&self, verifier: &Verifier, group: usize, name: Option<&str>, k: usize) -> Result<Vec<u128>> {
        Ok(match &self.reference {
            Reference::Posterior => weights_of_sums(verifier.score_sums(group)),
            Reference::Truth => verifier.truth(group).iter().map(|&people| u128::from(people)).collect(),
            Reference::Uniform => vec![1; k],
            Reference::Shares(shares) => weights_of_shares(of_group(shares, name)?),
            Reference::Targets(targets) => of_group(targets, name)?.iter().map(|&people| u128::from(people)).collect(),
        })
    }

    /// Returns the counts that the labels of a group may have.
    pub(super) fn allowed(&self, weights: Vec<u128>, classes: &Classes, people: u64) -> Result<AllowedCounts> {
        let spec = TargetSpec { weights, coverage: self.coverage, bounds: &self.bounds, balance: self.balance };
        Ok(AllowedCounts::new(&spec, classes, people)?)
    }
}

/// Returns the values for all rows, or for a group.
fn of_group<'a, T>(values: &'a PerGroup<Vec<T>>, name: Option<&str>) -> Result<&'a [T]> {
    match values {
        PerGroup::Overall(values) => Ok(values),
        PerGroup::ByGroup(groups) => {
            let Some(name) = name else {
                let problem = Message::from("the reference is given by group; name the groups with ");
                return Err(Error::Data(problem + Setting::By));
            };
            match groups.get(name) {
                Some(values) => Ok(values),
                None => Err(Error::data(format!("the reference has no group {name:?}"))),
            }
        }
    }
}

fn bounds(recorded: &BTreeMap<String, RecordedBound>) -> BTreeMap<String, Bound> {
    recorded.iter().map(|(class, &bound)| (class.clone(), bound.into())).collect()
}

/// Refuses a decision that does not match the rule and seed, because the labels were not made as recorded.
pub(super) fn check_decision(settings: &LabelSettings, decision: &Decision) -> Checked<()> {
    if let Some(rule) = settings.rule {
        let fits = match decision.fitted() {
            Fitted::Argmax => rule == RuleName::Argmax || settings.is_argmax(),
            Fitted::Threshold { .. } => rule == RuleName::Threshold,
            Fitted::Thompson => rule == RuleName::Thompson,
            Fitted::TopK { .. } => rule == RuleName::TopK,
            Fitted::Prices(_) => matches!(rule, RuleName::Match | RuleName::Balance),
            Fitted::Learned(_) => rule == RuleName::Learned,
        };
        if !fits {
            let problem = Message::from("the decision was not made with ") + Setting::Rule.with(rule.name());
            return Err(differs(problem));
        }
    }
    match settings.recorded.seed.filter(|&seed| seed != decision.seed()) {
        Some(seed) => Err(differs(format!("the seed is {seed}, but the decision has seed {}", decision.seed()))),
        None => Ok(()),
    }
}
