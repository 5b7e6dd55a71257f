//! Models that use all people before any score is final: the weights and cells of raking, and the scores of fBISG.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use apportion::text::{Message, Setting};
use apportion_bisg::{Bisg, RAKING_TOLERANCE};
use apportion_bisg::{Cells, Fit, Gibbs, KnownMargins, MarginKey, Margins, NameId, RakedCells, Raking, RakingStatus};
use apportion_io::{ColumnBatches, Input};
use rayon::prelude::*;

use super::people::{Adjustment, Lookup, NO_PLACE, NameCache, People};
use super::{Model, Request};
use crate::text::counted;
use crate::{Context, Error, Result};

/// Number of people read at a time.
pub(super) const ROWS: usize = 1 << 18;

/// Number of places drawn in parallel before their draws are stored.
const PLACES_AT_ONCE: usize = 64;

/// The result of a pass over all people.
pub(super) enum AllPeople {
    /// Not used: scores depend on one person only.
    Unused,
    /// The weights of raking to one margin, and the number of passes.
    Weights(Vec<f64>, usize),
    /// The scores of fBISG, row by row, in single precision to save memory; zeros for people without a place.
    Means(Vec<f32>),
    /// The scores of each cell, raked to margins by surname and place.
    Raked(RakedCells, Fit),
}

impl AllPeople {
    /// Reads all people if the model needs them. If only the scores of one row are needed, those of fBISG are drawn
    /// for its place only.
    pub(super) fn collect(
        request: &Request,
        input: &Input,
        lookup: Lookup<'_>,
        margin: Option<&[f64]>,
        classes: &[String],
        only_row: Option<usize>,
        context: &Context,
    ) -> Result<AllPeople> {
        let pass = Pass { input, lookup, context };
        match request.model() {
            Model::Bisg | Model::Bifsg | Model::Voter => Ok(AllPeople::Unused),
            Model::Fbisg => {
                let _working = context.working("drawing");
                Ok(AllPeople::Means(pass.draw(&request.gibbs(), only_row)?))
            }
            Model::Rake => {
                let _working = context.working("raking");
                match (margin, lookup.margins) {
                    (Some(margin), _) => pass.rake(margin, classes),
                    (None, Some(margins)) => pass.rake_cells(request, margins, classes),
                    (None, None) => Ok(AllPeople::Unused),
                }
            }
        }
    }

    /// Returns how the scores of a batch are adjusted, given the row of its first person.
    pub(super) fn adjustment<'a>(&'a self, first: usize, lookup: Lookup<'a>) -> Adjustment<'a> {
        match (self, lookup.margins) {
            (AllPeople::Weights(weights, _), _) => Adjustment::Weights(weights),
            (AllPeople::Means(means), _) => {
                Adjustment::Means(means.get(first * lookup.bisg.classes()..).unwrap_or_default())
            }
            (AllPeople::Raked(raked, _), Some(margins)) => Adjustment::Raked(raked, margins),
            (AllPeople::Raked(..), None) | (AllPeople::Unused, _) => Adjustment::None,
        }
    }

    /// Returns the number of people, if the same people must be read again.
    pub(super) fn rows(&self, bisg: &Bisg) -> Option<usize> {
        match self {
            AllPeople::Means(means) => Some(means.len() / bisg.classes()),
            AllPeople::Unused | AllPeople::Weights(..) | AllPeople::Raked(..) => None,
        }
    }
}

/// A pass over all people.
#[derive(Clone, Copy)]
struct Pass<'a> {
    input: &'a Input,
    lookup: Lookup<'a>,
    context: &'a Context,
}

