//! Nested targets: whole numbers for the units of a larger unit, as close to their quotas as its totals allow.
//!
//! Every unit starts at its own largest remainders: no counts are closer to its quotas, so these are optimal for
//! their totals. Moving one person from class a to class b, possibly by way of others, costs the shortest path in a
//! graph with only K nodes, whose edge a→b has the smallest increase of the distance to the quotas among the units
//! with people in a. Take the cheapest path from a class with too many to a class with too few until all totals are
//! met: counts stay optimal for their totals throughout, so the result is the optimum.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The cost of one person of distance: costs are multiples of 2⁻⁴⁰.
const PERSON: i64 = 1 << 40;
/// The cost of an impossible move: more than any path.
const NO_WAY: i64 = i64::MAX / 4;

/// The people of a unit and the weights of its classes: its quotas are rows · weight / sum of the weights.
#[derive(Clone, Debug)]
pub(crate) struct Quotas {
    pub(crate) rows: u64,
    pub(crate) weights: Vec<u128>,
}

/// Returns the counts of the units that are closest to their quotas and sum to the totals; `None` if the totals do
/// not sum to the people.
///
/// Closest means the smallest Σ |count − quota|. Among equally close counts, the first units tend to keep their own
/// rounding and the first classes to be rounded up; the choice depends only on the given numbers.
pub(crate) fn nest(totals: &[u64], units: &[Quotas]) -> Option<Vec<Vec<u64>>> {
    let people: u128 = units.iter().map(|unit| u128::from(unit.rows)).sum();
    if people != totals.iter().map(|&total| u128::from(total)).sum() {
        return None;
    }
    let mut state = State::new(totals, units);
    while state.improve() {}
    Some((0..units.len()).map(|unit| state.row(unit).iter().map(|cell| cell.count).collect()).collect())
}

/// The people of a unit in a class, and their quota.
#[derive(Clone)]
struct Cell {
    count: u64,
    /// The quota, rounded down.
    floor: u64,
    /// The cost of going from there to the next whole number: negative if that one is closer.
    crossing: i64,
}

impl Cell {
    /// Returns the cost of one more person, and how many can be added at that cost.
    fn more(&self) -> (i64, u64) {
        match self.count.cmp(&self.floor) {
            Ordering::Less => (-PERSON, self.floor - self.count),
            Ordering::Equal => (self.crossing, 1),
            Ordering::Greater => (PERSON, u64::MAX),
        }
    }

    /// Returns the cost of one person less, and how many can be removed at that cost.
    fn fewer(&self) -> (i64, u64) {
        let Some(left) = self.count.checked_sub(1) else { return (NO_WAY, 0) };
        match left.cmp(&self.floor) {
            Ordering::Less => (PERSON, self.count),
            Ordering::Equal => (-self.crossing, 1),
            Ordering::Greater => (-PERSON, left - self.floor),
        }
    }
}

/// Returns the largest remainders of a unit; among equal ones, those of the first classes.
fn round(unit: &Quotas) -> Vec<Cell> {
    let total: u128 = unit.weights.iter().sum();
    if total == 0 {
        // All quotas are 0: any distribution is equally far.
        let mut cells = vec![Cell { count: 0, floor: 0, crossing: PERSON }; unit.weights.len()];
        cells.iter_mut().take(1).for_each(|first| first.count = unit.rows);
        return cells;
    }
    let mut remainders = Vec::with_capacity(unit.weights.len());
    let mut cells = Vec::with_capacity(unit.weights.len());
    for &weight in &unit.weights {
        let share = u128::from(unit.rows) * weight;
        let (floor, remainder) = ((share / total) as u64, share % total);
        // Rounding preserves the order of the remainders, so the largest of them have the lowest crossing
        // costs.
        let crossing = (1.0 - 2.0 * (remainder as f64 / total as f64)) * PERSON as f64;
        cells.push(Cell { count: floor, floor, crossing: crossing.round() as i64 });
        remainders.push(remainder);
    }
    // Each remainder is less than one person, so fewer people than classes remain.
    let left = unit.rows - cells.iter().map(|cell| cell.floor).sum::<u64>();
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by_key(|&class| Reverse(remainders[class]));
    order.iter().take(left as usize).for_each(|&class| cells[class].count += 1);
    cells
}

/// Units by the cost of moving one of their people from class a to class b: the cheapest first, and the last of
/// equals, so that the first units keep their rounding. Outdated entries are skipped.
type Heap = BinaryHeap<(Reverse<i64>, usize)>;

