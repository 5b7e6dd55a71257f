//! Problems of several hundred to several thousand rows through all stages (sample, box, band and paths), which the
//! small thresholds of unit tests trigger. Results are compared with a solution by paths alone and with a certificate
//! computed independently.

use super::demand::Demand;
use super::paths::Atoms;
use super::penalty::{Quota, SeparablePenalty, WeightedPenalty};
use super::{Goal, NEAR, Outline, Setting, Solution, solve};
use crate::kernel::{GRID, Rows, SimdLevel};
use crate::reference::{posterior_weights, round};
use crate::seed;

/// The posterior of all rows.
const OUTLINE: Outline = Outline { last: 0.0, penalty: None };

struct Problem {
    k: usize,
    scores: Vec<f64>,
}

/// Creates skewed, continuous or lumpy scores, sometimes with very few rows of the last classes, sometimes sorted.
fn problem(seed: u64) -> Problem {
    let chance = |salt: u64| seed::hash(seed, salt, 7);
    let unit = |salt: u64| (chance(salt) >> 11) as f64 / (1u64 << 53) as f64;
    let k = 1 + chance(1) as usize % 6;
    let rows = 1 + chance(2) as usize % 3000;
    let parts = [0.0, 2.0, 10.0, 100.0][chance(3) as usize % 4];
    let rarity = [1.0f64, 1.0, 4.0, 40.0][chance(4) as usize % 4];
    let distinct = if chance(5) % 3 == 0 { 1 + rows / 20 } else { rows };
    let mut table: Vec<Vec<f64>> = (0..rows)
        .map(|row| {
            let row = (row % distinct * k) as u64;
            let weight = |y: u64| unit(100 + row + y).powi(4) / rarity.powi(y as i32) + 1e-12;
            let weights: Vec<f64> = (0..k as u64).map(weight).collect();
            let sum: f64 = weights.iter().sum();
            let mut scores: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
            if parts > 0.0 {
                scores.iter_mut().for_each(|score| *score = (*score * parts).floor() / parts);
                scores[0] += 1.0 - scores.iter().sum::<f64>();
            }
            scores
        })
        .collect();
    if chance(6) % 4 == 0 {
        table.sort_by(|a, b| a.partial_cmp(b).unwrap());
    }
    Problem { k, scores: table.concat() }
}

impl Problem {
    fn rows(&self) -> usize {
        self.scores.len() / self.k
    }

    fn units(&self) -> Vec<i64> {
        self.scores.iter().map(|&score| GRID.round(score)).collect()
    }

    fn solve(&self, goal: &Goal<'_>, simd: SimdLevel) -> (Vec<u8>, Solution) {
        self.solve_people(goal, simd, None)
    }

    fn solve_people(&self, goal: &Goal<'_>, simd: SimdLevel, weights: Option<&[u64]>) -> (Vec<u8>, Solution) {
        let rows = Rows::matrix(&self.scores, self.k, 1.001, weights);
        let mut labels = vec![0; self.rows()];
        let setting = Setting { simd, seed: 5, key: &|row| row as u64, unique_keys: true, guard: None, guess: None };
        let solution = solve(&rows, goal, &setting, &mut labels).unwrap();
        (labels, solution)
    }

    /// Checks the labels' counts, and the certificate computed from scores, labels and prices only.
    fn check(&self, labels: &[u8], solution: &Solution) {
        let units = self.units();
        let (mut primal, mut dual, mut counts) = (0i128, 0i128, vec![0; self.k]);
        for (row, &label) in units.chunks(self.k).zip(labels) {
            primal += i128::from(row[label as usize]);
            let best = (0..self.k).filter_map(|y| Some(row[y] + solution.prices[0][y]?)).max().unwrap();
            dual += i128::from(best - solution.prices[0][label as usize].unwrap());
            counts[label as usize] += 1;
        }
        assert_eq!(counts, solution.counts, "labels have the counts that were promised");
        assert_eq!((primal, dual), (solution.certificate.primal, solution.certificate.dual), "the certificate is true");
        assert_eq!(primal, dual, "and closed");
    }
}

