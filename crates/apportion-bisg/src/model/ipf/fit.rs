//! The proportional fit: a factor for each class of each name, and one for each class of each place, which multiply the scores of a
//! cell so that all margins hold.
//!
//! With scores M and people a of each cell, the factors' logarithms u and v are where a concave function is largest:
//!
//! ```text
//! Σ b_name · u + Σ b_place · v − Σ_cells a · ln Σ_k M_k exp(u_k + v_k)
//! ```
//!
//! Plain rounds (each margin's factors times what it wants over what it has) climb it fast at first, and endlessly slowly where a
//! margin leaves some scores no way but towards zero. Newton's method takes a few steps there; a step's equations are solved by
//! conjugate gradients, and one of these costs a pass over the cells, as a round does. All sums have a fixed order, so that
//! nothing depends on the number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::{MarginKey, MarginMiss};
use crate::error::{Error, Result};
use crate::numbers::normalize;

/// People of one name in one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The number of the name.
    pub name: u32,
    /// The number of the place.
    pub place: u32,
    /// How many people there are.
    pub people: f64,
}

/// How a fit ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// Rounds that were gone; none where scores exclude what a margin asks for.
    pub rounds: usize,
    /// By how many people the margin that is furthest off is missed, as a share of all.
    pub off: f64,
    /// Whether that is near enough. Margins that contradict each other, or zeros where there must be people, never come near.
    pub converged: bool,
    /// Whether it was still coming nearer when it was given up.
    pub is_slow: bool,
    /// Where it is furthest off, if anything is known.
    pub furthest: Option<(MarginKey, MarginMiss)>,
}

/// Rounds after which it is given up.
const MOST_ROUNDS: usize = 5_000;
/// Rounds within which the distance must fall by a tenth.
const PATIENCE: usize = 400;
/// Plain rounds before Newton's method begins, and those that follow a step of it that led no nearer.
const FIRST_ROUNDS: usize = 20;
const ROUNDS_BETWEEN: usize = 5;
/// Conjugate gradients in a step, and how far they bring down what is missing.
const MOST_GRADIENTS: usize = 200;
const GRADIENTS_LEAVE: f64 = 1e-2;
/// The longest step of a factor's logarithm, and the logarithm from which on it has run away.
const LONGEST: f64 = 5.0;
const AWAY: f64 = 300.0;
/// Cells, and rows of a margin, that a thread takes at least.
const GRAIN: usize = 512;

/// Fits scores, row by row for each cell, so that with the cells' people they add up to the people of each class by name and by place.
/// Scores sum to one in each cell, before and after. A name or a place whose margin is NaN is left as it comes. A cell whose
/// name and place exclude all of its classes keeps its scores, and its people count as missed.
pub fn ipf(
    cells: &[Cell],
    scores: &mut [f64],
    by_name: &[f64],
    by_place: &[f64],
    classes: usize,
    near: f64,
) -> Result<Fit> {
    let fits =
        |margin: &[f64], last: Option<u32>| last.is_none_or(|last| (last as usize + 1) * classes <= margin.len());
    let sound = classes > 0
        && scores.len() == cells.len() * classes
        && fits(by_name, cells.iter().map(|cell| cell.name).max())
        && fits(by_place, cells.iter().map(|cell| cell.place).max())
        && cells.iter().all(|cell| cell.people >= 0.0 && cell.people.is_finite());
    if !sound || scores.iter().any(|score| !(*score >= 0.0 && score.is_finite())) {
        return Err(Error::Model {
            problem: "cells, scores and margins do not belong together; give one of each".into(),
        });
    }
    let is_stranded = exclude(cells, scores, by_name, by_place, classes);
    let mut fitting = Fitting::new(cells, scores, &is_stranded, [by_name, by_place], classes);
    let fit = fitting.excluded(cells, &is_stranded, near).unwrap_or_else(|| fitting.run(near));
    let Fitting { open, fitted, .. } = fitting;
    for (cell, row) in open.iter().zip(fitted.chunks_exact(classes)) {
        scores[*cell as usize * classes..][..classes].copy_from_slice(row);
    }
    Ok(fit)
}

