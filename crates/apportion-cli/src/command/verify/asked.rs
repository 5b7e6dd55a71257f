//! From recorded options to what labels were asked to be: the reference of each group, and the counts that it allows.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use apportion::decision::Fitted;
use apportion::verify::{AllowedCounts, TargetSpec, Verifier, weights_of_shares, weights_of_sums};
use apportion::{Bounds, Classes, Decision, Penalty, PerGroup, Reference};

use super::differs;
use apportion_app::provenance::Recorded;
use apportion_app::reference;

/// How labels were made, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing is known.
    Unknown,
    /// match or balance, over all rows.
    Joint,
    /// A rule that looks at one row at a time, or a decision of other rows: labels are those of the decision.
    Decided,
}

/// What was asked of labels.
pub(super) struct Request {
    reference: Reference,
    bounds: Bounds,
    coverage: Option<f64>,
    balance: Option<(f64, Penalty)>,
    pub(super) nested: bool,
}

/// What the recorded settings say of labels.
pub(super) trait Asked {
    fn kind(&self, job: Option<&str>, rows: u64) -> Kind;
    fn check_decision(&self, decision: &Decision) -> Result<()>;
    fn is_argmax(&self) -> bool;
    fn groups(&self) -> &[String];
}

impl Asked for Recorded {
    /// How labels are made with these options, for a table with this number of rows.
    fn kind(&self, job: Option<&str>, rows: u64) -> Kind {
        match (job, self.rule.as_deref()) {
            (Some("apply"), _) => Kind::Decided,
            (_, None) => Kind::Unknown,
            (_, Some("match" | "balance")) if self.from_sample.is_some_and(|sample| sample < rows) => Kind::Decided,
            (_, Some("balance")) if self.is_argmax() => Kind::Decided,
            (_, Some("match" | "balance")) => Kind::Joint,
            _ => Kind::Decided,
        }
    }

    /// Refuses a decision that is not one of this rule and seed: the labels were not made as it is said.
    fn check_decision(&self, decision: &Decision) -> Result<()> {
        let fits = match (self.rule.as_deref(), decision.fitted()) {
            (None, _) => true,
            (Some("argmax"), fitted) => matches!(fitted, Fitted::Argmax),
            (Some("balance"), Fitted::Argmax) => self.is_argmax(),
            (Some("match" | "balance"), fitted) => matches!(fitted, Fitted::Prices(_)),
            (Some("threshold"), fitted) => matches!(fitted, Fitted::Threshold { .. }),
            (Some("thompson"), fitted) => matches!(fitted, Fitted::Thompson),
            (Some("top-k"), fitted) => matches!(fitted, Fitted::TopK { .. }),
            (Some("learned"), fitted) => matches!(fitted, Fitted::Learned(_)),
            (Some(_), _) => false,
        };
        let rule = self.rule.as_deref().unwrap_or_default();
        if !fits {
            return Err(differs(format!("the decision is not one of --rule {rule}, which the options name")));
        }
        match self.seed.filter(|&seed| seed != decision.seed()) {
            Some(seed) => Err(differs(format!("the seed is {seed}, but the decision has {}", decision.seed()))),
            None => Ok(()),
        }
    }

    /// Whether balance is argmax: accuracy alone counts, and nothing bounds it.
    fn is_argmax(&self) -> bool {
        let free = self.coverage.is_none() && self.at_least.is_empty() && self.at_most.is_empty();
        self.rule.as_deref() == Some("balance") && self.gamma == Some(1.0) && free && self.margin.is_none()
    }

    /// Columns that make groups.
    fn groups(&self) -> &[String] {
        if self.nested.is_empty() { &self.by } else { &self.nested }
    }
}

impl Request {
    pub(super) fn new(options: &Recorded, classes: &Classes) -> Result<Request> {
        let text = options.reference.as_deref().unwrap_or("posterior");
        if !["posterior", "truth", "uniform"].contains(&text) && !Path::new(text).is_file() {
            bail!("the file of the reference, {text:?}, is not here");
        }
        let reference = reference::read(text, None, classes, options.groups(), &apportion_app::Context::default())?;
        let penalty = match options.penalty.as_deref() {
            Some("l2") => Penalty::L2,
            Some("l2-squared") => Penalty::L2Squared,
            Some("kl") => Penalty::Kl,
            _ => Penalty::L1,
        };
        let bounds = |own: &std::collections::BTreeMap<String, _>| {
            own.iter().map(|(class, &bound)| (class.clone(), apportion::rule::Bound::from(bound))).collect()
        };
        Ok(Request {
            reference,
            bounds: Bounds {
                at_least: bounds(&options.at_least),
                at_most: bounds(&options.at_most),
                margin: options.margin,
            },
            coverage: options.coverage,
            balance: options.gamma.map(|gamma| (gamma, penalty)).filter(|_| options.rule.as_deref() == Some("balance")),
            nested: !options.nested.is_empty(),
        })
    }

    /// Whether optimality over all counts is proved only by a bound, which is not computed here.
    pub(super) fn is_bounded_only(&self) -> bool {
        matches!(self.balance, Some((gamma, Penalty::L2)) if gamma > 0.0 && gamma < 1.0)
    }

    /// Whether the reference is given as shares.
    pub(super) fn is_shares(&self) -> bool {
        matches!(self.reference, Reference::Shares(_))
    }

    /// The reference of a group, as weights of the classes.
    pub(super) fn weights(&self, verifier: &Verifier, group: usize, name: Option<&str>, k: usize) -> Result<Vec<u128>> {
        Ok(match &self.reference {
            Reference::Posterior => weights_of_sums(verifier.score_sums(group)),
            Reference::Truth => verifier.truth(group).iter().map(|&people| u128::from(people)).collect(),
            Reference::Shares(PerGroup::Overall(shares)) => weights_of_shares(shares),
            Reference::Shares(PerGroup::ByGroup(shares)) => {
                let name = name.ok_or_else(|| anyhow!("the reference is given by group; name the groups with --by"))?;
                weights_of_shares(shares.get(name).with_context(|| format!("the reference has no group {name:?}"))?)
            }
            _ => vec![1; k],
        })
    }

    /// The counts that the labels of a group may have.
    pub(super) fn allowed(&self, weights: Vec<u128>, classes: &Classes, people: u64) -> Result<AllowedCounts> {
        let asked = TargetSpec { weights, coverage: self.coverage, bounds: &self.bounds, balance: self.balance };
        Ok(AllowedCounts::new(&asked, classes, people)?)
    }
}
