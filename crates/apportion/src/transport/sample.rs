//! A sample of the rows, in tiles, ordered so that every prefix is a sample.

use crate::error::Result;
use crate::kernel::{Real, Source, TILE, Tile};
use crate::seed;

/// Rows drawn from a population of rows.
pub(super) struct Sample<T> {
    pub(super) tiles: Vec<Tile<T>>,
    pub(super) rows: usize,
    pub(super) population: usize,
}

impl<T: Real> Sample<T> {
    /// Draws about `size` rows: a [`CLUSTER`] from each of several ranges of equal length, or all rows if there
    /// are fewer. Labels do not depend on the draw.
    pub(super) fn draw(source: &dyn Source<T>, size: usize) -> Result<Sample<T>> {
        if let Some(weights) = source.weights() {
            return Sample::draw_people(source, weights, size);
        }
        let (population, k) = (source.rows(), source.classes());
        if size >= population {
            return Sample::all(source);
        }
        let clusters = size / CLUSTER;
        let length = (population - CLUSTER) as f64 / clusters as f64;
        let begin = |stretch: usize| {
            let chance = (seed::hash(0, stretch as u64, 0) >> 11) as f64 / (1u64 << 53) as f64;
            ((stretch as f64 + chance) * length) as usize
        };
        let mut tiles: Vec<Tile<T>> = (0..(clusters * CLUSTER).div_ceil(TILE)).map(|_| Tile::new(k)).collect();
        let step = scattering_step(clusters);
        let (mut index, mut buffer) = (0, Vec::new());
        for stretch in 0..clusters {
            let (from, lane) = (begin(stretch), index * CLUSTER);
            let rows = source.window(from..from + CLUSTER, &mut buffer)?;
            rows.prefetch(begin(stretch + AHEAD), CLUSTER);
            tiles[lane / TILE].write::<CLUSTER>(lane % TILE, |row, class| rows.score(from + row, class));
            index += step;
            index -= if index >= clusters { clusters } else { 0 };
        }
        Ok(Sample { tiles, rows: clusters * CLUSTER, population })
    }

    /// Draws about `size` people at equal distances, if rows represent several: a row may be drawn many times.
    fn draw_people(source: &dyn Source<T>, weights: &[u64], size: usize) -> Result<Sample<T>> {
        let population: u64 = weights.iter().sum();
        let size = (size as u64).min(population) as usize;
        let mut tiles: Vec<Tile<T>> = (0..size.div_ceil(TILE)).map(|_| Tile::new(source.classes())).collect();
        let step = scattering_step(size);
        let (mut index, mut row, mut passed, mut buffer) = (0, 0, 0, Vec::new());
        for drawn in 0..size as u64 {
            let person = (u128::from(drawn) * u128::from(population) / size as u128) as u64;
            while passed + weights[row] <= person {
                passed += weights[row];
                row += 1;
            }
            let rows = source.window(row..row + 1, &mut buffer)?;
            tiles[index / TILE].write::<1>(index % TILE, |_, class| rows.score(row, class));
            index = (index + step) % size;
        }
        Ok(Sample { tiles, rows: size, population: population as usize })
    }

    /// Returns all rows in order; if they represent several people, as many of these as fit.
    pub(super) fn all(source: &dyn Source<T>) -> Result<Sample<T>> {
        if let Some(weights) = source.weights() {
            return Sample::draw_people(source, weights, MOST_PEOPLE);
        }
        let (population, mut buffer) = (source.rows(), Vec::new());
        let rows = source.window(0..population, &mut buffer)?;
        let tile = |start| {
            let mut tile = Tile::new(source.classes());
            rows.load(start, &mut tile);
            tile
        };
        Ok(Sample { tiles: (0..population).step_by(TILE).map(tile).collect(), rows: population, population })
    }
}

/// The maximum number of people considered one by one if rows represent several.
const MOST_PEOPLE: usize = 1 << 15;

/// Rows drawn together, since they share cache lines. Neighbors in a sorted file are similar, so error estimates
/// treat clusters, not rows, as independent.
pub(super) const CLUSTER: usize = 16;

/// Number of draws to prefetch: the rows are scattered.
const AHEAD: usize = 8;

/// Returns a step of about the golden section that visits every index: neighbors in the file end up far apart, and
/// every prefix of the sample is spread evenly over the file.
fn scattering_step(size: usize) -> usize {
    let coprime = |step: &usize| gcd(*step, size) == 1;
    ((size as f64 * 0.618_033_988_75) as usize..size).find(coprime).unwrap_or(1)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