/// The cheapest path from a class with too many people to one with too few: classes, in order.
type Path = Vec<usize>;

struct State<'a> {
    totals: &'a [u64],
    k: usize,
    /// The classes of each unit, unit by unit.
    cells: Vec<Cell>,
    /// People in each class.
    counts: Vec<u64>,
    heaps: Vec<Heap>,
    /// The cheapest move a→b: its cost and its unit.
    edges: Vec<(i64, usize)>,
}

impl<'a> State<'a> {
    fn new(totals: &'a [u64], units: &[Quotas]) -> State<'a> {
        debug_assert!(units.iter().all(|unit| unit.weights.len() == totals.len()), "a weight for every class");
        let k = totals.len();
        let cells: Vec<Cell> = units.iter().flat_map(round).collect();
        let counts = (0..k).map(|class| cells.iter().skip(class).step_by(k).map(|cell| cell.count).sum()).collect();
        let mut state =
            State { totals, k, cells, counts, heaps: vec![Heap::new(); k * k], edges: vec![(NO_WAY, 0); k * k] };
        for (from, to) in state.pairs() {
            let entries = (0..units.len()).filter_map(|unit| Some((Reverse(state.cost(unit, from, to)?), unit)));
            state.heaps[from * k + to] = entries.collect::<Vec<_>>().into();
        }
        state.refresh();
        state
    }

    fn row(&self, unit: usize) -> &[Cell] {
        &self.cells[unit * self.k..][..self.k]
    }

    /// Returns all pairs of classes.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let k = self.k;
        (0..k).flat_map(move |from| (0..k).filter(move |&to| to != from).map(move |to| (from, to)))
    }

    /// Returns the cost of moving one person of a unit; `None` if there is no one to move.
    fn cost(&self, unit: usize, from: usize, to: usize) -> Option<i64> {
        let row = self.row(unit);
        (row[from].count > 0).then(|| row[from].fewer().0 + row[to].more().0)
    }

    /// Updates the cheapest moves.
    fn refresh(&mut self) {
        for (from, to) in self.pairs() {
            let index = from * self.k + to;
            while let Some(&(Reverse(cost), unit)) = self.heaps[index].peek()
                && self.cost(unit, from, to) != Some(cost)
            {
                self.heaps[index].pop();
            }
            self.edges[index] = self.heaps[index].peek().map_or((NO_WAY, 0), |&(Reverse(cost), unit)| (cost, unit));
        }
    }

    /// Moves people along the cheapest path. Returns false if all totals are met.
    fn improve(&mut self) -> bool {
        let Some(path) = self.cheapest_path() else { return false };
        self.shift(&path);
        true
    }

    /// Returns `None` if no class has too few people; then no class has too many. Otherwise a path exists, because
    /// people can move to any class.
    fn cheapest_path(&self) -> Option<Path> {
        let too_many = |class: usize| self.counts[class] > self.totals[class];
        let too_few = |class: usize| self.counts[class] < self.totals[class];
        let (distance, parent) = self.shortest(|class| if too_many(class) { 0 } else { NO_WAY });
        let end = (0..self.k).filter(|&class| too_few(class)).min_by_key(|&class| distance[class])?;
        let mut path: Path = std::iter::successors(Some(end), |&class| parent[class]).collect();
        path.reverse();
        Some(path)
    }

    /// Computes the lowest cost of reaching each class from any source, and its predecessor (Bellman-Ford). Costs
    /// may be negative, but there is no negative cycle, since the counts are optimal for their totals.
    fn shortest(&self, source: impl Fn(usize) -> i64) -> (Vec<i64>, Vec<Option<usize>>) {
        let mut distance: Vec<i64> = (0..self.k).map(source).collect();
        let mut parent = vec![None; self.k];
        let mut changed = true;
        while changed {
            changed = false;
            for (from, to) in self.pairs() {
                let cost = self.edges[from * self.k + to].0;
                if cost < NO_WAY && distance[from] < NO_WAY && distance[from] + cost < distance[to] {
                    distance[to] = distance[from] + cost;
                    parent[to] = Some(from);
                    changed = true;
                }
            }
        }
        (distance, parent)
    }

