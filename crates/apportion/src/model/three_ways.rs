//! Raking three ways: where the people of each class are known by name and by place, and those of each name in each place are
//! counted, the table of name × place × class is fitted proportionally to all three.
//!
//! Only cells that have people are kept: the table is sparse, and its memory is K numbers a cell.
//!
//! ```text
//! KnownMargins   what is known by name and by place        ┐
//! Cells          people counted by name, place and scores  ┴→  RakedCells   the scores of each cell
//! ```

use std::collections::HashMap;

use super::names::{Hit, NameMatch, Room};
use super::place::{Place, PlaceTable};
use super::table::{NameTable, Numbers, normalize};
use crate::error::{Error, Result};

/// The shares of the classes that are known of each name, of each place, or of both.
#[derive(Clone, Debug)]
pub struct KnownMargins {
    names: Option<NameTable>,
    places: Option<PlaceTable>,
}

/// A row of the known margin by name, and one of that by place; none where nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MarginRows {
    name: Option<u32>,
    place: Option<u32>,
}

impl KnownMargins {
    /// Tables of people, or of the shares of the classes.
    pub fn new(names: Option<NameTable>, places: Option<PlaceTable>) -> Result<KnownMargins> {
        let spread = names.as_ref().is_some_and(NameTable::is_spread)
            || places.as_ref().is_some_and(|places| places.numbers() == Numbers::Spread);
        let problem = if spread {
            "a margin by name or place is the people of each class, or their shares, and not P(key | class); give such a table"
        } else if names.is_none() && places.is_none() {
            "no margin by name or place is known; give one"
        } else {
            let places = places.map(|mut places| {
                places.rows_mut().for_each(|row| _ = normalize(row));
                places
            });
            return Ok(KnownMargins { names, places });
        };
        Err(Error::Model { problem: problem.into() })
    }

    /// Finds a name in the margin by name.
    pub fn find_name(&self, name: &str, room: &mut Room) -> Hit {
        self.names.as_ref().map_or(Hit::MISSING, |names| names.find(name, room))
    }

    /// Finds many names.
    pub fn find_names<'n>(&self, all: impl IntoIterator<Item = &'n str>, room: &mut Room, hits: &mut Vec<Hit>) {
        hits.extend(all.into_iter().map(|name| self.find_name(name, room)));
    }

    /// Whom a person is counted with. A name of which only a part is known is another name, and its people are others.
    pub fn rows(&self, name: Hit, place: &Place<'_>) -> MarginRows {
        let is_own = matches!(name.how, NameMatch::Exact | NameMatch::Cleaned);
        MarginRows {
            name: is_own.then_some(name.rows[0]),
            place: self.places.as_ref().and_then(|places| places.find(place)),
        }
    }

    fn classes(&self) -> usize {
        self.names.as_ref().map_or_else(|| self.places.as_ref().map_or(0, PlaceTable::classes), NameTable::classes)
    }

    fn name_shares(&self, row: u32) -> Option<&[f64]> {
        self.names.as_ref().map(|names| names.row(row))
    }

    fn place_shares(&self, row: u32) -> Option<&[f64]> {
        self.places.as_ref().map(|places| places.row(row as usize))
    }
}

/// Who is alike in everything that raking looks at: the margins' rows, and the scores, bit by bit.
type Key = (MarginRows, Box<[u64]>);

fn key(rows: MarginRows, scores: &[f64]) -> Key {
    (rows, scores.iter().map(|score| score.to_bits()).collect())
}

/// People, counted by the margins' rows and their scores.
#[derive(Clone, Debug, Default)]
pub struct Cells(HashMap<Key, u64>);

impl Cells {
    /// Counts a person with these scores.
    pub fn add(&mut self, rows: MarginRows, scores: &[f64]) {
        *self.0.entry(key(rows, scores)).or_default() += 1;
    }

    /// Adds other people.
    pub fn merge(&mut self, other: Cells) {
        other.0.into_iter().for_each(|(key, people)| *self.0.entry(key).or_default() += people);
    }

