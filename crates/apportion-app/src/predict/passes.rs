//! Models that look at all people before anybody has a score: raking's weights, and fBISG's draws.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, bail};
use apportion_bisg::{Cells, Fit, Gibbs, KnownMargins, MarginKey, Margins, NameId, RakedCells, Raking, RakingStatus};
use apportion_io::{ColumnReader, Input};
use rayon::prelude::*;

use super::people::{Known, Lookup, NOWHERE, People};

/// People that are read at a time.
const STRETCH: usize = 1 << 18;

/// Hands all people to somebody, some at a time.
fn pass(input: &Input, lookup: Lookup<'_>, mut each: impl FnMut(&People)) -> Result<()> {
    let (mut side, mut known) = (ColumnReader::new(input, &lookup.columns.all()), Known::default());
    loop {
        let batches = side.next_rows(STRETCH)?;
        if batches.is_empty() {
            return Ok(());
        }
        for batch in batches {
            each(&People::of(&batch, lookup, &mut known)?);
        }
    }
}

/// The weights of the classes that bring the scores to a margin, and the passes that they took.
pub(super) fn rake(input: &Input, lookup: Lookup<'_>, shares: &[f64], classes: &[String]) -> Result<(Vec<f64>, usize)> {
    let (bisg, mut raking) = (lookup.bisg, Raking::new(shares)?);
    loop {
        let (weights, mut all) = (raking.weights(), Margins::new(bisg.classes()));
        pass(input, lookup, |people| people.margins(bisg, &weights).iter().for_each(|some| all.merge(some)))?;
        match raking.step(&all, classes)? {
            RakingStatus::Converged => return Ok((weights, raking.passes())),
            RakingStatus::Continue => {}
            RakingStatus::NotConverged(reached) => {
                let sum: f64 = shares.iter().sum();
                let told = classes.iter().zip(reached.iter().zip(shares));
                let told = told.map(|(class, (own, share))| format!("{class} {own:.6} for {:.6}", share / sum));
                bail!(
                    "--margin: not converged after {}: no weights of the classes bring these people to it. Reached: {}; \
                     look for classes that too few people can be in",
                    counted(raking.passes(), "pass", "passes"),
                    told.collect::<Vec<_>>().join(", ")
                );
            }
        }
    }
}

/// The scores of all who are alike, raked to margins by surname and place.
pub(super) fn rake_by_rows(
    input: &Input,
    lookup: Lookup<'_>,
    margins: &KnownMargins,
    near: f64,
    classes: &[String],
    file: impl Fn(MarginKey) -> String,
) -> Result<(RakedCells, Fit)> {
    let mut all = Cells::default();
    pass(input, lookup, |people| all.merge_all(&people.cells(lookup.bisg, margins)))?;
    let (raked, fit) = all.rake(margins, near)?;
    if fit.converged {
        return Ok((raked, fit));
    }
    let furthest = fit.furthest.map(|(by, off)| {
        let (class, row) = (&classes[off.class], off.row + 1);
        format!(" Furthest off is {}, row {row}: {class} {:.3} people for {:.3}.", file(by), off.reached, off.wanted)
    });
    let why = if fit.rounds == 0 {
        "Scores, or zeros of the other margin, allow nobody in that class: mend the margin, or leave the row out of it; allow for \
         what is missing with --tolerance"
    } else if fit.is_slow {
        "It was still coming nearer, slowly: allow for what is left with --tolerance"
    } else {
        "It no longer comes nearer: margins must agree on the people of each class, and must not ask for people in classes that \
         too few scores allow; allow for what they differ by with --tolerance"
    };
    bail!(
        "raking: not converged after {}: {:.2e} of all people are missing where the margins are furthest off.{} {why}",
        counted(fit.rounds, "round", "rounds"),
        fit.off,
        furthest.unwrap_or_default()
    )
}

/// A number of something, in words.
fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// How often each person was drawn for each class, row by row. People who are nowhere are not drawn, and have zeros. Somebody is
/// told of how many people it is done, and of how many there are, and says whether it is to go on.
pub(super) fn draw(
    input: &Input,
    lookup: Lookup<'_>,
    gibbs: &Gibbs,
    goes_on: impl Fn(u64, u64) -> bool + Sync,
) -> Result<Vec<u16>> {
    let bisg = lookup.bisg;
    let chances = bisg.likelihoods()?;
    let mut people: Vec<(NameId, NameId, u64)> = Vec::new();
    pass(input, lookup, |some| people.extend(some.draws_from(bisg).into_iter().flatten()))?;
    let mut places: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    if u32::try_from(people.len()).is_err() {
        bail!("more than 4 billion people are too many for fBISG at once; make their scores in parts");
    }
    for (row, (.., place)) in people.iter().enumerate().filter(|(_, (.., place))| *place != NOWHERE) {
        places.entry(*place).or_default().push(row as u32);
    }
    let k = bisg.classes();
    let mut all = vec![0u16; people.len() * k];
    // The largest places first, so that no thread is left alone with one at the end.
    let mut places: Vec<(u64, Vec<u32>)> = places.into_iter().collect();
    places.sort_by_key(|(key, rows)| (std::cmp::Reverse(rows.len()), *key));
    let (done, at_places) = (AtomicU64::new(0), places.iter().map(|(_, rows)| rows.len() as u64).sum());
    for some in places.chunks(AT_ONCE) {
        let drawn: Result<Vec<Vec<u16>>> = some
            .par_iter()
            .map(|(key, rows)| {
                let mut names = vec![0.0; rows.len() * k];
                for (row, names) in rows.iter().zip(names.chunks_exact_mut(k)) {
                    let (surname, first_name, _) = people[*row as usize];
                    chances.of(surname, first_name, names);
                }
                let draws = gibbs.draws(*key, bisg.people_at(*key).unwrap_or_default(), &names);
                let people = rows.len() as u64;
                if goes_on(done.fetch_add(people, Ordering::Relaxed) + people, at_places) {
                    Ok(draws)
                } else {
                    Err(apportion_io::Error::Cancelled.into())
                }
            })
            .collect();
        for ((_, rows), drawn) in some.iter().zip(drawn?) {
            for (row, drawn) in rows.iter().zip(drawn.chunks_exact(k)) {
                all[*row as usize * k..(*row as usize + 1) * k].copy_from_slice(drawn);
            }
        }
    }
    Ok(all)
}

/// Places that are drawn in before what was drawn is put in its place.
const AT_ONCE: usize = 64;
