//! Large problems, checked by weak duality: the returned prices bound the value of all labels, in 128-bit integers.

use std::collections::BinaryHeap;

use apportion::decision::Fitted;
use apportion::rule::Allotted;
use apportion::{
    Balance, Bounds, Classes, Groups, Label, Match, Matrix, Penalty, PerGroup, Reference, Rule, Scores, Settings,
};

use super::exact::largest_remainders;
use super::tables::{parts, scores, units};
use crate::Outcome;
use crate::draw::Draw;

const UNIT: f64 = (1u64 << 40) as f64;
const TOLERANCE: f64 = 1e-6;
/// The maximum number of cells of a table: usually, and occasionally.
const CELLS: [usize; 2] = [300_000, 5_000_000];

/// A problem.
struct Problem {
    k: usize,
    scores: Vec<f64>,
    counts: Option<Vec<u64>>,
    groups: usize,
    codes: Vec<u32>,
    truth: Vec<Label>,
    /// In hundredths.
    coverage: Option<u64>,
    /// `None` for match.
    gamma: Option<f64>,
    penalty: Penalty,
    tolerance: Option<f64>,
    reference: Reference,
    shares: Vec<f64>,
    seed: u64,
}

/// Draws a problem, solves it, and checks the result.
///
/// # Panics
/// If the labels are not proved optimal, or their counts differ from the targets.
pub fn check(draw: &mut Draw<'_>) -> Outcome {
    let problem = Problem::draw(draw);
    problem.check();
    Outcome::Accepted
}

impl Problem {
    fn draw(draw: &mut Draw<'_>) -> Problem {
        let most = CELLS[usize::from(draw.one_in(40))];
        let k = match draw.below(4) {
            0 => 2 + draw.index(5),
            1 => 6,
            2 => 7 + draw.index(40),
            _ => 50 + draw.index(201),
        };
        let rows = (2f64.powf(14.3 * draw.unit()) as usize).clamp(1, 20_000).min(most / k);
        let gamma = match draw.below(3) {
            0 => Some([0.5, 0.9, 0.99, 1.0, 0.05][draw.index(5)]),
            _ => None,
        };
        let counts = (gamma.is_none() && draw.one_in(3)).then(|| {
            let largest = (1u64 << 40) / rows as u64;
            let largest = largest.min(*draw.pick(&[3, 1_000, 1_000_000_000]));
            (0..rows).map(|_| draw.below(largest + 1)).collect()
        });
        let groups = match draw.below(4) {
            0 => 7,
            1 if rows > 3 => rows / 3,
            _ => 1,
        };
        let codes = (0..rows).map(|_| draw.below(groups as u64) as u32).collect();
        let (mut shares, kind) = (Vec::new(), draw.below(5));
        let reference = match kind {
            0 => Reference::Uniform,
            1 => {
                parts(draw, k, 1000, &mut shares);
                Reference::Shares(PerGroup::Overall(shares.clone()))
            }
            2 => Reference::Truth,
            _ => Reference::Posterior,
        };
        let single = draw.one_in(2);
        Problem {
            k,
            scores: scores(draw, rows, k, single),
            counts,
            groups,
            codes,
            truth: (0..rows).map(|_| draw.below(k as u64) as Label).collect(),
            coverage: (gamma.is_none() && draw.one_in(4)).then(|| draw.below(101)),
            gamma,
            penalty: *draw.pick(&[Penalty::L1, Penalty::L2Squared, Penalty::Kl]),
            tolerance: (gamma == Some(1.0)).then(|| *draw.pick(&[0.0, 0.01, 0.1])),
            reference,
            shares,
            seed: draw.below(1 << 16),
        }
    }

    fn rule(&self) -> Rule {
        let aim = Match {
            by_group: self.groups > 1,
            coverage: self.coverage.map(|share| share as f64 / 100.0),
            bounds: Bounds { tolerance: self.tolerance, ..Bounds::default() },
            ..Match::overall(self.reference.clone())
        };
        match self.gamma {
            None => Rule::Match(aim),
            Some(gamma) => Rule::Balance(Balance::new(gamma, aim).with_penalty(self.penalty)),
        }
    }

    fn check(&self) {
        let classes = sound(Classes::new((0..self.k).map(|class| format!("c{class}"))));
        let names: Vec<String> = (0..self.groups).map(|group| format!("g{group}")).collect();
        let table = sound(Scores::new(&classes, Matrix::RowsF64(&self.scores)));
        let table = sound(table.with_groups(Groups { codes: &self.codes, names: &names }));
        let mut table = sound(table.with_truth(&self.truth));
        if let Some(counts) = &self.counts {
            table = sound(table.with_counts(counts));
        }
        let allotted = sound(self.rule().allot(&table, &Settings { seed: self.seed, ..Settings::default() }));
        let mut members = vec![Vec::new(); self.groups];
        self.codes.iter().enumerate().for_each(|(row, &group)| members[group as usize].push(row));
        let units = units(&self.scores);
        let (mut primal, mut targets) = (0, vec![0; self.k]);
        for (group, rows) in members.iter().enumerate() {
            let part = Part { problem: self, units: &units, rows, allotted: &allotted, name: &names[group] };
            primal += part.check();
            part.counts().iter().zip(&mut targets).for_each(|(count, sum)| *sum += count);
        }
        let Some(joint) = &allotted.joint else { panic!("no certificate") };
        assert!(joint.certificate.is_closed(), "an open certificate");
        if self.gamma.is_none() {
            assert_eq!(joint.certificate.primal, primal, "the certificate's value, and that of the labels");
            assert_eq!(joint.targets, targets, "targets, and counts");
        }
    }
}

