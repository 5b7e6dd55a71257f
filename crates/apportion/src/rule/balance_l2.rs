//! Balance with the plain l2 norm, by way of its square.
//!
//! With d = c − t, the program maximizes the sum of the labels' scores minus w‖d‖. For any τ > 0, ‖d‖ ≤ ‖d‖²/2τ +
//! τ/2, with equality at τ = ‖d‖: so each τ gives a problem with a squared penalty, which is solved exactly and whose
//! counts are a candidate. We scan τ, continue from the best with τ = ‖d‖ until nothing changes, and then move single
//! people while that improves. A bound measures the remaining gap: for any prices with ‖λ‖ ≤ w, no labels have a
//! larger value than Σ_i max_y (s_iy + λ_y) − Σ_y t_y λ_y.

use super::balance::Penalty;
use super::joint::{GroupSolution, distance};
use super::plan::{Plan, quotas};
use crate::error::Result;
use crate::kernel::{GRID, Grid, Real, Source};
use crate::scores::Label;
use crate::transport::penalty::{Quota, SeparablePenalty, WeightedPenalty};
use crate::transport::{Certificate, Demand, Goal, Prices, Setting, Solution, best_values, solve};

/// Number of initial values of τ.
const SCAN: i32 = 10;
/// Lower than any other price by more than any score.
const OUT_OF_REACH: f64 = -1.01;
/// Maximum number of steps of each local search.
const STEPS: usize = 24;

/// Solves a plan with w‖c − t‖ as the cost.
pub(super) fn solve_l2<T: Real>(
    rows: &dyn Source<T>,
    plan: &Plan,
    weight: f64,
    setting: &Setting<'_>,
) -> Result<GroupSolution> {
    let mut labels = vec![0; rows.rows()];
    let matched = plan.matching().with_goal(|goal| solve(rows, goal, setting, &mut labels))?;
    let weights = plan.weights(&matched.sums);
    let people = rows.people();
    // The values were checked above.
    let setting = Setting { guard: None, ..*setting };
    let problem = L2Problem { rows, quotas: quotas(&weights, people), weights, weight, people, setting: &setting };
    let counts = problem.search(&matched)?;
    let (labels, solution) = problem.at_counts(counts, &mut labels)?;
    let value = problem.value(&solution);
    let bound = problem.bound(&[&solution, &matched])?.max(value);
    Ok(GroupSolution {
        labels: labels.to_vec(),
        targets: plan.targets(&problem.weights, &solution.counts),
        certificate: Certificate { primal: on_grid(value), dual: on_grid(bound) },
        distance: distance(Penalty::L2, &solution.counts, &problem.weights),
        solution,
    })
}

fn on_grid(value: f64) -> i128 {
    (value * Grid::UNIT as f64).round() as i128
}

struct L2Problem<'a, T> {
    rows: &'a dyn Source<T>,
    quotas: Vec<Quota>,
    weights: Vec<u128>,
    weight: f64,
    people: u64,
    setting: &'a Setting<'a>,
}

impl<T: Real> L2Problem<'_, T> {
    /// Returns the sum of the labels' scores minus the cost.
    fn value(&self, solution: &Solution) -> f64 {
        solution.certificate.objective() - self.weight * distance(Penalty::L2, &solution.counts, &self.weights)
    }

    /// Solves with a squared penalty for this τ.
    fn squared(&self, tau: f64, labels: &mut [Label]) -> Result<Solution> {
        let k = self.quotas.len();
        let weight = self.weight * self.people as f64 / (2.0 * tau);
        let cost = WeightedPenalty {
            curve: SeparablePenalty::L2Squared,
            weight,
            people: self.people,
            quotas: self.quotas.clone(),
        };
        let demand = Demand::between(vec![0; k], vec![self.people; k]).with_penalty(Some(cost));
        solve(self.rows, &Goal::Known(demand), self.setting, labels)
    }

    fn at_counts<'l>(&self, counts: Vec<u64>, labels: &'l mut [Label]) -> Result<(&'l mut [Label], Solution)> {
        let solution = solve(self.rows, &Goal::Known(Demand::exactly(counts)), self.setting, labels)?;
        Ok((labels, solution))
    }

    /// Returns the best counts found.
    fn search(&self, matched: &Solution) -> Result<Vec<u64>> {
        let mut labels = vec![0; self.rows.rows()];
        let mut best = (self.value(matched), matched.counts.clone());
        for power in 0..SCAN {
            let solution = self.squared(self.people as f64 * 0.5f64.powi(2 * power), &mut labels)?;
            let value = self.value(&solution);
            if value > best.0 {
                best = (value, solution.counts);
            }
        }
        for _ in 0..STEPS {
            let tau = distance(Penalty::L2, &best.1, &self.weights);
            if tau == 0.0 {
                break;
            }
            let solution = self.squared(tau, &mut labels)?;
            let value = self.value(&solution);
            if value <= best.0 {
                break;
            }
            best = (value, solution.counts);
        }
        for _ in 0..STEPS {
            let (_, solution) = self.at_counts(best.1.clone(), &mut labels)?;
            let Some(counts) = self.neighbor(&solution) else { break };
            best.1 = counts;
        }
        Ok(best.1)
    }

    /// Returns the best counts with one person moved, if they are better.
    fn neighbor(&self, solution: &Solution) -> Option<Vec<u64>> {
        let far = |counts: &[u64]| self.weight * distance(Penalty::L2, counts, &self.weights);
        let now = far(&solution.counts);
        let mut best = (1e-9, None);
        for &(from, to, cost) in &solution.exchanges {
            let mut counts = solution.counts.clone();
            counts[from] -= 1;
            counts[to] += 1;
            let gain = now - far(&counts) - GRID.value(cost);
            if gain > best.0 {
                best = (gain, Some(counts));
            }
        }
        best.1
    }

    /// Returns the smallest bound from the prices of some solutions.
    fn bound(&self, solutions: &[&Solution]) -> Result<f64> {
        let mut least = f64::INFINITY;
        for solution in solutions {
            // A class that is never assigned has no price; a very low one serves.
            let price = |price: &Option<i64>| price.map_or(OUT_OF_REACH, |price| GRID.value(price));
            let own: Vec<f64> = solution.prices[0].iter().map(price).collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            let centered = own.iter().map(|price| price - mean).collect();
            let misses: Vec<f64> =
                solution.counts.iter().zip(&self.quotas).map(|(&count, quota)| -quota.miss(count)).collect();
            for prices in [self.within_ball(centered, false), self.within_ball(misses, true)] {
                least = least.min(self.bound_at(&prices)?);
            }
        }
        Ok(least)
    }

    /// Projects prices into the ball of radius w, or onto its surface if `onto`.
    fn within_ball(&self, prices: Vec<f64>, onto: bool) -> Vec<f64> {
        // Slightly inside, to allow for rounding to the grid.
        let most = self.weight - prices.len() as f64 / Grid::UNIT as f64;
        let norm = prices.iter().map(|price| price * price).sum::<f64>().sqrt();
        if norm == 0.0 || (norm <= most && !onto) {
            return prices;
        }
        prices.iter().map(|price| price * most.max(0.0) / norm).collect()
    }

    fn bound_at(&self, prices: &[f64]) -> Result<f64> {
        let units: Prices = prices.iter().map(|price| Some((price * Grid::UNIT as f64).round() as i64)).collect();
        let paid: f64 = units
            .iter()
            .zip(&self.quotas)
            .map(|(price, quota)| price.map_or(0.0, |price| GRID.value(price)) * quota.value())
            .sum();
        Ok(GRID.total(best_values(self.rows, &units, self.setting)?) - paid)
    }
}
