//! A random forest: trees trained on bootstrap samples, with √K of the scores considered at each split, which vote.
//!
//! Trees are grown until a leaf has rows of one label, or rows with equal scores. Splits minimize the Gini impurity.

use rayon::prelude::*;

use super::TrainingSet;
use crate::kernel::GRID;
use crate::scores::Label;
use crate::seed;

/// Number of trees, as in scikit-learn.
const TREES: u64 = 100;

/// Salt that separates the hashes of trees from all others.
const CHANCES: u64 = 1 << 62;

/// The trees of a forest.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Forest {
    /// The trees. Each is a list of nodes with the root first.
    pub trees: Vec<Vec<Node>>,
}

/// A node of a tree. In JSON a leaf is a number and a split a list, so that a forest stays small.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Node {
    /// The index of the class that it votes for.
    Leaf(Label),
    /// The index of a class, a threshold, and the index of a node. If the score of the class is at most the threshold, the
    /// next node follows, otherwise the node at the index.
    Split(Label, f64, u32),
}

impl Forest {
    /// Returns the class with the most votes; the first of equals.
    pub(super) fn label(&self, row: &[i64], votes: &mut Vec<i64>) -> Label {
        votes.clear();
        votes.resize(row.len(), 0);
        self.trees.iter().for_each(|tree| votes[usize::from(vote(tree, row))] += 1);
        (1..votes.len()).fold(0, |best, class| if votes[class] > votes[best] { class } else { best }) as Label
    }

    pub(super) fn checked(mut self, classes: usize) -> Result<Forest, &'static str> {
        if self.trees.is_empty() {
            return Err("the forest has no trees");
        }
        for tree in &mut self.trees {
            let nodes = tree.len();
            for (index, node) in tree.iter_mut().enumerate() {
                let sound = match node {
                    Node::Leaf(class) => usize::from(*class) < classes,
                    Node::Split(class, at, other) => {
                        let other = *other as usize;
                        // Every step leads to a later node, so each path ends.
                        let leads_on = index + 1 < other && other < nodes;
                        usize::from(*class) < classes && at.abs() <= 2.0 && leads_on
                    }
                };
                if !sound {
                    return Err("a tree of the forest has a node with an invalid child");
                }
                if let Node::Split(_, at, _) = node {
                    *at = GRID.value(GRID.round(*at));
                }
            }
            if !matches!(tree.last(), Some(Node::Leaf(_))) {
                return Err("a tree of the forest does not end in leaves");
            }
        }
        Ok(self)
    }
}

fn vote(tree: &[Node], row: &[i64]) -> Label {
    let mut index = 0;
    loop {
        match tree[index] {
            Node::Leaf(class) => return class,
            Node::Split(class, at, _) if GRID.value(row[usize::from(class)]) <= at => index += 1,
            Node::Split(_, _, other) => index = other as usize,
        }
    }
}

pub(super) fn learn(training_set: &TrainingSet<'_>, seed: u64) -> Forest {
    let grow = |tree: u64| Grower { training_set, chance: Chance { seed, tree, drawn: 0 }, sorted: Vec::new() }.grow();
    Forest { trees: (0..TREES).into_par_iter().map(grow).collect() }
}

/// Random numbers of one tree.
struct Chance {
    seed: u64,
    tree: u64,
    drawn: u64,
}

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.drawn += 1;
        seed::below(seed::hash(self.seed, self.tree, CHANCES | self.drawn), bound as u64) as usize
    }
}

struct Grower<'a> {
    training_set: &'a TrainingSet<'a>,
    chance: Chance,
    /// Buffer for the scores and labels of a node's rows.
    sorted: Vec<(f64, Label)>,
}

