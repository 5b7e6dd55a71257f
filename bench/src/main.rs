//! Speed of the library in memory, as ratios to argmax over the same array, in one run.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use apportion::{
    Balance, Classes, Frontier, Groups, Level, Match, Matrix, Penalty, Reference, Rule, Scores, Settings, seed,
};

const K: usize = 6;
const PRIOR: [f64; K] = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125];

const ROUNDS: usize = 15;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    pool.install(|| {
        println!("One thread, {}, {K} classes of f32, row-major. Medians of {ROUNDS} rounds.\n", Level::best());
        println!("{:<44} {:>10} {:>10} {:>8}", "", "argmax ms", "ms", "ratio");
        let million = normal(1_000_000);
        measure("match, 1M", &million, &[("", matching(Reference::Posterior))]);
        drop(million);
        let continuous = normal(6_400_000);
        let mut rules =
            vec![("match", matching(Reference::Posterior)), ("match, uniform", matching(Reference::Uniform))];
        for (name, gamma) in [("0.8", 0.8), ("0.9", 0.9), ("0.95", 0.95), ("0.99", 0.99)] {
            rules.push((name, Rule::Balance(Balance::new(gamma, Match::overall(Reference::Posterior)))));
        }
        let balance = Balance::new(0.9, Match::overall(Reference::Posterior));
        rules.push(("0.9, l2-squared", Rule::Balance(balance.clone().with_penalty(Penalty::L2Squared))));
        rules.push(("0.9, kl", Rule::Balance(balance.with_penalty(Penalty::Kl))));
        rules.push(("match, coverage 0.7", Rule::Match(Match::overall(Reference::Posterior).with_coverage(0.7))));
        measure("6.4M", &continuous, &rules);
        frontier("6.4M, whole frontier", &continuous);
        for groups in [100, 3_143, 30_000] {
            by_group(&format!("6.4M, match in {groups} groups"), &continuous, groups);
        }
        drop(continuous);
        measure("6.4M, 200k distinct", &repeated(&normal(200_000), 6_400_000), &rules[..1]);
        rare_classes("6.4M, 20 classes, the rarest a dozen rows");
    });
}

fn matching(reference: Reference) -> Rule {
    Rule::Match(Match::overall(reference))
}

/// Rules against argmax on the same scores. Works take turns, so that a busy neighbour slows all of them alike.
fn measure(data: &str, scores: &[f32], rules: &[(&str, Rule)]) {
    let classes = Classes::new((0..K).map(|class| format!("c{class}"))).expect("names");
    let table = Scores::new(&classes, Matrix::RowsF32(scores)).expect("a table");
    let settings = Settings::default();
    let label = |rule: &Rule| time(|| drop(black_box(rule.label(&table, &settings))));
    for (name, rule) in rules {
        let rounds: Vec<[f64; 2]> = (0..=ROUNDS)
            .map(|_| [label(&Rule::Argmax), label(rule)])
            .skip(1) // the first warms up
            .collect();
        let kind = if matches!(rule, Rule::Balance(_)) { "balance γ " } else { "" };
        report(&format!("{data}, {kind}{name}").replace(", ,", ","), &rounds);
    }
}

fn frontier(name: &str, scores: &[f32]) {
    let classes = Classes::new((0..K).map(|class| format!("c{class}"))).expect("names");
    let table = Scores::new(&classes, Matrix::RowsF32(scores)).expect("a table");
    let (settings, aim) = (Settings::default(), Match::overall(Reference::Posterior));
    let round = |_| {
        let argmax = time(|| drop(black_box(Rule::Argmax.label(&table, &settings))));
        [argmax, time(|| drop(black_box(Frontier::of(&aim, &table, &settings))))]
    };
    report(name, &(0..3).map(round).collect::<Vec<_>>());
}

