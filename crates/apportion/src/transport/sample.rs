//! A sample of the rows, in tiles, in an order of which every beginning is a sample too.

use crate::kernel::{Rows, TILE, Tile};
use crate::seed;

/// Rows drawn from a population of rows.
pub(super) struct Sample<T> {
    pub(super) tiles: Vec<Tile<T>>,
    pub(super) rows: usize,
    pub(super) population: usize,
}

impl<T: crate::kernel::Real> Sample<T> {
    /// Draws one row from each of `size` stretches of equal length. Labels never depend on the draw.
    pub(super) fn draw<R: Rows<Elem = T>>(rows: &R, size: usize) -> Sample<T> {
        let population = rows.rows();
        let mut tiles: Vec<Tile<T>> = (0..size.div_ceil(TILE)).map(|_| Tile::new(rows.classes())).collect();
        let step = scattering_step(size);
        let mut place = 0;
        for stretch in 0..size {
            let begin = stretch * population / size;
            let end = (stretch + 1) * population / size;
            let row = begin + seed::below(seed::hash(0, stretch as u64, 0), (end - begin) as u64) as usize;
            tiles[place / TILE].write(place % TILE, |class| rows.score(row, class));
            place = (place + step) % size;
        }
        Sample { tiles, rows: size, population }
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

/// A step of about the golden section that visits every place: neighbours in the file end up far apart, and every
/// beginning of the sample is spread evenly over the file.
fn scattering_step(size: usize) -> usize {
    let coprime = |step: &usize| gcd(*step, size) == 1;
    ((size as f64 * 0.618_033_988_75) as usize..size).find(coprime).unwrap_or(1)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
