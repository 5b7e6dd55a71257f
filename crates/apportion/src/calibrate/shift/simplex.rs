//! Convex quadratic programs over shares: minimize ½ xᵀQx − cᵀx with aᵀx = aᵀ·start and x ≥ low.
//!
//! The active set method: variables at their bound are fixed, the others are solved for, and a variable is released if
//! the objective would then be lower. It ends after a finite number of steps.

use super::super::logistic::solve;
use crate::learn::dot;

/// A multiplier above minus this is zero.
const ZERO: f64 = 1e-12;

/// A quadratic program.
pub(super) struct Program<'a> {
    /// Q, symmetric and positive definite, row by row.
    pub(super) curvature: &'a [f64],
    /// c.
    pub(super) slope: &'a [f64],
    /// a, with positive entries.
    pub(super) weights: &'a [f64],
    /// The lower bound of all variables.
    pub(super) low: f64,
}

impl Program<'_> {
    /// Returns the minimum, from a point at which all variables are above their bound.
    pub(super) fn minimum(&self, start: &[f64]) -> Vec<f64> {
        let k = start.len();
        let (mut point, mut is_fixed) = (start.to_vec(), vec![false; k]);
        for _ in 0..20 * (k + 1) {
            let free: Vec<usize> = (0..k).filter(|&index| !is_fixed[index]).collect();
            let (next, multiplier) = self.solve_free(&point, &free);
            // The part of the step until the first variable reaches its bound.
            let reach = |&index: &usize| {
                (next[index] < self.low).then(|| ((point[index] - self.low) / (point[index] - next[index]), index))
            };
            let blocked = free.iter().filter_map(reach).min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((part, blocking)) = blocked {
                point.iter_mut().zip(&next).for_each(|(own, next)| *own += part.clamp(0.0, 1.0) * (next - *own));
                (point[blocking], is_fixed[blocking]) = (self.low, true);
                continue;
            }
            point = next;
            let pull = |index: usize| {
                let own = dot(&self.curvature[index * k..][..k], &point) - self.slope[index];
                own + multiplier * self.weights[index]
            };
            let fixed = (0..k).filter(|&index| is_fixed[index]).map(|index| (pull(index), index));
            match fixed.min_by(|a, b| a.0.total_cmp(&b.0)) {
                Some((own, index)) if own < -ZERO => is_fixed[index] = false,
                Some(_) | None => break,
            }
        }
        point
    }

    /// Returns the minimum over the free variables, without their bounds, and the multiplier of the constraint.
    fn solve_free(&self, point: &[f64], free: &[usize]) -> (Vec<f64>, f64) {
        let k = point.len();
        let matrix: Vec<f64> =
            free.iter().flat_map(|&row| free.iter().map(move |&column| self.curvature[row * k + column])).collect();
        let is_free = |index: &usize| free.contains(index);
        let rest = |row: usize| -> f64 {
            let fixed = (0..k).filter(|index| !is_free(index));
            self.slope[row] - fixed.map(|index| self.curvature[row * k + index] * point[index]).sum::<f64>()
        };
        let mut targets: Vec<f64> = free.iter().map(|&row| rest(row)).collect();
        let mut directions: Vec<f64> = free.iter().map(|&row| self.weights[row]).collect();
        solve(&mut matrix.clone(), &mut targets);
        solve(&mut matrix.clone(), &mut directions);
        let own =
            |values: &[f64]| -> f64 { free.iter().zip(values).map(|(&row, value)| self.weights[row] * value).sum() };
        let total: f64 = free.iter().map(|&row| self.weights[row] * point[row]).sum();
        let multiplier = (own(&targets) - total) / own(&directions);
        let mut next = point.to_vec();
        for ((&row, target), direction) in free.iter().zip(&targets).zip(&directions) {
            next[row] = target - multiplier * direction;
        }
        (next, multiplier)
    }
}

/// Returns, for each variable, the part of its variation that the others leave unexplained: 1 − R², from the matrix of
/// products.
pub(super) fn unexplained(products: &[f64], k: usize) -> Vec<f64> {
    let scale = |index: usize| products[index * (k + 1)].sqrt();
    let mut matrix: Vec<f64> = (0..k * k).map(|at| products[at] / (scale(at / k) * scale(at % k))).collect();
    // A matrix that is singular up to rounding stays positive definite.
    (0..k).for_each(|index| matrix[index * (k + 1)] += 1e-14);
    let own = |index: usize| {
        let mut column = vec![0.0; k];
        column[index] = 1.0;
        solve(&mut matrix.clone(), &mut column);
        1.0 / column[index]
    };
    (0..k).map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The objective at the best point of a fine grid over the simplex.
    fn on_grid(curvature: &[f64], slope: &[f64]) -> f64 {
        let steps = 200;
        let mut best = f64::INFINITY;
        for one in 0..=steps {
            for two in 0..=steps - one {
                let point = [one, two, steps - one - two].map(|part| f64::from(part) / f64::from(steps));
                best = best.min(objective(curvature, slope, &point));
            }
        }
        best
    }

    fn objective(curvature: &[f64], slope: &[f64], point: &[f64]) -> f64 {
        let product: Vec<f64> = curvature.chunks_exact(3).map(|row| dot(row, point)).collect();
        0.5 * dot(&product, point) - dot(slope, point)
    }

    #[test]
    fn it_is_no_worse_than_a_grid_search() {
        for seed in 0..200 {
            let draw = |index: u64| (crate::seed::hash(seed, index, 0) as f64 / 2f64.powi(63)) - 1.0;
            let root: Vec<f64> = (0..9).map(draw).collect();
            let mut curvature = vec![0.0; 9];
            for row in 0..3 {
                for column in 0..3 {
                    curvature[row * 3 + column] = dot(&root[row * 3..][..3], &root[column * 3..][..3]);
                }
                curvature[row * 4] += 0.01;
            }
            let slope: Vec<f64> = (9..12).map(|index| 2.0 * draw(index)).collect();
            let program = Program { curvature: &curvature, slope: &slope, weights: &[1.0; 3], low: 0.0 };
            let found = program.minimum(&[1.0 / 3.0; 3]);
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9 && found.iter().all(|&share| share >= 0.0));
            let (own, best) = (objective(&curvature, &slope, &found), on_grid(&curvature, &slope));
            assert!(own <= best + 1e-9 && own >= best - 0.01, "seed {seed}: {own} {best} {found:?}");
        }
    }

    #[test]
    fn unexplained_parts_are_those_of_regressions() {
        // Two variables with correlation 0.6.
        let parts = unexplained(&[4.0, 1.8, 1.8, 2.25], 2);
        assert!(parts.iter().all(|part| (part - 0.64).abs() < 1e-9), "{parts:?}");
        assert!(unexplained(&[1.0, 2.0, 2.0, 4.0], 2).iter().all(|&part| part < 1e-9));
    }
}
