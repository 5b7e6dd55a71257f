//! Known shares with which an audit compares the labels, in addition to the scores and the truth.

use std::collections::BTreeMap;

use apportion::text::{Message, Setting};
use apportion::{PerGroup, Reference, Scores};
use apportion_io::quoted;

use super::Request;
use crate::protect::SideInput;
use crate::{Context, Error, Result, estimated_reference, reference};

/// The shares of all rows, and those of each group if they differ.
#[derive(Debug, Default)]
pub(super) struct KnownShares {
    pub(super) overall: Option<Vec<f64>>,
    pub(super) groups: Option<Vec<Vec<f64>>>,
}

impl Request {
    /// Refuses references with which the labels are compared anyway.
    pub(super) fn check_reference(&self) -> Result<()> {
        reference::check_table(self.reference.as_deref(), self.reference_table.as_ref())?;
        match self.reference.as_deref().filter(|name| ["posterior", "truth"].contains(name)) {
            Some(name) => {
                let problem = ": an audit always compares the labels with the scores, and with the truth if it is given; leave \
                               it out, or use a file of known shares";
                Err(Error::Settings(Message::from(Setting::Reference.with(name)) + problem))
            }
            None => match self.reference.as_deref().filter(|name| estimated_reference::method(name).is_some()) {
                Some(name) => {
                    let problem = ": labels can match this estimate, but an audit compares them with known shares; leave it out, \
                                   or use a file of known shares";
                    Err(Error::Settings(Message::from(Setting::Reference.with(name)) + problem))
                }
                None => Ok(()),
            },
        }
    }

    /// Returns the reference by its name or path, if one is given.
    pub(super) fn reference_name(&self) -> Option<&str> {
        let is_given = self.reference.is_some() || self.reference_table.is_some();
        is_given.then(|| reference::name(self.reference.as_deref(), self.reference_table.as_ref()))
    }

    /// Returns the file of the reference, if it is a file.
    pub(super) fn reference_file(&self) -> Option<SideInput> {
        let name = self.reference_name().filter(|name| reference::is_file(name) && self.reference_table.is_none())?;
        Some(SideInput::new(Setting::Reference, name))
    }

    /// Reads the known shares, if a reference is given.
    pub(super) fn known_shares(&self, scores: &Scores<'_>, context: &Context) -> Result<KnownShares> {
        let Some(name) = self.reference_name() else { return Ok(KnownShares::default()) };
        let classes = scores.classes();
        match reference::read(name, self.reference_table.as_ref(), classes, &self.table.by, context)? {
            Reference::Shares(PerGroup::ByGroup(shares)) => of_groups(name, shares, scores),
            Reference::Shares(PerGroup::Overall(shares)) => Ok(KnownShares { overall: Some(shares), groups: None }),
            Reference::Posterior | Reference::Truth | Reference::Uniform | Reference::Targets(_) => {
                let equal = vec![1.0 / classes.len() as f64; classes.len()];
                Ok(KnownShares { overall: Some(equal), groups: None })
            }
        }
    }
}

/// Returns the shares of each group, and the mean of all people.
fn of_groups(name: &str, mut shares: BTreeMap<String, Vec<f64>>, scores: &Scores<'_>) -> Result<KnownShares> {
    let refuse = |problem: Message| Err(Error::Data(Message::from(Setting::Reference.with(name)) + ": " + problem));
    let Some(groups) = scores.groups() else {
        return refuse(Message::from("it has shares of groups; name their column with ") + Setting::By);
    };
    let mut of_groups = Vec::with_capacity(groups.names.len());
    for group in groups.names {
        match shares.remove(group) {
            Some(own) => of_groups.push(own),
            None => return refuse(format!("there are no shares for the group {}; add them", quoted(group)).into()),
        }
    }
    let mut overall = vec![0.0; scores.classes().len()];
    for (row, &code) in groups.codes.iter().enumerate() {
        let people = scores.counts().map_or(1, |counts| counts[row]) as f64 / scores.people().max(1) as f64;
        for (sum, share) in overall.iter_mut().zip(&of_groups[code as usize]) {
            *sum += people * share;
        }
    }
    Ok(KnownShares { overall: Some(overall), groups: Some(of_groups) })
}