    /// Moves as many people along a path as possible at its cost. If a unit makes two consecutive moves, people
    /// pass through the class between them: this costs no less than the direct move, and no more on a shortest
    /// path.
    fn shift(&mut self, path: &Path) {
        let (source, end) = (path[0], path[path.len() - 1]);
        let moves: Vec<(usize, usize, usize)> =
            path.windows(2).map(|pair| (self.edges[pair[0] * self.k + pair[1]].1, pair[0], pair[1])).collect();
        let amount = moves
            .iter()
            .map(|&(unit, from, to)| self.row(unit)[from].fewer().1.min(self.row(unit)[to].more().1))
            .fold((self.counts[source] - self.totals[source]).min(self.totals[end] - self.counts[end]), u64::min);
        for &(unit, from, to) in &moves {
            self.set(unit, from, self.row(unit)[from].count - amount);
            self.set(unit, to, self.row(unit)[to].count + amount);
        }
        self.counts[source] -= amount;
        self.counts[end] += amount;
        self.refresh();
    }

    /// Changes the people of a unit in a class, and lists the moves whose cost changes.
    fn set(&mut self, unit: usize, class: usize, count: u64) {
        let cell = &mut self.cells[unit * self.k + class];
        let before = (cell.fewer().0, cell.more().0);
        cell.count = count;
        let after = (cell.fewer().0, cell.more().0);
        for other in (0..self.k).filter(|&other| other != class) {
            if after.0 != before.0 {
                self.list(unit, class, other);
            }
            if after.1 != before.1 {
                self.list(unit, other, class);
            }
        }
    }

    fn list(&mut self, unit: usize, from: usize, to: usize) {
        if let Some(cost) = self.cost(unit, from, to) {
            self.heaps[from * self.k + to].push((Reverse(cost), unit));
        }
    }
}