/// The rows of one group, and their labels.
struct Part<'a> {
    problem: &'a Problem,
    units: &'a [i64],
    rows: &'a [usize],
    allotted: &'a Allotted,
    name: &'a str,
}

impl Part<'_> {
    fn people_of(&self, row: usize) -> u64 {
        self.problem.counts.as_ref().map_or(1, |counts| counts[row])
    }

    fn people(&self) -> u64 {
        self.rows.iter().map(|&row| self.people_of(row)).sum()
    }

    fn scores(&self, row: usize) -> &[i64] {
        &self.units[row * self.problem.k..][..self.problem.k]
    }

    /// Returns the number of people of each class.
    fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.problem.k];
        for &row in self.rows {
            self.allotted.allotment.row(row).iter().zip(&mut counts).for_each(|(people, sum)| *sum += people);
        }
        counts
    }

    /// Checks the group; returns the sum of its labels' scores.
    fn check(&self) -> i128 {
        let mut primal = 0;
        for &row in self.rows {
            let own = self.allotted.allotment.row(row);
            assert_eq!(own.iter().sum::<u64>(), self.people_of(row), "people of row {row}");
            primal += own
                .iter()
                .zip(self.scores(row))
                .map(|(&people, &score)| i128::from(people) * i128::from(score))
                .sum::<i128>();
        }
        if self.people() == 0 {
            return primal;
        }
        let uncoded =
            self.problem.coverage.map(|share| (2 * u128::from(100 - share) * u128::from(self.people()) + 100) / 200);
        let labeled = self.people() - uncoded.unwrap_or(0) as u64;
        let counts = self.counts();
        assert_eq!(counts.iter().sum::<u64>(), labeled, "people with a label");
        let weights = self.weights();
        if weights.iter().sum::<u128>() == 0 {
            return primal;
        }
        let prices = self.prices();
        self.check_dual(&prices, &counts, self.people() - labeled, primal);
        match self.problem.gamma {
            None => check_targets(&counts, &weights, labeled),
            Some(gamma) => self.check_balance(gamma, &prices, &counts, &weights, primal),
        }
        primal
    }

    /// Returns the prices of the group, in units.
    fn prices(&self) -> Vec<Option<i64>> {
        let Fitted::Prices(groups) = self.allotted.decision.fitted() else { panic!("a decision without prices") };
        let own = groups.iter().find(|own| own.group.as_deref().is_none_or(|name| name == self.name));
        let Some(own) = own else { panic!("no prices of group {}", self.name) };
        own.prices.iter().map(|price| price.map(|price| (price * UNIT).round() as i64)).collect()
    }

    /// Returns the maximum score + price of each row, summed over its people.
    fn highest(&self, prices: &[Option<i64>]) -> i128 {
        let value = |row: usize, (class, price): (usize, &Option<i64>)| {
            price.map(|price| price + self.scores(row).get(class).copied().unwrap_or(0))
        };
        let best = |row: usize| prices.iter().enumerate().filter_map(|own| value(row, own)).max().unwrap_or(0);
        self.rows.iter().map(|&row| i128::from(best(row)) * i128::from(self.people_of(row))).sum()
    }

    /// Checks by weak duality that no labels with these counts have a greater sum.
    fn check_dual(&self, prices: &[Option<i64>], counts: &[u64], uncoded: u64, primal: i128) {
        let all = counts.iter().copied().chain(self.problem.coverage.map(|_| uncoded));
        let mut paid = 0;
        for (class, count) in all.enumerate() {
            match prices.get(class).copied().flatten() {
                Some(price) => paid += i128::from(price) * i128::from(count),
                None => assert_eq!(count, 0, "class {class} has people, and no price"),
            }
        }
        assert_eq!(primal, self.highest(prices) - paid, "the value of the labels, and the bound of their prices");
    }

    fn weights(&self) -> Vec<u128> {
        let sum = |class: usize| {
            let own = |&row: &usize| i128::from(self.scores(row)[class]) * i128::from(self.people_of(row));
            self.rows.iter().map(own).sum::<i128>().max(0) as u128
        };
        let truth = |class: usize| {
            let own = self.rows.iter().filter(|&&row| usize::from(self.problem.truth[row]) == class);
            own.map(|&row| u128::from(self.people_of(row))).sum()
        };
        let weight = |class: usize| match &self.problem.reference {
            Reference::Uniform => 1,
            Reference::Shares(_) => (self.problem.shares[class] * 1000.0).round() as u128,
            Reference::Truth => truth(class),
            _ => sum(class),
        };
        (0..self.problem.k).map(weight).collect()
    }

    /// Checks balance by weak duality over all counts: the value of any labels, minus the penalty.
    fn check_balance(&self, gamma: f64, prices: &[Option<i64>], counts: &[u64], weights: &[u128], primal: i128) {
        let (k, people) = (self.problem.k, self.people());
        let total = weights.iter().sum::<u128>() as f64;
        let quotas: Vec<f64> = weights.iter().map(|&weight| weight as f64 / total * people as f64).collect();
        let tolerance = self.problem.tolerance.map(|tolerance| tolerance * people as f64);
        let limits: Vec<(u64, u64)> =
            weights.iter().map(|&weight| limits(weight, weights.iter().sum(), tolerance, people)).collect();
        let weight = (1.0 - gamma) / gamma;
        let cost = |class: usize, count: u64| -> f64 {
            let (count, quota) = (count as f64, quotas[class]);
            if weight == 0.0 {
                return 0.0;
            }
            weight
                * match self.problem.penalty {
                    Penalty::L1 => (count - quota).abs(),
                    Penalty::L2Squared => (count - quota).powi(2) / people as f64,
                    _ if count == 0.0 => 0.0,
                    _ => count * (count / quota).ln(),
                }
        };
        for (class, (least, most)) in limits.iter().enumerate() {
            assert!(
                (*least..=*most).contains(&counts[class]),
                "{} of class {class}, not {least} to {most}",
                counts[class]
            );
        }
        let prices = self.lowest_prices(prices);
        let mut best: Vec<u64> = limits.iter().map(|limit| limit.0).collect();
        let gain = |class: usize, count: u64| cost(class, count) - cost(class, count + 1) - prices[class] as f64 / UNIT;
        let next = |class: usize, count: u64| {
            (count < limits[class].1)
                .then(|| gain(class, count))
                .filter(|gain| gain.is_finite())
                .map(|gain| Step(gain, class))
        };
        let mut heap: BinaryHeap<Step> = (0..k).filter_map(|class| next(class, best[class])).collect();
        let left = people - best.iter().sum::<u64>();
        for _ in 0..left {
            let Some(Step(_, class)) = heap.pop() else { panic!("no class is left to be given") };
            best[class] += 1;
            heap.extend(next(class, best[class]));
        }
        let highest = self.highest(&prices.iter().map(|&price| Some(price)).collect::<Vec<_>>()) as f64 / UNIT;
        let paid = |class: usize| cost(class, best[class]) + best[class] as f64 * prices[class] as f64 / UNIT;
        let bound = highest - (0..k).map(paid).sum::<f64>();
        let value = primal as f64 / UNIT - (0..k).map(|class| cost(class, counts[class])).sum::<f64>();
        assert!(value <= bound + TOLERANCE && bound <= value + TOLERANCE, "the value is {value}, the bound {bound}");
    }

    /// Returns prices for all classes. A class without a price gets the highest one at which no row would prefer it.
    fn lowest_prices(&self, prices: &[Option<i64>]) -> Vec<i64> {
        let best =
            |row: usize| prices.iter().zip(self.scores(row)).filter_map(|(price, score)| Some((*price)? + score)).max();
        let highest =
            |class: usize| self.rows.iter().filter_map(|&row| Some(best(row)? - self.scores(row)[class])).min();
        (0..self.problem.k).map(|class| prices[class].or_else(|| highest(class)).unwrap_or(0)).collect()
    }
}

