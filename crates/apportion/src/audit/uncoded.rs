//! The treatment of unlabeled rows: kept, excluded, or assigned the argmax class.

use rayon::prelude::*;

use super::cell::Shape;
use crate::error::Result;
use crate::kernel::STRETCH;
use crate::label::Labels;
use crate::scores::{Label, Scores, UNCODED, expect_length};

/// The treatment of Uncoded rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UncodedPolicy {
    /// Reported as they are: excluded from the labels, included in the reference.
    #[default]
    Keep,
    /// Excluded from the labels and the reference.
    Drop,
    /// Assigned the argmax class.
    Argmax,
}

/// Labels after a policy for Uncoded rows, and the people that it includes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IncludedRows {
    /// The labels. Under [`UncodedPolicy::Argmax`] each row has one.
    pub labels: Labels,
    /// The number of people of each row, 0 for excluded rows; `None` if no row is excluded.
    pub counts: Option<Vec<u64>>,
}

impl UncodedPolicy {
    /// Returns the label of a row under this policy; `None` if the row is excluded. `argmax` is called only if needed.
    #[inline]
    pub(super) fn label(self, given: Label, argmax: impl FnOnce() -> Label) -> Option<Label> {
        if given != UNCODED {
            return Some(given);
        }
        match self {
            UncodedPolicy::Keep => Some(UNCODED),
            UncodedPolicy::Drop => None,
            UncodedPolicy::Argmax => Some(argmax()),
        }
    }

    /// Applies the policy to the labels of a table, so that rules can be compared on the rows that an audit includes.
    pub fn apply(self, scores: &Scores<'_>, labels: Labels) -> Result<IncludedRows> {
        expect_length("the list of labels", labels.values().len(), scores.rows())?;
        match self {
            UncodedPolicy::Keep => Ok(IncludedRows { labels, counts: None }),
            UncodedPolicy::Drop => {
                let mut counts = Vec::with_capacity(scores.rows());
                for (row, &label) in labels.values().iter().enumerate() {
                    let people = scores.counts().map_or(1, |counts| counts[row]);
                    counts.push(if self.label(label, || UNCODED).is_some() { people } else { 0 });
                }
                Ok(IncludedRows { labels, counts: Some(counts) })
            }
            UncodedPolicy::Argmax => {
                let mut values = labels.into_values();
                let stretches = values.par_chunks_mut(STRETCH).enumerate();
                stretches.try_for_each(|(stretch, values)| {
                    let first = stretch * STRETCH;
                    scores.read_rows(first..first + values.len(), |row, own| {
                        let label = self.label(values[row - first], || Shape::of(own).argmax);
                        values[row - first] = label.unwrap_or(UNCODED);
                        Ok(())
                    })
                })?;
                Ok(IncludedRows { labels: Labels::new(values, scores.classes())?, counts: None })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scores::{Classes, Matrix};

    #[test]
    fn each_policy_treats_uncoded_rows_in_its_way() {
        let classes = Classes::new(["a", "b"]).expect("classes");
        let scores = Scores::new(&classes, Matrix::RowsF64(&[0.4, 0.6, 0.5, 0.5, 0.9, 0.1])).expect("scores");
        let applied = |policy: UncodedPolicy| {
            let labels = Labels::new(vec![UNCODED, UNCODED, 1], &classes).expect("labels");
            let rows = policy.apply(&scores, labels).expect("rows");
            (rows.labels.into_values(), rows.counts)
        };
        assert_eq!(applied(UncodedPolicy::Keep), (vec![UNCODED, UNCODED, 1], None));
        assert_eq!(applied(UncodedPolicy::Drop), (vec![UNCODED, UNCODED, 1], Some(vec![0, 0, 1])));
        assert_eq!(applied(UncodedPolicy::Argmax), (vec![1, 0, 1], None), "the first of equal classes");
    }
}
