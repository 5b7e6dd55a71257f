//! The paper's claims on a reduced run, and a regression test of its numbers.
#![allow(clippy::unwrap_used)] // in helpers

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use apportion_paper::*;

/// Ten datasets of a thousand rows, computed once.
fn reduced() -> &'static Reproduction {
    static REDUCED: OnceLock<Reproduction> = OnceLock::new();
    let plan = Plan { datasets: 10, rows: 1000, voters: 5000, seed: 1 };
    REDUCED.get_or_init(|| Reproduction::of(&plan, None, |_| ()).unwrap())
}

fn contestant(name: &str) -> &'static Contestant {
    reduced().all_rules.contestants.iter().find(|rule| rule.name == name).unwrap()
}

/// Theorem 1 (iii): the bias does not exceed the error; both decrease as more is known.
#[test]
fn argmax_is_biased_by_what_is_not_known() {
    let all = &reduced().information;
    for information in all {
        // Relative to the posterior, the bound holds in every dataset for the error that the scores imply; three
        // standard errors allow for chance.
        let slack = 3.0 * (information.mae.standard_error + information.bias[0].standard_error) + 1e-9;
        assert!(information.bias[0].mean <= information.mae.mean + slack, "{information:?}");
        let sum: f64 = information.bias.iter().map(|bias| bias.mean).sum();
        assert!(sum.abs() < 1e-9, "what one class has too much, others have too little");
    }
    assert!(all.windows(2).all(|pair| pair[0].mae.mean > pair[1].mae.mean));
    assert!(all.windows(2).all(|pair| pair[0].bias[0].mean > pair[1].bias[0].mean));
    // Theorem 1 (i) and (ii): without information everyone gets the largest class; with full information there is no
    // bias.
    assert!((all[0].bias_against_prior[0].mean - 0.5).abs() < 0.01, "{:?}", all[0]);
    assert!(all[5].bias.iter().all(|bias| bias.mean.abs() < 1e-9) && all[5].mae.mean < 1e-9);
}

/// From argmax to match, accuracy falls and fidelity rises; argmax is more accurate the more is known.
#[test]
fn frontiers_are_frontiers() {
    for information in &reduced().information {
        let stops = &information.stops;
        for pair in stops.windows(2) {
            assert!(pair[0].accuracy.mean >= pair[1].accuracy.mean && pair[0].fidelity.mean <= pair[1].fidelity.mean);
        }
        assert_eq!(stops.last().unwrap().fidelity.mean, 0.0);
    }
    let argmax = |information: &Information| information.stops[0].accuracy.mean;
    assert!(reduced().information.windows(2).all(|pair| argmax(&pair[0]) < argmax(&pair[1])));
}

/// Theorem 2: argmax is the most accurate rule; joint rules and argmax are on the frontier, other independent rules are
/// below it.
#[test]
fn joint_rules_lie_on_the_frontier_and_sampling_below() {
    assert_eq!(reduced().all_rules.variance, 0.5);
    let best = contestant("argmax").expected_accuracy.mean;
    let full = reduced().all_rules.contestants.iter().filter(|rule| rule.coverage.mean == 1.0);
    assert!(full.clone().all(|rule| rule.expected_accuracy.mean <= best) && full.count() == 7);
    for name in ["argmax", "balance γ 0.9", "match"] {
        assert!(contestant(name).frontier_gap.unwrap().mean.abs() < 1e-9, "{name}");
    }
    for name in ["thompson", "top-2"] {
        let below = contestant(name).frontier_gap.unwrap();
        assert!(below.mean > 20.0 * below.standard_error && below.mean > 0.01, "{name}: {below:?}");
    }
    // Match dominates Thompson sampling: it is more accurate and its counts are closer.
    let (thompson, matched) = (contestant("thompson"), contestant("match"));
    assert!(matched.accuracy.mean > thompson.accuracy.mean + 0.05 && matched.fidelity.mean > thompson.fidelity.mean);
    assert!(contestant("threshold 0.8").frontier_gap.is_none());
}

