//! Bounds on counts: minimum and maximum numbers or shares of a class, or shares within a tolerance of the reference
//! (the corpus-level constraints of Zhao et al. 2017).

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::reference::of_group;
use crate::scores::Classes;
use crate::text::{count, counted};
use crate::transport::penalty::Quota;

/// A bound on the number of people of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// A number of people (in each group, if the rule is by group).
    Count(u64),
    /// A share of the labeled people.
    Share(f64),
}

/// Bounds on the counts of the labels, overall or in each group, depending on the rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Lower bounds by class name.
    pub at_least: BTreeMap<String, Bound>,
    /// Upper bounds by class name.
    pub at_most: BTreeMap<String, Bound>,
    /// The maximum difference between each class's share and its share in the reference. The whole numbers next
    /// to the reference are always allowed.
    pub tolerance: Option<f64>,
}

impl Bounds {
    /// Returns whether there are no bounds.
    pub fn is_empty(&self) -> bool {
        self.at_least.is_empty() && self.at_most.is_empty() && self.tolerance.is_none()
    }

    /// Returns the minimum and maximum count of each class.
    pub(super) fn resolve(
        &self,
        classes: &Classes,
        people: u64,
        quotas: &[Quota],
        group: Option<&str>,
    ) -> Result<(Vec<u64>, Vec<u64>)> {
        let (mut least, mut most) = (vec![0; quotas.len()], vec![people; quotas.len()]);
        if let Some(tolerance) = self.tolerance {
            check_share("the tolerance of the bounds", tolerance)?;
            let slack = tolerance * people as f64;
            for (class, quota) in quotas.iter().enumerate() {
                let next = quota.whole + u64::from(quota.rest > 0);
                least[class] = quota.whole.min(up(quota.value() - slack));
                most[class] = next.max(down(quota.value() + slack)).min(people);
            }
        }
        for (name, &bound) in &self.at_least {
            let class = classes.position(name)?;
            least[class] = least[class].max(bound.people(name, people, up)?);
        }
        for (name, &bound) in &self.at_most {
            let class = classes.position(name)?;
            most[class] = most[class].min(bound.people(name, people, down)?);
        }
        let people_text = |people: u64| counted(people, "person", "people");
        let refuse = |problem: String| Err(Error::Bounds { of: of_group(group), problem });
        if let Some(class) = (0..least.len()).find(|&class| least[class] > most[class]) {
            let (name, least, most) = (&classes.names()[class], least[class], most[class]);
            return refuse(format!(
                "require at least {} and at most {} in class {name:?}; lower the minimum or raise the maximum",
                people_text(least),
                count(most)
            ));
        }
        let sum = |side: &[u64]| side.iter().fold(0u64, |sum, &bound| sum.saturating_add(bound));
        if sum(&least) > people {
            return refuse(format!(
                "require at least {} in total, but the number of people is {}; lower some of them",
                people_text(sum(&least)),
                count(people)
            ));
        }
        if sum(&most) < people {
            return refuse(format!(
                "allow at most {} in total, but the number of people is {}; raise some of them",
                people_text(sum(&most)),
                count(people)
            ));
        }
        Ok((least, most))
    }
}

impl Bound {
    /// Returns whether it is a number of people rather than a share.
    pub(super) fn is_in_people(&self) -> bool {
        match self {
            Bound::Count(_) => true,
            Bound::Share(_) => false,
        }
    }

    fn people(self, class: &str, people: u64, round: impl Fn(f64) -> u64) -> Result<u64> {
        match self {
            Bound::Count(count) => Ok(count),
            Bound::Share(share) => {
                check_share(&format!("the bound of {class:?}"), share)?;
                Ok(round(share * people as f64))
            }
        }
    }
}

fn check_share(what: &str, share: f64) -> Result<()> {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    Err(Error::Parameter { what: what.into(), value: share, range: "a share from 0 to 1" })
}

/// Tolerance for shares that are whole numbers of people up to rounding.
const SLACK: f64 = 1e-7;

fn up(people: f64) -> u64 {
    (people - SLACK).ceil().max(0.0) as u64
}

fn down(people: f64) -> u64 {
    (people + SLACK).floor().max(0.0) as u64
}
