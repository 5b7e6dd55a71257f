//! Bounds on counts: at least and at most so many, or such a share, of a class; or shares within a margin of the
//! reference (the corpus-level constraints of Zhao et al. 2017).

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::reference::of_group;
use crate::scores::Classes;
use crate::transport::penalty::Quota;

/// A bound on how many people a class has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// So many people (in each group, where the rule looks at groups).
    Count(u64),
    /// Such a share of the people who are labelled.
    Share(f64),
}

/// Bounds on the counts of the labels, overall or in each group, as the rule goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// At least so many, by the name of the class.
    pub at_least: BTreeMap<String, Bound>,
    /// At most so many.
    pub at_most: BTreeMap<String, Bound>,
    /// Every class's share within this margin of the reference's. The whole numbers next to the reference are always
    /// within.
    pub margin: Option<f64>,
}

impl Bounds {
    /// Whether nothing is bounded.
    pub fn is_empty(&self) -> bool {
        self.at_least.is_empty() && self.at_most.is_empty() && self.margin.is_none()
    }

    /// The least and the most of each class, among so many people with these quotas.
    pub(super) fn resolve(
        &self,
        classes: &Classes,
        people: u64,
        quotas: &[Quota],
        group: Option<&str>,
    ) -> Result<(Vec<u64>, Vec<u64>)> {
        let (mut least, mut most) = (vec![0; quotas.len()], vec![people; quotas.len()]);
        if let Some(margin) = self.margin {
            check_share("the margin of the bounds", margin)?;
            let slack = margin * people as f64;
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
        let refuse = |problem: String| Err(Error::Bounds { of: of_group(group), problem });
        if let Some(class) = (0..least.len()).find(|&class| least[class] > most[class]) {
            let (name, least, most) = (&classes.names()[class], least[class], most[class]);
            return refuse(format!(
                "ask for at least {least} and at most {most} of {name:?}; raise one or lower the other"
            ));
        }
        let sum = |side: &[u64]| side.iter().fold(0u64, |sum, &bound| sum.saturating_add(bound));
        if sum(&least) > people {
            return refuse(format!(
                "ask for at least {} people in all, and there are {people}; lower some",
                sum(&least)
            ));
        }
        if sum(&most) < people {
            return refuse(format!("allow at most {} people in all, and there are {people}; raise some", sum(&most)));
        }
        Ok((least, most))
    }
}

impl Bound {
    /// Whether it is a number of people, and not a share.
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

/// A share of people that is a whole number but for its last digits is that number.
const SLACK: f64 = 1e-7;

fn up(people: f64) -> u64 {
    (people - SLACK).ceil().max(0.0) as u64
}

fn down(people: f64) -> u64 {
    (people + SLACK).floor().max(0.0) as u64
}
