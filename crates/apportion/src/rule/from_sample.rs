//! From a sample: the prices of an exact solution for some of the rows, used for all.
//!
//! It is what the paper's heuristic (`learned`) looks for, without the detour: the labels of match are those of the
//! largest score + price, and a sample shows the prices. Counts are off by as much as a sample is off.

use super::joint_rule::JointRule;
use super::sample::Sample;
use super::{Labeled, Rule, Settings};
use crate::decision::Decision;
use crate::error::Result;
use crate::scores::Scores;

/// Prices from a sample of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct FromSample {
    /// What is solved on the sample.
    pub joint: JointRule,
    /// How many rows are drawn, by the seed and their keys. Where there are no more, it is the exact rule.
    pub rows: usize,
}

impl FromSample {
    pub(super) fn fit(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Decision> {
        self.joint.check_sample("a sample", self.rows)?;
        let sample = Sample::draw(scores, self.rows, settings.seed)?;
        let sample = sample.scores()?;
        // Where rows stand for several people, only tied ones are split, and no price depends on how.
        let rule = self.joint.rule();
        if sample.counts().is_some() {
            return Ok(rule.allot(&sample, settings)?.decision);
        }
        Ok(rule.label(&sample, settings)?.decision)
    }

    /// The exact rule, where the sample would be all rows.
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
