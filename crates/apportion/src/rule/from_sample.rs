//! From a sample: the prices of an exact solution on some of the rows, applied to all.
//!
//! The labels of match have the largest score + price, and a sample is enough to estimate the prices; the paper's
//! heuristic (`learned`) approximates the same labels indirectly. Counts are approximate, with the error of a sample.

use super::joint_rule::JointRule;
use super::sample::Sample;
use super::{Labeled, Rule, Settings};
use crate::decision::Decision;
use crate::error::Result;
use crate::scores::Scores;

/// Prices estimated on a sample of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct FromSample {
    /// The rule that is solved on the sample.
    pub joint: JointRule,
    /// Number of rows to draw, by seed and key. If the table has no more, the rule is exact.
    pub rows: usize,
}

impl FromSample {
    pub(super) fn fit(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Decision> {
        self.joint.check_sample("a sample", self.rows)?;
        let sample = Sample::draw(scores, self.rows, settings.seed)?;
        let sample = sample.scores()?;
        // If rows represent several people, only tied rows are split, and prices do not depend on how.
        let rule = self.joint.rule();
        if sample.counts().is_some() {
            return Ok(rule.allot(&sample, settings)?.decision);
        }
        Ok(rule.label(&sample, settings)?.decision)
    }

    /// Returns the exact rule if the sample would contain all rows.
    pub(super) fn whole(&self, scores: &Scores<'_>) -> Result<Option<Rule>> {
        self.joint.check_sample("a sample", self.rows)?;
        Ok((self.rows >= scores.rows()).then(|| self.joint.rule()))
    }

    pub(super) fn label(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Labeled> {
        if let Some(rule) = self.whole(scores)? {
            return rule.label(scores, settings);
        }
        let decision = self.fit(scores, settings)?;
        Ok(Labeled { labels: decision.applier().with_simd(settings.simd).label(scores)?, decision, joint: None })
    }
}
