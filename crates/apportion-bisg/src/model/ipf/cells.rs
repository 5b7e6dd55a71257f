//! People counted by margin rows and scores. No memory is allocated per person: cells are stored contiguously and
//! found by hash.

use std::cmp::Ordering;

use apportion::seed;
use rayon::prelude::*;

use super::fit::{Cell, Fit, ipf};
use super::{KnownMargins, MarginKey, MarginMiss, MarginRows};
use crate::error::Result;
use crate::index::Codes;

/// Number of partitions by hash, which threads merge in parallel.
const PARTS: usize = 16;

/// People counted by margin rows and bitwise equal scores.
#[derive(Clone, Debug, Default)]
pub struct Cells(Box<[Part; PARTS]>);

/// The cells of one partition.
#[derive(Clone, Debug, Default)]
struct Part {
    /// Indices of cells by hash; colliding cells use the next free number.
    indices: Codes,
    rows: Vec<MarginRows>,
    people: Vec<u64>,
    scores: Vec<f64>,
}

fn hash(rows: MarginRows, scores: &[f64]) -> u64 {
    let number = |row: Option<u32>| row.map_or(0, |row| u64::from(row) + 1);
    let start = seed::hash(0, number(rows.name), number(rows.place));
    let bits = |score: Option<&f64>| score.map_or(0, |score| score.to_bits());
    scores.chunks(2).fold(start, |hash, pair| seed::hash(hash, bits(pair.first()), bits(pair.get(1))))
}

fn part_of(hash: u64) -> usize {
    seed::below(hash, PARTS as u64) as usize
}

fn compare(a: &[f64], b: &[f64]) -> Ordering {
    a.iter().map(|score| score.to_bits()).cmp(b.iter().map(|score| score.to_bits()))
}

impl Part {
    fn scores(&self, index: usize) -> &[f64] {
        let classes = self.scores.len() / self.rows.len();
        &self.scores[index * classes..][..classes]
    }

    /// Returns the index of a cell, or the free number under which to insert it.
    fn find(&self, mut hash: u64, rows: MarginRows, scores: &[f64]) -> std::result::Result<usize, u64> {
        while let Some(&index) = self.indices.get(&hash) {
            let index = index as usize;
            if self.rows[index] == rows && compare(self.scores(index), scores).is_eq() {
                return Ok(index);
            }
            hash = hash.wrapping_add(1);
        }
        Err(hash)
    }

    fn add(&mut self, hash: u64, rows: MarginRows, scores: &[f64], people: u64) {
        match self.find(hash, rows, scores) {
            Ok(index) => self.people[index] += people,
            Err(hash) => {
                self.indices.insert(hash, self.rows.len() as u32);
                self.rows.push(rows);
                self.people.push(people);
                self.scores.extend_from_slice(scores);
            }
        }
    }

    fn merge(&mut self, other: &Part) {
        for (index, (&rows, &people)) in other.rows.iter().zip(&other.people).enumerate() {
            let scores = other.scores(index);
            self.add(hash(rows, scores), rows, scores, people);
        }
    }
}

impl Cells {
    /// Counts a person with these scores.
    pub fn add(&mut self, rows: MarginRows, scores: &[f64]) {
        let hash = hash(rows, scores);
        self.0[part_of(hash)].add(hash, rows, scores, 1);
    }

    /// Adds the people of another set.
    pub fn merge(&mut self, other: &Cells) {
        self.merge_all(std::slice::from_ref(other));
    }

    /// Adds several sets in parallel.
    pub fn merge_all(&mut self, others: &[Cells]) {
        let parts = self.0.par_iter_mut().enumerate();
        parts.for_each(|(part, own)| others.iter().for_each(|other| own.merge(&other.0[part])));
    }

    /// Fits the scores of all cells to the margins, scaled to the people of each name and place. The result does
    /// not depend on the order of the people.
    pub fn rake(self, margins: &KnownMargins, near: f64) -> Result<(RakedCells, Fit)> {
        let classes = margins.classes();
        let order = self.order();
        let at = |&(part, index): &(u8, u32)| (&self.0[part as usize], index as usize);
        let row = |cell: &(u8, u32)| at(cell).0.rows[at(cell).1];
        let names = Rows::new(order.iter().map(|cell| row(cell).name));
        let places = Rows::new(order.iter().map(|cell| row(cell).place));
        let mut scores = Vec::with_capacity(order.len() * classes);
        order.iter().for_each(|cell| scores.extend_from_slice(at(cell).0.scores(at(cell).1)));
        let cell = |cell: &(u8, u32)| Cell {
            name: names.number(row(cell).name),
            place: places.number(row(cell).place),
            people: at(cell).0.people[at(cell).1] as f64,
        };
        let cells: Vec<Cell> = order.par_iter().map(cell).collect();
        let (by_name, named) = names.targets(classes, &cells, |cell| cell.name, |row| margins.name_shares(row));
        let (by_place, placed) = places.targets(classes, &cells, |cell| cell.place, |row| margins.place_shares(row));
        let mut fit = ipf(&cells, &mut scores, &by_name, &by_place, classes, near)?;
        // Report row numbers of the margins' tables.
        fit.furthest = fit.furthest.and_then(|(by, off)| {
            let rows = if by == MarginKey::Name { &names } else { &places };
            Some((by, MarginMiss { row: rows.0[off.row as usize]?, ..off }))
        });
        let mut raked: Vec<Vec<u32>> = self.0.iter().map(|part| vec![0; part.rows.len()]).collect();
        for (number, (part, index)) in order.iter().enumerate() {
            raked[*part as usize][*index as usize] = number as u32;
        }
        Ok((RakedCells { cells: self, raked, scores, covered: (named, placed) }, fit))
    }