/// Takes the classes from cells that nobody of their name or place is in. Says which cells would have none left: they keep their
/// scores.
fn exclude(cells: &[Cell], scores: &mut [f64], by_name: &[f64], by_place: &[f64], classes: usize) -> Vec<bool> {
    let exclude_from = |(cell, row): (&Cell, &mut [f64])| {
        let name = &by_name[cell.name as usize * classes..][..classes];
        let place = &by_place[cell.place as usize * classes..][..classes];
        let kept = |class: usize, score: f64| if name[class] == 0.0 || place[class] == 0.0 { 0.0 } else { score };
        let is_stranded = row.iter().enumerate().all(|(class, &score)| kept(class, score) == 0.0);
        if !is_stranded {
            row.iter_mut().enumerate().for_each(|(class, score)| *score = kept(class, *score));
            normalize(row);
        }
        is_stranded
    };
    cells.par_iter().zip(scores.par_chunks_exact_mut(classes)).with_min_len(GRAIN).map(exclude_from).collect()
}

/// A margin: its rows, and whom they are about.
struct Side {
    /// People by class for each row; zeros where nothing is known.
    targets: Vec<f64>,
    is_known: Vec<bool>,
    /// Those of the people whose cells have no choice.
    decided: Vec<f64>,
    /// The cells of each row that have a choice: row r has those of `members` from `starts[r]` on.
    starts: Vec<u32>,
    members: Vec<u32>,
    /// The logarithms of the factors.
    logs: Vec<f64>,
}

impl Side {
    fn new(margin: &[f64], classes: usize) -> Side {
        let is_known: Vec<bool> =
            margin.chunks_exact(classes).map(|row| row.iter().all(|people| !people.is_nan())).collect();
        let rows = margin.chunks_exact(classes).zip(&is_known);
        let targets = rows.flat_map(|(row, known)| row.iter().map(|people| if *known { *people } else { 0.0 }));
        let targets: Vec<f64> = targets.collect();
        let (decided, logs) = (vec![0.0; targets.len()], vec![0.0; targets.len()]);
        Side { targets, is_known, decided, starts: Vec::new(), members: Vec::new(), logs }
    }

    /// Where the classes of a row stand, if anything is known of it.
    fn range(&self, row: u32) -> Option<Range<usize>> {
        let (row, classes) = (row as usize, self.targets.len() / self.is_known.len());
        self.is_known[row].then_some(row * classes..(row + 1) * classes)
    }

    /// Lists the cells of each row, in their order.
    fn list(&mut self, rows: impl Iterator<Item = u32> + Clone) {
        let rows = rows.enumerate().filter(|(_, row)| self.is_known[*row as usize]);
        self.starts = vec![0; self.is_known.len() + 1];
        rows.clone().for_each(|(_, row)| self.starts[row as usize + 1] += 1);
        (1..self.starts.len()).for_each(|row| self.starts[row] += self.starts[row - 1]);
        let mut next = self.starts.clone();
        self.members = vec![0; next.last().map_or(0, |all| *all as usize)];
        for (cell, row) in rows {
            self.members[next[row as usize] as usize] = cell as u32;
            next[row as usize] += 1;
        }
    }