#[cfg(test)]
mod tests {
    use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};

    use super::*;

    /// A reproducible pseudorandom number generator (splitmix64).
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (value ^ (value >> 31)) % bound
        }

        /// Returns units with some empty classes, and occasionally without weights or people.
        fn units(&mut self, units: u64, k: usize, most_rows: u64, most_weight: u64) -> Vec<Quotas> {
            (0..units)
                .map(|_| {
                    let weightless = self.below(40) == 0;
                    let mut weight =
                        || if weightless || self.below(5) == 0 { 0 } else { u128::from(self.below(most_weight)) };
                    let weights = (0..k).map(|_| weight()).collect();
                    Quotas { rows: self.below(most_rows + 1), weights }
                })
                .collect()
        }

        /// Returns totals for the people of the units: the rounded sums of their quotas, those with one or two people
        /// moved, or arbitrary totals.
        fn totals(&mut self, k: usize, units: &[Quotas]) -> Vec<u64> {
            let people: u64 = units.iter().map(|unit| unit.rows).sum();
            let mut totals: Vec<u64> = (0..k)
                .map(|class| units.iter().map(|unit| quota(unit, class)).sum::<f64>())
                .map(|sum| (sum + 1e-9).floor() as u64)
                .collect();
            let left = people - totals.iter().sum::<u64>();
            (0..left).for_each(|_| totals[self.below(k as u64) as usize] += 1);
            let (moves, most) = [(0, 0), (2, 1), (10, people)][self.below(3) as usize];
            for _ in 0..moves {
                let (from, to) = (self.below(k as u64) as usize, self.below(k as u64) as usize);
                let amount = self.below(totals[from].min(most) + 1);
                totals[from] -= amount;
                totals[to] += amount;
            }
            totals
        }
    }

    fn quotas(rows: u64, weights: &[u128]) -> Quotas {
        Quotas { rows, weights: weights.to_vec() }
    }

    fn quota(unit: &Quotas, class: usize) -> f64 {
        let total: u128 = unit.weights.iter().sum();
        if total == 0 { 0.0 } else { unit.rows as f64 * unit.weights[class] as f64 / total as f64 }
    }

    /// Returns Σ |count − quota|, approximately.
    fn distance(units: &[Quotas], counts: &[Vec<u64>]) -> f64 {
        let unit_distance = |(unit, row): (&Quotas, &Vec<u64>)| -> f64 {
            row.iter().enumerate().map(|(class, &count)| (count as f64 - quota(unit, class)).abs()).sum()
        };
        units.iter().zip(counts).map(unit_distance).sum()
    }

    /// Returns the product of the sums of weights: every distance is an integer multiple of 1 / product.
    fn denominator(units: &[Quotas]) -> i128 {
        units.iter().map(|unit| unit.weights.iter().sum::<u128>().max(1) as i128).product()
    }

    /// Returns Σ |count − quota| · product, exactly.
    fn exact_distance(units: &[Quotas], counts: &[Vec<u64>]) -> i128 {
        let product = denominator(units);
        let mut sum = 0;
        for (unit, row) in units.iter().zip(counts) {
            let total = unit.weights.iter().sum::<u128>().max(1) as i128;
            for (&weight, &count) in unit.weights.iter().zip(row) {
                let quota = i128::from(unit.rows) * weight as i128;
                sum += (i128::from(count) * total - quota).abs() * (product / total);
            }
        }
        sum
    }

    fn assert_sums(totals: &[u64], units: &[Quotas], counts: &[Vec<u64>]) {
        assert_eq!(counts.len(), units.len());
        for (unit, row) in units.iter().zip(counts) {
            assert_eq!(row.len(), totals.len());
            assert_eq!(row.iter().sum::<u64>(), unit.rows, "a unit keeps its people");
        }
        for (class, &total) in totals.iter().enumerate() {
            assert_eq!(counts.iter().map(|row| row[class]).sum::<u64>(), total, "a class gets its total");
        }
    }

    /// Returns all distributions of `people` people over classes with the given maximums.
    fn rows_within(people: u64, most: &[u64]) -> Vec<Vec<u64>> {
        let Some((&first, others)) = most.split_first() else {
            return if people == 0 { vec![Vec::new()] } else { Vec::new() };
        };
        let start_with =
            |count| rows_within(people - count, others).into_iter().map(move |others| [vec![count], others].concat());
        (0..=first.min(people)).flat_map(start_with).collect()
    }

    /// Returns all counts with the required sums.
    fn all_counts(totals: &[u64], units: &[Quotas]) -> Vec<Vec<Vec<u64>>> {
        let Some((unit, others)) = units.split_first() else { return vec![Vec::new()] };
        let start_with = |row: Vec<u64>| {
            let left: Vec<u64> = totals.iter().zip(&row).map(|(total, count)| total - count).collect();
            all_counts(&left, others).into_iter().map(move |others| [vec![row.clone()], others].concat())
        };
        rows_within(unit.rows, totals).into_iter().flat_map(start_with).collect()
    }

    /// Returns the counts, and the excess of their distance over the smallest possible distance, in units of 1 /
    /// product.
    fn compare_with_all(totals: &[u64], units: &[Quotas]) -> (Vec<Vec<u64>>, i128) {
        let counts = nest(totals, units).unwrap();
        assert_sums(totals, units, &counts);
        let best = all_counts(totals, units).iter().map(|counts| exact_distance(units, counts)).min().unwrap();
        let excess = exact_distance(units, &counts) - best;
        assert!(excess >= 0, "the nearest of all are nearest");
        (counts, excess)
    }

    #[test]
    fn steps_cost_what_the_distance_grows() {
        // Quotas of n + part / 8: distances and costs are exact.
        let distance = |count: u64, eighths: u64| (8 * count).abs_diff(eighths) as i64 * (PERSON / 8);
        for eighths in 0..40 {
            for count in 0..12 {
                let unit = quotas(8, &[u128::from(eighths), 64 - u128::from(eighths)]);
                let cell = Cell { count, ..round(&unit)[0].clone() };
                let here = distance(count, eighths);
                let (cost, most) = cell.more();
                for amount in 1..=most.min(20) {
                    assert_eq!(distance(count + amount, eighths) - here, amount as i64 * cost, "{amount} more");
                }
                let (cost, most) = cell.fewer();
                assert!(if count == 0 { cost == NO_WAY && most == 0 } else { 1 <= most && most <= count });
                for amount in 1..=most {
                    assert_eq!(distance(count - amount, eighths) - here, amount as i64 * cost, "{amount} fewer");
                }
            }
        }
    }

    #[test]
    fn no_counts_are_nearer() {
        for seed in 0..20_000 {
            let mut dice = Dice(seed);
            let (size, k) = (1 + dice.below(3), 1 + dice.below(3) as usize);
            let units = dice.units(size, k, 4, 12);
            let totals = dice.totals(k, &units);
            let (counts, excess) = compare_with_all(&totals, &units);
            // Unequal distances differ by at least 1 / 36³, much more than the rounding errors of costs.
            assert_eq!(excess, 0, "{totals:?} {units:?} {counts:?}");
        }
    }

    #[test]
    fn no_counts_are_nearer_when_weights_are_fine() {
        for seed in 0..5_000 {
            let mut dice = Dice(seed);
            let (size, k) = (1 + dice.below(3), 1 + dice.below(3) as usize);
            let units = dice.units(size, k, 4, 1 << 36);
            let totals = dice.totals(k, &units);
            let (counts, excess) = compare_with_all(&totals, &units);
            // Nine costs, each with an error of at most 2⁻⁴¹, in both counts.
            assert!(excess <= (denominator(&units) >> 37) + 1, "{totals:?} {units:?} {counts:?}");
        }
    }

    #[test]
    fn leaves_the_neighbours_of_the_quotas_where_it_must() {
        // Quotas 1, 1 and 2, 2, but all people except one must be in the first class. Which unit deviates is a tie.
        let units = [quotas(2, &[1, 1]), quotas(4, &[5, 5])];
        let (counts, excess) = compare_with_all(&[5, 1], &units);
        assert_eq!((counts, excess), (vec![vec![1, 1], vec![4, 0]], 0));
        // A class without weight in any unit gets people if the totals require it.
        let units = [quotas(3, &[2, 1, 0]), quotas(3, &[1, 2, 0])];
        let (counts, excess) = compare_with_all(&[2, 2, 2], &units);
        assert_eq!(counts.iter().map(|row| row[2]).sum::<u64>(), 2);
        assert_eq!(excess, 0);
    }

    #[test]
    fn the_nearest_are_not_always_neighbours_of_the_quotas() {
        // Quotas 0, 1.6875, 1.3125 and 0.2, 2.2, 0.6. One choice of adjacent whole numbers has the required sums, but
        // it rounds four quotas the wrong way: a person in a class without weight is closer.
        let units = [quotas(3, &[0, 9, 7]), quotas(3, &[1, 11, 3])];
        let neighbors = [vec![0, 1, 2], vec![1, 2, 0]];
        let (counts, excess) = compare_with_all(&[1, 3, 2], &units);
        assert_eq!((&counts, excess), (&vec![vec![1, 1, 1], vec![0, 2, 1]], 0));
        assert!(exact_distance(&units, &counts) < exact_distance(&units, &neighbors));
    }

    /// Returns the smallest distance by linear programming. Counts may be fractional here, but the distance is linear
    /// between whole numbers (one part up to the quota's floor, one up to the next whole number, one beyond), so some
    /// optimum is integral.
    fn least_distance(totals: &[u64], units: &[Quotas]) -> f64 {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let mut constant = 0.0;
        let mut add_parts = |unit: &Quotas, class: usize| -> [Variable; 3] {
            let quota = quota(unit, class);
            // The nearest whole number if the difference is only a rounding error.
            let floor = (quota + 1e-9).floor();
            constant += quota;
            [
                problem.add_var(-1.0, (0.0, floor)),
                problem.add_var(1.0 - 2.0 * (quota - floor), (0.0, 1.0)),
                problem.add_var(1.0, (0.0, unit.rows as f64)),
            ]
        };
        let cells: Vec<Vec<[Variable; 3]>> =
            units.iter().map(|unit| (0..totals.len()).map(|class| add_parts(unit, class)).collect()).collect();
        for (unit, row) in units.iter().zip(&cells) {
            let sum: Vec<(Variable, f64)> = row.iter().flatten().map(|&part| (part, 1.0)).collect();
            problem.add_constraint(&sum, ComparisonOp::Eq, unit.rows as f64);
        }
        for (class, &total) in totals.iter().enumerate() {
            let sum: Vec<(Variable, f64)> = cells.iter().flat_map(|row| row[class]).map(|part| (part, 1.0)).collect();
            problem.add_constraint(&sum, ComparisonOp::Eq, total as f64);
        }
        problem.solve().unwrap().into_solution().unwrap().objective() + constant
    }

    #[test]
    fn linear_programming_finds_the_same_distance() {
        for seed in 0..300 {
            let mut dice = Dice(seed);
            let (size, k) = (1 + dice.below(12), 1 + dice.below(5) as usize);
            let most_rows = [3, 30, 1000][dice.below(3) as usize];
            let units = dice.units(size, k, most_rows, 1000);
            let totals = dice.totals(k, &units);
            let counts = nest(&totals, &units).unwrap();
            assert_sums(&totals, &units, &counts);
            let (ours, least) = (distance(&units, &counts), least_distance(&totals, &units));
            assert!((ours - least).abs() < 1e-6, "{ours} is not {least}: {totals:?} {units:?} {counts:?}");
        }
    }

    /// Panics if moving people of some units along a cycle of classes, which preserves all sums, brings counts closer
    /// to their quotas.
    fn assert_no_circle_gains(k: usize, units: &[Quotas], counts: &[Vec<u64>]) {
        let mut cost = vec![vec![f64::INFINITY; k]; k];
        for (unit, row) in units.iter().zip(counts) {
            let off = |class: usize, change: f64| (row[class] as f64 + change - quota(unit, class)).abs();
            let gain = |class: usize, change: f64| off(class, change) - off(class, 0.0);
            for from in (0..k).filter(|&from| row[from] > 0) {
                for to in (0..k).filter(|&to| to != from) {
                    cost[from][to] = cost[from][to].min(gain(from, -1.0) + gain(to, 1.0));
                }
            }
        }
        for middle in 0..k {
            for from in 0..k {
                for to in 0..k {
                    cost[from][to] = cost[from][to].min(cost[from][middle] + cost[middle][to]);
                }
            }
        }
        assert!((0..k).all(|class| cost[class][class] > -1e-6), "{cost:?}");
    }

    #[test]
    fn many_units() {
        let mut kinds = 0;
        for seed in 0..12 {
            let mut dice = Dice(seed);
            let units = dice.units(500, 6, 5000, 1 << 60);
            let totals = dice.totals(6, &units);
            let counts = nest(&totals, &units).unwrap();
            assert_sums(&totals, &units, &counts);
            assert_no_circle_gains(6, &units, &counts);
            let is_rounded = |(unit, row): (&Quotas, &Vec<u64>)| {
                unit.weights.iter().all(|&weight| weight == 0)
                    || row.iter().enumerate().all(|(class, &count)| (count as f64 - quota(unit, class)).abs() < 1.0)
            };
            let rounding_alone = units.iter().zip(&counts).all(is_rounded);
            kinds |= if rounding_alone { 1 } else { 2 };
        }
        assert_eq!(kinds, 3, "totals that fit the quotas, and totals that do not");
    }

    #[test]
    fn one_unit_takes_the_totals() {
        assert_eq!(nest(&[0, 7, 2], &[quotas(9, &[1, 1, 1])]), Some(vec![vec![0, 7, 2]]));
    }

    #[test]
    fn first_units_and_classes_are_rounded_up() {
        let halves = vec![quotas(1, &[1, 1]); 4];
        assert_eq!(nest(&[4, 0], &halves), Some(vec![vec![1, 0]; 4]));
        let counts = nest(&[2, 2], &halves);
        assert_eq!(counts, Some(vec![vec![1, 0], vec![1, 0], vec![0, 1], vec![0, 1]]));
    }

    #[test]
    fn sums_must_agree() {
        assert_eq!(nest(&[1, 1], &[quotas(3, &[1, 1])]), None);
        assert_eq!(nest(&[2, 2], &[quotas(3, &[1, 1])]), None);
        assert_eq!(nest(&[u64::MAX, u64::MAX], &[quotas(3, &[1, 1])]), None);
        assert_eq!(nest(&[1], &[]), None);
    }

    #[test]
    fn nothing_to_count() {
        assert_eq!(nest(&[], &[]), Some(vec![]));
        assert_eq!(nest(&[], &[quotas(0, &[])]), Some(vec![vec![]]));
        assert_eq!(nest(&[0, 0], &[]), Some(vec![]));
        assert_eq!(nest(&[0, 0], &[quotas(0, &[0, 0]), quotas(0, &[3, 4])]), Some(vec![vec![0, 0]; 2]));
    }

    #[test]
    fn no_weights_are_no_preference() {
        let units = [quotas(5, &[0, 0]), quotas(4, &[1, 1])];
        assert_eq!(nest(&[2, 7], &units), Some(vec![vec![0, 5], vec![2, 2]]));
    }

    #[test]
    fn large_numbers_move_together() {
        let (rows, weight) = (1 << 40, 1 << 68);
        let units = [quotas(rows, &[weight, weight, 2 * weight]), quotas(rows, &[weight, 0, weight])];
        let counts = nest(&[0, 0, 2 * rows], &units);
        assert_eq!(counts, Some(vec![vec![0, 0, rows]; 2]));
        let counts = nest(&[2 * rows, 0, 0], &units);
        assert_eq!(counts, Some(vec![vec![rows, 0, 0]; 2]));
    }
}