    /// Fits the scores of all cells to the margins, scaled to the people of each name and place here. The result does not depend on
    /// the order in which people came.
    pub fn rake(self, margins: &KnownMargins, near: f64) -> Result<(RakedCells, Fit)> {
        let classes = margins.classes();
        // Sums of floating-point numbers depend on the order: it is that of the keys.
        let mut all: Vec<(Key, u64)> = self.0.into_iter().collect();
        all.sort_unstable();
        let (mut names, mut places) = (Targets::default(), Targets::default());
        let mut cells = Vec::with_capacity(all.len());
        let mut scores = Vec::with_capacity(all.len() * classes);
        for ((rows, bits), people) in &all {
            let people = *people as f64;
            let name = names.row(rows.name, people);
            cells.push(Cell { name, place: places.row(rows.place, people), people });
            scores.extend(bits.iter().map(|&bits| f64::from_bits(bits)));
        }
        let by_name = names.targets(classes, |row| margins.name_shares(row));
        let by_place = places.targets(classes, |row| margins.place_shares(row));
        let fit = rake_three_ways(&cells, &mut scores, &by_name, &by_place, classes, near)?;
        let off_by_name = names.furthest(&by_name, &cells, &scores, classes, |cell| cell.name);
        let off_by_place = places.furthest(&by_place, &cells, &scores, classes, |cell| cell.place);
        let known = off_by_name.map(|off| (KnownBy::Name, off)).into_iter();
        let known = known.chain(off_by_place.map(|off| (KnownBy::Place, off)));
        let furthest = known.max_by(|(_, a), (_, b)| a.people().total_cmp(&b.people()));
        let covered = |is_known: fn(&MarginRows) -> bool| {
            all.iter().filter(|((rows, _), _)| is_known(rows)).map(|(_, people)| people).sum()
        };
        let covered = (covered(|rows| rows.name.is_some()), covered(|rows| rows.place.is_some()));
        let places = all.into_iter().enumerate().map(|(place, (key, _))| (key, place as u32)).collect();
        Ok((RakedCells { places, scores, classes, furthest, covered }, fit))
    }
}

/// The rows of a margin that anybody is in, and how many are.
#[derive(Default)]
struct Targets {
    places: HashMap<Option<u32>, u32>,
    rows: Vec<(Option<u32>, f64)>,
}

impl Targets {
    /// The number of a row, which so many more people are in.
    fn row(&mut self, row: Option<u32>, people: f64) -> u32 {
        let place = *self.places.entry(row).or_insert(self.rows.len() as u32);
        if place as usize == self.rows.len() {
            self.rows.push((row, 0.0));
        }
        self.rows[place as usize].1 += people;
        place
    }

    /// People by class for each row; NaN where nothing is known.
    fn targets<'s>(&self, classes: usize, shares: impl Fn(u32) -> Option<&'s [f64]>) -> Vec<f64> {
        let mut targets = Vec::with_capacity(self.rows.len() * classes);
        for (row, people) in &self.rows {
            match row.and_then(&shares) {
                Some(shares) => targets.extend(shares.iter().map(|share| share * people)),
                None => targets.extend(std::iter::repeat_n(f64::NAN, classes)),
            }
        }
        targets
    }

    /// Where the scores are furthest from the targets, in people.
    fn furthest(
        &self,
        targets: &[f64],
        cells: &[Cell],
        scores: &[f64],
        classes: usize,
        of: impl Fn(&Cell) -> u32,
    ) -> Option<Off> {
        let mut sums = Vec::new();
        add_up(targets.len(), &mut sums, cells, scores, classes, of);
        let off = targets.iter().zip(sums).enumerate().filter_map(|(place, (&wanted, reached))| {
            let row = self.rows[place / classes].0.filter(|_| !wanted.is_nan())?;
            Some(Off { row, class: place % classes, wanted, reached })
        });
        off.max_by(|a, b| a.people().total_cmp(&b.people()))
    }
}

