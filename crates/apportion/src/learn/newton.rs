//! Newton's method for smooth convex functions of up to a few thousand variables: steps by conjugate gradients,
//! halved until the function decreases.

use std::ops::Range;

use rayon::prelude::*;

/// A convex function with gradient and Hessian-vector products.
pub(super) trait Objective {
    /// Returns the number of variables.
    fn dimensions(&self) -> usize;
    /// Returns the value and the gradient at a point, and prepares `hessian_times` there.
    fn evaluate(&mut self, point: &[f64]) -> (f64, Vec<f64>);
    /// Multiplies the Hessian at the last evaluated point by a vector.
    fn hessian_times(&self, along: &[f64]) -> Vec<f64>;
}

/// Relative tolerance of the gradient.
const TIGHT: f64 = 1e-10;
const MOST_STEPS: usize = 500;
const MOST_HALVINGS: usize = 50;
/// Curvature below this, relative to the largest, is due to rounding: the function is flat in this direction, such as
/// a common shift of all intercepts of a logistic regression, and a step would be arbitrary.
const FLAT: f64 = 1e-13;

/// Returns the minimum, starting from zero: until the gradient vanishes numerically, or no step decreases the
/// function.
pub(super) fn minimize(objective: &mut impl Objective) -> Vec<f64> {
    let mut point = vec![0.0; objective.dimensions()];
    let (mut value, mut gradient) = objective.evaluate(&point);
    let first = norm(&gradient);
    for _ in 0..MOST_STEPS {
        let left = norm(&gradient);
        if left <= TIGHT * first {
            break;
        }
        let step = newton_step(objective, &gradient, (left / first).min(0.1) * left);
        let slope = dot(&gradient, &step);
        let mut length = 1.0;
        let mut lower = None;
        for _ in 0..MOST_HALVINGS {
            let next: Vec<f64> = point.iter().zip(&step).map(|(at, step)| at + length * step).collect();
            let (height, next_gradient) = objective.evaluate(&next);
            // Near the end the decrease is below the precision of the value, and the gradient decides.
            let level = (height - value).abs() <= 1e-14 * value.abs() && norm(&next_gradient) < left;
            if height <= value + 1e-4 * length * slope || level {
                lower = Some((next, height, next_gradient));
                break;
            }
            length /= 2.0;
        }
        let Some(found) = lower else { break };
        (point, value, gradient) = found;
    }
    point
}

/// Computes Newton's step by conjugate gradients, up to a residual of `enough`.
fn newton_step(objective: &impl Objective, gradient: &[f64], enough: f64) -> Vec<f64> {
    let mut step = vec![0.0; gradient.len()];
    let mut rest: Vec<f64> = gradient.iter().map(|slope| -slope).collect();
    let mut direction = rest.clone();
    let mut square = dot(&rest, &rest);
    let mut most_curved: f64 = 0.0;
    for _ in 0..20 + 10 * gradient.len().min(1000) {
        let curved = objective.hessian_times(&direction);
        let curvature = dot(&direction, &curved);
        most_curved = most_curved.max(curvature / dot(&direction, &direction));
        if square.sqrt() <= enough || curvature <= FLAT * most_curved * dot(&direction, &direction) {
            break;
        }
        let length = square / curvature;
        step.iter_mut().zip(&direction).for_each(|(step, direction)| *step += length * direction);
        rest.iter_mut().zip(&curved).for_each(|(rest, curved)| *rest -= length * curved);
        let next = dot(&rest, &rest);
        direction.iter_mut().zip(&rest).for_each(|(direction, rest)| *direction = rest + next / square * *direction);
        square = next;
    }
    step
}

/// Sums the contributions of ranges of rows in parallel, in the same order for any number of threads.
pub(crate) fn sum_over<T: Send>(rows: usize, part: impl Fn(Range<usize>) -> T + Sync, mut add: impl FnMut(T)) {
    const STRETCH: usize = 4096;
    let stretches = (0..rows.div_ceil(STRETCH)).into_par_iter();
    let parts: Vec<T> = stretches.map(|stretch| part(stretch * STRETCH..rows.min((stretch + 1) * STRETCH))).collect();
    parts.into_iter().for_each(&mut add);
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (x − 3)⁴ + 1000·(y + 1)², steep and flat at once.
    struct Valley([f64; 2]);

    impl Objective for Valley {
        fn dimensions(&self) -> usize {
            2
        }
        fn evaluate(&mut self, point: &[f64]) -> (f64, Vec<f64>) {
            let (x, y) = (point[0] - 3.0, point[1] + 1.0);
            self.0 = [x, y];
            (x.powi(4) + 1000.0 * y * y, vec![4.0 * x.powi(3), 2000.0 * y])
        }
        fn hessian_times(&self, along: &[f64]) -> Vec<f64> {
            vec![12.0 * self.0[0].powi(2) * along[0], 2000.0 * along[1]]
        }
    }

    #[test]
    fn it_finds_the_lowest_point() {
        let found = minimize(&mut Valley([0.0; 2]));
        assert!((found[0] - 3.0).abs() < 0.01 && (found[1] + 1.0).abs() < 1e-9, "{found:?}");
    }
}