/// The learned rule is close to the frontier, and to balance at the same γ.
#[test]
fn what_is_learned_follows_the_frontier() {
    let Contest { learned, stops, .. } = &reduced().all_rules;
    assert_eq!(learned.len(), GAMMAS.len());
    for (rule, stop) in learned.iter().zip(stops) {
        let below = rule.frontier_gap.unwrap().mean;
        assert!((0.0..0.005).contains(&below), "γ {}: {below}", stop.gamma);
        assert!((rule.expected_accuracy.mean - stop.accuracy.mean).abs() < 0.01, "γ {}: {rule:?}", stop.gamma);
        assert!((rule.fidelity.mean - stop.fidelity.mean).abs() < 0.05, "γ {}: {rule:?}", stop.gamma);
    }
    let (own, thompson) = (contestant("learned"), contestant("thompson"));
    assert!(own.frontier_gap.unwrap().mean < thompson.frontier_gap.unwrap().mean / 20.0);
}

/// The paper: "≈ 99% of predicted labels being identical to those of the matching solution"; here with a fifth of its
/// batch.
#[test]
fn learners_agree_with_match() {
    let pupils = &reduced().pupils;
    assert_eq!(pupils.iter().map(|pupil| pupil.name).collect::<Vec<_>>(), ["svm", "logistic", "forest"]);
    for pupil in pupils {
        assert_eq!((pupil.batch, pupil.rows), (2000, 20_000));
        assert!(pupil.agreement > 0.96 && pupil.frontier_gap < 0.005, "{pupil:?}");
    }
}

/// fig:pareto-NC: at the same γ, the learned rule is nearly as good as balance; the ends are argmax and match.
#[test]
fn the_trade_of_voters_is_learned() {
    for file in &reduced().voters {
        assert_eq!(file.trades.len(), GAMMAS.len());
        for trade in &file.trades {
            let (exact, learned) = (trade.exact, trade.learned);
            assert!((exact.accuracy - learned.accuracy).abs() < 0.02, "{:?}: {trade:?}", file.made);
            assert!((exact.fidelity_to_posterior - learned.fidelity_to_posterior).abs() < 0.1, "{trade:?}");
        }
        let (first, last) = (file.trades.first().unwrap(), file.trades.last().unwrap());
        assert_eq!(Some(&first.exact), file.outcome("argmax"));
        assert_eq!(Some(&last.exact), file.outcome("match"));
        assert_eq!(Some(&last.learned), file.outcome("learned"));
    }
}

/// The same rule gives the same results in both lists; with fewer voters than a batch, batches change nothing.
#[test]
fn variants_agree_with_the_rules_of_the_tables() {
    for file in &reduced().voters {
        let variant = |family: Family, setting: f64| {
            let mut own = file.variants.iter().filter(|own| own.family == family && own.setting == setting);
            own.next().map(|variant| variant.outcome)
        };
        assert_eq!(variant(Family::TopK, 2.0), file.outcome("top-2").copied());
        assert_eq!(variant(Family::Threshold, 0.8), file.outcome("threshold 0.8").copied());
        assert_eq!(variant(Family::BatchedMatch, BATCH as f64), file.outcome("match").copied());
        assert_eq!(variant(Family::BatchedBalance, BATCH as f64), file.outcome("balance γ 0.9").copied());
    }
}

/// Theorem 1 (iii) with equality, for every c.
#[test]
fn the_worst_case_is_as_bad_as_its_error() {
    for case in &reduced().worst_case {
        assert!(case.is_equal(), "{case:?}");
        let off = case.mae.mean - case.expected_mae;
        assert!(off.abs() <= 3.0 * case.mae.standard_error + 1e-12, "{case:?}");
        assert!((case.bias[0].mean - case.unknown * 5.0 / 6.0).abs() < 1e-12);
        assert!((case.bias_against_posterior[0].mean - case.mae.mean).abs() < 1e-9, "dataset by dataset");
        assert!(case.bias[1..].iter().all(|bias| (bias.mean + case.unknown / 6.0).abs() < 1e-12));
    }
}

