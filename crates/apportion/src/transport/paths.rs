//! Exact solution for few rows: shortest paths among the classes.
//!
//! Start from the labels at given prices: they are optimal for their counts. Moving one person from class a to class
//! b, possibly by way of others, costs the shortest path in a graph with only K nodes, whose edge a→b has the
//! smallest s_a − s_b among the rows in a. Make the most improving exchange until no exchange improves: labels stay
//! optimal for their counts throughout, and since the best value is an M-concave function of the counts, the result is
//! the optimum. Identical rows are one atom with several copies and move together.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::demand::{Demand, VIOLATION};
use super::frontier::Step;
use super::prices::{FREE, PriceSet, Prices};
use crate::kernel::{GRID, Real, Rows, Source, prefetch};
use crate::seed;

/// Rows on the grid, each with its number of copies.
pub(super) struct Atoms {
    classes: usize,
    scores: Vec<i64>,
    copies: Vec<u64>,
}

/// Optimal counts (including people settled elsewhere), and all prices at which they are optimal.
pub(super) struct Assigned {
    pub(super) counts: Vec<u64>,
    pub(super) set: PriceSet,
    /// Copies of each atom in each class.
    pub(super) amounts: Vec<u64>,
}

impl Atoms {
    /// Creates one atom per row of a table.
    pub(super) fn of<T: Real>(rows: &Rows<'_, T>) -> Atoms {
        let k = rows.classes();
        let mut scores = Vec::with_capacity(rows.rows() * k);
        for row in 0..rows.rows() {
            scores.extend((0..k).map(|class| GRID.round(rows.score(row, class).double())));
        }
        let copies = rows.weights().map_or_else(|| vec![1; rows.rows()], <[u64]>::to_vec);
        Atoms { classes: k, scores, copies }
    }

    /// Merges identical rows.
    pub(super) fn merged(self) -> Atoms {
        let mut merged = Atoms { classes: self.classes, scores: Vec::new(), copies: Vec::new() };
        let mut known: HashMap<u64, u32, BuildHasherDefault<AsItIs>> = HashMap::default();
        for (row, &copies) in self.scores.chunks_exact(self.classes).zip(&self.copies) {
            let mut hash = row.iter().fold(0, |hash, &score| seed::hash(hash, score as u64, 0));
            loop {
                match known.entry(hash) {
                    Entry::Occupied(atom) if merged.row(*atom.get()) == row => {
                        merged.copies[*atom.get() as usize] += copies;
                        break;
                    }
                    // Another row with the same hash: try the next index.
                    Entry::Occupied(_) => hash = hash.wrapping_add(1),
                    Entry::Vacant(index) => {
                        index.insert(merged.copies.len() as u32);
                        merged.copies.push(copies);
                        merged.scores.extend_from_slice(row);
                        break;
                    }
                }
            }
        }
        merged
    }

    fn row(&self, atom: u32) -> &[i64] {
        &self.scores[atom as usize * self.classes..][..self.classes]
    }

    /// Returns whether there seem to be identical rows, judging by the first ones.
    pub(super) fn seem_repeated(&self) -> bool {
        const LOOKED_AT: usize = 4096;
        let mut seen = HashSet::new();
        let step = (self.copies.len() / LOOKED_AT).max(1);
        !self.scores.chunks_exact(self.classes).step_by(step).all(|row| seen.insert(row))
    }

    /// Returns the labels at given prices as the start of a long path: moves that cost more than the limit of
    /// their pair of classes are never made and not listed.
    pub(super) fn begin_trace<'a>(&'a self, demand: &'a Demand, start: &Prices, limits: Vec<i64>) -> State<'a> {
        State::new(self, demand, start, Some(limits))
    }

    /// Returns the best assignment that meets the demand, starting from the labels at given prices.
    pub(super) fn assign(&self, demand: &Demand, start: &Prices) -> Assigned {
        let mut state = State::new(self, demand, start, None);
        while state.improve() {}
        state.prefer_faithful_and_first();
        Assigned { set: state.price_set(), counts: state.counts, amounts: state.amounts }
    }
}