    fn members(&self, row: usize) -> &[u32] {
        &self.members[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

/// Numbers by row and class, for the margin by name and for that by place.
type Both = [Vec<f64>; 2];

/// Cells on their way to the margins.
struct Fitting<'a> {
    classes: usize,
    /// The scores to begin with, of all cells.
    scores: &'a [f64],
    people: f64,
    /// People in the largest cell that the margins leave no class.
    stranded: f64,
    sides: [Side; 2],
    /// The cells that have a choice: which they are, who is in them, and the scores that the factors at hand give them.
    open: Vec<u32>,
    cells: Vec<Cell>,
    fitted: Vec<f64>,
    rounds: usize,
}

impl<'a> Fitting<'a> {
    fn new(
        cells: &[Cell],
        scores: &'a [f64],
        is_stranded: &[bool],
        [by_name, by_place]: [&[f64]; 2],
        classes: usize,
    ) -> Fitting<'a> {
        let mut fitting = Fitting {
            classes,
            scores,
            people: cells.iter().map(|cell| cell.people).sum::<f64>().max(f64::MIN_POSITIVE),
            stranded: 0.0,
            sides: [Side::new(by_name, classes), Side::new(by_place, classes)],
            open: Vec::new(),
            cells: Vec::new(),
            fitted: Vec::new(),
            rounds: 0,
        };
        for (index, (cell, row)) in cells.iter().zip(scores.chunks_exact(classes)).enumerate() {
            if is_stranded[index] {
                fitting.stranded = fitting.stranded.max(cell.people);
            } else if row.iter().filter(|score| **score > 0.0).count() > 1 {
                fitting.open.push(index as u32);
                fitting.cells.push(*cell);
                fitting.fitted.extend(row);
                continue;
            }
            for (side, own) in fitting.sides.iter_mut().zip([cell.name, cell.place]) {
                if let Some(range) = side.range(own) {
                    side.decided[range].iter_mut().zip(row).for_each(|(sum, score)| *sum += cell.people * score);
                }
            }
        }
        fitting.sides[0].list(fitting.cells.iter().map(|cell| cell.name));
        fitting.sides[1].list(fitting.cells.iter().map(|cell| cell.place));
        fitting
    }

    /// How it ends where scores exclude all people whom a margin asks for: no factor brings them about.
    fn excluded(&self, cells: &[Cell], is_stranded: &[bool], near: f64) -> Option<Fit> {
        let mut most: Both = self.sides.each_ref().map(|side| vec![0.0; side.targets.len()]);
        let rows = cells.iter().zip(self.scores.chunks_exact(self.classes)).zip(is_stranded);
        for ((cell, row), _) in rows.filter(|(_, is_stranded)| !**is_stranded) {
            for ((side, own), most) in self.sides.iter().zip([cell.name, cell.place]).zip(&mut most) {
                let Some(range) = side.range(own) else { continue };
                let possible = most[range].iter_mut().zip(row).filter(|(_, score)| **score > 0.0);
                possible.for_each(|(most, _)| *most += cell.people);
            }
        }
        let missing: Both = std::array::from_fn(|side| {
            let pairs = self.sides[side].targets.iter().zip(&most[side]);
            pairs.map(|(target, most)| if *most > 0.0 { 0.0 } else { *target }).collect()
        });
        let (by, off) = self.furthest(&missing)?;
        let share = off.people() / self.people;
        let fit = Fit { rounds: 0, off: share, converged: false, is_slow: false, furthest: Some((by, off)) };
        (share > near).then_some(fit)
    }

    /// Plain rounds and Newton's steps, until the margins are near or no longer come nearer.
    fn run(&mut self, near: f64) -> Fit {
        let mut missing = self.round(&self.missing());
        let (mut best, mut best_at, mut plain) = (f64::INFINITY, 0, FIRST_ROUNDS);
        loop {
            let furthest = self.furthest(&missing);
            let off = furthest.map_or(0.0, |(_, off)| off.people()).max(self.stranded) / self.people;
            let comes_nearer = off < 0.9 * best;
            if comes_nearer {
                (best, best_at) = (off, self.rounds);
            }
            let is_slow = self.rounds >= MOST_ROUNDS;
            let is_stuck = self.rounds - best_at >= PATIENCE || self.has_run_away();
            if off <= near || is_stuck || is_slow {
                return Fit {
                    rounds: self.rounds,
                    off,
                    converged: off <= near,
                    is_slow: is_slow && !is_stuck && off > near,
                    furthest,
                };
            }
            if plain == 0 && !comes_nearer {
                plain = ROUNDS_BETWEEN;
            }
            if plain > 0 {
                plain -= 1;
                missing = self.round(&missing);
            } else {
                missing = self.newton(&missing);
            }
        }
    }

    /// Scores by the factors at hand.
    fn spread(&mut self) {
        let k = self.classes;
        let [names, places]: Both =
            self.sides.each_ref().map(|side| side.logs.par_iter().map(|log| log.exp()).collect());
        let rows = self.fitted.par_chunks_exact_mut(k).zip(&self.open).zip(&self.cells);
        rows.with_min_len(GRAIN).for_each(|((fitted, open), cell)| {
            let scores = &self.scores[*open as usize * k..][..k];
            let factors = names[cell.name as usize * k..].iter().zip(&places[cell.place as usize * k..]);
            let pairs = scores.iter().zip(factors);
            fitted.iter_mut().zip(pairs).for_each(|(own, (score, (name, place)))| *own = score * (name * place));
            if !normalize(fitted) {
                fitted.copy_from_slice(scores);
            }
        });
    }

    /// Adds up something of each open cell, times its people, by the rows of a margin.
    fn sums(&self, side: usize, make: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
        let (k, side) = (self.classes, &self.sides[side]);
        let mut sums = vec![0.0; side.targets.len()];
        let rows = sums.par_chunks_exact_mut(k).enumerate();
        rows.for_each_init(
            || vec![0.0; k],
            |values, (row, sums)| {
                for &cell in side.members(row) {
                    make(cell as usize, values);
                    let people = self.cells[cell as usize].people;
                    sums.iter_mut().zip(&*values).for_each(|(sum, value)| *sum += people * value);
                }
            },
        );
        sums
    }

    fn fitted(&self, cell: usize) -> &[f64] {
        &self.fitted[cell * self.classes..][..self.classes]
    }

    /// The people whom margins want and scores do not have: the gradient.
    fn missing(&self) -> Both {
        [self.missing_by(0), self.missing_by(1)]
    }

    fn missing_by(&self, which: usize) -> Vec<f64> {
        let side = &self.sides[which];
        let mut missing = self.sums(which, |cell, row| row.copy_from_slice(self.fitted(cell)));
        let wanted = side.targets.iter().zip(&side.decided);
        missing.iter_mut().zip(wanted).for_each(|(own, (target, decided))| *own = target - (decided + *own));
        missing
    }

    fn furthest(&self, missing: &Both) -> Option<(MarginKey, MarginMiss)> {
        let mut furthest: Option<(MarginKey, MarginMiss)> = None;
        for ((side, missing), by) in self.sides.iter().zip(missing).zip([MarginKey::Name, MarginKey::Place]) {
            for (index, (&wanted, missing)) in side.targets.iter().zip(missing).enumerate() {
                let row = index / self.classes;
                if side.is_known[row] && furthest.is_none_or(|(_, off)| missing.abs() > off.people()) {
                    let off =
                        MarginMiss { row: row as u32, class: index % self.classes, wanted, reached: wanted - missing };
                    furthest = Some((by, off));
                }
            }
        }
        furthest
    }

    fn has_run_away(&self) -> bool {
        self.sides.iter().any(|side| side.logs.iter().any(|log| log.abs() > AWAY))
    }

    /// A plain round: first the places' factors are scaled to their margin, then the names'.
    fn round(&mut self, missing: &Both) -> Both {
        self.rounds += 1;
        self.scale(1, &missing[1]);
        let by_name = self.missing_by(0);
        self.scale(0, &by_name);
        self.missing()
    }

    fn scale(&mut self, which: usize, missing: &[f64]) {
        let Side { targets, logs, .. } = &mut self.sides[which];
        for (log, (target, missing)) in logs.iter_mut().zip(targets.iter().zip(missing)) {
            let reached = target - missing;
            if *target > 0.0 && reached > 0.0 {
                *log += (target / reached).ln().clamp(-LONGEST, LONGEST);
            }
        }
        self.spread();
    }

    /// A step of Newton's method, halved as long as it leads far beyond the top.
    fn newton(&mut self, missing: &Both) -> Both {
        let direction = self.direction(missing);
        let longest = direction.iter().flatten().fold(0.0f64, |most, step| most.max(step.abs()));
        let slope = dot(missing, &direction);
        let before = self.sides.each_ref().map(|side| side.logs.clone());
        let mut stride = (LONGEST / longest).min(1.0);
        loop {
            self.rounds += 1;
            for ((side, before), direction) in self.sides.iter_mut().zip(&before).zip(&direction) {
                let steps = before.iter().zip(direction).map(|(log, step)| log + stride * step);
                side.logs.iter_mut().zip(steps).for_each(|(log, new)| *log = new);
            }
            self.spread();
            let missing = self.missing();
            // The function is concave: as long as the slope has not turned as steep, it has not been left behind.
            if dot(&missing, &direction) >= -slope / 2.0 || stride < 1e-6 {
                return missing;
            }
            stride /= 2.0;
        }
    }

    /// Where the curvature's inverse leads from what is missing, by conjugate gradients. Directions in which nothing changes are
    /// not gone.
    fn direction(&mut self, missing: &Both) -> Both {
        let curvature = [0, 1].map(|side| {
            self.sums(side, |cell, row| row.iter_mut().zip(self.fitted(cell)).for_each(|(own, q)| *own = q * (1.0 - q)))
        });
        let level = self.people * 1e-17;
        let scaled = |left: &Both| -> Both {
            std::array::from_fn(|side| {
                let pairs = left[side].iter().zip(&curvature[side]);
                pairs.map(|(left, own)| if *own > level { left / own } else { 0.0 }).collect()
            })
        };
        let mut found: Both = self.sides.each_ref().map(|side| vec![0.0; side.targets.len()]);
        let (mut left, mut way) = (missing.clone(), scaled(missing));
        let mut length = dot(&left, &way);
        let enough = length * GRADIENTS_LEAVE * GRADIENTS_LEAVE;
        for _ in 0..MOST_GRADIENTS {
            self.rounds += 1;
            let bent = self.bent(&way);
            let stride = length / dot(&way, &bent);
            if !(stride > 0.0 && stride.is_finite()) {
                break;
            }
            add(&mut found, stride, &way);
            add(&mut left, -stride, &bent);
            let steepest = scaled(&left);
            let before = std::mem::replace(&mut length, dot(&left, &steepest));
            if length <= enough {
                break;
            }
            let turn = length / before;
            way.iter_mut().flatten().zip(steepest.iter().flatten()).for_each(|(own, new)| *own = new + turn * *own);
        }
        found
    }

    /// How the sums change along a way: the curvature times it.
    fn bent(&self, [names, places]: &Both) -> Both {
        let k = self.classes;
        [0, 1].map(|side| {
            self.sums(side, |cell, row| {
                let Cell { name, place, .. } = self.cells[cell];
                let steps = names[name as usize * k..].iter().zip(&places[place as usize * k..]);
                let fitted = self.fitted(cell);
                row.iter_mut().zip(fitted.iter().zip(steps)).for_each(|(own, (q, (a, b)))| *own = q * (a + b));
                let mean: f64 = row.iter().sum();
                row.iter_mut().zip(fitted).for_each(|(own, q)| *own -= q * mean);
            })
        })
    }
}

fn dot(a: &Both, b: &Both) -> f64 {
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| a * b).sum()
}

fn add(to: &mut Both, times: f64, what: &Both) {
    to.iter_mut().flatten().zip(what.iter().flatten()).for_each(|(own, what)| *own += times * what);
}
