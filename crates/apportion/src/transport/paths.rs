//! Few rows, exactly: shortest paths among the classes.
//!
//! Start from the labels that some prices give: they are optimal for the counts that they happen to have. Moving one
//! person from class a to class b, perhaps by way of others, costs the shortest path in a graph with only K nodes, whose
//! edge a→b costs the least s_a − s_b among the rows in a. Take the exchange that improves most, until none does:
//! labels stay optimal for their counts throughout, and since the best value is an M-concave function of the counts, the
//! end is the optimum. Identical rows are one atom with many copies and move together.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::demand::{Demand, VIOLATION};
use super::frontier::Step;
use super::prices::{FREE, PriceSet, Prices};
use crate::kernel::{GRID, Real, Rows, Source};
use crate::seed;

/// Rows on the grid, each with the number of copies it stands for.
pub(super) struct Atoms {
    classes: usize,
    scores: Vec<i64>,
    copies: Vec<u64>,
}

/// Counts that are optimal (people settled elsewhere included), and all prices at which they are.
pub(super) struct Assigned {
    pub(super) counts: Vec<u64>,
    pub(super) set: PriceSet,
    /// Copies of each atom in each class.
    pub(super) amounts: Vec<u64>,
}

impl Atoms {
    /// The rows of a table, one atom each.
    pub(super) fn of<T: Real>(rows: &Rows<'_, T>) -> Atoms {
        let k = rows.classes();
        let mut scores = Vec::with_capacity(rows.rows() * k);
        for row in 0..rows.rows() {
            scores.extend((0..k).map(|class| GRID.round(rows.score(row, class).double())));
        }
        let copies = rows.weights().map_or_else(|| vec![1; rows.rows()], <[u64]>::to_vec);
        Atoms { classes: k, scores, copies }
    }

    /// Identical rows as one.
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
                    // Another row with the same hash: the next place.
                    Entry::Occupied(_) => hash = hash.wrapping_add(1),
                    Entry::Vacant(place) => {
                        place.insert(merged.copies.len() as u32);
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

    /// Whether identical rows are worth looking for: some are among the first.
    pub(super) fn seem_repeated(&self) -> bool {
        const LOOKED_AT: usize = 4096;
        let mut seen = HashSet::new();
        let step = (self.copies.len() / LOOKED_AT).max(1);
        !self.scores.chunks_exact(self.classes).step_by(step).all(|row| seen.insert(row))
    }

    /// The labels that some prices give, for a long way: moves that cost more than a limit (of each pair of classes) are never
    /// made, and are not listed.
    pub(super) fn begin_walk<'a>(&'a self, demand: &'a Demand, start: &Prices, limits: Vec<i64>) -> State<'a> {
        State::new(self, demand, start, Some(limits))
    }

    /// The best assignment with counts as demanded, from the labels that the prices give.
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

/// Rows in class a by what it costs to move them to class b, cheapest first. Entries that have left are skipped.
#[derive(Clone, Debug, Default)]
struct Moves {
    /// For a long way: those there were at the beginning, and cheaper ones that came later. The cheapest is the last.
    sorted: Vec<(i64, u32)>,
    heap: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Moves {
    fn cheapest(&self) -> Option<(i64, u32)> {
        match (self.sorted.last(), self.heap.peek()) {
            (Some(&old), Some(&Reverse(new))) => Some(old.min(new)),
            (old, new) => old.copied().or(new.map(|Reverse(new)| *new)),
        }
    }

    /// Adds a move. On a long way, moving back is ever cheaper than before: such a move needs no place to be found for it.
    fn add(&mut self, entry: (i64, u32)) {
        if self.sorted.last().is_some_and(|last| entry <= *last) {
            self.sorted.push(entry);
        } else {
            self.heap.push(Reverse(entry));
        }
    }

    fn drop_cheapest(&mut self) {
        if self.sorted.last().copied() == self.cheapest() {
            self.sorted.pop();
        } else {
            self.heap.pop();
        }
    }
}

/// Labels on their way.
pub(super) struct State<'a> {
    atoms: &'a Atoms,
    demand: &'a Demand,
    k: usize,
    /// Copies of each atom in each class.
    amounts: Vec<u64>,
    /// People in each class, those settled elsewhere included.
    counts: Vec<u64>,
    moves: Vec<Moves>,
    /// What a move a→b may cost at most.
    limits: Vec<i64>,
    /// The cheapest move a→b: its cost and its atom.
    edges: Vec<(i64, u32)>,
}

/// Classes from the one that gives to the one that takes.
type Path = Vec<usize>;

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
        let room = |pair: usize| if is_long || pair / k == pair % k { 0 } else { members[pair / k] };
        let mut entries: Vec<Vec<(i64, u32)>> = (0..k * k).map(|pair| Vec::with_capacity(room(pair))).collect();
        for (atom, row) in atoms.scores.chunks_exact(k).enumerate() {
            let label = usize::from(labels[atom]);
            amounts[atom * k + label] = atoms.copies[atom];
            counts[label] += atoms.copies[atom];
            for other in (0..k).filter(|&other| other != label && demand.most[other] > 0) {
                let cost = row[label] - row[other];
                if cost <= limits[label * k + other] {
                    entries[label * k + other].push((cost, atom as u32));
                }
            }
        }
        let listed = |mut entries: Vec<(i64, u32)>| {
            if is_long {
                entries.sort_unstable_by(|a, b| b.cmp(a));
                return Moves { sorted: entries, heap: BinaryHeap::new() };
            }
            // In place: the elements are as large as before.
            Moves { sorted: Vec::new(), heap: entries.into_iter().map(Reverse).collect::<Vec<_>>().into() }
        };
        let moves = entries.into_iter().map(listed).collect();
        let mut state = State { atoms, demand, k, amounts, counts, moves, limits, edges: vec![(FREE, 0); k * k] };
        (0..k).for_each(|class| state.refresh(class, None));
        state
    }