/// A class that could get one more person, and the value of that.
#[derive(PartialEq)]
struct Step(f64, usize);

impl Eq for Step {}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Step) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Step) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// Returns the minimum and maximum count of a class: within the tolerance of its quota, and always including the
/// nearest integers.
fn limits(weight: u128, total: u128, tolerance: Option<f64>, people: u64) -> (u64, u64) {
    let Some(tolerance) = tolerance else { return (0, people) };
    let up = |number: f64| (number - 1e-7).ceil().max(0.0) as u64;
    let down = |number: f64| (number + 1e-7).floor().max(0.0) as u64;
    let (product, quota) = (weight * u128::from(people), weight as f64 / total as f64 * people as f64);
    let (whole, next) = ((product / total) as u64, product.div_ceil(total) as u64);
    (up(quota - tolerance).min(whole), down(quota + tolerance).max(next).min(people))
}

/// Checks that counts are the largest remainders; if remainders tie for the last units, any choice is allowed.
fn check_targets(counts: &[u64], weights: &[u128], labeled: u64) {
    let (least, open, left) = largest_remainders(weights, labeled);
    let mut more = 0;
    for (class, (&count, &least)) in counts.iter().zip(&least).enumerate() {
        let most = least + u64::from(open.contains(&class));
        assert!(
            (least..=most).contains(&count),
            "class {class} has {count} people, and {least} to {most} are its target"
        );
        more += (count - least) as usize;
    }
    assert_eq!(more, left, "units that were contested");
}

fn sound<T>(result: apportion::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}