    /// Returns all cells in an order that does not depend on insertion, since floating-point sums depend on the
    /// order.
    fn order(&self) -> Vec<(u8, u32)> {
        let parts = self.0.iter().enumerate();
        let mut order: Vec<(u8, u32)> =
            parts.flat_map(|(part, own)| (0..own.rows.len()).map(move |index| (part as u8, index as u32))).collect();
        order.par_sort_unstable_by(|&(a, first), &(b, second)| {
            let (a, b, first, second) = (&self.0[a as usize], &self.0[b as usize], first as usize, second as usize);
            let rows = a.rows[first].cmp(&b.rows[second]);
            rows.then_with(|| compare(a.scores(first), b.scores(second)))
        });
        order
    }
}

/// The rows of a margin that have people, in order; `None` means unknown.
struct Rows(Vec<Option<u32>>);

impl Rows {
    fn new(all: impl Iterator<Item = Option<u32>>) -> Rows {
        let mut rows: Vec<Option<u32>> = all.collect();
        rows.par_sort_unstable();
        rows.dedup();
        rows.shrink_to_fit();
        Rows(rows)
    }

    fn number(&self, row: Option<u32>) -> u32 {
        self.0.partition_point(|own| *own < row) as u32
    }

    /// Returns the people by class of each row, NaN if unknown, and the number of people in known rows.
    fn targets<'s>(
        &self,
        classes: usize,
        cells: &[Cell],
        of: impl Fn(&Cell) -> u32,
        shares: impl Fn(u32) -> Option<&'s [f64]>,
    ) -> (Vec<f64>, u64) {
        let mut people = vec![0.0; self.0.len()];
        cells.iter().for_each(|cell| people[of(cell) as usize] += cell.people);
        let (mut targets, mut known) = (Vec::with_capacity(self.0.len() * classes), 0.0);
        for (row, people) in self.0.iter().zip(people) {
            match row.and_then(&shares) {
                Some(shares) => {
                    targets.extend(shares.iter().map(|share| share * people));
                    known += people;
                }
                None => targets.extend(std::iter::repeat_n(f64::NAN, classes)),
            }
        }
        (targets, known as u64)
    }
}

/// Raked scores by cell.
#[derive(Clone, Debug)]
pub struct RakedCells {
    cells: Cells,
    /// The position of each cell among the raked scores, by partition and index.
    raked: Vec<Vec<u32>>,
    scores: Vec<f64>,
    covered: (u64, u64),
}

impl RakedCells {
    /// Returns the number of people covered by a margin.
    pub fn covered(&self, by: MarginKey) -> u64 {
        match by {
            MarginKey::Name => self.covered.0,
            MarginKey::Place => self.covered.1,
        }
    }

    /// Returns the number of cells.
    pub fn cells(&self) -> usize {
        self.raked.iter().map(Vec::len).sum()
    }

    /// Replaces a person's scores by the raked ones. Scores that were not counted before raking are kept.
    pub fn apply(&self, rows: MarginRows, scores: &mut [f64]) {
        let hash = hash(rows, scores);
        let part = part_of(hash);
        if let Ok(index) = self.cells.0[part].find(hash, rows, scores) {
            let number = self.raked[part][index] as usize;
            scores.copy_from_slice(&self.scores[number * scores.len()..][..scores.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells with equal hashes are kept apart, and each is found.
    #[test]
    fn cells_of_one_hash_are_kept_apart() {
        let (rows, other) = (MarginRows { name: Some(1), place: None }, MarginRows { name: None, place: Some(1) });
        let all = [(rows, [0.5, 0.5]), (rows, [0.25, 0.75]), (other, [0.5, 0.5])];
        let mut part = Part::default();
        (0..3).for_each(|times| all[times..].iter().for_each(|(rows, scores)| part.add(u64::MAX, *rows, scores, 1)));
        for (index, (rows, scores)) in all.iter().enumerate() {
            assert_eq!(part.find(u64::MAX, *rows, scores), Ok(index));
        }
        assert_eq!(part.people, [1, 2, 3]);
        assert_eq!(part.find(u64::MAX, other, &[0.25, 0.75]), Err(2));
    }
}
