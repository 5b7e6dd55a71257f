//! Shortest paths in a small graph: prices if there is no negative cycle, otherwise the cycle.

/// A directed graph with edge costs.
pub(super) struct Graph {
    nodes: usize,
    costs: Vec<Option<i128>>,
}

/// The result of a shortest-path search.
pub(super) enum Paths {
    /// There is no negative cycle. The distances d satisfy d\[b\] ≤ d\[a\] + cost(a, b) for all edges.
    Distances(Vec<i128>),
    /// A cycle with a negative total cost: its nodes in order, and the cost.
    Negative(Vec<usize>, i128),
}

impl Graph {
    pub(super) fn new(nodes: usize) -> Graph {
        Graph { nodes, costs: vec![None; nodes * nodes] }
    }

    /// Adds an edge. If the edge exists, keeps the lower cost.
    pub(super) fn add(&mut self, from: usize, to: usize, cost: i128) {
        let edge = &mut self.costs[from * self.nodes + to];
        *edge = Some(edge.map_or(cost, |known| known.min(cost)));
    }

    fn cost(&self, from: usize, to: usize) -> Option<i128> {
        self.costs[from * self.nodes + to]
    }

    /// Runs Bellman-Ford from a source that reaches every node at no cost.
    pub(super) fn paths(&self) -> Paths {
        let (mut distances, mut before) = (vec![0i128; self.nodes], vec![0; self.nodes]);
        let mut changed = None;
        for _ in 0..=self.nodes {
            changed = self.relax(&mut distances, &mut before);
            if changed.is_none() {
                return Paths::Distances(distances);
            }
        }
        self.cycle(&before, changed.unwrap_or(0))
    }

    /// Relaxes all edges once. Returns a node whose distance decreased, if any.
    fn relax(&self, distances: &mut [i128], before: &mut [usize]) -> Option<usize> {
        let mut changed = None;
        for from in 0..self.nodes {
            for to in (0..self.nodes).filter(|&to| to != from) {
                let Some(cost) = self.cost(from, to) else { continue };
                if distances[from] + cost < distances[to] {
                    distances[to] = distances[from] + cost;
                    before[to] = from;
                    changed = Some(to);
                }
            }
        }
        changed
    }

    /// Returns the cycle found by following predecessors from a node whose distance still decreases after as many
    /// rounds as there are nodes.
    fn cycle(&self, before: &[usize], node: usize) -> Paths {
        let start = (0..self.nodes).fold(node, |node, _| before[node]);
        let mut nodes = vec![start];
        let mut at = before[start];
        while at != start {
            nodes.push(at);
            at = before[at];
        }
        nodes.reverse();
        let next = |index: usize| nodes[(index + 1) % nodes.len()];
        let sum = (0..nodes.len()).filter_map(|index| self.cost(nodes[index], next(index))).sum();
        Paths::Negative(nodes, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lowest cost of all simple cycles, by enumeration.
    fn least_cycle(graph: &Graph, start: usize, at: usize, seen: u32, sum: i128) -> Option<i128> {
        let mut least = graph.cost(at, start).filter(|_| at != start).map(|cost| sum + cost);
        for to in start + 1..graph.nodes {
            if seen >> to & 1 == 0
                && let Some(cost) = graph.cost(at, to)
            {
                let more = least_cycle(graph, start, to, seen | 1 << to, sum + cost);
                least = least.into_iter().chain(more).min();
            }
        }
        least
    }

    #[test]
    fn a_negative_cycle_is_found_if_there_is_one() {
        let (mut state, mut negative) = (7u64, 0);
        for _ in 0..3000 {
            let mut draw = |bound: u64| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 33) % bound
            };
            let nodes = 1 + draw(5) as usize;
            let mut graph = Graph::new(nodes);
            for from in 0..nodes {
                for to in (0..nodes).filter(|&to| to != from) {
                    if draw(3) > 0 {
                        graph.add(from, to, i128::from(draw(9)) - 2);
                    }
                }
            }
            let least = (0..nodes).filter_map(|start| least_cycle(&graph, start, start, 1 << start, 0)).min();
            match graph.paths() {
                Paths::Negative(cycle, sum) => {
                    negative += 1;
                    let next = |index: usize| cycle[(index + 1) % cycle.len()];
                    let costs = (0..cycle.len()).map(|index| graph.cost(cycle[index], next(index)).unwrap());
                    assert_eq!(costs.sum::<i128>(), sum);
                    assert!(sum < 0 && least.is_some_and(|least| least < 0));
                }
                Paths::Distances(found) => {
                    assert!(least.is_none_or(|least| least >= 0));
                    for from in 0..nodes {
                        for to in (0..nodes).filter(|&to| to != from) {
                            assert!(graph.cost(from, to).is_none_or(|cost| found[to] <= found[from] + cost));
                        }
                    }
                }
            }
        }
        assert!((500..2500).contains(&negative), "{negative}");
    }
}