/// On simulated voters, these comparisons are as in every table of the paper; `order.csv` lists others that are not.
#[test]
fn voters_are_labeled_as_in_the_paper() {
    for file in &reduced().voters {
        let own = |rule: &str| *file.outcome(rule).unwrap();
        let (argmax, matched) = (own("argmax"), own("match"));
        assert!(argmax.fidelity_to_posterior < matched.fidelity_to_posterior - 0.02, "{file:?}");
        assert!(own("thompson").accuracy < matched.accuracy - 0.03, "{file:?}");
        assert!(own("threshold 0.8").fidelity_to_posterior < argmax.fidelity_to_posterior, "{file:?}");
        assert!(own("threshold 0.8").coverage < 0.8 && own("threshold 0.8").accuracy > argmax.accuracy + 0.05);
        assert!(own("match to truth").fidelity_to_truth > -1e-9, "{file:?}");
    }
    let [calibrated, census, sharp, dropped] = &reduced().voters[..] else { panic!("four files") };
    let to_truth = |file: &VoterFile| file.outcome("match").unwrap().fidelity_to_truth;
    assert!(to_truth(calibrated) > to_truth(sharp) && to_truth(calibrated) > to_truth(census));
    assert_eq!((sharp.voters, dropped.voters), (5000, 4839)); // 3.23% fewer
}

/// Finds the pairs again from `tables.csv`, as text: differences of figures that are printed with three decimals.
#[test]
fn pairs_in_another_order_are_found_in_the_tables() {
    let files = reduced().files("");
    let read = |name: &str| -> Vec<Vec<String>> {
        let (_, bytes) = files.iter().find(|(file, _)| file == name).unwrap();
        let lines = std::str::from_utf8(bytes).unwrap().lines().skip(1);
        lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let printed =
        |cell: &str| -> i64 { format!("{:.3}", cell.parse::<f64>().unwrap()).replace('.', "").parse().unwrap() };
    let mut expected: Vec<String> = Vec::new();
    let tables = read("tables.csv");
    for (index, a) in tables.iter().enumerate() {
        for b in tables[index + 1..].iter().filter(|b| b[1] == a[1]) {
            for (measure, column) in [("accuracy", 5), ("fidelity_to_truth", 7), ("fidelity_to_posterior", 9)] {
                let paper = printed(&a[column]) - printed(&b[column]);
                let here = printed(&a[column + 1]) - printed(&b[column + 1]);
                let order = match (paper, here) {
                    (p, h) if p > 0 && h < 0 || p < 0 && h > 0 => "reversed",
                    (0, h) if !(-1..=1).contains(&h) => "equal in the paper",
                    (p, 0) if !(-1..=1).contains(&p) => "equal here",
                    _ => "",
                };
                let also_in_nc =
                    ["top-2", "match to truth"].iter().all(|rule| !a[2].starts_with(rule) && !b[2].starts_with(rule));
                if a[1] != "table-extended" || !also_in_nc {
                    expected.push([&a[1], measure, &a[2], &b[2], order].join(","));
                }
            }
        }
    }
    let mut found: Vec<String> = read("order.csv")
        .iter()
        .map(|row| [&row[1], &row[2], &row[3], &row[4], &row[9]].map(String::as_str).join(","))
        .collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    let page = String::from_utf8(files[0].1.clone()).unwrap();
    let differing = expected.iter().filter(|pair| !pair.ends_with(',')).count();
    assert!(differing > 20, "{differing}");
    let reversed = expected.iter().filter(|pair| pair.ends_with("reversed")).count();
    assert!(page.contains(&format!("{reversed} have the opposite order")), "{reversed}");
    let surprise = "table-NC,accuracy,balance γ 0.9,argmax,reversed";
    assert!(expected.iter().any(|pair| pair == surprise), "the paper: 0.846 and 0.844");
}

/// The published code's error, which weights by density twice, is the paper's 0.42.
#[test]
fn the_error_of_the_paper_is_weighted_by_density() {
    let Contest { mae, mae_by_density, .. } = &reduced().all_rules;
    assert!((mae.mean - 0.4117).abs() < 4.0 * mae.standard_error, "{mae:?}");
    assert!((mae_by_density.mean - 0.4233).abs() < 4.0 * mae_by_density.standard_error, "{mae_by_density:?}");
}

/// fig:pocrep: argmax undercounts people who are not white in nearly all states, and more so with less information.
#[test]
fn argmax_undercounts_in_nearly_all_states() {
    let states = &reduced().states;
    assert_eq!(states.len(), 51);
    let over: Vec<&str> = states.iter().filter(|state| state.bias() >= 0.0).map(|state| state.name.as_str()).collect();
    assert_eq!(over, ["DC"]);
    let people: f64 = states.iter().map(State::people).sum();
    assert!((people / 258.3e6 - 1.0).abs() < 0.005, "adults of the Census of 2020: 258.3 million, not {people}");
    let mean = |bias: fn(&State) -> f64| states.iter().map(|state| bias(state).abs() * state.people()).sum::<f64>();
    assert!(mean(State::bias_by_state) > mean(State::bias));
}

/// The tables have the paper's layout, and we have figures for every rule.
#[test]
fn published_rules_are_ours() {
    for table in published() {
        for (rule, _) in &table.rows {
            assert!(rules().iter().any(|(name, _)| name == rule), "{rule} in {}", table.label);
        }
    }
}

/// The numbers of a seed do not change, to nine decimals. `PAPER=write` stores new ones, and needs a line in the
/// changelog.
#[test]
fn numbers_are_frozen() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reduced");
    let files = reduced().files("apportion reproduce");
    let tables: Vec<_> = files.iter().filter(|(name, _)| name.ends_with(".csv")).collect();
    assert_eq!(tables.len(), 29);
    for (name, bytes) in tables {
        let found = std::str::from_utf8(bytes).unwrap();
        if std::env::var("PAPER").is_ok_and(|what| what == "write") {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), rounded(found)).unwrap();
        }
        let kept = fs::read_to_string(folder.join(name)).unwrap();
        let (kept_lines, found_lines) = (kept.lines().count(), found.lines().count());
        assert_eq!(kept_lines, found_lines, "{name}");
        kept.lines().zip(found.lines()).for_each(|(kept, found)| same(name, kept, found));
    }
}