impl Pass<'_> {
    /// Calls a function with all people, batch by batch.
    fn for_each(&self, mut each: impl FnMut(&People)) -> Result<()> {
        let mut batches = ColumnBatches::new(self.input, &self.lookup.columns.all());
        let mut cache = NameCache::default();
        loop {
            self.context.check_cancelled()?;
            let rows = batches.next_rows(ROWS)?;
            if rows.is_empty() {
                return Ok(());
            }
            for batch in rows {
                each(&People::new(&batch, self.lookup, &mut cache)?);
            }
        }
    }

    /// Finds the weights of the classes that bring the scores to a margin.
    fn rake(&self, shares: &[f64], classes: &[String]) -> Result<AllPeople> {
        let (bisg, mut raking) = (self.lookup.bisg, Raking::new(shares)?);
        loop {
            let (weights, mut all) = (raking.weights(), Margins::new(bisg.classes()));
            self.for_each(|people| people.margins(bisg, &weights).iter().for_each(|some| all.merge(some)))?;
            match raking.step(&all, classes)? {
                RakingStatus::Converged => return Ok(AllPeople::Weights(weights, raking.passes())),
                RakingStatus::Continue => {}
                RakingStatus::NotConverged(reached) => {
                    return Err(margin_not_reached(raking.passes(), &reached, shares, classes));
                }
            }
        }
    }

    /// Rakes the scores of each cell to margins by surname and place.
    fn rake_cells(&self, request: &Request, margins: &KnownMargins, classes: &[String]) -> Result<AllPeople> {
        let bisg = self.lookup.bisg;
        let mut all = Cells::default();
        self.for_each(|people| all.merge_all(&people.cells(bisg, margins)))?;
        let (raked, fit) = all.rake(margins, request.tolerance.unwrap_or(RAKING_TOLERANCE))?;
        if !fit.converged {
            return Err(margins_not_reached(request, &fit, classes));
        }
        for key in [MarginKey::Name, MarginKey::Place] {
            let (setting, path) = request.margin_by(key);
            if let Some(path) = path
                && raked.cells() > 0
                && raked.covered(key) == 0
            {
                let problem = ": no one in the input matches a row of this margin; check its key column";
                return Err(Error::data(Message::from(setting.with(path)) + problem));
            }
        }
        Ok(AllPeople::Raked(raked, fit))
    }

    /// Returns the scores of fBISG, row by row. People without a place have zeros and, if only one row is needed,
    /// people of other places.
    fn draw(&self, gibbs: &Gibbs, only_row: Option<usize>) -> Result<Vec<f32>> {
        let bisg = self.lookup.bisg;
        let likelihoods = bisg.likelihoods()?;
        let mut people: Vec<([NameId; 3], u64)> = Vec::new();
        self.for_each(|some| people.extend(some.names_and_places(bisg).into_iter().flatten()))?;
        if u32::try_from(people.len()).is_err() {
            return Err(Error::data("fBISG is limited to 4 billion people at once; split the input"));
        }
        let k = bisg.classes();
        let mut all = vec![0f32; people.len() * k];
        let mut places = rows_by_place(&people);
        if let Some(row) = only_row {
            places.retain(|(_, rows)| rows.binary_search(&(row as u32)).is_ok());
        }
        let (done, total) = (AtomicU64::new(0), places.iter().map(|(_, rows)| rows.len() as u64).sum());
        self.context.progress.begin("drawing", total);
        for some in places.chunks(PLACES_AT_ONCE) {
            let draw_place = |(place, rows): &(u64, Vec<u32>)| -> Result<Vec<f64>> {
                self.context.check_cancelled()?;
                let mut names = vec![0.0; rows.len() * k];
                for (row, names) in rows.iter().zip(names.chunks_exact_mut(k)) {
                    likelihoods.of(people[*row as usize].0, names);
                }
                let means = gibbs.scores(*place, bisg.people_at(*place).unwrap_or_default(), &names);
                let done = done.fetch_add(rows.len() as u64, Ordering::Relaxed) + rows.len() as u64;
                self.context.progress.update(done, done);
                Ok(means)
            };
            let drawn: Vec<Vec<f64>> = some.par_iter().map(draw_place).collect::<Result<_>>()?;
            for ((_, rows), drawn) in some.iter().zip(drawn) {
                for (row, drawn) in rows.iter().zip(drawn.chunks_exact(k)) {
                    let into = &mut all[*row as usize * k..(*row as usize + 1) * k];
                    into.iter_mut().zip(drawn).for_each(|(into, mean)| *into = *mean as f32);
                }
            }
        }
        Ok(all)
    }
}

/// Returns the rows of each place, the largest places first, so that threads finish at about the same time.
fn rows_by_place(people: &[([NameId; 3], u64)]) -> Vec<(u64, Vec<u32>)> {
    let mut places: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for (row, (_, place)) in people.iter().enumerate().filter(|(_, (_, place))| *place != NO_PLACE) {
        places.entry(*place).or_default().push(row as u32);
    }
    let mut places: Vec<(u64, Vec<u32>)> = places.into_iter().collect();
    places.sort_by_key(|(place, rows)| (std::cmp::Reverse(rows.len()), *place));
    places
}

/// Returns the error for a margin that cannot be met by any weights.
fn margin_not_reached(passes: usize, reached: &[f64], shares: &[f64], classes: &[String]) -> Error {
    let sum: f64 = shares.iter().sum();
    let mut parts = Vec::new();
    for ((class, own), share) in classes.iter().zip(reached).zip(shares) {
        parts.push(format!("{class} {own:.6} (margin {:.6})", share / sum));
    }
    let problem = format!(
        ": not converged after {}: no class weights bring these people to the margin. Reached: {}; look for classes that \
         are possible for too few people",
        counted(passes as u64, "pass", "passes"),
        parts.join(", ")
    );
    Error::data(Message::from(Setting::Margin) + problem)
}

/// Returns the error for margins by surname and place that cannot be met.
fn margins_not_reached(request: &Request, fit: &Fit, classes: &[String]) -> Error {
    let mut message = Message::from(format!(
        "raking: not converged after {}: the largest deviation from the margins is {:.2e} of all people.",
        counted(fit.rounds as u64, "round", "rounds"),
        fit.off
    ));
    if let Some((key, miss)) = fit.furthest {
        let (setting, path) = request.margin_by(key);
        let (class, row) = (&classes[miss.class], miss.row + 1);
        message = message + " It is in " + setting.with(path.unwrap_or_default());
        message =
            message + format!(", row {row}: {class} has {:.3} people but needs {:.3}.", miss.reached, miss.wanted);
    }
    let fix = if fit.rounds == 0 {
        " Scores, or zeros in the other margin, exclude everyone from that class: correct the margin, leave the row out, or \
         allow the deviation with "
    } else if fit.is_slow {
        " Raking was still improving, but slowly: allow the rest of the deviation with "
    } else {
        " Raking no longer improves: margins must agree on the people of each class, and must not need more people in a class \
         than the scores allow; allow the deviation with "
    };
    Error::data(message + fix + Setting::Tolerance)
}