/// A hasher for keys that are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0 << 8 | u64::from(byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// The cost of moving an atom, and the atom. The greatest element costs least.
type Move = Reverse<(i64, u32)>;

/// Rows in class a by the cost of moving them to class b, cheapest first. Outdated entries are skipped.
#[derive(Debug)]
struct Moves {
    /// For a long path: the initial moves, and cheaper ones added later. The cheapest is last.
    sorted: Vec<Move>,
    heap: BinaryHeap<Move>,
}

impl Moves {
    fn with_capacity(moves: usize) -> Moves {
        Moves { sorted: Vec::with_capacity(moves), heap: BinaryHeap::new() }
    }

    /// Sorts the moves listed so far.
    fn sort(&mut self) {
        self.sorted.sort_unstable();
    }

    /// Builds a heap of the moves listed so far, which is faster than sorting.
    fn heap(&mut self) {
        self.heap = std::mem::take(&mut self.sorted).into();
    }

    fn cheapest(&self) -> Option<(i64, u32)> {
        self.sorted.last().max(self.heap.peek()).map(|&Reverse(cheapest)| cheapest)
    }

    /// Adds a move. On a long path, moving back is always cheaper than before, so the new move belongs at the
    /// end.
    fn add(&mut self, entry: (i64, u32)) {
        let entry = Reverse(entry);
        if self.sorted.last().is_some_and(|last| entry >= *last) {
            self.sorted.push(entry);
        } else {
            self.heap.push(entry);
        }
    }

    fn drop_cheapest(&mut self) {
        if self.sorted.last() >= self.heap.peek() {
            self.sorted.pop();
        } else {
            self.heap.pop();
        }
    }
}

/// Up to this many atoms are scanned for the cheapest move: lists would cost more.
const NO_LISTS: usize = if cfg!(test) { 8 } else { 128 };

/// Number of moves to prefetch.
const AHEAD: usize = 3;

/// The current assignment.
pub(super) struct State<'a> {
    atoms: &'a Atoms,
    demand: &'a Demand,
    k: usize,
    /// Copies of each atom in each class.
    amounts: Vec<u64>,
    /// People in each class, including those settled elsewhere.
    counts: Vec<u64>,
    /// Lists of moves for each pair of classes; empty if there are few atoms.
    moves: Vec<Moves>,
    /// The maximum cost of a move a→b.
    limits: Vec<i64>,
    /// The cheapest move a→b: its cost and its atom.
    edges: Vec<(i64, u32)>,
    /// Buffers of the search.
    reached: Reached,
}

/// The cost of reaching each class, and its predecessor (or successor, if the search runs backward).
struct Reached {
    distance: Vec<i64>,
    before: Vec<Option<usize>>,
}

/// Moves along a path: from, to, and the atom.
type Path = Vec<(usize, usize, u32)>;

