//! Small problems of every joint rule and option, compared with all labelings of all people.

use std::collections::BTreeMap;

use apportion::rule::{Allotted, Bound, SimdLevel};
use apportion::{
    Balance, Bounds, Classes, Decision, Error, Groups, Keys, Label, Match, Matrix, Penalty, PerGroup, Reference, Rule,
    Scores, Settings, UNCODED,
};

use super::exact::{best_by_counts, roundings};
use super::tables::{parts, scores, units};
use crate::Outcome;
use crate::draw::Draw;

const TOLERANCE: f64 = 1e-9;
const UNIT: f64 = (1u64 << 40) as f64;

/// A problem.
#[derive(Debug)]
struct Problem {
    k: usize,
    rows: usize,
    scores: Vec<f64>,
    /// The memory layout of the scores.
    layout: u64,
    counts: Option<Vec<u64>>,
    codes: Vec<u32>,
    by_group: bool,
    truth: Vec<Label>,
    /// `None` for match.
    gamma: Option<f64>,
    penalty: Penalty,
    /// In tenths.
    coverage: Option<u64>,
    bounds: Bounds,
    reference: Reference,
    /// The weights of given shares, in twentieths.
    shares: Vec<f64>,
    keys: Option<Vec<u64>>,
    seed: u64,
    level: SimdLevel,
}

/// The expected result for some rows: all of them, or a group.
enum Expected {
    /// No labels satisfy the bounds.
    Infeasible,
    /// The maximum value, and the counts if the rule determines them.
    Best(f64, Option<Vec<u64>>),
    /// Undefined: the truth is unknown, or the bounds cut into tied roundings.
    Open,
}

/// Draws a problem, solves it, and checks the result.
///
/// # Panics
/// If the result differs from that of exhaustive search.
pub fn check(draw: &mut Draw<'_>) -> Outcome {
    let problem = Problem::draw(draw);
    problem.check()
}

impl Problem {
    fn draw(draw: &mut Draw<'_>) -> Problem {
        let k = 1 + draw.index(4);
        let has_counts = draw.one_in(4);
        let rows = 1 + draw.index(if has_counts { 5 } else { 8 });
        let layout = draw.below(4);
        let scores = scores(draw, rows, k, layout < 2);
        let counts = has_counts.then(|| (0..rows).map(|_| draw.below(3)).collect::<Vec<u64>>());
        let by_group = draw.one_in(3);
        let codes = (0..rows).map(|_| if by_group { draw.below(2) as u32 } else { 0 }).collect();
        let gamma = match draw.below(4) {
            0 | 1 => None,
            2 => Some([1.0, 0.0, 0.001, 0.5][draw.index(4)]),
            _ => Some((1 + draw.below(99)) as f64 / 100.0),
        };
        let coverage = draw.one_in(4).then(|| draw.below(11));
        let bounds = if draw.one_in(4) { bounds(draw, k) } else { Bounds::default() };
        let is_plain = coverage.is_none() && bounds.is_empty();
        let penalties = [Penalty::L1, Penalty::L2Squared, Penalty::Kl, Penalty::L2];
        let penalty = penalties[draw.index(if is_plain { 4 } else { 3 })];
        let mut shares = Vec::new();
        let kind = draw.below(5);
        let (reference, truth) = match kind {
            0 => (Reference::Uniform, false),
            1 => {
                parts(draw, k, 20, &mut shares);
                (Reference::Shares(PerGroup::Overall(shares.clone())), false)
            }
            2 => (Reference::Truth, true),
            _ => (Reference::Posterior, false),
        };
        let truth = (0..rows).map(|_| if truth { draw.below(k as u64 + 1) as Label } else { 0 });
        let truth = truth.map(|label| if usize::from(label) == k { UNCODED } else { label }).collect();
        let keys = draw.one_in(4).then(|| (0..rows).map(|_| draw.below(4)).collect());
        let seed = draw.below(1 << 16);
        let levels: Vec<SimdLevel> = SimdLevel::available().collect();
        let level = *draw.pick(&levels);
        Problem {
            k,
            rows,
            scores,
            layout,
            counts,
            codes,
            by_group,
            truth,
            gamma,
            penalty,
            coverage,
            bounds,
            reference,
            shares,
            keys,
            seed,
            level,
        }
    }

