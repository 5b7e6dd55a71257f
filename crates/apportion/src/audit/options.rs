//! What may be asked of an audit, checked once.

use crate::error::{Error, Result};
use crate::scores::{Classes, SUM_TOLERANCE, expect_length};

/// The largest number of bootstrap replicates.
const MAX_REPLICATES: u32 = 100_000;

/// What is asked of an audit beyond the scores and the labels. The default asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct AuditOptions {
    /// What is done with Uncoded rows.
    pub uncoded: UncodedPolicy,
    /// The class against which the others are taken together; by default the largest in the overall reference (the
    /// given one, else the posterior), first in order where several are.
    pub focus: Option<usize>,
    /// The shares that the labels of all rows should have, a share per class. They must sum to 1 within 1e-3 and are
    /// then scaled. They are not held against groups.
    pub reference: Option<Vec<f64>>,
    /// The shares that the labels of each group should have, by the code of the group.
    pub group_references: Option<Vec<Vec<f64>>>,
    /// Bootstrap intervals, where wanted.
    pub bootstrap: Option<Bootstrap>,
}

/// What is done with Uncoded rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UncodedPolicy {
    /// They are reported as they are: not among the labels, but in the reference.
    #[default]
    Keep,
    /// They are taken out of the labels and of the reference.
    Drop,
    /// They are given the argmax class.
    Argmax,
}

/// A Poisson bootstrap: in each replicate a row comes in as often as a Poisson(1) draw says, which depends on the
/// seed, the key of the row and the number of the replicate alone.
///
/// What is resampled is the row, with all the people that it stands for and the label that it has: labels are kept as they
/// are, and no rule is fitted again. Rows that have one key come and go together. It takes about 8·(5K + 4) bytes a
/// replicate for each group and each thread, and some ten to thirty nanoseconds a replicate for each row.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bootstrap {
    /// How many replicates, from 1 to 100,000.
    pub replicates: u32,
    /// The share of the replicates that an interval holds, between 0 and 1.
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
    /// The options with their references scaled, or what is wrong with them.
    pub(super) fn checked(&self, classes: &Classes, groups: &[String]) -> Result<AuditOptions> {
        let mut checked = self.clone();
        if let Some(focus) = self.focus.filter(|&focus| focus >= classes.len()) {
            let what = "the focus class".to_owned();
            return Err(Error::Parameter { what, value: focus as f64, range: "the position of a class, from 0" });
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
    /// Refuses a bootstrap that cannot be run.
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

/// Scales a reference to sum to one, or says why it is none.
fn scale(reference: &mut [f64], classes: &Classes, of: impl Fn() -> String) -> Result<()> {
    let refuse = |problem: String| Err(Error::Reference { of: of(), problem });
    expect_length("the reference", reference.len(), classes.len())?;
    for (share, name) in reference.iter().zip(classes.names()) {
        if !share.is_finite() || *share < 0.0 {
            return refuse(format!("gives {name:?} the share {share}; shares must be finite and not negative"));
        }
    }
    let sum: f64 = reference.iter().sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return refuse(format!("sums to {sum}, not to 1; give shares, one for each class"));
    }
    reference.iter_mut().for_each(|share| *share /= sum);
    Ok(())
}