impl<'a> State<'a> {
    fn new(atoms: &'a Atoms, demand: &'a Demand, start: &Prices, limits: Option<Vec<i64>>) -> State<'a> {
        let k = atoms.classes;
        let is_long = limits.is_some();
        let limits = limits.unwrap_or_else(|| vec![FREE; k * k]);
        let mut amounts = vec![0; atoms.scores.len()];
        let mut counts = demand.settled.clone();
        let labels: Vec<u8> = atoms.scores.chunks_exact(k).map(|row| best_class(row, start) as u8).collect();
        let mut members = vec![0; k];
        labels.iter().for_each(|&label| members[usize::from(label)] += 1);
        // On a long path most moves exceed the limits.
        let buffer = |pair: usize| if is_long || pair / k == pair % k { 0 } else { members[pair / k] };
        let has_lists = is_long || labels.len() > NO_LISTS;
        let pairs = (0..k * k).filter(|_| has_lists);
        let mut moves: Vec<Moves> = pairs.map(|pair| Moves::with_capacity(buffer(pair))).collect();
        for (atom, row) in atoms.scores.chunks_exact(k).enumerate() {
            let label = usize::from(labels[atom]);
            amounts[atom * k + label] = atoms.copies[atom];
            counts[label] += atoms.copies[atom];
            for other in (0..k).filter(|&other| has_lists && other != label && demand.most[other] > 0) {
                let cost = row[label] - row[other];
                if cost <= limits[label * k + other] {
                    moves[label * k + other].sorted.push(Reverse((cost, atom as u32)));
                }
            }
        }
        moves.iter_mut().for_each(if is_long { Moves::sort } else { Moves::heap });
        let (edges, reached) = (vec![(FREE, 0); k * k], Reached { distance: vec![FREE; k], before: vec![None; k] });
        let mut state = State { atoms, demand, k, amounts, counts, moves, limits, edges, reached };
        (0..k).for_each(|class| state.refresh(class, None));
        state
    }

    /// Returns the people in each class, including those settled elsewhere.
    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the sum of the labels' scores, without those settled elsewhere.
    pub(super) fn value(&self) -> i128 {
        let values = self.amounts.iter().zip(&self.atoms.scores);
        values.map(|(&amount, &score)| i128::from(amount) * i128::from(score)).sum()
    }

    /// Brings the counts closer to targets by the cheapest exchange; `None` if they are equal. Updates the prices
    /// that prove optimality, which rise from 0.
    pub(super) fn approach(&mut self, targets: &[u64], prices: &mut [i64]) -> Option<Step> {
        let surplus = |state: &Self, class: usize| state.counts[class].saturating_sub(targets[class]);
        self.search(|state, class| if surplus(state, class) > 0 { 0 } else { FREE });
        let distance = &self.reached.distance;
        let lacking = (0..self.k).filter(|&class| self.counts[class] < targets[class]);
        let end = lacking.min_by_key(|&class| distance[class]).filter(|&end| distance[end] < FREE)?;
        // If all classes that give have price 0, the price of a class must rise at least to its distance.
        let cost = distance[end];
        let rise = cost - prices[end];
        for (price, &far) in prices.iter_mut().zip(distance) {
            *price += (far - *price).min(rise);
        }
        let path = self.path_to(end);
        let source = path[0].0;
        let most = surplus(self, source).min(targets[end] - self.counts[end]);
        let before = self.counts[end];
        self.exchange(&path, |_, moved| moved < most);
        let people = self.counts[end] - before;
        Some(Step { cost, from: source as u8, to: end as u8, people })
    }

    /// Updates the cheapest moves out of a class: those of one atom, or all.
    fn refresh(&mut self, from: usize, of: Option<u32>) {
        if self.moves.is_empty() {
            return self.look_over(from);
        }
        for to in 0..self.k {
            if of.is_some_and(|atom| self.edges[from * self.k + to].1 != atom) {
                continue;
            }
            let moves = &mut self.moves[from * self.k + to];
            let has_left = |(_, atom): (i64, u32)| self.amounts[atom as usize * self.k + from] == 0;
            while moves.cheapest().is_some_and(has_left) {
                moves.drop_cheapest();
            }
            self.edges[from * self.k + to] = moves.cheapest().unwrap_or((FREE, 0));
            // On a long path atoms are scattered: prefetch those needed soon.
            if let Some(&Reverse((_, soon))) = moves.sorted.iter().rev().nth(AHEAD) {
                let (first, last) = (soon as usize * self.k, (soon as usize + 1) * self.k - 1);
                prefetch(&self.amounts, first + from..first + from + 1);
                prefetch(&self.atoms.scores, first..first + 1);
                prefetch(&self.atoms.scores, last..last + 1);
            }
        }
    }

    /// Finds the cheapest moves out of a class by scanning all atoms.
    fn look_over(&mut self, from: usize) {
        let k = self.k;
        let edges = &mut self.edges[from * k..][..k];
        edges.fill((FREE, 0));
        let atoms = self.atoms.scores.chunks_exact(k).zip(self.amounts.chunks_exact(k)).enumerate();
        for (atom, (row, _)) in atoms.filter(|(_, (_, amounts))| amounts[from] > 0) {
            for (edge, score) in edges.iter_mut().zip(row) {
                let cost = row[from] - score;
                if cost < edge.0 {
                    *edge = (cost, atom as u32);
                }
            }
        }
        let closed = |to: usize| to == from || self.demand.most[to] == 0;
        (0..k).filter(|&to| closed(to)).for_each(|to| edges[to] = (FREE, 0));
    }

    /// Returns the cost of removing a person from a class that has already lost some.
    fn give(&self, class: usize, lost: u64) -> i64 {
        let left = self.counts[class].checked_sub(lost + 1);
        left.map_or(FREE, |left| -self.demand.step(class, left))
    }

    /// Returns the cost of adding a person to a class that has already gained some.
    fn take(&self, class: usize, won: u64) -> i64 {
        self.demand.step(class, self.counts[class].saturating_add(won))
    }

    /// Returns the change in distance by that exchange.
    fn departure(&self, source: usize, end: usize, moved: u64) -> i128 {
        let left = self.counts[source].saturating_sub(moved + 1);
        self.demand.departure(end, self.counts[end] + moved) - self.demand.departure(source, left)
    }

    /// Makes the most improving exchange. Returns false if no exchange improves the objective.
    fn improve(&mut self) -> bool {
        self.search(|state, class| state.give(class, 0));
        let distance = &self.reached.distance;
        let total = |class: usize| distance[class].saturating_add(self.take(class, 0));
        let Some(end) = (0..self.k).min_by_key(|&class| total(class)).filter(|&end| total(end) < 0) else {
            return false;
        };
        let path = self.path_to(end);
        let source = path.first().map_or(end, |&(from, ..)| from);
        let cost = distance[end] - self.give(source, 0);
        let gain = |state: &Self, moved| state.give(source, moved) + cost + state.take(end, moved) < 0;
        self.exchange(&path, gain);
        true
    }

    /// Chooses the most faithful among equally good counts, and among these the one with the most people in the first
    /// classes.
    fn prefer_faithful_and_first(&mut self) {
        let flexible: Vec<usize> =
            (0..self.k).filter(|&class| self.demand.least[class] < self.demand.most[class]).collect();
        if self.demand.is_priced() {
            while flexible.iter().any(|&end| self.exchange_into(end, &flexible, |departure| departure < 0)) {}
        }
        for (position, &first) in flexible.iter().enumerate() {
            while self.exchange_into(first, &flexible[position + 1..], |departure| departure == 0) {}
        }
    }

    /// Makes an exchange of cost zero into a class, from the last possible source, if its change in distance is
    /// `wanted`. Returns false if there is no such exchange.
    fn exchange_into(&mut self, end: usize, sources: &[usize], wanted: impl Fn(i128) -> bool) -> bool {
        if self.take(end, 0) >= VIOLATION {
            return false;
        }
        self.search_back(end);
        let distance = &self.reached.distance;
        let suits = |state: &Self, source: usize, far: i64, moved: u64| {
            far < FREE
                && state.give(source, moved) < VIOLATION
                && state.give(source, moved) + far + state.take(end, moved) == 0
                && wanted(state.departure(source, end, moved))
        };
        let source = sources.iter().rev().find(|&&source| source != end && suits(self, source, distance[source], 0));
        let Some(&source) = source else { return false };
        let far = distance[source];
        let path = self.path_from(source);
        self.exchange(&path, |state, moved| suits(state, source, far, moved));
        true
    }

    fn leg(&self, from: usize, to: usize) -> (usize, usize, u32) {
        (from, to, self.edges[from * self.k + to].1)
    }

    /// Returns the path that a search found.
    fn path_to(&self, end: usize) -> Path {
        let back = std::iter::successors(Some(end), |&class| self.reached.before[class]);
        let mut path: Path = back.map_while(|to| self.reached.before[to].map(|from| self.leg(from, to))).collect();
        path.reverse();
        path
    }

    /// Returns the path that a backward search found.
    fn path_from(&self, source: usize) -> Path {
        let on = std::iter::successors(Some(source), |&class| self.reached.before[class]);
        on.map_while(|from| self.reached.before[from].map(|to| self.leg(from, to))).collect()
    }

    /// Computes the lowest cost of reaching a class from each other class.
    fn search_back(&mut self, end: usize) {
        let (k, Reached { distance, before: after }) = (self.k, &mut self.reached);
        distance.fill(FREE);
        after.fill(None);
        distance[end] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for from in 0..k {
                for (to, &(cost, _)) in self.edges[from * k..][..k].iter().enumerate() {
                    if cost < FREE && distance[to] < FREE && cost + distance[to] < distance[from] {
                        distance[from] = cost + distance[to];
                        after[from] = Some(to);
                        changed = true;
                    }
                }
            }
        }
    }

    /// Computes the lowest cost of reaching each class, given the cost of starting at each (Bellman-Ford).
    fn search(&mut self, begin: impl Fn(&Self, usize) -> i64) {
        for class in 0..self.k {
            self.reached.distance[class] = begin(self, class);
        }
        let (k, Reached { distance, before }) = (self.k, &mut self.reached);
        before.fill(None);
        let mut changed = true;
        while changed {
            changed = false;
            for from in 0..k {
                if distance[from] >= FREE {
                    continue;
                }
                for (to, &(cost, _)) in self.edges[from * k..][..k].iter().enumerate() {
                    if cost < FREE && distance[from] + cost < distance[to] {
                        distance[to] = distance[from] + cost;
                        before[to] = Some(from);
                        changed = true;
                    }
                }
            }
        }
    }

    /// Moves as many people along a path as possible while the exchange is good, which it is for the first.
    fn exchange(&mut self, path: &Path, good: impl Fn(&Self, u64) -> bool) {
        let (Some(&(source, ..)), Some(&(_, end, _))) = (path.first(), path.last()) else { return };
        let there = path.iter().map(|&(from, _, atom)| self.amounts[atom as usize * self.k + from]);
        let there = there.fold(self.counts[source], u64::min);
        // Costs are convex: the exchange is good up to some number of people.
        let (mut amount, mut beyond) = (1, there + 1);
        if good(self, there - 1) {
            amount = there;
        }
        while amount != there && beyond - amount > 1 {
            let middle = amount + (beyond - amount) / 2;
            if good(self, middle - 1) { amount = middle } else { beyond = middle }
        }
        for &(from, to, atom) in path {
            let index = atom as usize * self.k;
            self.amounts[index + from] -= amount;
            if self.amounts[index + to] == 0 {
                self.enter(to, atom);
            }
            self.amounts[index + to] += amount;
        }
        self.counts[source] -= amount;
        self.counts[end] += amount;
        for &(from, _, atom) in path {
            if self.amounts[atom as usize * self.k + from] == 0 {
                self.refresh(from, Some(atom));
            }
        }
    }

    /// Lists the moves of an atom that is new in a class.
    fn enter(&mut self, class: usize, atom: u32) {
        let row = self.atoms.row(atom);
        for other in (0..self.k).filter(|&other| other != class && self.demand.most[other] > 0) {
            let cost = row[class] - row[other];
            if cost <= self.limits[class * self.k + other] {
                if let Some(moves) = self.moves.get_mut(class * self.k + other) {
                    moves.add((cost, atom));
                }
                let cheapest = &mut self.edges[class * self.k + other];
                *cheapest = (*cheapest).min((cost, atom));
            }
        }
    }

    /// Returns all prices at which the assignment is optimal.
    fn price_set(&self) -> PriceSet {
        let mut set = PriceSet::all(self.k);
        for from in 0..self.k {
            for to in (0..self.k).filter(|&to| to != from) {
                set.limit(from, to, self.edges[from * self.k + to].0);
            }
        }
        set.afford(&self.counts, self.demand);
        set
    }
}

/// Returns the best open class of a row at given prices; the first of equals.
fn best_class(row: &[i64], prices: &Prices) -> usize {
    let value = |class: usize| prices[class].map_or(i64::MIN, |price| row[class] + price);
    (1..row.len()).fold(0, |best, class| if value(class) > value(best) { class } else { best })
}