#[test]
fn the_posterior_is_matched_exactly_at_every_simd_level() {
    for seed in 0..400 {
        let problem = problem(seed);
        let rows = problem.rows() as u64;
        let posterior = |sums: &[i128]| round(&posterior_weights(sums), rows);
        let (labels, solution) = problem.solve(&Goal::OfSums(&posterior, OUTLINE), SimdLevel::best());
        problem.check(&labels, &solution);
        for level in SimdLevel::available() {
            let (again, other) = problem.solve(&Goal::OfSums(&posterior, OUTLINE), level);
            assert_eq!((&again, &other.prices), (&labels, &solution.prices), "{level}, seed {seed}");
        }
    }
}

#[test]
fn given_counts_are_matched_at_the_value_that_paths_alone_find() {
    for seed in 1000..1400 {
        let problem = problem(seed);
        let weights: Vec<u128> = (0..problem.k as u64).map(|y| u128::from(seed::hash(seed, y, 9) % 7)).collect();
        if weights.iter().sum::<u128>() == 0 {
            continue;
        }
        let demand = round(&weights, problem.rows() as u64);
        let (labels, solution) = problem.solve(&Goal::Known(demand.clone()), SimdLevel::best());
        problem.check(&labels, &solution);
        let alone = paths_alone(&problem, &demand);
        assert_eq!(solution.counts, alone, "the same roundings, seed {seed}");
    }
}

/// Creates penalties of every form, with and without limits, for quotas near argmax and far from it.
fn priced(seed: u64, k: usize, people: u64) -> Demand {
    let chance = |salt: u64| seed::hash(seed, salt, 13);
    let weights: Vec<u128> = (0..k as u64).map(|y| u128::from(1 + chance(y) % 40)).collect();
    let total = weights.iter().sum();
    let quotas: Vec<Quota> = weights.iter().map(|&weight| Quota::new(people, weight, total)).collect();
    let gamma = [0.3, 0.6, 0.8, 0.9, 0.95, 0.99][chance(50) as usize % 6];
    let curve = [SeparablePenalty::L1, SeparablePenalty::L2Squared, SeparablePenalty::Kl][chance(51) as usize % 3];
    let weight = if chance(52) % 8 == 0 { NEAR } else { (1.0 - gamma) / gamma };
    let curve = if weight == NEAR { SeparablePenalty::L1 } else { curve };
    let (mut least, mut most) = (vec![0; k], vec![people; k]);
    if chance(53) % 3 == 0 && k > 1 {
        most[0] = people * (chance(54) % 100) / 100;
        least[1] = (people - most[0]) * (chance(55) % 100) / 200;
    }
    let penalty = (chance(56) % 10 > 0).then_some(WeightedPenalty { curve, weight, people, quotas });
    Demand::between(least, most).with_penalty(penalty)
}

#[test]
fn what_costs_something_is_weighed_as_paths_alone_do() {
    for seed in 3000..4500 {
        let problem = problem(seed);
        let demand = priced(seed, problem.k, problem.rows() as u64);
        let (labels, solution) = problem.solve(&Goal::Known(demand.clone()), SimdLevel::best());
        problem.check(&labels, &solution);
        assert_eq!(solution.counts, paths_alone(&problem, &demand), "the same counts, seed {seed}");
    }
}

/// A row with a count is equivalent to that many rows: the counts and the value are the same.
#[test]
fn people_are_rows() {
    for seed in 5000..5600 {
        let problem = problem(seed);
        let weights: Vec<u64> = (0..problem.rows() as u64).map(|row| seed::hash(seed, row, 15) % 5).collect();
        let people: u64 = weights.iter().sum();
        let demand = if seed % 2 == 0 { priced(seed, problem.k, people) } else { round(&vec![1; problem.k], people) };
        let (labels, solution) = problem.solve_people(&Goal::Known(demand.clone()), SimdLevel::best(), Some(&weights));
        let one_by_one = problem.scores.chunks(problem.k).zip(&weights);
        let scores = one_by_one.flat_map(|(row, &weight)| row.repeat(weight as usize)).collect();
        let expanded = Problem { k: problem.k, scores };
        let (_, expected) = expanded.solve(&Goal::Known(demand), SimdLevel::best());
        assert_eq!(solution.counts, expected.counts, "seed {seed}");
        assert_eq!(solution.certificate, expected.certificate, "seed {seed}");

        // The people of the rows sum to the counts, and their scores to the value.
        let mut amounts: Vec<Vec<u64>> = vec![vec![0; problem.k]; weights.len()];
        (0..weights.len()).for_each(|row| amounts[row][usize::from(labels[row])] = weights[row]);
        solution.splits.iter().for_each(|(row, people)| amounts[*row].clone_from(people));
        let (mut counts, mut value) = (vec![0; problem.k], 0i128);
        for (row, (amounts, scores)) in amounts.iter().zip(problem.units().chunks(problem.k)).enumerate() {
            assert_eq!(amounts.iter().sum::<u64>(), weights[row], "seed {seed}");
            counts.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum += amount);
            value += amounts.iter().zip(scores).map(|(&n, &s)| i128::from(n) * i128::from(s)).sum::<i128>();
        }
        assert_eq!((counts, value), (solution.counts, solution.certificate.primal), "seed {seed}");
    }
}