    /// People in each class, those settled elsewhere included.
    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The scores of the labels, summed; without those settled elsewhere.
    pub(super) fn value(&self) -> i128 {
        let values = self.amounts.iter().zip(&self.atoms.scores);
        values.map(|(&amount, &score)| i128::from(amount) * i128::from(score)).sum()
    }

    /// Brings the counts nearer to some others by the cheapest exchange that does. None where they are there.
    /// The prices that prove the labels best, rising from 0, are brought up to it.
    pub(super) fn approach(&mut self, targets: &[u64], prices: &mut [i64]) -> Option<Step> {
        let surplus = |state: &Self, class: usize| state.counts[class].saturating_sub(targets[class]);
        let sources: Vec<i64> = (0..self.k).map(|class| if surplus(self, class) > 0 { 0 } else { FREE }).collect();
        let (distance, parent) = self.shortest(&sources);
        let lacking = (0..self.k).filter(|&class| self.counts[class] < targets[class]);
        let end = lacking.min_by_key(|&class| distance[class]).filter(|&end| distance[end] < FREE)?;
        // Where all classes that give have the price 0, a class is as far away as its price must rise, at least.
        let rise = distance[end] - prices[end];
        for (price, &far) in prices.iter_mut().zip(&distance) {
            *price += (far - *price).min(rise);
        }
        let path = trace(&parent, end);
        let most = surplus(self, path[0]).min(targets[end] - self.counts[end]);
        let before = self.counts[end];
        self.exchange(&path, |_, moved| moved < most);
        let people = self.counts[end] - before;
        Some(Step { cost: distance[end], from: path[0] as u8, to: end as u8, people })
    }