impl Grower<'_> {
    fn grow(mut self) -> Vec<Node> {
        let rows = self.training_set.labels.len();
        let mut rows: Vec<usize> = (0..rows).map(|_| self.chance.below(rows)).collect();
        let mut nodes: Vec<Node> = Vec::new();
        // Row ranges without a node yet, and the split whose other side they are.
        let mut waiting = vec![(0..rows.len(), None)];
        while let Some((range, before)) = waiting.pop() {
            let index = nodes.len();
            if let Some(Node::Split(_, _, other)) = before.and_then(|before: usize| nodes.get_mut(before)) {
                *other = index as u32;
            }
            let own = &mut rows[range.clone()];
            let Some((class, at)) = self.split(own) else {
                nodes.push(Node::Leaf(self.majority(own)));
                continue;
            };
            nodes.push(Node::Split(class as Label, at, 0));
            own.sort_by_key(|&row| self.training_set.row(row)[class] > at);
            let middle = range.start + own.partition_point(|&row| self.training_set.row(row)[class] <= at);
            waiting.push((middle..range.end, Some(index)));
            waiting.push((range.start..middle, None));
        }
        nodes
    }

    fn counts(&self, rows: &[usize]) -> Vec<f64> {
        let mut counts = vec![0.0; self.training_set.classes];
        rows.iter().for_each(|&row| counts[usize::from(self.training_set.labels[row])] += 1.0);
        counts
    }

    /// Returns the most frequent label; the first of equals.
    fn majority(&self, rows: &[usize]) -> Label {
        let counts = self.counts(rows);
        (1..counts.len()).fold(0, |best, class| if counts[class] > counts[best] { class } else { best }) as Label
    }

    /// Returns the best split by one of √K scores that differ among the rows; `None` if all rows have the same
    /// label or equal scores.
    fn split(&mut self, rows: &[usize]) -> Option<(usize, f64)> {
        let counts = self.counts(rows);
        if counts.iter().filter(|count| **count > 0.0).count() < 2 {
            return None;
        }
        let k = self.training_set.classes;
        let mut left = (k as f64).sqrt().floor().max(1.0) as usize;
        let mut best: Option<(f64, usize, f64)> = None;
        let mut classes: Vec<usize> = (0..k).collect();
        for index in 0..k {
            let other = index + self.chance.below(k - index);
            classes.swap(index, other);
            let class = classes[index];
            let Some((purity, at)) = self.best_cut(rows, class, &counts) else { continue };
            if best.is_none_or(|(least, ..)| purity > least) {
                best = Some((purity, class, at));
            }
            left -= 1;
            if left == 0 {
                break;
            }
        }
        best.map(|(_, class, at)| (class, at))
    }

    /// Returns where to cut the scores of a class, and the purity of the two sides: Σ n_y²/n of both, which is
    /// largest if the Gini impurity is smallest. `None` if all scores are equal.
    fn best_cut(&mut self, rows: &[usize], class: usize, counts: &[f64]) -> Option<(f64, f64)> {
        self.sorted.clear();
        self.sorted.extend(rows.iter().map(|&row| (self.training_set.row(row)[class], self.training_set.labels[row])));
        self.sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut below = vec![0.0; counts.len()];
        let mut above = counts.to_vec();
        let (mut squares_below, mut squares_above) = (0.0, counts.iter().map(|count| count * count).sum::<f64>());
        let all = rows.len() as f64;
        let mut best = None;
        for (index, pair) in self.sorted.windows(2).enumerate() {
            let ((score, label), (next, _)) = (pair[0], pair[1]);
            let label = usize::from(label);
            squares_below += 2.0 * below[label] + 1.0;
            squares_above -= 2.0 * above[label] - 1.0;
            below[label] += 1.0;
            above[label] -= 1.0;
            if score == next {
                continue;
            }
            let done = (index + 1) as f64;
            let purity = squares_below / done + squares_above / (all - done);
            if best.is_none_or(|(least, _)| purity > least) {
                best = Some((purity, between(score, next)));
            }
        }
        best
    }
}

/// Returns the middle of two scores on the grid: at least the lower, and below the higher.
fn between(low: f64, high: f64) -> f64 {
    GRID.value((GRID.round(low) + GRID.round(high)).div_euclid(2))
}
