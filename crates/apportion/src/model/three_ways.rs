//! Raking three ways: where the people of each class are known by name and by place, and those of each name in each place are
//! counted, the table of name × place × class is fitted proportionally to all three.
//!
//! Only cells that have people are kept: the table is sparse, and its memory is K numbers a cell.

use super::table::normalize;
use crate::error::{Error, Result};

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
pub struct Fit {
    /// Rounds that were gone.
    pub rounds: usize,
    /// By how many people the margin that is furthest off is missed, as a share of all.
    pub off: f64,
    /// Whether that is near enough. Margins that contradict each other, or zeros where there must be people, never come near.
    pub converged: bool,
}

/// Rounds after which it is given up.
const MOST_ROUNDS: usize = 5_000;

/// Fits scores, row by row for each cell, so that with the cells' people they add up to the people of each class by name and by place.
/// Scores sum to one in each cell, before and after. A name or a place whose margin is NaN is left as it comes.
pub fn rake_three_ways(
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
    let people: f64 = cells.iter().map(|cell| cell.people).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut sums = Vec::new();
    let mut fit = Fit { rounds: 0, off: f64::INFINITY, converged: false };
    while fit.rounds < MOST_ROUNDS && !fit.converged {
        fit.rounds += 1;
        let by_places = scale_to(by_place, &mut sums, cells, scores, classes, |cell| cell.place);
        let by_names = scale_to(by_name, &mut sums, cells, scores, classes, |cell| cell.name);
        let mut cells_off = 0.0f64;
        for (cell, row) in cells.iter().zip(scores.chunks_exact_mut(classes)) {
            cells_off = cells_off.max(cell.people * (row.iter().sum::<f64>() - 1.0).abs());
            normalize(row);
        }
        fit.off = by_places.max(by_names).max(cells_off) / people;
        fit.converged = fit.off <= near;
    }
    Ok(fit)
}

/// Multiplies scores so that they add up to a margin; says by how many people they did not before.
fn scale_to(
    margin: &[f64],
    sums: &mut Vec<f64>,
    cells: &[Cell],
    scores: &mut [f64],
    classes: usize,
    of: impl Fn(&Cell) -> u32,
) -> f64 {
    sums.clear();
    sums.resize(margin.len(), 0.0);
    for (cell, row) in cells.iter().zip(scores.chunks_exact(classes)) {
        let start = of(cell) as usize * classes;
        sums[start..start + classes].iter_mut().zip(row).for_each(|(sum, score)| *sum += cell.people * score);
    }
    let off = margin.iter().zip(&*sums).filter(|(margin, _)| !margin.is_nan());
    let off = off.map(|(margin, sum)| (margin - sum).abs()).fold(0.0, f64::max);
    for (cell, row) in cells.iter().zip(scores.chunks_exact_mut(classes)) {
        let start = of(cell) as usize * classes;
        for (class, score) in row.iter_mut().enumerate() {
            let (margin, sum) = (margin[start + class], sums[start + class]);
            if !margin.is_nan() && sum > 0.0 {
                *score *= margin / sum;
            }
        }
    }
    off
}
