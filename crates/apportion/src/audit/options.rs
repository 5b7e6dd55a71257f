//! Options of an audit, checked once.

use super::uncoded::UncodedPolicy;
use crate::error::{Error, Result};
use crate::scores::{Classes, SUM_TOLERANCE, expect_length};

/// The largest number of bootstrap replicates.
const MAX_REPLICATES: u32 = 100_000;

/// Options of an audit. The defaults require only scores and labels.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct AuditOptions {
    /// The treatment of Uncoded rows.
    pub uncoded: UncodedPolicy,
    /// The class to compare with all other classes combined. By default the largest class of the overall reference (if
    /// given, otherwise of the posterior); the first if several are equal.
    pub focus: Option<usize>,
    /// The shares that the labels of all rows should have, one per class. They must sum to 1 within 1e-3 and are
    /// then normalized. Groups are not compared with them.
    pub reference: Option<Vec<f64>>,
    /// The shares that the labels of each group should have, by group code.
    pub group_references: Option<Vec<Vec<f64>>>,
    /// Settings of the bootstrap, if intervals are requested.
    pub bootstrap: Option<Bootstrap>,
    /// The measures of all rows.
    pub measures: Measures,
    /// The measures of each group.
    pub group_measures: GroupMeasures,
}

/// The sums of each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupMeasures {
    /// Groups are ignored.
    None,
    /// Counts, shares, bias and accuracy, with these measures.
    Each(Measures),
}

impl Default for GroupMeasures {
    fn default() -> Self {
        GroupMeasures::Each(Measures::ALL)
    }
}

/// The sums of an audit beyond counts, shares, bias and accuracy. Measures that are not summed are `None` in the
/// result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Measures {
    /// The error of the scores, argmax and ties, and the top scores of Uncoded rows.
    pub score_error: bool,
    /// Calibration of the scores, if truth is known.
    pub calibration: bool,
    /// Intervals of the bootstrap, if one is requested.
    pub intervals: bool,
}

impl Measures {
    /// All measures.
    pub const ALL: Measures = Measures { score_error: true, calibration: true, intervals: true };
    /// Counts, shares, bias and accuracy only: several times faster.
    pub const SUMMARY: Measures = Measures { score_error: false, calibration: false, intervals: false };
}

impl Default for Measures {
    fn default() -> Self {
        Measures::ALL
    }
}

/// A Poisson bootstrap: in each replicate a row has a Poisson(1) weight, which depends on the seed, the row's key and
/// the replicate number only.
///
/// Rows are resampled with all of their people and their labels: labels are fixed, and no rule is fitted again. Rows
/// with equal keys have equal weights. Memory is about 8·(5K + 4) bytes per replicate, group and thread; time is ten
/// to thirty nanoseconds per replicate and row.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bootstrap {
    /// Number of replicates, from 1 to 100,000.
    pub replicates: u32,
    /// The share of replicates inside an interval, between 0 and 1.
    pub level: f64,
    /// The seed of the draws.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { replicates: 200, level: 0.95, seed: 0 }
    }
}

impl AuditOptions {
    /// Returns options for the few figures of a summary, overall only.
    pub fn summary() -> AuditOptions {
        let (measures, group_measures) = (Measures::SUMMARY, GroupMeasures::None);
        AuditOptions { measures, group_measures, ..AuditOptions::default() }
    }

    /// Returns options for the few figures of a summary, overall and by group.
    pub fn summary_by_group() -> AuditOptions {
        AuditOptions { group_measures: GroupMeasures::Each(Measures::SUMMARY), ..AuditOptions::summary() }
    }

    /// Returns the number of bootstrap replicates to sum with some measures.
    pub(super) fn replicates(&self, measures: Measures) -> usize {
        match &self.bootstrap {
            Some(bootstrap) if measures.intervals => bootstrap.replicates as usize,
            _ => 0,
        }
    }

    /// Returns the options with normalized references.
    pub(super) fn checked(&self, classes: &Classes, groups: &[String]) -> Result<AuditOptions> {
        let mut checked = self.clone();
        if let Some(focus) = self.focus.filter(|&focus| focus >= classes.len()) {
            let what = "the focus class".to_owned();
            return Err(Error::Parameter { what, value: focus as f64, range: "the index of a class, from 0" });
        }
        if let Some(bootstrap) = &self.bootstrap {
            bootstrap.check()?;
        }
        if let Some(reference) = &mut checked.reference {
            scale(reference, classes, String::new)?;
        }
        if let Some(references) = &mut checked.group_references {
            expect_length("the list of group references", references.len(), groups.len())?;
            for (reference, name) in references.iter_mut().zip(groups) {
                scale(reference, classes, || format!(" of group {}", crate::text::quoted(name)))?;
            }
        }
        Ok(checked)
    }
}

impl Bootstrap {
    /// Checks the settings.
    fn check(&self) -> Result<()> {
        if self.replicates == 0 || self.replicates > MAX_REPLICATES {
            let what = "the number of bootstrap replicates".to_owned();
            return Err(Error::Parameter { what, value: f64::from(self.replicates), range: "between 1 and 100000" });
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            let what = "the level of the bootstrap intervals".to_owned();
            return Err(Error::Parameter { what, value: self.level, range: "above 0 and below 1" });
        }
        Ok(())
    }
}

/// Normalizes a reference.
fn scale(reference: &mut [f64], classes: &Classes, of: impl Fn() -> String) -> Result<()> {
    let refuse = |problem: String| Err(Error::Reference { of: of(), problem });
    expect_length("the reference", reference.len(), classes.len())?;
    for (share, name) in reference.iter().zip(classes.names()) {
        if !share.is_finite() || *share < 0.0 {
            return refuse(format!("has a share of {share} for {name:?}; shares must be finite and not negative"));
        }
    }
    let sum: f64 = reference.iter().sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return refuse(format!("sums to {sum}, not to 1; give one share per class"));
    }
    reference.iter_mut().for_each(|share| *share /= sum);
    Ok(())
}