    fn rule(&self) -> Rule {
        let aim = Match {
            by_group: self.by_group,
            coverage: self.coverage.map(|tenths| tenths as f64 / 10.0),
            bounds: self.bounds.clone(),
            ..Match::overall(self.reference.clone())
        };
        match self.gamma {
            None => Rule::Match(aim),
            Some(gamma) => Rule::Balance(Balance::new(gamma, aim).with_penalty(self.penalty)),
        }
    }

    /// Passes the table in one of four layouts.
    fn with_table<T>(&self, call: impl FnOnce(&Scores<'_>) -> T) -> T {
        let k = self.k;
        let names: Vec<String> = (0..k).map(|class| format!("c{class}")).collect();
        let classes = sound(Classes::new(names));
        let single: Vec<f32> = self.scores.iter().map(|&score| score as f32).collect();
        let columns: Vec<Vec<f64>> =
            (0..k).map(|class| self.scores.iter().skip(class).step_by(k).copied().collect()).collect();
        let narrow: Vec<Vec<f32>> = columns.iter().map(|own| own.iter().map(|&score| score as f32).collect()).collect();
        let matrix = match self.layout {
            0 => Matrix::RowsF32(&single),
            1 => Matrix::ColumnsF32(narrow.iter().map(Vec::as_slice).collect()),
            2 => Matrix::RowsF64(&self.scores),
            _ => Matrix::ColumnsF64(columns.iter().map(Vec::as_slice).collect()),
        };
        let groups = ["a", "b"].map(String::from);
        let table = sound(Scores::new(&classes, matrix));
        let table = sound(table.with_groups(Groups { codes: &self.codes, names: &groups }));
        let mut table = sound(table.with_truth(&self.truth));
        if let Some(keys) = &self.keys {
            table = sound(table.with_keys(Keys::Given(keys)));
        }
        if let Some(counts) = &self.counts {
            table = sound(table.with_counts(counts));
        }
        call(&table)
    }

    fn check(&self) -> Outcome {
        let (rule, settings) = (self.rule(), Settings { seed: self.seed, simd: self.level });
        self.with_table(|table| {
            let result = rule.allot(table, &settings);
            let outcome = self.check_result(&result);
            if self.counts.is_none()
                && let Ok(allotted) = &result
            {
                self.check_labels(table, &rule, allotted);
            }
            outcome
        })
    }

    fn check_result(&self, result: &apportion::Result<Allotted>) -> Outcome {
        let parts: Vec<Vec<usize>> = if self.by_group {
            (0..2).map(|group| (0..self.rows).filter(|&row| self.codes[row] == group).collect()).collect()
        } else {
            vec![(0..self.rows).collect()]
        };
        let parts: Vec<Vec<usize>> = parts.into_iter().filter(|rows| !rows.is_empty()).collect();
        let expected: Vec<Expected> = parts.iter().map(|rows| self.expected(rows)).collect();
        if expected.iter().any(|part| matches!(part, Expected::Open)) {
            return Outcome::Refused;
        }
        if expected.iter().any(|part| matches!(part, Expected::Infeasible)) {
            assert!(
                matches!(result, Err(Error::Bounds { .. })),
                "{result:?}, and no labels keep the bounds of {self:?}"
            );
            return Outcome::Refused;
        }
        let allotted = match result {
            Ok(allotted) => allotted,
            Err(error) => panic!("{error}: {self:?}"),
        };
        let mut total = 0.0;
        for (rows, expected) in parts.iter().zip(expected) {
            let Expected::Best(best, counts) = expected else { continue };
            let (value, found) = self.value_of(allotted, rows);
            let is_bound = self.penalty == Penalty::L2 && self.gamma.is_some_and(|gamma| gamma > 0.0 && gamma < 1.0);
            if is_bound {
                assert!(value <= best + TOLERANCE, "{value} is better than {best}, the best: {self:?}");
            } else {
                assert!((value - best).abs() < TOLERANCE, "{value}, and {best} is the best: {self:?}");
            }
            assert!(
                counts.as_ref().is_none_or(|counts| *counts == found),
                "counts {found:?}, not {counts:?}: {self:?}"
            );
            total += best;
        }
        self.check_certificate(allotted, total);
        Outcome::Accepted
    }

    /// Checks both sides of the certificate against the maximum value.
    fn check_certificate(&self, allotted: &Allotted, best: f64) {
        let Some(joint) = &allotted.joint else {
            assert_eq!(self.gamma, Some(1.0), "no certificate: {self:?}");
            return;
        };
        let gamma = self.gamma.filter(|&gamma| gamma > 0.0).unwrap_or(1.0);
        let (primal, dual) = (joint.certificate.primal as f64 / UNIT, joint.certificate.dual as f64 / UNIT);
        let best = best / gamma;
        let tolerance = TOLERANCE / gamma;
        assert!(dual > best - tolerance, "the bound {dual} is below {best}: {self:?}");
        assert!(primal < best + tolerance, "the value {primal} is above {best}: {self:?}");
        if self.penalty != Penalty::L2 || self.gamma.is_none_or(|gamma| gamma == 0.0) {
            assert!(joint.certificate.is_closed(), "an open certificate: {self:?}");
            assert!((primal - best).abs() < tolerance, "the certificate says {primal}, the best is {best}: {self:?}");
        }
    }

    /// Returns the row of each person, for some rows.
    fn people(&self, rows: &[usize]) -> Vec<usize> {
        let times = |row: usize| self.counts.as_ref().map_or(1, |counts| counts[row]);
        rows.iter().flat_map(|&row| (0..times(row)).map(move |_| row)).collect()
    }

    /// Returns the reference as weights of the classes.
    fn weights(&self, people: &[usize], units: &[i64]) -> Vec<u128> {
        let sum = |class: usize| people.iter().map(|&row| i128::from(units[row * self.k + class])).sum::<i128>();
        let class = |class: usize| match &self.reference {
            Reference::Uniform => 1,
            Reference::Shares(_) => (self.shares[class] * 20.0).round() as u128,
            Reference::Truth => people.iter().filter(|&&row| usize::from(self.truth[row]) == class).count() as u128,
            _ => sum(class).max(0) as u128,
        };
        (0..self.k).map(class).collect()
    }

    /// Returns the result of exhaustive search for some rows.
    fn expected(&self, rows: &[usize]) -> Expected {
        let (k, units, people) = (self.k, units(&self.scores), self.people(rows));
        let weights = self.weights(&people, &units);
        if weights.iter().sum::<u128>() == 0 {
            return Expected::Open;
        }
        let uncoded = self.coverage.map_or(0, |tenths| (2 * (10 - tenths) * people.len() as u64 + 10) / 20);
        let labeled = people.len() as u64 - uncoded;
        let Some(limits) = self.limits(labeled, &weights) else { return Expected::Infeasible };
        let own: Vec<&[i64]> = people.iter().map(|&row| &units[row * k..][..k]).collect();
        let keeps =
            |counts: &[u64]| counts.iter().zip(&limits).all(|(count, (least, most))| least <= count && count <= most);
        let all = best_by_counts(&own, k, self.coverage.is_some());
        let kept =
            all.iter().filter(|(counts, _)| counts.get(k).is_none_or(|&own| own == uncoded) && keeps(&counts[..k]));
        let kept: Vec<(&[u64], i64)> = kept.map(|(counts, value)| (&counts[..k], *value)).collect();
        match self.gamma {
            Some(gamma) if gamma > 0.0 => self.best_balance(gamma, &kept, &weights, labeled),
            _ => self.best_match(&kept, &weights, labeled, &limits),
        }
    }

    fn best_balance(&self, gamma: f64, kept: &[(&[u64], i64)], weights: &[u128], labeled: u64) -> Expected {
        let value = |(counts, sum): &(&[u64], i64)| self.balance(gamma, counts, *sum as f64 / UNIT, weights, labeled);
        let best = kept.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        if best == f64::NEG_INFINITY { Expected::Infeasible } else { Expected::Best(best, None) }
    }

    /// Returns the objective of balance: γ times the sum of the scores minus (1 − γ) times people times distance.
    fn balance(&self, gamma: f64, counts: &[u64], sum: f64, weights: &[u128], labeled: u64) -> f64 {
        if gamma == 1.0 {
            return sum;
        }
        let total = weights.iter().sum::<u128>() as f64;
        let quotas = weights.iter().map(|&weight| weight as f64 * labeled as f64 / total);
        let pairs = counts.iter().map(|&count| count as f64).zip(quotas);
        let distance: f64 = match self.penalty {
            Penalty::L1 => pairs.map(|(count, quota)| (count - quota).abs()).sum(),
            Penalty::L2 => pairs.map(|(count, quota)| (count - quota).powi(2)).sum::<f64>().sqrt(),
            Penalty::L2Squared => {
                pairs.map(|(count, quota)| (count - quota).powi(2)).sum::<f64>() / labeled.max(1) as f64
            }
            Penalty::Kl => {
                pairs.map(|(count, quota)| if count == 0.0 { 0.0 } else { count * (count / quota).ln() }).sum()
            }
        };
        gamma * sum - (1.0 - gamma) * distance
    }

    fn best_match(&self, kept: &[(&[u64], i64)], weights: &[u128], labeled: u64, limits: &[(u64, u64)]) -> Expected {
        let allowed = roundings(weights, labeled);
        let is_within =
            |counts: &Vec<u64>| counts.iter().zip(limits).all(|(count, (least, most))| least <= count && count <= most);
        let best =
            |among: &dyn Fn(&[u64]) -> bool| kept.iter().filter(|(counts, _)| among(counts)).map(|own| own.1).max();
        if allowed.iter().all(is_within) {
            let Some(optimum) = best(&|counts| allowed.iter().any(|own| own == counts)) else { return Expected::Open };
            let first = kept.iter().filter(|own| own.1 == optimum && allowed.iter().any(|counts| counts == own.0));
            let counts = first.map(|own| own.0.to_vec()).max().filter(|_| self.coverage.is_none());
            return Expected::Best(optimum as f64 / UNIT, counts);
        }
        // It is undefined which of several roundings the bounds apply to.
        let [targets] = &allowed[..] else { return Expected::Open };
        let far =
            |counts: &[u64]| counts.iter().zip(targets).map(|(count, target)| count.abs_diff(*target)).sum::<u64>();
        let Some(nearest) = kept.iter().map(|own| far(own.0)).min() else { return Expected::Infeasible };
        let optimum = best(&|counts| far(counts) == nearest);
        Expected::Best(optimum.unwrap_or(0) as f64 / UNIT, None)
    }

    /// Returns the minimum and maximum count of each class, or `None` if no labels satisfy them.
    fn limits(&self, labeled: u64, weights: &[u128]) -> Option<Vec<(u64, u64)>> {
        let up = |people: f64| (people - 1e-7).ceil().max(0.0) as u64;
        let down = |people: f64| (people + 1e-7).floor() as u64;
        let total = weights.iter().sum::<u128>() as f64;
        let people = labeled as f64;
        let mut limits = vec![(0, labeled); self.k];
        for (class, limit) in limits.iter_mut().enumerate() {
            let (name, quota) = (format!("c{class}"), weights[class] as f64 * people / total);
            if let Some(tolerance) = self.bounds.tolerance {
                // The integers next to the quota are always allowed; they are computed exactly on the grid.
                let (product, sum) = (weights[class] * u128::from(labeled), weights.iter().sum::<u128>());
                let (whole, next) = ((product / sum) as u64, product.div_ceil(sum) as u64);
                let (low, high) =
                    (up(quota - tolerance * people).min(whole), down(quota + tolerance * people).max(next));
                *limit = (low, high.min(labeled));
            }
            let number = |bound: &Bound, round: &dyn Fn(f64) -> u64| match bound {
                Bound::Count(count) => *count,
                Bound::Share(share) => round(share * people),
            };
            limit.0 = self.bounds.at_least.get(&name).map_or(limit.0, |bound| limit.0.max(number(bound, &up)));
            limit.1 = self.bounds.at_most.get(&name).map_or(limit.1, |bound| limit.1.min(number(bound, &down)));
        }
        let is_possible = limits.iter().all(|(least, most)| least <= most)
            && limits.iter().map(|limit| limit.0).sum::<u64>() <= labeled
            && limits.iter().map(|limit| limit.1).sum::<u64>() >= labeled;
        is_possible.then_some(limits)
    }

    /// Returns the value of the labels of some rows, and their counts.
    fn value_of(&self, allotted: &Allotted, rows: &[usize]) -> (f64, Vec<u64>) {
        let (k, units, people) = (self.k, units(&self.scores), self.people(rows));
        let (mut counts, mut sum) = (vec![0; k], 0i64);
        for &row in rows {
            let own = allotted.allotment.row(row);
            let all = self.counts.as_ref().map_or(1, |counts| counts[row]);
            assert_eq!(own.iter().sum::<u64>(), all, "people of row {row}: {self:?}");
            for class in 0..k {
                counts[class] += own[class];
                sum += own[class] as i64 * units[row * k + class];
            }
        }
        let uncoded = self.coverage.map_or(0, |tenths| (2 * (10 - tenths) * people.len() as u64 + 10) / 20);
        let labeled = people.len() as u64 - uncoded;
        assert_eq!(counts.iter().sum::<u64>(), labeled, "people with a label: {self:?}");
        let weights = self.weights(&people, &units);
        let sum = sum as f64 / UNIT;
        let value = match self.gamma {
            Some(gamma) if gamma > 0.0 => self.balance(gamma, &counts, sum, &weights, labeled),
            _ => sum,
        };
        (value, counts)
    }

    /// Checks labels against the allotment, the saved decision, and a certificate computed independently.
    fn check_labels(&self, table: &Scores<'_>, rule: &Rule, allotted: &Allotted) {
        let labeled = sound(rule.label(table, &Settings { seed: self.seed, simd: SimdLevel::Baseline }));
        let one = |row: usize| allotted.allotment.row(row).iter().position(|&people| people > 0);
        let from_people =
            (0..self.rows).map(|row| one(row).filter(|&class| class < self.k).map_or(UNCODED, |class| class as Label));
        assert_eq!(labeled.labels.values(), from_people.collect::<Vec<_>>(), "labels of two SIMD levels: {self:?}");
        let decision = &labeled.decision;
        assert_eq!(sound(decision.apply(table)), labeled.labels, "apply(fit(x), x) = label(x): {self:?}");
        assert!(sound(decision.certify(table, &labeled.labels)).is_closed(), "a certificate from scratch: {self:?}");
        let again: Option<Decision> =
            serde_json::to_string(decision).ok().and_then(|json| serde_json::from_str(&json).ok());
        assert_eq!(again.as_ref(), Some(decision), "saved and read: {self:?}");
    }
}

fn bounds(draw: &mut Draw<'_>, k: usize) -> Bounds {
    let mut bounds = Bounds::default();
    let kind = draw.below(4);
    if kind == 0 {
        bounds.tolerance = Some(*draw.pick(&[0.0, 0.05, 0.1, 0.3]));
        return bounds;
    }
    let mut side = || -> BTreeMap<String, Bound> {
        let name = format!("c{}", draw.below(k as u64));
        let bound = if kind == 1 { Bound::Count(draw.below(5)) } else { Bound::Share(draw.below(11) as f64 / 10.0) };
        BTreeMap::from([(name, bound)])
    };
    bounds.at_least = side();
    if kind == 3 {
        bounds.at_most = side();
    }
    bounds
}

/// Returns the value of a result that must not be an error.
fn sound<T>(result: apportion::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}
