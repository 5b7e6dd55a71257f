//! Measures the speed of the library in memory, as ratios to argmax over the same array, in one run. Prints Markdown,
//! which bench/memory.py saves.
//!
//! ```text
//! apportion-bench [full]
//! ```
//! `full` uses as many people as the voter files of the United States, and measures the memory of matching them.
#![allow(clippy::print_stdout)]

use rayon::ThreadPool;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use apportion::rule::SimdLevel;
use apportion::{Balance, Classes, Frontier, Groups, Match, Matrix, Penalty, Reference, Rule, Scores, Settings};
use apportion_bench::{K, memory, normal, normal_of, rare, repeated, uneven_groups};

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

const ROWS: usize = 6_400_000;
/// Number of people in the voter files of the United States, and number of classes in the paper.
const UNITED_STATES: (usize, usize) = (261_547_234, 5);
const ROUNDS: usize = 15;

fn main() -> Outcome {
    match std::env::args().nth(1).as_deref() {
        None => usual(),
        Some("full") => full(),
        Some(_) => Err("usage: apportion-bench [full]".into()),
    }
}

fn usual() -> Outcome {
    let one = threads(1)?;
    println!(
        "{}, one thread. f32, row-major and {K} classes unless stated otherwise; medians of up to {ROUNDS} rounds.\n",
        SimdLevel::best()
    );
    println!("| work | argmax, ms | ms | over argmax |\n|---|---:|---:|---:|");
    let classes = classes(K)?;
    let million = normal(1_000_000);
    one.install(|| compare("match, 1M rows", &table(&classes, &million)?, ROUNDS, label(matching())))?;
    drop(million);
    let scores = normal(ROWS);
    one.install(|| overall(&table(&classes, &scores)?))?;
    one.install(|| layouts(&classes, &scores))?;
    one.install(|| compare("whole frontier, 6.4M", &table(&classes, &scores)?, 3, frontier))?;
    for groups in [100, 3_143, 30_000] {
        in_groups(&table(&classes, &scores)?, groups, |table| {
            let name = format!("match in {groups} groups, 6.4M");
            one.install(|| compare(&name, table, 5, label(by_group())))
        })?;
    }
    let distinct = repeated(&normal(200_000), ROWS);
    one.install(|| {
        compare("match, 200k distinct rows, 6.4M", &table(&classes, &distinct)?, ROUNDS, label(matching()))
    })?;
    drop(distinct);
    let (many, rare_scores) = (self::classes(20)?, rare(ROWS, 20));
    let name = "match, 20 classes, the rarest a dozen rows, 6.4M";
    one.install(|| compare(name, &table(&many, &rare_scores)?, 7, label(matching())))?;
    drop(rare_scores);
    speed_up(&one, &threads(2)?, &classes, &scores)
}

/// Measures rules for all rows together.
fn overall(table: &Scores<'_>) -> Outcome {
    let posterior = || Match::overall(Reference::Posterior);
    compare("match, 6.4M", table, ROUNDS, label(matching()))?;
    compare("match, uniform, 6.4M", table, ROUNDS, label(Rule::Match(Match::overall(Reference::Uniform))))?;
    for gamma in [0.8, 0.9, 0.95, 0.99] {
        let rule = Rule::Balance(Balance::new(gamma, posterior()));
        compare(&format!("balance, γ {gamma}, 6.4M"), table, ROUNDS, label(rule))?;
    }
    for (name, penalty) in [("l2-squared", Penalty::L2Squared), ("kl", Penalty::Kl)] {
        let rule = Rule::Balance(Balance::new(0.9, posterior()).with_penalty(penalty));
        compare(&format!("balance, γ 0.9, {name}, 6.4M"), table, ROUNDS, label(rule))?;
    }
    compare("match, coverage 0.7, 6.4M", table, ROUNDS, label(Rule::Match(posterior().with_coverage(0.7))))
}

/// Measures the same scores in another precision and by column.
fn layouts(classes: &Classes, scores: &[f32]) -> Outcome {
    let doubles: Vec<f64> = scores.iter().copied().map(f64::from).collect();
    compare("match, f64, 6.4M", &Scores::new(classes, Matrix::RowsF64(&doubles))?, ROUNDS, label(matching()))?;
    drop(doubles);
    let columns: Vec<Vec<f32>> = (0..K).map(|class| scores.iter().skip(class).step_by(K).copied().collect()).collect();
    let columns = columns.iter().map(Vec::as_slice).collect();
    compare("match, by column, 6.4M", &Scores::new(classes, Matrix::ColumnsF32(columns))?, ROUNDS, label(matching()))
}