/// Returns the optimal counts, by paths from argmax over all rows.
fn paths_alone(problem: &Problem, demand: &Demand) -> Vec<u64> {
    let rows = Rows::matrix(&problem.scores, problem.k, 1.001, None);
    let atoms = Atoms::of(&rows);
    let open = demand.open();
    atoms.assign(demand, &open.iter().map(|open| open.then_some(0)).collect()).counts
}

#[test]
fn the_lots_of_ties_have_the_greatest_sum() {
    // Equal rows: every labeling with the required counts is optimal, so the hashes alone decide.
    let problem = Problem { k: 3, scores: [0.5, 0.25, 0.25].repeat(9) };
    let (labels, solution) = problem.solve(&Goal::Known(Demand::exactly(vec![4, 3, 2])), SimdLevel::best());
    problem.check(&labels, &solution);
    assert_eq!(solution.tied, 9);
    let lots = |labels: &[u8]| -> i64 {
        labels.iter().enumerate().map(|(row, &label)| super::ties::lot(5, row as u64, 0, usize::from(label))).sum()
    };
    let mut best = Vec::new();
    for code in 0..3usize.pow(9) {
        let other: Vec<u8> = (0..9).map(|row| (code / 3usize.pow(row) % 3) as u8).collect();
        let count = |class: u8| other.iter().filter(|&&label| label == class).count();
        if (count(0), count(1), count(2)) == (4, 3, 2) {
            best.push((lots(&other), other));
        }
    }
    assert_eq!(best.iter().max().unwrap().1, labels);
}

/// Tables whose sampled rows are not representative: the box misses the optimum or barely contains it, and certain rows
/// fill a class.
#[test]
fn misleading_samples_do_no_harm() {
    for seed in 0..1500 {
        let chance = |salt: u64| seed::hash(seed, salt, 11);
        let unit = |salt: u64| (chance(salt) >> 11) as f64 / (1u64 << 53) as f64;
        let (k, rows) = (2 + chance(1) as usize % 4, 200 + chance(2) as usize % 600);
        let parts = if chance(3) % 3 == 0 { 64.0 } else { f64::INFINITY };
        let block = 1 + chance(4) as usize % 40;
        let scores = (0..rows).flat_map(|row| {
            let of = |class: usize| unit(1000 + (row * k + class) as u64);
            // Blocks of undecided rows among decided ones, about as long as the clusters of a sample.
            let weights: Vec<f64> = if (row / block).is_multiple_of(3) {
                (0..k).map(|class| 1.0 + 0.3 * of(class)).collect()
            } else {
                let likely = (of(0) * unit(5) * k as f64 + unit(6)) as usize % k;
                (0..k).map(|class| if class == likely { 1.0 } else { 0.02 * of(class) }).collect()
            };
            let sum: f64 = weights.iter().sum();
            let mut scores: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
            if parts.is_finite() {
                scores.iter_mut().for_each(|score| *score = (*score * parts).floor() / parts);
            }
            scores
        });
        let problem = Problem { k, scores: scores.collect() };
        let weights: Vec<u128> =
            (0..k as u64).map(|y| if chance(7) % 2 == 0 { 1 } else { 1 + u128::from(chance(20 + y) % 50) }).collect();
        let demand = round(&weights, rows as u64);
        let (labels, solution) = problem.solve(&Goal::Known(demand.clone()), SimdLevel::best());
        problem.check(&labels, &solution);
        assert_eq!(solution.counts, paths_alone(&problem, &demand), "the same roundings, seed {seed}");
    }
}