/// Groups as uneven as counties: the largest has some fifty times the rows of the middle one.
fn by_group(name: &str, scores: &[f32], groups: usize) {
    let classes = Classes::new((0..K).map(|class| format!("c{class}"))).expect("names");
    let unit = |row: usize| (seed::hash(5, row as u64, 0) >> 11) as f64 / (1u64 << 53) as f64;
    let codes: Vec<u32> = (0..scores.len() / K).map(|row| (unit(row).powi(3) * groups as f64) as u32).collect();
    let names: Vec<String> = (0..groups).map(|group| group.to_string()).collect();
    let table = Scores::new(&classes, Matrix::RowsF32(scores)).expect("a table");
    let table = table.with_groups(Groups { codes: &codes, names: &names }).expect("groups");
    let (settings, rule) = (Settings::default(), Rule::Match(Match::by_group(Reference::Posterior)));
    let round = |_| {
        let argmax = time(|| drop(black_box(Rule::Argmax.label(&table, &settings))));
        [argmax, time(|| drop(black_box(rule.label(&table, &settings))))]
    };
    report(name, &(0..5).map(round).collect::<Vec<_>>());
}

/// Twenty classes, each half as common as the one before, down to a dozen rows.
fn rare_classes(name: &str) {
    const MANY: usize = 20;
    let rows = 6_400_000;
    let prior: Vec<f64> = (0..MANY).map(|class| 0.5f64.powi(class as i32)).collect();
    let mut scores = Vec::with_capacity(rows * MANY);
    for row in 0..rows as u64 {
        let unit = |salt: u64| (seed::hash(7, row, salt) >> 11) as f64 / (1u64 << 53) as f64;
        let weights: Vec<f64> = (0..MANY).map(|class| prior[class] * (2.0 * unit(class as u64)).exp()).collect();
        let sum: f64 = weights.iter().sum();
        scores.extend(weights.iter().map(|weight| (weight / sum) as f32));
    }
    let classes = Classes::new((0..MANY).map(|class| format!("c{class}"))).expect("names");
    let table = Scores::new(&classes, Matrix::RowsF32(&scores)).expect("a table");
    let (settings, rule) = (Settings::default(), matching(Reference::Posterior));
    let round = |_| {
        let argmax = time(|| drop(black_box(Rule::Argmax.label(&table, &settings))));
        [argmax, time(|| drop(black_box(rule.label(&table, &settings))))]
    };
    report(name, &(0..7).map(round).collect::<Vec<_>>());
}

fn report(name: &str, rounds: &[[f64; 2]]) {
    let of = |figure: fn(&[f64; 2]) -> f64| median(rounds.iter().map(figure).collect());
    println!(
        "{:<44} {:>10.2} {:>10.2} {:>8.2}",
        name.trim_end_matches(", "),
        of(|times| times[0]) * 1e3,
        of(|times| times[1]) * 1e3,
        of(|times| times[1] / times[0]),
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// The paper's normal simulation at variance 0.5: Bayes-optimal scores in closed form.
fn normal(rows: usize) -> Vec<f32> {
    let mut scores = Vec::with_capacity(rows * K);
    for row in 0..rows as u64 {
        let unit = |salt: u64| (seed::hash(1, row, salt) >> 11) as f64 / (1u64 << 53) as f64;
        let draw = unit(0);
        let truth = (0..K - 1).find(|&y| draw < PRIOR[..=y].iter().sum()).unwrap_or(K - 1);
        let weights: [f64; K] = std::array::from_fn(|y| {
            let (a, b) = (unit(2 * y as u64 + 1).max(1e-300), unit(2 * y as u64 + 2));
            let noise = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
            let x = f64::from(u8::from(y == truth)) + 0.5f64.sqrt() * noise;
            PRIOR[y] * (x / 0.5).exp()
        });
        let sum: f64 = weights.iter().sum();
        scores.extend(weights.map(|weight| (weight / sum) as f32));
    }
    scores
}

/// Rows drawn from a list with a skew, as common names are: many are identical.
fn repeated(list: &[f32], rows: usize) -> Vec<f32> {
    let distinct = list.len() / K;
    let pick = |row: usize| {
        let unit = (seed::hash(2, row as u64, 0) >> 11) as f64 / (1u64 << 53) as f64;
        ((unit.powi(3) * distinct as f64) as usize).min(distinct - 1)
    };
    (0..rows).flat_map(|row| list[pick(row) * K..][..K].iter().copied()).collect()
}