/// Which of the known margins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBy {
    /// That by name.
    Name,
    /// That by place.
    Place,
}

/// How far people are from a margin, in one class of one of its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Off {
    /// The row of the margin's table, from 0.
    pub row: u32,
    /// The class.
    pub class: usize,
    /// The people that the margin has there, of those who are here.
    pub wanted: f64,
    /// The sum of their scores.
    pub reached: f64,
}

impl Off {
    fn people(&self) -> f64 {
        (self.wanted - self.reached).abs()
    }
}

/// Scores that were raked, cell by cell.
#[derive(Clone, Debug)]
pub struct RakedCells {
    places: HashMap<Key, u32>,
    scores: Vec<f64>,
    classes: usize,
    furthest: Option<(KnownBy, Off)>,
    covered: (u64, u64),
}

impl RakedCells {
    /// How many people a margin knows.
    pub fn covered(&self, by: KnownBy) -> u64 {
        match by {
            KnownBy::Name => self.covered.0,
            KnownBy::Place => self.covered.1,
        }
    }

    /// Where the scores are furthest from a margin.
    pub fn furthest(&self) -> Option<(KnownBy, Off)> {
        self.furthest
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.places.len()
    }

    /// Replaces a person's scores by the raked ones. Somebody who was not there when it was raked keeps them.
    pub fn apply(&self, rows: MarginRows, scores: &mut [f64]) {
        if let Some(&place) = self.places.get(&key(rows, scores)) {
            scores.copy_from_slice(&self.scores[place as usize * self.classes..][..self.classes]);
        }
    }
}

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
        // What scores exclude, no factor brings about.
        if by_places.missing.max(by_names.missing) / people > near {
            fit.off = by_places.missing.max(by_names.missing) / people;
            break;
        }
        let mut cells_off = 0.0f64;
        for (cell, row) in cells.iter().zip(scores.chunks_exact_mut(classes)) {
            cells_off = cells_off.max(cell.people * (row.iter().sum::<f64>() - 1.0).abs());
            normalize(row);
        }
        fit.off = by_places.off.max(by_names.off).max(cells_off) / people;
        fit.converged = fit.off <= near;
    }
    Ok(fit)
}

/// How far scores were from a margin, in people: where they are furthest, and where nobody can be though somebody should.
struct Distance {
    off: f64,
    missing: f64,
}

/// Multiplies scores so that they add up to a margin; says how far they were before.
fn scale_to(
    margin: &[f64],
    sums: &mut Vec<f64>,
    cells: &[Cell],
    scores: &mut [f64],
    classes: usize,
    of: impl Fn(&Cell) -> u32,
) -> Distance {
    add_up(margin.len(), sums, cells, scores, classes, &of);
    let mut distance = Distance { off: 0.0, missing: 0.0 };
    for (margin, &sum) in margin.iter().zip(&*sums).filter(|(margin, _)| !margin.is_nan()) {
        distance.off = distance.off.max((margin - sum).abs());
        distance.missing = distance.missing.max(if sum > 0.0 { 0.0 } else { *margin });
    }
    for (cell, row) in cells.iter().zip(scores.chunks_exact_mut(classes)) {
        let start = of(cell) as usize * classes;
        for (class, score) in row.iter_mut().enumerate() {
            let (margin, sum) = (margin[start + class], sums[start + class]);
            if !margin.is_nan() && sum > 0.0 {
                *score *= margin / sum;
            }
        }
    }
    distance
}

/// The scores of all people by the rows of a margin, and by class.
fn add_up(
    length: usize,
    sums: &mut Vec<f64>,
    cells: &[Cell],
    scores: &[f64],
    classes: usize,
    of: impl Fn(&Cell) -> u32,
) {
    sums.clear();
    sums.resize(length, 0.0);
    for (cell, row) in cells.iter().zip(scores.chunks_exact(classes)) {
        let start = of(cell) as usize * classes;
        sums[start..start + classes].iter_mut().zip(row).for_each(|(sum, score)| *sum += cell.people * score);
    }
}
