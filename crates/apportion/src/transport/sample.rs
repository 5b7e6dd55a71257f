//! A sample of the rows, in tiles, in an order of which every beginning is a sample too.

use crate::kernel::{Real, Rows, TILE, Tile};
use crate::seed;

/// Rows drawn from a population of rows.
pub(super) struct Sample<T> {
    pub(super) tiles: Vec<Tile<T>>,
    pub(super) rows: usize,
    pub(super) population: usize,
}

impl<T: Real> Sample<T> {
    /// Draws about `size` rows, a [`CLUSTER`] from each of as many stretches of equal length as that makes; all rows
    /// where they are fewer. Labels never depend on the draw.
    pub(super) fn draw<R: Rows<Elem = T>>(rows: &R, size: usize) -> Sample<T> {
        let (population, k) = (rows.rows(), rows.classes());
        if size >= population {
            return Sample::all(rows);
        }
        let clusters = size / CLUSTER;
        let length = (population - CLUSTER) as f64 / clusters as f64;
        let begin = |stretch: usize| {
            let chance = (seed::hash(0, stretch as u64, 0) >> 11) as f64 / (1u64 << 53) as f64;
            ((stretch as f64 + chance) * length) as usize
        };
        let mut tiles: Vec<Tile<T>> = (0..(clusters * CLUSTER).div_ceil(TILE)).map(|_| Tile::new(k)).collect();
        let step = scattering_step(clusters);
        let mut place = 0;
        for stretch in 0..clusters {
            rows.prefetch(begin(stretch + AHEAD), CLUSTER);
            let (from, lane) = (begin(stretch), place * CLUSTER);
            tiles[lane / TILE].write::<CLUSTER>(lane % TILE, |row, class| rows.score(from + row, class));
            place += step;
            place -= if place >= clusters { clusters } else { 0 };
        }
        Sample { tiles, rows: clusters * CLUSTER, population }
    }

    /// All rows, in their order.
    pub(super) fn all<R: Rows<Elem = T>>(rows: &R) -> Sample<T> {
        let population = rows.rows();
        let tile = |start| {
            let mut tile = Tile::new(rows.classes());
            rows.load(start, &mut tile);
            tile
        };
        Sample { tiles: (0..population).step_by(TILE).map(tile).collect(), rows: population, population }
    }
}

/// Rows drawn together: they share the lines of memory that must be fetched. Neighbours in a sorted file are alike, so
/// whoever asks how far a sample can be off takes clusters, not rows, as independent.
pub(super) const CLUSTER: usize = 16;

/// How many draws ahead memory is asked for: the rows lie anywhere.
const AHEAD: usize = 8;

/// A step of about the golden section that visits every place: neighbours in the file end up far apart, and every
/// beginning of the sample is spread evenly over the file.
fn scattering_step(size: usize) -> usize {
    let coprime = |step: &usize| gcd(*step, size) == 1;
    ((size as f64 * 0.618_033_988_75) as usize..size).find(coprime).unwrap_or(1)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
