//! A population of people in places, whose classes, names and outcomes have known probabilities, and files drawn from it.

use std::iter::zip;

use apportion::estimate::Outcomes;
use apportion::{Classes, Groups, Matrix, Scores};

use crate::draw::Draw;

/// The classes. `other` is small, and its scores say little.
pub const CLASSES: [&str; 3] = ["white", "black", "other"];

/// Number of classes.
pub const K: usize = CLASSES.len();

/// Kinds of names.
const NAMES: usize = 6;

/// What the probability of the outcome depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// The name and the place, that is, the scores.
    NameAndPlace,
    /// The class.
    Class,
    /// The class and the place.
    ClassAndPlace,
}

impl Dependence {
    /// All kinds.
    pub const ALL: [Dependence; 3] = [Dependence::NameAndPlace, Dependence::Class, Dependence::ClassAndPlace];

    /// Returns the name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Dependence::NameAndPlace => "name and place",
            Dependence::Class => "class",
            Dependence::ClassAndPlace => "class and place",
        }
    }
}

/// People with the same place and name.
struct Cell {
    place: usize,
    /// The probability of each class with this name, given the place.
    shares: [f64; K],
    /// The probability of the outcome in each class.
    rates: [f64; K],
}

/// Places of equal size, each with its own shares of the classes.
pub struct Population {
    places: usize,
    cells: Vec<Cell>,
}

impl Population {
    /// Draws places.
    pub fn draw(draw: &mut Draw<'_>, dependence: Dependence, places: usize) -> Population {
        let likelihoods: Vec<[f64; K]> = (0..NAMES).map(likelihood).collect();
        let mut cells = Vec::with_capacity(places * NAMES);
        for place in 0..places {
            // A single place has the mean shares, 25% and 7%.
            let mut unit = || if places == 1 { 0.5 } else { draw.unit() };
            let other = 0.2 * unit() * unit() + 0.02;
            let black = 0.5 * unit();
            let shares = [1.0 - other - black, black, other];
            let by_class = [(); K].map(|()| near_normal(draw));
            let by_place = near_normal(draw);
            for (name, likelihood) in likelihoods.iter().enumerate() {
                let rate = |class: usize| {
                    let by_class_alone = [0.75, -0.2, -1.1][class];
                    logistic(match dependence {
                        Dependence::NameAndPlace => 0.9 - 0.4 * name as f64 + by_place,
                        Dependence::Class => by_class_alone,
                        Dependence::ClassAndPlace => by_class_alone + by_class[class],
                    })
                };
                let rates = [0, 1, 2].map(rate);
                cells.push(Cell { place, shares: [0, 1, 2].map(|class| shares[class] * likelihood[class]), rates });
            }
        }
        Population { places, cells }
    }

    /// Returns the probability of the outcome in each class.
    pub fn truth(&self) -> [f64; K] {
        [0, 1, 2].map(|class| {
            let hits: f64 = self.cells.iter().map(|cell| cell.shares[class] * cell.rates[class]).sum();
            hits / self.cells.iter().map(|cell| cell.shares[class]).sum::<f64>()
        })
    }

    /// Returns the bias of the weighted estimate by its formula: −E[Cov(1{R = r}, Y | name, place)] / P(R = r).
    pub fn weighted_bias(&self) -> [f64; K] {
        [0, 1, 2].map(|class| {
            let covariance = |cell: &Cell| {
                let people: f64 = cell.shares.iter().sum();
                let rate = zip(cell.shares, cell.rates).map(|(share, rate)| share * rate).sum::<f64>() / people;
                cell.shares[class] * (cell.rates[class] - rate)
            };
            let people: f64 = self.cells.iter().map(|cell| cell.shares[class]).sum();
            -self.cells.iter().map(covariance).sum::<f64>() / people
        })
    }

    /// Draws a file with the same number of people in each place.
    pub fn file(&self, draw: &mut Draw<'_>, people: usize) -> File {
        let mut file = File { scores: Vec::new(), outcomes: Vec::new(), places: Vec::new(), names: Vec::new() };
        file.names = (0..self.places).map(|place| format!("{place:04}")).collect();
        for own in self.cells.chunks_exact(NAMES) {
            let shares: Vec<f64> = own.iter().flat_map(|cell| cell.shares).collect();
            for _ in 0..people / self.places {
                let drawn = drawn(draw, &shares);
                let (cell, class) = (&own[drawn / K], drawn % K);
                let all: f64 = cell.shares.iter().sum();
                file.scores.extend(cell.shares.map(|share| share / all));
                file.outcomes.push(u16::from(draw.unit() < cell.rates[class]));
                file.places.push(cell.place as u32);
            }
        }
        file
    }
}

/// People with scores, an outcome and a place. The scores are calibrated.
pub struct File {
    scores: Vec<f64>,
    outcomes: Vec<u16>,
    places: Vec<u32>,
    names: Vec<String>,
}

impl File {
    /// Returns the scores, with places as groups if `by_place`.
    ///
    /// # Errors
    /// Never for a file that was drawn.
    pub fn scores<'a>(&'a self, classes: &'a Classes, by_place: bool) -> apportion::Result<Scores<'a>> {
        let scores = Scores::new(classes, Matrix::RowsF64(&self.scores))?;
        if by_place { scores.with_groups(Groups { codes: &self.places, names: &self.names }) } else { Ok(scores) }
    }

    /// Returns the outcomes; `levels` has their two names.
    ///
    /// # Errors
    /// Never for a file that was drawn.
    pub fn outcomes<'a>(&'a self, levels: &'a [String]) -> apportion::Result<Outcomes<'a>> {
        Outcomes::levels(&self.outcomes, levels)?.counting(1)
    }
}

/// Returns the probability of a kind of name in each class. Each kind is more frequent in one class.
fn likelihood(name: usize) -> [f64; K] {
    let own = |name: usize, class: usize| {
        if name % K == class { [0.25, 0.15][name / K] } else { [0.1, 0.2][name / K] }
    };
    [0, 1, 2].map(|class| own(name, class) / (0..NAMES).map(|name| own(name, class)).sum::<f64>())
}

/// Draws a number that is close to normal, with variance 1/4: half the sum of three uniform numbers from −1 to 1.
fn near_normal(draw: &mut Draw<'_>) -> f64 {
    (0..3).map(|_| 2.0 * draw.unit() - 1.0).sum::<f64>() / 2.0
}

fn logistic(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// Draws an index with these probabilities, which sum to 1.
fn drawn(draw: &mut Draw<'_>, shares: &[f64]) -> usize {
    let mut left = draw.unit();
    let found = shares.iter().position(|share| {
        left -= share;
        left < 0.0
    });
    found.unwrap_or(shares.len() - 1)
}
