//! Iterative proportional fitting: one factor per class and name and one per class and place, which multiply the
//! scores of a cell so that all margins hold.
//!
//! With scores M and people a of each cell, the logarithms u and v of the factors maximize a concave function:
//!
//! ```text
//! Σ b_name · u + Σ b_place · v − Σ_cells a · ln Σ_k M_k exp(u_k + v_k)
//! ```
//!
//! Plain rounds, which scale each margin's factors by target over current sum, converge fast at first, but very
//! slowly if a margin drives some scores to zero. Newton's method needs only a few steps in that case. Its equations
//! are solved by conjugate gradients; each iteration costs a pass over the cells, like a plain round. Sums have a fixed
//! order, so the result does not depend on the number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::{MarginKey, MarginMiss};
use crate::error::{Error, Result};
use crate::numbers::normalize;

/// People of one name in one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Index of the name.
    pub name: u32,
    /// Index of the place.
    pub place: u32,
    /// Number of people.
    pub people: f64,
}

/// The result of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// Number of rounds; 0 if the scores exclude what a margin requires.
    pub rounds: usize,
    /// The largest deviation from a margin in people, divided by all people.
    pub off: f64,
    /// Whether `off` is within the tolerance. The fit does not converge if margins contradict each other, or if all
    /// scores are zero for a class that a margin requires.
    pub converged: bool,
    /// Whether the fit was still improving when it stopped.
    pub is_slow: bool,
    /// The largest deviation, if any margin is known.
    pub furthest: Option<(MarginKey, MarginMiss)>,
}

/// Maximum number of rounds.
const MOST_ROUNDS: usize = 5_000;
/// Number of rounds within which the deviation must fall by a tenth.
const PATIENCE: usize = 400;
/// Number of plain rounds before Newton's method, and after a Newton step without improvement.
const FIRST_ROUNDS: usize = 20;
const ROUNDS_BETWEEN: usize = 5;
/// Maximum number of conjugate gradient iterations per step, and their relative tolerance.
const MOST_GRADIENTS: usize = 200;
const GRADIENTS_LEAVE: f64 = 1e-2;
/// The longest step of a factor's logarithm, and the logarithm at which the fit diverges.
const LONGEST: f64 = 5.0;
const AWAY: f64 = 300.0;
/// Minimum number of cells or margin rows per thread.
const GRAIN: usize = 512;

/// Fits scores, row by row for each cell, so that they sum to the people of each class by name and by place. The
/// scores of each cell sum to one before and after. A name or place whose margin is NaN is not constrained. A cell
/// whose name and place exclude all of its classes keeps its scores, and its people count as deviation.
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
            problem: "cells, scores and margins do not match; use those of the same run".into(),
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

/// Sets scores to zero if the margin of the name or place has no people of the class. Returns which cells would have
/// no class left; these keep their scores.
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

/// The margin by name or by place.
struct Margin {
    /// People by class for each row; zeros if unknown.
    targets: Vec<f64>,
    is_known: Vec<bool>,
    /// Sums over the cells with only one possible class.
    decided: Vec<f64>,
    /// The cells with several possible classes: those of row r start at `members[starts[r]]`.
    starts: Vec<u32>,
    members: Vec<u32>,
    /// The logarithms of the factors.
    logs: Vec<f64>,
}

impl Margin {
    fn new(margin: &[f64], classes: usize) -> Margin {
        let is_known: Vec<bool> =
            margin.chunks_exact(classes).map(|row| row.iter().all(|people| !people.is_nan())).collect();
        let rows = margin.chunks_exact(classes).zip(&is_known);
        let targets = rows.flat_map(|(row, known)| row.iter().map(|people| if *known { *people } else { 0.0 }));
        let targets: Vec<f64> = targets.collect();
        let (decided, logs) = (vec![0.0; targets.len()], vec![0.0; targets.len()]);
        Margin { targets, is_known, decided, starts: Vec::new(), members: Vec::new(), logs }
    }

    /// Returns the range of a row's classes, if the row is known.
    fn range(&self, row: u32) -> Option<Range<usize>> {
        let (row, classes) = (row as usize, self.targets.len() / self.is_known.len());
        self.is_known[row].then_some(row * classes..(row + 1) * classes)
    }

