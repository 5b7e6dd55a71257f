//! Draws from a discrete distribution in constant time: Walker's alias method with Vose's construction, in integers.
//!
//! Every outcome has a column of the same height, filled up by at most one other outcome. A draw chooses a column
//! uniformly and makes one comparison within it.

/// Weights are rounded to this fraction of their sum, far below the resolution of a 64-bit draw in practice.
const UNITS: f64 = (1u64 << 60) as f64;

/// A distribution over 0, 1, 2, …
#[derive(Clone, Debug)]
pub(super) struct Alias {
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    /// The part of the column that belongs to its own outcome, out of 2^64.
    own: u64,
    /// The outcome of the remaining part.
    other: u32,
}

impl Alias {
    /// Creates a distribution from at most 2^32 finite nonnegative weights with a positive sum.
    pub(super) fn new(weights: &[f64]) -> Alias {
        let sum: f64 = weights.iter().sum();
        let units: Vec<u128> = weights.iter().map(|weight| (weight / sum * UNITS).round() as u128).collect();
        // Scaled by the number of columns, the units fill all columns exactly, without a remainder.
        let height: u128 = units.iter().sum();
        let mut left: Vec<u128> = units.iter().map(|unit| unit * units.len() as u128).collect();
        let mut columns: Vec<Column> =
            (0..units.len()).map(|own| Column { own: u64::MAX, other: own as u32 }).collect();
        let (mut short, mut tall): (Vec<usize>, Vec<usize>) = (0..left.len()).partition(|&own| left[own] < height);
        while let (Some(own), Some(&other)) = (short.pop(), tall.last()) {
            columns[own] = Column { own: ((left[own] << 64) / height) as u64, other: other as u32 };
            left[other] -= height - left[own];
            if left[other] < height {
                tall.pop();
                short.push(other);
            }
        }
        Alias { columns }
    }

    /// Returns the outcome for a 64-bit hash.
    #[inline]
    pub(super) fn draw(&self, hash: u64) -> u32 {
        // The high half is the column, as in `seed::below`; the low half is the position within it.
        let product = u128::from(hash) * self.columns.len() as u128;
        let (column, index) = ((product >> 64) as u32, product as u64);
        let Column { own, other } = self.columns[column as usize];
        if index < own { column } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the probability of every outcome, summed over the columns.
    fn chances(alias: &Alias) -> Vec<f64> {
        let mut chances = vec![0.0; alias.columns.len()];
        for (outcome, column) in alias.columns.iter().enumerate() {
            let own = column.own as f64 / 2f64.powi(64);
            chances[outcome] += own;
            chances[column.other as usize] += 1.0 - own;
        }
        chances.iter().map(|chance| chance / alias.columns.len() as f64).collect()
    }

    #[test]
    fn chances_are_proportional_to_weights() {
        let skewed: Vec<f64> = (0..1000).map(|outcome| f64::from(outcome % 17) * 1.01f64.powi(outcome)).collect();
        let lists =
            [vec![3.0], vec![1.0; 7], vec![0.0, 2.5, 0.0, 0.5], vec![1e-30, 1e30], vec![4e-320, 1e-320], skewed];
        for weights in lists {
            let sum: f64 = weights.iter().sum();
            for (chance, weight) in chances(&Alias::new(&weights)).iter().zip(&weights) {
                assert!((chance - weight / sum).abs() < 1e-15, "{chance} where {weight} of {sum}");
            }
        }
    }

    #[test]
    fn what_has_no_weight_is_never_drawn() {
        let alias = Alias::new(&[0.0, 1.0, 0.0, 3.0, 0.0]);
        let ends = (0..5u64).flat_map(|column| [u64::MAX / 5 * column + 5, u64::MAX / 5 * (column + 1) - 5]);
        let hashes = ends.chain([0, u64::MAX]).chain((0..1000).map(|key| crate::seed::hash(1, key, 0)));
        assert!(hashes.map(|hash| alias.draw(hash)).all(|outcome| outcome == 1 || outcome == 3));
    }
}
