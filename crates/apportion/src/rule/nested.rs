//! Targets of groups within larger units, so that the totals of both are right: counties and states at once.

use crate::error::{Error, Result};
use crate::reference::{Reference, round_to_first};
use crate::transport::nesting::{Quotas, nest};

/// The counts of the smallest units, from their quotas and the units that each level's units lie in.
pub(super) fn targets(reference: &Reference, own: Vec<Quotas>, levels: &[Vec<u32>]) -> Result<Vec<Vec<u64>>> {
    // Quotas of every level, from the smallest units to the largest.
    let mut quotas = vec![own];
    for units in levels {
        let smaller = quotas.last().map_or(&[][..], Vec::as_slice);
        quotas.push(together(reference, smaller, units)?);
    }
    let largest = quotas.pop().unwrap_or_default();
    let mut totals: Vec<Vec<u64>> = largest.iter().map(|unit| round_to_first(&unit.weights, unit.rows)).collect();
    for (smaller, units) in quotas.iter().zip(levels).rev() {
        let mut counts = vec![Vec::new(); smaller.len()];
        for (unit, total) in totals.iter().enumerate() {
            let members: Vec<usize> = (0..smaller.len()).filter(|&place| units[place] as usize == unit).collect();
            let own: Vec<Quotas> = members.iter().map(|&place| smaller[place].clone()).collect();
            let nested = nest(total, &own).ok_or(Error::Unproved)?;
            members.into_iter().zip(nested).for_each(|(place, nested)| counts[place] = nested);
        }
        totals = counts;
    }
    Ok(totals)
}

/// The quotas of larger units: the reference over all their people.
fn together(reference: &Reference, smaller: &[Quotas], units: &[u32]) -> Result<Vec<Quotas>> {
    if units.len() != smaller.len() {
        let what = "the list of larger units";
        return Err(Error::Length { what, found: units.len(), expected: smaller.len() });
    }
    let classes = smaller.first().map_or(0, |unit| unit.weights.len());
    let count = units.iter().map(|&unit| unit as usize + 1).max().unwrap_or(0);
    let mut larger = vec![Quotas { rows: 0, weights: vec![0; classes] }; count];
    for (own, &unit) in smaller.iter().zip(units) {
        let unit = &mut larger[unit as usize];
        unit.rows += own.rows;
        // Scores, true classes and targets add up. Given shares do so in proportion to the people.
        let (people, total) = match reference {
            Reference::Shares(_) => (u128::from(own.rows), own.weights.iter().sum::<u128>().max(1)),
            _ => (1, 1),
        };
        for (sum, weight) in unit.weights.iter_mut().zip(&own.weights) {
            *sum += if total > 1 { people * weight * SHARE / total } else { *weight };
        }
    }
    Ok(larger)
}

/// Parts of a share that are told apart.
const SHARE: u128 = 1_000_000_000_000_000;