/// Compares two threads with one.
fn speed_up(one: &ThreadPool, two: &ThreadPool, classes: &Classes, scores: &[f32]) -> Outcome {
    println!("\nTwo threads; medians.\n\n| work | one thread, ms | two, ms | speed-up |\n|---|---:|---:|---:|");
    let works = |table: &Scores<'_>, works: &[(&str, Rule)]| {
        works.iter().try_for_each(|(name, rule)| {
            let label = label(rule.clone());
            let rounds =
                (0..9).map(|_| Ok([one.install(|| time(table, &label))?, two.install(|| time(table, &label))?]));
            let rounds = rounds.collect::<Result<Vec<[f64; 2]>, apportion::Error>>()?;
            let [single, double, ratio] = medians(&rounds);
            println!("| {name}, 6.4M | {:.2} | {:.2} | {:.2} |", single * 1e3, double * 1e3, 1.0 / ratio);
            Outcome::Ok(())
        })
    };
    let table = table(classes, scores)?;
    works(&table, &[("argmax", Rule::Argmax), ("match", matching())])?;
    in_groups(&table, 3_143, |table| works(table, &[("match in 3143 groups", by_group())]))
}

fn full() -> Outcome {
    let (rows, classes) = UNITED_STATES;
    let scores = normal_of(rows, classes);
    let held = scores.len() * size_of::<f32>();
    println!(
        "{}, one thread. {rows} rows of {classes} classes, f32, row-major; medians of 3 rounds.\n",
        SimdLevel::best()
    );
    println!("| work | argmax, ms | ms | over argmax |\n|---|---:|---:|---:|");
    let before = memory::held_kib();
    let classes = self::classes(classes)?;
    let table = self::table(&classes, &scores)?;
    threads(1)?.install(|| compare("match", &table, 3, label(matching())))?;
    if let (Some(before), Some(peak)) = (before, memory::peak_kib()) {
        let beyond = (peak - before) as f64 * 1024.0 / held as f64;
        println!("\nMemory beyond the scores, labels included: {:.1}% of the scores.", beyond * 100.0);
    }
    Ok(())
}

fn threads(number: usize) -> Result<ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(number).build()
}

fn classes(number: usize) -> apportion::Result<Classes> {
    Classes::new((0..number).map(|class| format!("c{class}")))
}

fn table<'a>(classes: &'a Classes, scores: &'a [f32]) -> apportion::Result<Scores<'a>> {
    Scores::new(classes, Matrix::RowsF32(scores))
}

fn in_groups(table: &Scores<'_>, groups: usize, work: impl FnOnce(&Scores<'_>) -> Outcome) -> Outcome {
    let codes = uneven_groups(table.rows(), groups);
    let names: Vec<String> = (0..groups).map(|group| group.to_string()).collect();
    work(&table.clone().with_groups(Groups { codes: &codes, names: &names })?)
}

fn matching() -> Rule {
    Rule::Match(Match::overall(Reference::Posterior))
}

fn by_group() -> Rule {
    Rule::Match(Match::by_group(Reference::Posterior))
}

fn label(rule: Rule) -> impl Fn(&Scores<'_>) -> apportion::Result<()> {
    move |table| rule.label(table, &Settings::default()).map(|labeled| drop(black_box(labeled)))
}

fn frontier(table: &Scores<'_>) -> apportion::Result<()> {
    let aim = Match::overall(Reference::Posterior);
    Frontier::of(&aim, table, &Settings::default()).map(|frontier| drop(black_box(frontier)))
}

/// Compares some work with argmax on the same scores. They alternate, so that other load on the machine slows both.
fn compare(
    name: &str,
    table: &Scores<'_>,
    rounds: usize,
    work: impl Fn(&Scores<'_>) -> apportion::Result<()>,
) -> Outcome {
    let argmax = label(Rule::Argmax);
    let rounds = (0..=rounds).map(|_| Ok([time(table, &argmax)?, time(table, &work)?]));
    let rounds = rounds.collect::<apportion::Result<Vec<_>>>()?;
    // The first round is a warm-up.
    let [argmax, own, ratio] = medians(&rounds[1..]);
    println!("| {name} | {:.2} | {:.2} | {ratio:.2} |", argmax * 1e3, own * 1e3);
    Ok(())
}

fn time(table: &Scores<'_>, work: impl Fn(&Scores<'_>) -> apportion::Result<()>) -> apportion::Result<f64> {
    let start = Instant::now();
    work(table)?;
    Ok(start.elapsed().as_secs_f64())
}

/// Returns the medians of the two times, and of the ratio of the second to the first.
fn medians(rounds: &[[f64; 2]]) -> [f64; 3] {
    let of = |figure: fn(&[f64; 2]) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(figure).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    [of(|times| times[0]), of(|times| times[1]), of(|times| times[1] / times[0])]
}