    /// Finds the cheapest moves out of a class again: those that some atom stood for, or all.
    fn refresh(&mut self, from: usize, of: Option<u32>) {
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
        }
    }

    /// What it costs to take a person away from a class that has already lost some.
    fn give(&self, class: usize, lost: u64) -> i64 {
        let left = self.counts[class].checked_sub(lost + 1);
        left.map_or(FREE, |left| -self.demand.step(class, left))
    }

    /// What it costs to add a person to a class that has already won some.
    fn take(&self, class: usize, won: u64) -> i64 {
        self.demand.step(class, self.counts[class].saturating_add(won))
    }

    /// How much less faithful the counts become by that exchange.
    fn departure(&self, source: usize, end: usize, moved: u64) -> i128 {
        let left = self.counts[source].saturating_sub(moved + 1);
        self.demand.departure(end, self.counts[end] + moved) - self.demand.departure(source, left)
    }

    /// Makes the exchange that improves most. False where none improves.
    fn improve(&mut self) -> bool {
        let sources: Vec<i64> = (0..self.k).map(|class| self.give(class, 0)).collect();
        let (distance, parent) = self.shortest(&sources);
        let total = |class: usize| distance[class].saturating_add(self.take(class, 0));
        let Some(end) = (0..self.k).min_by_key(|&class| total(class)).filter(|&end| total(end) < 0) else {
            return false;
        };
        let path = trace(&parent, end);
        let cost = distance[end] - sources[path[0]];
        let gain = |state: &Self, moved| state.give(path[0], moved) + cost + state.take(end, moved) < 0;
        self.exchange(&path, gain);
        true
    }

    /// Among counts that are equally good, takes the most faithful, and of these the one with most people in the first
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

    /// Makes an exchange into a class, out of the last of some others, that costs nothing and is wanted for how faithful
    /// it is. False where there is none.
    fn exchange_into(&mut self, end: usize, sources: &[usize], wanted: impl Fn(i128) -> bool) -> bool {
        if self.take(end, 0) >= VIOLATION {
            return false;
        }
        let (distance, next) = self.shortest_to(end);
        let suits = |state: &Self, source: usize, moved: u64| {
            distance[source] < FREE
                && state.give(source, moved) < VIOLATION
                && state.give(source, moved) + distance[source] + state.take(end, moved) == 0
                && wanted(state.departure(source, end, moved))
        };
        let source = sources.iter().rev().find(|&&source| source != end && suits(self, source, 0));
        let Some(&source) = source else { return false };
        let path = std::iter::successors(Some(source), |&class| next[class]).collect();
        self.exchange(&path, |state, moved| suits(state, source, moved));
        true
    }

    /// The least cost of reaching a class from each other one, and the class after that one.
    fn shortest_to(&self, end: usize) -> (Vec<i64>, Vec<Option<usize>>) {
        let (mut distance, mut next) = (vec![FREE; self.k], vec![None; self.k]);
        distance[end] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for from in 0..self.k {
                for to in 0..self.k {
                    let cost = self.edges[from * self.k + to].0;
                    if cost < FREE && distance[to] < FREE && cost + distance[to] < distance[from] {
                        distance[from] = cost + distance[to];
                        next[from] = Some(to);
                        changed = true;
                    }
                }
            }
        }
        (distance, next)
    }

    /// The least cost of reaching each class from any source, and the class before it (Bellman and Ford).
    fn shortest(&self, sources: &[i64]) -> (Vec<i64>, Vec<Option<usize>>) {
        let mut distance = sources.to_vec();
        let mut parent = vec![None; self.k];
        let mut changed = true;
        while changed {
            changed = false;
            for from in 0..self.k {
                if distance[from] >= FREE {
                    continue;
                }
                for to in 0..self.k {
                    let cost = self.edges[from * self.k + to].0;
                    if cost < FREE && distance[from] + cost < distance[to] {
                        distance[to] = distance[from] + cost;
                        parent[to] = Some(from);
                        changed = true;
                    }
                }
            }
        }
        (distance, parent)
    }

    /// Moves as many people along a path as there are, while the exchange is good (as it is for the first of them).
    fn exchange(&mut self, path: &Path, good: impl Fn(&Self, u64) -> bool) {
        let (source, end) = (path[0], path[path.len() - 1]);
        let moves: Vec<(usize, usize, u32)> =
            path.windows(2).map(|pair| (pair[0], pair[1], self.edges[pair[0] * self.k + pair[1]].1)).collect();
        let there = moves.iter().map(|&(from, _, atom)| self.amounts[atom as usize * self.k + from]);
        let there = there.fold(self.counts[source], u64::min);
        // Costs are convex: it is good up to some person, and not beyond.
        let (mut amount, mut beyond) = (1, there + 1);
        if good(self, there - 1) {
            amount = there;
        }
        while amount != there && beyond - amount > 1 {
            let middle = amount + (beyond - amount) / 2;
            if good(self, middle - 1) { amount = middle } else { beyond = middle }
        }
        for &(from, to, atom) in &moves {
            let place = atom as usize * self.k;
            self.amounts[place + from] -= amount;
            if self.amounts[place + to] == 0 {
                self.enter(to, atom);
            }
            self.amounts[place + to] += amount;
        }
        self.counts[source] -= amount;
        self.counts[end] += amount;
        for &(from, _, atom) in &moves {
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
                self.moves[class * self.k + other].add((cost, atom));
                let cheapest = &mut self.edges[class * self.k + other];
                *cheapest = (*cheapest).min((cost, atom));
            }
        }
    }

    /// All prices at which the assignment is optimal.
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

/// The best open class of a row at the prices; the first where several are.
fn best_class(row: &[i64], prices: &Prices) -> usize {
    let value = |class: usize| prices[class].map_or(i64::MIN, |price| row[class] + price);
    (1..row.len()).fold(0, |best, class| if value(class) > value(best) { class } else { best })
}

fn trace(parent: &[Option<usize>], end: usize) -> Path {
    let mut path: Path = std::iter::successors(Some(end), |&class| parent[class]).collect();
    path.reverse();
    path
}
