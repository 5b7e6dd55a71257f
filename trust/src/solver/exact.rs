//! Exact arithmetic of the oracles: largest remainders, and the maximum value for every vector of counts.

/// Returns the integer part of each quota rows · weight / total, and its remainder.
fn quotas(weights: &[u128], rows: u128) -> Vec<(u128, u128)> {
    let total: u128 = weights.iter().sum();
    weights.iter().map(|weight| (weight * rows / total, weight * rows % total)).collect()
}

/// Returns all count vectors that the largest remainder method allows; several if remainders tie for the last units.
/// For few classes only.
pub fn roundings(weights: &[u128], rows: u64) -> Vec<Vec<u64>> {
    let (least, open, left) = largest_remainders(weights, rows);
    let mut all = Vec::new();
    for set in 0u32..1 << open.len() {
        if set.count_ones() as usize == left {
            let mut counts = least.clone();
            open.iter().enumerate().for_each(|(place, &class)| counts[class] += u64::from(set >> place & 1));
            all.push(counts);
        }
    }
    all
}

/// Applies the largest remainder method. Returns the certain counts, the classes whose remainders tie for the last
/// units, and the number of these units. Without a tie, there are no such classes.
pub fn largest_remainders(weights: &[u128], rows: u64) -> (Vec<u64>, Vec<usize>, usize) {
    let quotas = quotas(weights, u128::from(rows));
    let mut counts: Vec<u64> = quotas.iter().map(|quota| quota.0 as u64).collect();
    let mut left = (rows - counts.iter().sum::<u64>()) as usize;
    let mut order: Vec<usize> = (0..quotas.len()).collect();
    order.sort_by_key(|&class| std::cmp::Reverse(quotas[class].1));
    let mut start = 0;
    while left > 0 {
        let rest = quotas[order[start]].1;
        let same = order[start..].iter().take_while(|&&class| quotas[class].1 == rest).count();
        let tied = &order[start..start + same];
        if same > left {
            let mut tied = tied.to_vec();
            tied.sort_unstable();
            return (counts, tied, left);
        }
        tied.iter().for_each(|&class| counts[class] += 1);
        (start, left) = (start + same, left - same);
    }
    (counts, Vec::new(), 0)
}

/// Returns the maximum sum of scores for every vector of counts, by dynamic programming over people. With `uncoded`,
/// the last count is the number of unlabeled people, whose score is 0.
pub fn best_by_counts(people: &[&[i64]], k: usize, uncoded: bool) -> Vec<(Vec<u64>, i64)> {
    let columns = k + usize::from(uncoded);
    let (radix, free) = (people.len() + 1, columns - 1);
    let steps: Vec<usize> = (0..free).map(|class| radix.pow(class as u32)).collect();
    let mut best = vec![i64::MIN; radix.pow(free as u32)];
    best[0] = 0;
    for row in people {
        let mut next = vec![i64::MIN; best.len()];
        for (state, &value) in best.iter().enumerate().filter(|(_, value)| **value != i64::MIN) {
            for class in 0..columns {
                let to = state + steps.get(class).copied().unwrap_or(0);
                next[to] = next[to].max(value + row.get(class).copied().unwrap_or(0));
            }
        }
        best = next;
    }
    let counts = |state: usize| -> Vec<u64> {
        let mut counts: Vec<u64> = steps.iter().map(|step| (state / step % radix) as u64).collect();
        counts.push(people.len() as u64 - counts.iter().sum::<u64>());
        counts
    };
    let reached = best.iter().enumerate().filter(|(_, value)| **value != i64::MIN);
    reached.map(|(state, &value)| (counts(state), value)).collect()
}
