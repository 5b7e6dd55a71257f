//! Speed of the library in memory, as ratios to one lean SIMD argmax pass over the same array, in one run.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use apportion::{Classes, Level, Match, Matrix, Reference, Rule, Scores, Settings, lean_argmax, seed};

const K: usize = 6;
const PRIOR: [f64; K] = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125];

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    pool.install(|| {
        println!("one thread, {} | rows, work, median ms, ratio to the argmax pass", Level::best());
        for (name, rows, distinct) in
            [("continuous", 1_000_000, 0), ("continuous", 6_400_000, 0), ("ties", 6_400_000, 200_000)]
        {
            if std::env::var("ONLY").is_ok_and(|o| o != rows.to_string())
                || (std::env::var("ONLY").is_ok() && distinct > 0)
            {
                continue;
            }
            measure(name, rows, distinct);
        }
    });
}

fn measure(name: &str, rows: usize, distinct: usize) {
    let scores = if distinct == 0 { normal(rows) } else { repeated(&normal(distinct), rows) };
    let classes = Classes::new((0..K).map(|class| format!("c{class}"))).expect("names");
    let table = Scores::new(&classes, Matrix::RowsF32(&scores)).expect("a table");
    let settings = Settings::default();
    let mut labels = vec![0; rows];
    let rule = Rule::Match(Match::overall(Reference::Posterior));
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..std::env::var("REPS").map_or(15, |r| r.parse().unwrap()) {
        if std::env::var("MATCH").is_err() {
            times[0].push(time(|| lean_argmax(settings.simd, &scores, K, &mut labels)));
            times[1].push(time(|| drop(black_box(Rule::Argmax.label(&table, &settings)))));
        } else {
            times[0].push(1.0);
            times[1].push(1.0);
        }
        times[2].push(time(|| drop(black_box(rule.label(&table, &settings)))));
    }
    let [lean, argmax, matching] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    for (work, time) in [("argmax pass", lean), ("argmax, checked", argmax), ("match", matching)] {
        println!("{name:>12} {rows:>9} {work:<16} {:>8.2} {:>6.2}", time * 1e3, time / lean);
    }
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