fn rounded(table: &str) -> String {
    let cell = |cell: &str| match cell.parse::<f64>() {
        Ok(number) if cell.len() > 10 => format!("{number:.9}"),
        _ => cell.to_owned(),
    };
    table.lines().map(|line| line.split(',').map(cell).collect::<Vec<_>>().join(",") + "\n").collect()
}

/// Compares two lines. The last digits may differ, because logarithms depend on the machine.
fn same(name: &str, kept: &str, found: &str) {
    for (kept, found) in kept.split(',').zip(found.split(',')) {
        match (kept.parse::<f64>(), found.parse::<f64>()) {
            (Ok(a), Ok(b)) => assert!((a - b).abs() < 2e-9, "{name}: {kept} was kept, {found} is found"),
            _ => assert_eq!(kept, found, "{name}"),
        }
    }
}

/// The page has every figure and table of the paper that it mentions, and the command to reproduce it.
#[test]
fn the_page_is_whole() {
    let files = reduced().files("apportion reproduce -o here");
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let figures = [
        "info-bias",
        "info-pareto",
        "pareto-simulation",
        "worstcasebias",
        "pareto-NC",
        "pareto-bisg",
        "pareto-raking",
        "pareto-dropuncoded",
        "pocrep",
        "variants-NC",
        "variants-bisg",
        "variants-raking",
        "variants-dropuncoded",
        "votercounts-NC",
        "votercounts-bisg",
        "votercounts-raking",
        "votercounts-dropuncoded",
        "calibration-nc",
        "calibration-bisg",
        "calibration-raking",
        "simplex-main",
        "simplex-appendix",
        "popmap",
        "biasmap-NC",
        "biasmap-bisg",
        "biasmap-raking",
    ];
    for figure in figures {
        assert!(
            names.contains(&format!("{figure}.csv").as_str()) && names.contains(&format!("{figure}.json").as_str())
        );
    }
    let page = String::from_utf8(files[0].1.clone()).unwrap();
    for part in
        figures.into_iter().chain(["tab:table-NC", "tab:table-public", "tab:table-appendix", "reproduce -o here"])
    {
        assert!(page.contains(part), "{part}");
    }
    let numbers = files.iter().filter(|(name, _)| name.ends_with(".csv"));
    assert!(numbers.clone().all(|(_, bytes)| !std::str::from_utf8(bytes).unwrap().contains("NaN")));
}