    /// Lists the cells of each row in order.
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

/// Numbers by row and class, for the margins by name and by place.
type Both = [Vec<f64>; 2];

/// The state of the fit.
struct Fitting<'a> {
    classes: usize,
    /// Initial scores of all cells.
    scores: &'a [f64],
    people: f64,
    /// People in the largest cell for which the margins leave no class.
    stranded: f64,
    margins: [Margin; 2],
    /// The cells with several possible classes: their indices, their people, and their current scores.
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
            margins: [Margin::new(by_name, classes), Margin::new(by_place, classes)],
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
            for (side, own) in fitting.margins.iter_mut().zip([cell.name, cell.place]) {
                if let Some(range) = side.range(own) {
                    side.decided[range].iter_mut().zip(row).for_each(|(sum, score)| *sum += cell.people * score);
                }
            }
        }
        fitting.margins[0].list(fitting.cells.iter().map(|cell| cell.name));
        fitting.margins[1].list(fitting.cells.iter().map(|cell| cell.place));
        fitting
    }

    /// Returns the result if the scores exclude all people that a margin requires, which no factor can change.
    fn excluded(&self, cells: &[Cell], is_stranded: &[bool], near: f64) -> Option<Fit> {
        let mut most: Both = self.margins.each_ref().map(|side| vec![0.0; side.targets.len()]);
        let rows = cells.iter().zip(self.scores.chunks_exact(self.classes)).zip(is_stranded);
        for ((cell, row), _) in rows.filter(|(_, is_stranded)| !**is_stranded) {
            for ((side, own), most) in self.margins.iter().zip([cell.name, cell.place]).zip(&mut most) {
                let Some(range) = side.range(own) else { continue };
                let possible = most[range].iter_mut().zip(row).filter(|(_, score)| **score > 0.0);
                possible.for_each(|(most, _)| *most += cell.people);
            }
        }
        let missing: Both = std::array::from_fn(|side| {
            let pairs = self.margins[side].targets.iter().zip(&most[side]);
            pairs.map(|(target, most)| if *most > 0.0 { 0.0 } else { *target }).collect()
        });
        let (by, off) = self.furthest(&missing)?;
        let share = off.people() / self.people;
        let fit = Fit { rounds: 0, off: share, converged: false, is_slow: false, furthest: Some((by, off)) };
        (share > near).then_some(fit)
    }

    /// Runs plain rounds and Newton steps until the margins hold or no longer improve.
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

    /// Computes the scores from the current factors.
    fn spread(&mut self) {
        let k = self.classes;
        let [names, places]: Both =
            self.margins.each_ref().map(|side| side.logs.par_iter().map(|log| log.exp()).collect());
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

    /// Sums a quantity of each open cell, times its people, by margin row.
    fn sums(&self, side: usize, make: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
        let (k, side) = (self.classes, &self.margins[side]);
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

    /// Returns the deviation of the scores from the margins: the gradient.
    fn missing(&self) -> Both {
        [self.missing_by(0), self.missing_by(1)]
    }

    fn missing_by(&self, which: usize) -> Vec<f64> {
        let side = &self.margins[which];
        let mut missing = self.sums(which, |cell, row| row.copy_from_slice(self.fitted(cell)));
        let wanted = side.targets.iter().zip(&side.decided);
        missing.iter_mut().zip(wanted).for_each(|(own, (target, decided))| *own = target - (decided + *own));
        missing
    }

    fn furthest(&self, missing: &Both) -> Option<(MarginKey, MarginMiss)> {
        let mut furthest: Option<(MarginKey, MarginMiss)> = None;
        for ((side, missing), by) in self.margins.iter().zip(missing).zip([MarginKey::Name, MarginKey::Place]) {
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
        self.margins.iter().any(|side| side.logs.iter().any(|log| log.abs() > AWAY))
    }

    /// One plain round: scales the places' factors to their margin, then the names' factors.
    fn round(&mut self, missing: &Both) -> Both {
        self.rounds += 1;
        self.scale(1, &missing[1]);
        let by_name = self.missing_by(0);
        self.scale(0, &by_name);
        self.missing()
    }

    fn scale(&mut self, which: usize, missing: &[f64]) {
        let Margin { targets, logs, .. } = &mut self.margins[which];
        for (log, (target, missing)) in logs.iter_mut().zip(targets.iter().zip(missing)) {
            let reached = target - missing;
            if *target > 0.0 && reached > 0.0 {
                *log += (target / reached).ln().clamp(-LONGEST, LONGEST);
            }
        }
        self.spread();
    }

    /// One Newton step, halved while it overshoots.
    fn newton(&mut self, missing: &Both) -> Both {
        let direction = self.direction(missing);
        let longest = direction.iter().flatten().fold(0.0f64, |most, step| most.max(step.abs()));
        let slope = dot(missing, &direction);
        let before = self.margins.each_ref().map(|side| side.logs.clone());
        let mut stride = (LONGEST / longest).min(1.0);
        loop {
            self.rounds += 1;
            for ((side, before), direction) in self.margins.iter_mut().zip(&before).zip(&direction) {
                let steps = before.iter().zip(direction).map(|(log, step)| log + stride * step);
                side.logs.iter_mut().zip(steps).for_each(|(log, new)| *log = new);
            }
            self.spread();
            let missing = self.missing();
            // The function is concave: unless the slope has reversed by half, the maximum was not far
            // overshot.
            if dot(&missing, &direction) >= -slope / 2.0 || stride < 1e-6 {
                return missing;
            }
            stride /= 2.0;
        }
    }

    /// Solves for the Newton direction by conjugate gradients. Directions without curvature are skipped.
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
        let mut found: Both = self.margins.each_ref().map(|side| vec![0.0; side.targets.len()]);
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

    /// Multiplies a direction by the curvature.
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
