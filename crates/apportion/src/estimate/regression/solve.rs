//! Linear equations with a symmetric matrix: columns that depend on earlier ones are left out.

/// A column is left out if earlier columns explain all but this share of its squares. Rounding errors are about 1e-15.
const TOLERANCE: f64 = 1e-10;

/// An index of each pair of columns; the first column is not after the second.
#[inline]
pub(super) fn pair_index(size: usize, a: usize, b: usize) -> usize {
    a * (2 * size + 1 - a) / 2 + b - a
}

/// Returns the number of pairs of columns.
pub(super) fn pair_count(size: usize) -> usize {
    size * (size + 1) / 2
}

/// A symmetric matrix of all columns, with the inverse of the part that belongs to the kept columns.
#[derive(Clone, Debug)]
pub(super) struct Inverse {
    size: usize,
    matrix: Vec<f64>,
    /// Whether a column is kept. Others are empty, or depend on earlier columns.
    pub(super) kept: Vec<bool>,
    /// The left-out columns, each with the kept columns that it depends on; empty columns depend on none.
    pub(super) left_out: Vec<(usize, Vec<usize>)>,
}

impl Inverse {
    /// Inverts a matrix, given by pairs. Columns are used in order, if `is_wanted`.
    pub(super) fn of(size: usize, pairs: &[f64], is_wanted: impl Fn(usize) -> bool) -> Inverse {
        let entry = |a: usize, b: usize| pairs[pair_index(size, a.min(b), a.max(b))];
        let scale: Vec<f64> = (0..size).map(|column| entry(column, column).max(0.0).sqrt()).collect();
        // The Cholesky factor of the kept columns, scaled to a diagonal of ones, row by row.
        let (mut order, mut left_out) = (Vec::<usize>::new(), Vec::new());
        let mut factor: Vec<Vec<f64>> = Vec::new();
        for column in (0..size).filter(|&column| is_wanted(column)) {
            if scale[column] == 0.0 {
                left_out.push((column, Vec::new()));
                continue;
            }
            let mut row: Vec<f64> = Vec::with_capacity(order.len() + 1);
            for (index, &other) in order.iter().enumerate() {
                let known: f64 = row.iter().zip(&factor[index]).map(|(a, b)| a * b).sum();
                row.push((entry(column, other) / scale[column] / scale[other] - known) / factor[index][index]);
            }
            let rest = 1.0 - row.iter().map(|own| own * own).sum::<f64>();
            if rest > TOLERANCE {
                row.push(rest.sqrt());
                factor.push(row);
                order.push(column);
            } else {
                // Its coefficients on the kept columns, by back substitution.
                for index in (0..order.len()).rev() {
                    let known: f64 = (index + 1..order.len()).map(|later| factor[later][index] * row[later]).sum();
                    row[index] = (row[index] - known) / factor[index][index];
                }
                let parts = row.iter().zip(&order).filter(|(own, _)| own.abs() > 1e-5).map(|(_, &other)| other);
                left_out.push((column, parts.collect()));
            }
        }
        let mut matrix = vec![0.0; size * size];
        for (target, &column) in order.iter().enumerate() {
            // Forward and back substitution of a unit vector.
            let mut solution = vec![0.0; order.len()];
            for index in target..order.len() {
                let known: f64 = (target..index).map(|each| factor[index][each] * solution[each]).sum();
                solution[index] = (f64::from(u8::from(index == target)) - known) / factor[index][index];
            }
            for index in (0..order.len()).rev() {
                let known: f64 = (index + 1..order.len()).map(|later| factor[later][index] * solution[later]).sum();
                solution[index] = (solution[index] - known) / factor[index][index];
            }
            for (own, &other) in solution.iter().zip(&order) {
                matrix[other * size + column] = own / scale[other] / scale[column];
            }
        }
        let mut kept = vec![false; size];
        order.iter().for_each(|&column| kept[column] = true);
        Inverse { size, matrix, kept, left_out }
    }

    /// Returns the number of kept columns.
    pub(super) fn rank(&self) -> usize {
        self.kept.iter().filter(|kept| **kept).count()
    }

    /// Returns the product with a vector.
    pub(super) fn times(&self, vector: &[f64]) -> Vec<f64> {
        let row = |row: usize| self.matrix[row * self.size..][..self.size].iter();
        (0..self.size).map(|index| row(index).zip(vector).map(|(a, b)| a * b).sum()).collect()
    }

    /// Returns the variance of a combination of coefficients: c' A M A c, where A is this inverse and M is given by
    /// pairs.
    pub(super) fn variance(&self, combination: &[f64], meat: &[f64]) -> f64 {
        let half = self.times(combination);
        let used: Vec<usize> = (0..self.size).filter(|&index| half[index] != 0.0).collect();
        let mut sum = 0.0;
        for (index, &a) in used.iter().enumerate() {
            sum += half[a] * half[a] * meat[pair_index(self.size, a, a)];
            let later = used[index + 1..].iter();
            sum += 2.0 * half[a] * later.map(|&b| half[b] * meat[pair_index(self.size, a, b)]).sum::<f64>();
        }
        sum.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(columns: &[Vec<f64>]) -> Vec<f64> {
        let product = |a: usize, b: usize| columns[a].iter().zip(&columns[b]).map(|(x, y)| x * y).sum();
        (0..columns.len()).flat_map(|a| (a..columns.len()).map(move |b| (a, b))).map(|(a, b)| product(a, b)).collect()
    }

    #[test]
    fn the_inverse_times_the_matrix_is_one() {
        let columns = [vec![1.0, 1.0, 1.0, 1.0], vec![1e4, 2e4, -7e3, 3.0], vec![0.0, 1e-3, 2e-3, -1e-3]];
        let product = pairs(&columns);
        let inverse = Inverse::of(3, &product, |_| true);
        for column in 0..3 {
            let own: Vec<f64> = (0..3).map(|row| product[pair_index(3, row.min(column), row.max(column))]).collect();
            for (row, value) in inverse.times(&own).into_iter().enumerate() {
                assert!((value - f64::from(u8::from(row == column))).abs() < 1e-9, "{row} {column} {value}");
            }
        }
        // c' A M A c with M the matrix itself is c' A c.
        let c = [1.0, -2.0, 0.5];
        let expected: f64 = inverse.times(&c).iter().zip(c).map(|(a, b)| a * b).sum();
        assert!((inverse.variance(&c, &product) / expected - 1.0).abs() < 1e-9);
    }

    #[test]
    fn later_dependent_and_empty_columns_are_left_out() {
        let (x, y) = (vec![1.0, 2.0, 3.0, 5.0], vec![1.0, 0.0, 5.0, -2.0]);
        let sum: Vec<f64> = x.iter().zip(&y).map(|(a, b)| 2.0 * a - b).collect();
        let columns = [x.clone(), vec![0.0; 4], y, sum, x.iter().map(|own| 3.0 * own).collect()];
        let inverse = Inverse::of(5, &pairs(&columns), |_| true);
        assert_eq!(inverse.kept, [true, false, true, false, false]);
        assert_eq!(inverse.left_out, [(1, vec![]), (3, vec![0, 2]), (4, vec![0])]);
        assert_eq!(inverse.rank(), 2);
        assert_eq!(Inverse::of(5, &pairs(&columns), |column| column > 2).kept, [false, false, false, true, true]);
    }
}
