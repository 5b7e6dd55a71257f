//! Targets of groups within larger units, exact at both levels, such as counties and states.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::reference::{Reference, round_to_first};
use crate::transport::nesting::{Quotas, nest};

/// Returns the counts of the smallest units, from their quotas and the unit that contains each unit, level by level.
pub(super) fn targets(reference: &Reference, own: Vec<Quotas>, levels: &[Vec<u32>]) -> Result<Vec<Vec<u64>>> {
    // Quotas of every level, smallest units first, and the members of each larger unit.
    let (mut quotas, mut members) = (vec![own], Vec::new());
    for units in levels {
        let smaller = quotas.last().map_or(&[][..], Vec::as_slice);
        members.push(members_of(units, smaller.len())?);
        let larger = members.last().map_or(&[][..], Vec::as_slice);
        quotas.push(larger.iter().map(|members| combine(reference, members.iter().map(|&m| &smaller[m]))).collect());
    }
    let largest = quotas.pop().unwrap_or_default();
    let mut totals: Vec<Vec<u64>> = largest.iter().map(|unit| round_to_first(&unit.weights, unit.rows)).collect();
    for (smaller, members) in quotas.iter().zip(&members).rev() {
        let mut counts = vec![Vec::new(); smaller.len()];
        for (members, total) in members.iter().zip(&totals) {
            let own: Vec<Quotas> = members.iter().map(|&index| smaller[index].clone()).collect();
            let nested = nest(total, &own).ok_or(Error::Unproved)?;
            members.iter().zip(nested).for_each(|(&index, nested)| counts[index] = nested);
        }
        totals = counts;
    }
    Ok(totals)
}

/// Returns the members of each larger unit. Larger units are ordered by number; some numbers may be missing.
fn members_of(units: &[u32], smaller: usize) -> Result<Vec<Vec<usize>>> {
    if units.len() != smaller {
        return Err(Error::Length { what: "the list of larger units", found: units.len(), expected: smaller });
    }
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    units.iter().enumerate().for_each(|(index, &unit)| members.entry(unit).or_default().push(index));
    Ok(members.into_values().collect())
}

/// Returns the quotas of a larger unit: the reference over all its people.
fn combine<'a>(reference: &Reference, members: impl Iterator<Item = &'a Quotas>) -> Quotas {
    let mut unit = Quotas { rows: 0, weights: Vec::new() };
    for own in members {
        unit.rows += own.rows;
        unit.weights.resize(own.weights.len(), 0);
        // Scores, true classes and targets add up; given shares are weighted by people.
        let total = own.weights.iter().sum::<u128>().max(1);
        for (sum, &weight) in unit.weights.iter_mut().zip(&own.weights) {
            *sum += match reference {
                Reference::Shares(_) => u128::from(own.rows) * share(weight, total),
                Reference::Posterior | Reference::Truth | Reference::Uniform | Reference::Targets(_) => weight,
            };
        }
    }
    unit
}

/// Resolution of a share.
const PARTS: u128 = 1_000_000_000_000_000;

/// Returns a weight divided by a total, in units of 1/[`PARTS`], without overflow.
fn share(weight: u128, total: u128) -> u128 {
    // PARTS has 50 bits, so products fit if the factors are below 2^77.
    let spare = (128 - total.leading_zeros()).saturating_sub(77);
    (weight >> spare) * PARTS / (total >> spare).max(1)
}
