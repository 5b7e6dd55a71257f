//! Compares raking with plain iterative proportional fitting, and fBISG with the exact distribution of its draws.
#![allow(clippy::unwrap_used)] // also in helpers

use apportion_bisg::*;
use proptest::prelude::*;

/// Rakes rows of scores. Returns the weights and the final status.
fn rake(rows: &[Vec<f64>], shares: &[f64]) -> apportion_bisg::Result<(Vec<f64>, RakingStatus)> {
    let classes: Vec<String> = (0..shares.len()).map(|class| format!("class {class}")).collect();
    let mut raking = Raking::new(shares)?;
    loop {
        let (weights, mut margins) = (raking.weights(), Margins::new(shares.len()));
        rows.iter().for_each(|row| margins.add(row, &weights));
        match raking.step(&margins, &classes)? {
            RakingStatus::Continue => {}
            end => return Ok((weights, end)),
        }
    }
}

fn raked(row: &[f64], weights: &[f64]) -> Vec<f64> {
    let sum: f64 = row.iter().zip(weights).map(|(score, weight)| score * weight).sum();
    row.iter().zip(weights).map(|(score, weight)| score * weight / sum).collect()
}

/// Fits a whole table by iterative proportional fitting: alternates between scaling columns to their targets and rows
/// to one.
fn fitted(rows: &[Vec<f64>], shares: &[f64]) -> Vec<Vec<f64>> {
    let (mut table, people) = (rows.to_vec(), rows.len() as f64);
    for _ in 0..20_000 {
        for (class, share) in shares.iter().enumerate() {
            let sum: f64 = table.iter().map(|row| row[class]).sum();
            if sum > 0.0 {
                table.iter_mut().for_each(|row| row[class] *= share * people / sum);
            }
        }
        for row in &mut table {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|value| *value /= sum);
        }
    }
    table
}

fn normalized(row: &[f64]) -> Vec<f64> {
    let sum: f64 = row.iter().sum();
    row.iter().map(|value| value / sum).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// The margins are met to 1e-9, and the result equals a dense fit. Some scores are zero, in some cases so that the
    /// classes form sets that share no person. The margin is that of another table with the same zeros, so it can be
    /// met.
    #[test]
    fn raking_equals_a_dense_fit(
        people in prop::collection::vec((1usize..16, any::<bool>(), prop::collection::vec((0.02f64..1.0, 0.05f64..1.0), 4)), 2..12),
        has_blocks in any::<bool>(),
    ) {
        let (mut rows, mut others) = (Vec::new(), Vec::new());
        for (allowed, is_first, numbers) in &people {
            let block = match (has_blocks, is_first) { (false, _) => 15, (true, true) => 3, (true, false) => 12 };
            let allowed = if allowed & block == 0 { block } else { allowed & block };
            let kept = |class: usize, number: f64| if allowed >> class & 1 == 1 { number } else { 0.0 };
            rows.push(normalized(&(0..4).map(|class| kept(class, numbers[class].0)).collect::<Vec<_>>()));
            others.push(normalized(&(0..4).map(|class| kept(class, numbers[class].1)).collect::<Vec<_>>()));
        }
        let share = |class: usize| others.iter().map(|row| row[class]).sum::<f64>() / others.len() as f64;
        let shares: Vec<f64> = (0..4).map(share).collect();
        let (weights, end) = rake(&rows, &shares).unwrap();
        prop_assert_eq!(end, RakingStatus::Converged);
        let dense = fitted(&rows, &shares);
        let mut sums = [0.0; 4];
        for (row, dense) in rows.iter().zip(&dense) {
            let own = raked(row, &weights);
            for class in 0..4 {
                sums[class] += own[class];
                prop_assert!((own[class] - dense[class]).abs() < 1e-8, "{own:?} {dense:?}");
            }
        }
        for class in 0..4 {
            prop_assert!((sums[class] / rows.len() as f64 - shares[class]).abs() < 1e-9);
        }
    }
}

/// The weights of classes that share no person are independent.
#[test]
fn classes_that_share_no_person_are_raked() {
    let rows = vec![vec![0.7, 0.3, 0.0, 0.0], vec![0.0, 0.0, 0.6, 0.4]];
    let (weights, end) = rake(&rows, &[0.3, 0.2, 0.25, 0.25]).unwrap();
    assert_eq!(end, RakingStatus::Converged);
    for (row, expected) in rows.iter().zip([[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]) {
        raked(row, &weights).iter().zip(expected).for_each(|(own, wanted)| assert!((own - wanted).abs() < 1e-9));
    }
    // The target of the first two classes exceeds the number of people who can be in them.
    let (_, end) = rake(&rows, &[0.3, 0.3, 0.2, 0.2]).unwrap();
    assert!(matches!(end, RakingStatus::NotConverged(_)), "{end:?}");
}

#[test]
fn raking_does_not_depend_on_the_order_of_people() {
    let rows: Vec<Vec<f64>> =
        (1..400).map(|i| normalized(&[1.0, f64::from(i % 17) / 9.0, f64::from(i % 5) / 30.0])).collect();
    let back: Vec<Vec<f64>> = rows.iter().rev().cloned().collect();
    assert_eq!(rake(&rows, &[0.5, 0.4, 0.1]).unwrap(), rake(&back, &[0.5, 0.4, 0.1]).unwrap());
}

#[test]
fn far_margins_are_met_in_a_few_passes() {
    let rows: Vec<Vec<f64>> = (1..300).map(|i| normalized(&[1.0, 1e-4 * f64::from(i), 1e-7])).collect();
    let (weights, end) = rake(&rows, &[0.01, 0.09, 0.9]).unwrap();
    assert_eq!(end, RakingStatus::Converged);
    let sum: f64 = rows.iter().map(|row| raked(row, &weights)[2]).sum();
    assert!((sum / rows.len() as f64 - 0.9).abs() < 1e-9);
}

#[test]
fn margins_that_cannot_be_met_say_why() {
    // A class with target 0 gets weight 0.
    let rows = vec![vec![0.5, 0.3, 0.2], vec![0.2, 0.2, 0.6]];
    let (weights, end) = rake(&rows, &[0.5, 0.5, 0.0]).unwrap();
    assert_eq!((weights[2], end), (0.0, RakingStatus::Converged));
    // The error names a class that is zero in all scores.
    let none = vec![vec![0.5, 0.5, 0.0], vec![0.2, 0.8, 0.0]];
    let Err(Error::Model { problem }) = rake(&none, &[0.5, 0.4, 0.1]) else { panic!() };
    assert!(problem.contains("\"class 2\""), "{problem}");
    // Seven in ten people can only be in the first class, whose target is one half.
    let mut rows = vec![vec![1.0, 0.0, 0.0]; 7];
    rows.extend(vec![vec![0.0, 0.5, 0.5]; 3]);
    let (_, end) = rake(&rows, &[0.5, 0.3, 0.2]).unwrap();
    let RakingStatus::NotConverged(reached) = end else { panic!("{end:?}") };
    assert!((reached[0] - 0.7).abs() < 1e-6, "{reached:?}");
    assert!(Raking::new(&[0.0, 0.0]).is_err() && Raking::new(&[0.5, -0.5]).is_err());
}

/// The fit meets all three margins of a known table, and its odds ratios equal those of the initial scores, which
/// distinguishes a proportional fit from all other tables with these margins.
#[test]
fn three_ways_meet_all_margins_of_a_dense_table() {
    const NAMES: usize = 4;
    const PLACES: usize = 3;
    let truth = |name: usize, place: usize, class: usize| ((name * 7 + place * 5 + class * 3) % 11 + 1) as f64;
    let each = || (0..NAMES).flat_map(|name| (0..PLACES).map(move |place| (name, place)));
    let people = |name, place| (0..3).map(|class| truth(name, place, class)).sum();
    let cells: Vec<Cell> = each()
        .map(|(name, place)| Cell { name: name as u32, place: place as u32, people: people(name, place) })
        .collect();
    let by_name: Vec<f64> = (0..NAMES)
        .flat_map(|name| (0..3).map(move |class| (0..PLACES).map(|place| truth(name, place, class)).sum()))
        .collect();
    let by_place: Vec<f64> = (0..PLACES)
        .flat_map(|place| (0..3).map(move |class| (0..NAMES).map(|name| truth(name, place, class)).sum()))
        .collect();
    let before: Vec<f64> = each()
        .flat_map(|(name, place)| {
            normalized(&[1.0, 0.5 + (name * place) as f64, 0.3 + name as f64 / (place + 1) as f64])
        })
        .collect();
    let mut scores = before.clone();
    let fit = ipf(&cells, &mut scores, &by_name, &by_place, 3, 1e-12).unwrap();
    assert!(fit.converged, "{fit:?}");
    let at = |scores: &[f64], name: usize, place: usize, class: usize| scores[(name * PLACES + place) * 3 + class];
    for class in 0..3 {
        for name in 0..NAMES {
            let sum: f64 = (0..PLACES).map(|place| at(&scores, name, place, class) * people(name, place)).sum();
            assert!((sum - by_name[name * 3 + class]).abs() < 1e-9);
        }
        for place in 0..PLACES {
            let sum: f64 = (0..NAMES).map(|name| at(&scores, name, place, class) * people(name, place)).sum();
            assert!((sum - by_place[place * 3 + class]).abs() < 1e-9);
        }
    }
    let odds = |scores: &[f64], name: usize, place: usize, class: usize| {
        let one = |name, place| at(scores, name, place, class) / at(scores, name, place, 0);
        one(name, place) * one(0, 0) / one(name, 0) / one(0, place)
    };
    for (name, place, class) in each().flat_map(|(name, place)| [(name, place, 1), (name, place, 2)]) {
        let (own, first) = (odds(&scores, name, place, class), odds(&before, name, place, class));
        assert!((own / first - 1.0).abs() < 1e-9, "{own} {first}");
    }
    // Margins that contradict each other do not converge, and the fit reports this.
    let mut wrong = by_place.clone();
    wrong[0] += 10.0;
    assert!(!ipf(&cells, &mut scores, &by_name, &wrong, 3, 1e-12).unwrap().converged);
    assert!(ipf(&cells, &mut scores, &by_name[3..], &by_place, 3, 1e-12).is_err());
}

/// A table of names × places, with the margins of the true classes.
struct Town {
    cells: Vec<Cell>,
    scores: Vec<f64>,
    by_name: Vec<f64>,
    by_place: Vec<f64>,
}

impl Town {
    /// Creates a table from cells: name, place, true number of people by class, and scores.
    fn new(names: usize, places: usize, all: &[(usize, usize, [f64; 3], [f64; 3])]) -> Town {
        let mut town = Town {
            cells: Vec::new(),
            scores: Vec::new(),
            by_name: vec![0.0; names * 3],
            by_place: vec![0.0; places * 3],
        };
        for (name, place, truth, scores) in all {
            town.cells.push(Cell { name: *name as u32, place: *place as u32, people: truth.iter().sum() });
            town.scores.extend(normalized(scores));
            for (class, people) in truth.iter().enumerate() {
                town.by_name[name * 3 + class] += people;
                town.by_place[place * 3 + class] += people;
            }
        }
        town
    }

    fn rake(&self, near: f64) -> (Vec<f64>, Fit) {
        let mut scores = self.scores.clone();
        let fit = ipf(&self.cells, &mut scores, &self.by_name, &self.by_place, 3, near).unwrap();
        scores.chunks_exact(3).for_each(|row| assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{row:?}"));
        (scores, fit)
    }

    /// Returns the largest deviation of the scores from the margins, in people.
    fn off(&self, scores: &[f64]) -> f64 {
        let (mut names, mut places) = (self.by_name.clone(), self.by_place.clone());
        for (cell, row) in self.cells.iter().zip(scores.chunks_exact(3)) {
            for class in 0..3 {
                names[cell.name as usize * 3 + class] -= cell.people * row[class];
                places[cell.place as usize * 3 + class] -= cell.people * row[class];
            }
        }
        names.iter().chain(&places).fold(0.0, |most, off| most.max(off.abs()))
    }

    /// Fits the scores by plain iterative proportional fitting of places, names and cells.
    fn fitted(&self) -> Vec<f64> {
        let mut scores = self.scores.clone();
        for _ in 0..20_000 {
            for (margin, of) in
                [(&self.by_place, (|cell| cell.place) as fn(&Cell) -> u32), (&self.by_name, |cell| cell.name)]
            {
                let mut sums = vec![0.0; margin.len()];
                let at = |place: usize| of(&self.cells[place / 3]) as usize * 3 + place % 3;
                (0..scores.len()).for_each(|place| sums[at(place)] += self.cells[place / 3].people * scores[place]);
                let scale =
                    |place: usize| if sums[at(place)] > 0.0 { margin[at(place)] / sums[at(place)] } else { 1.0 };
                (0..scores.len()).for_each(|place| scores[place] *= scale(place));
            }
            scores.chunks_exact_mut(3).for_each(|row| row.copy_from_slice(&normalized(row)));
        }
        scores
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// The result equals a dense fit, for any pattern of zero scores.
    #[test]
    fn three_ways_equal_a_dense_fit(
        all in prop::collection::vec((1usize..8, prop::collection::vec((0.2f64..9.0, 0.02f64..1.0), 3)), 12),
    ) {
        let mut cells = Vec::new();
        for (place, (allowed, numbers)) in all.iter().enumerate() {
            let kept = |class: usize, number: f64| if allowed >> class & 1 == 1 { number } else { 0.0 };
            let of = |which: fn(&(f64, f64)) -> f64| std::array::from_fn(|class| kept(class, which(&numbers[class])));
            cells.push((place / 3, place % 3, of(|both| both.0), of(|both| both.1)));
        }
        let town = Town::new(4, 3, &cells);
        let (scores, fit) = town.rake(1e-12);
        prop_assert!(fit.converged, "{fit:?}");
        prop_assert!(town.off(&scores) < 1e-9);
        for (own, dense) in scores.iter().zip(town.fitted()) {
            prop_assert!((own - dense).abs() < 1e-7, "{own} {dense}");
        }
    }
}

/// Returns people with known classes, counted by name and place. Most names are rare, so both margins contain many
/// zeros, and some scores can only go to zero.
fn town_of_rare_names() -> Town {
    let mut all: std::collections::BTreeMap<(usize, usize), [f64; 3]> = std::collections::BTreeMap::new();
    let mut draw = 1u64;
    for _ in 0..6_000 {
        let mut next = |bound: u64| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((draw >> 33) % bound) as usize
        };
        let name = (next(1_000) * next(1_000) * next(1_000)) / 500_000;
        let place = next(25);
        let class = [0, 0, 0, 1, 2][(next(100) * 5 / 100 + name % 3 * place % 2).min(4)];
        all.entry((name, place)).or_default()[class] += 1.0;
    }
    let cell = |((name, place), truth): (&(usize, usize), &[f64; 3])| {
        (*name, *place, *truth, [0.7, 0.05 + (name % 7) as f64 / 10.0, 0.01 + (name % 5 * (place % 4)) as f64 / 50.0])
    };
    Town::new(2_000, 25, &all.iter().map(cell).collect::<Vec<_>>())
}

#[test]
fn margins_full_of_zeros_are_met_soon() {
    let town = town_of_rare_names();
    let (scores, fit) = town.rake(1e-9);
    assert!(fit.converged && fit.rounds < 500, "{fit:?}");
    assert!(town.off(&scores) <= 6_000.0 * 1e-9);
    // Odds ratios are preserved for every two names that share two places.
    let at = |name: u32, place: u32| {
        let found = town.cells.binary_search_by_key(&(name, place), |cell| (cell.name, cell.place)).ok()?;
        let odds = |scores: &[f64]| (scores[found * 3] / scores[found * 3 + 1]).ln();
        let is_inside = scores[found * 3..found * 3 + 2].iter().all(|score| *score > 1e-9);
        is_inside.then(|| odds(&scores) - odds(&town.scores))
    };
    let mut seen = 0;
    for (a, b) in (0..60).flat_map(|a| (0..a).map(move |b| (a, b))) {
        for place in 1..25 {
            let [Some(one), Some(two), Some(three), Some(four)] = [at(a, 0), at(a, place), at(b, 0), at(b, place)]
            else {
                continue;
            };
            assert!((one - two - three + four).abs() < 1e-9);
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
    // The result is bitwise equal for any number of threads.
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| town.rake(1e-9)), (scores.clone(), fit));
    }
}

/// If the margins force scores to zero, the error of plain rounds only falls as one over their number: 5,000 rounds
/// would not be enough.
#[test]
fn scores_that_must_vanish_do_so_soon() {
    let (first, second, scores) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.4, 0.0]);
    let town = Town::new(2, 2, &[(0, 0, second, scores), (0, 1, first, scores), (1, 0, first, scores)]);
    let (raked, fit) = town.rake(1e-9);
    assert!(fit.converged && fit.rounds < 200, "{fit:?}");
    raked.iter().zip([second, first, first].concat()).for_each(|(own, truth)| assert!((own - truth).abs() < 1e-8));
}

/// If a margin requires people that the scores exclude, its row and class are reported, not other margins that are
/// missed as a consequence.
#[test]
fn what_scores_exclude_is_told_itself() {
    let mut town =
        Town::new(2, 1, &[(0, 0, [10.0, 0.0, 0.0], [1.0, 0.0, 0.0]), (1, 0, [5.0, 5.0, 0.0], [0.5, 0.5, 0.0])]);
    town.by_name[..2].copy_from_slice(&[8.0, 2.0]);
    town.by_place.copy_from_slice(&[10.0, 10.0, 0.0]);
    let fit = town.rake(1e-9).1;
    assert_eq!(fit.furthest, Some((MarginKey::Name, MarginMiss { row: 0, class: 1, wanted: 2.0, reached: 0.0 })));
    assert!(!fit.converged && fit.rounds == 0 && fit.off == 0.1, "{fit:?}");
    // Margins contradict each other although scores exclude no one: more rounds would not help.
    let mut town = town_of_rare_names();
    (town.by_place[0], town.by_place[1]) = (town.by_place[0] + 30.0, town.by_place[1] - 30.0);
    let fit = town.rake(1e-9).1;
    assert!(!fit.converged && !fit.is_slow && fit.rounds > 0 && fit.off > 1e-4, "{fit:?}");
}

/// A person whose name and place exclude each other keeps the scores, and counts as deviation.
#[test]
fn scores_that_margins_exclude_altogether_are_kept() {
    let mut town =
        Town::new(2, 2, &[(0, 0, [1.0, 0.0, 0.0], [0.3, 0.6, 0.1]), (1, 1, [5.0, 3.0, 1.0], [0.4, 0.4, 0.2])]);
    town.by_place[..3].copy_from_slice(&[0.0, 1.0, 0.0]);
    let (scores, fit) = town.rake(0.2);
    assert_eq!(scores[..3], normalized(&[0.3, 0.6, 0.1]));
    assert!(fit.converged && fit.off >= 0.1, "{fit:?}");
    let (scores, fit) = town.rake(0.09);
    assert_eq!(scores[..3], normalized(&[0.3, 0.6, 0.1]));
    assert!(!fit.converged, "{fit:?}");
}

/// People with known margins by name and by county, and two classes.
struct Known {
    margins: KnownMargins,
    people: Vec<(&'static str, u64, [f64; 2])>,
}

fn known() -> Known {
    let names =
        NameTable::new(2, ["ADAMS", "BAKER", "CLARK"], vec![60.0, 40.0, 2.0, 8.0, 0.0, 0.0], Numbers::People, None);
    let counties = PlaceTable::by_code(Level::County, 2, [37001, 37003], vec![0.55, 0.45, 0.3, 0.7], Numbers::Shares);
    let people = vec![
        ("Adams", 37001, [0.9, 0.1]),
        ("Adams", 37001, [0.9, 0.1]),
        ("Adams", 37003, [0.6, 0.4]),
        ("Adams Jr", 37003, [0.6, 0.4]),
        ("Baker", 37001, [0.3, 0.7]),
        ("Baker", 37003, [0.2, 0.8]),
        // Clark has no known people, a compound name is not counted with its parts, and 37005 is in no margin.
        ("Clark", 37001, [0.5, 0.5]),
        ("Adams-Baker", 37003, [0.7, 0.3]),
        ("Adams", 37005, [0.8, 0.2]),
    ];
    Known { margins: KnownMargins::new(Some(names.unwrap()), Some(counties.unwrap())).unwrap(), people }
}

impl Known {
    fn rows(&self, name: &str, county: u64) -> MarginRows {
        let place = Place { code: Some((Level::County, county)), ..Place::default() };
        self.margins.rows(self.margins.find_name(name, &mut Scratch::default()), &place)
    }

    fn raked(&self, order: impl Iterator<Item = usize>) -> Vec<[f64; 2]> {
        let (mut cells, mut others) = (Cells::default(), Cells::default());
        for (place, person) in order.enumerate() {
            let (name, county, scores) = self.people[person];
            if place % 2 == 0 { &mut cells } else { &mut others }.add(self.rows(name, county), &scores);
        }
        cells.merge(&others);
        let (raked, fit) = cells.rake(&self.margins, 1e-13).unwrap();
        assert!(fit.converged, "{fit:?}");
        let apply = |&(name, county, mut scores): &(&str, u64, [f64; 2])| {
            raked.apply(self.rows(name, county), &mut scores);
            scores
        };
        self.people.iter().map(apply).collect()
    }
}

#[test]
fn people_are_raked_to_margins_by_name_and_place() {
    let known = known();
    let raked = known.raked(0..9);
    let sum = |of: &[usize]| of.iter().map(|&person| raked[person][0]).sum::<f64>();
    for (people, share) in [(&[0, 1, 2, 3, 8][..], 0.6), (&[4, 5], 0.2), (&[0, 1, 4, 6], 0.55), (&[2, 3, 5, 7], 0.3)] {
        assert!((sum(people) / people.len() as f64 - share).abs() < 1e-12, "{people:?} {raked:?}");
    }
    raked.iter().for_each(|scores| assert!((scores[0] + scores[1] - 1.0).abs() < 1e-12));
    // Raking multiplies the odds of the scores by a factor for the name and a factor for the place. An unknown name
    // or place has no factor.
    let odds =
        |person: usize| raked[person][0] / raked[person][1] / (known.people[person].2[0] / known.people[person].2[1]);
    assert!((odds(0) / odds(2) / (odds(4) / odds(5)) - 1.0).abs() < 1e-9);
    assert!((odds(0) / odds(4) / (odds(2) / odds(5)) - 1.0).abs() < 1e-9);
    assert!((odds(6) * odds(8) / odds(0) - 1.0).abs() < 1e-9, "Clark's factor is the county's, 37005's is the name's");
    assert!((odds(7) * odds(0) / (odds(2) * odds(6)) - 1.0).abs() < 1e-9);
    // The result is bitwise equal for any order.
    assert_eq!(known.raked((0..9).rev()), raked);
}

/// A margin that the scores exclude is reported before the first round, with its row and class.
#[test]
fn margins_that_scores_exclude_are_told_by_row_and_class() {
    let known = known();
    let mut cells = Cells::default();
    cells.add(known.rows("Adams", 37001), &[1.0, 0.0]);
    cells.add(known.rows("Baker", 37001), &[0.5, 0.5]);
    let (_, fit) = cells.clone().rake(&known.margins, 1e-9).unwrap();
    assert!(!fit.converged && fit.rounds == 0 && !fit.is_slow, "{fit:?}");
    let (by, off) = fit.furthest.unwrap();
    assert_eq!((by, off.row, off.class), (MarginKey::Name, 0, 1));
    assert!((off.wanted - 0.4).abs() < 1e-12 && off.reached == 0.0, "{off:?}");
    assert!(cells.rake(&known.margins, 0.9).unwrap().1.converged);
    // A margin cannot be P(key | class), and at least one margin is required.
    let spread =
        PlaceTable::by_code(Level::County, 2, [1, 2], vec![0.5, 0.5, 0.5, 0.5], Numbers::KeyGivenClass).unwrap();
    assert!(KnownMargins::new(None, Some(spread)).is_err() && KnownMargins::new(None, None).is_err());
}

/// Returns the exact probability of each class for each person of a place, by enumerating all assignments of classes.
/// With Census counts N and a prior of one per class, the weight of an assignment is the product of the likelihoods of
/// the names and of (N_r + 1)(N_r + 2)… with one factor for each person in class r.
fn exact(counts: &[f64], names: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (k, people) = (counts.len(), names.len());
    let mut sums = vec![vec![0.0; k]; people];
    for way in 0..k.pow(people as u32) {
        let classes: Vec<usize> = (0..people).map(|person| way / k.pow(person as u32) % k).collect();
        let mut weight = 1.0;
        let mut all: Vec<f64> = counts.iter().map(|count| count + 1.0).collect();
        for (person, &class) in classes.iter().enumerate() {
            weight *= all[class] * names[person][class];
            all[class] += 1.0;
        }
        classes.iter().enumerate().for_each(|(person, &class)| sums[person][class] += weight);
    }
    sums.iter().map(|row| normalized(row)).collect()
}

#[test]
fn means_agree_with_the_exact_law() {
    let counts = [3.0, 0.0, 1.0];
    let names =
        vec![vec![0.5, 0.3, 0.2], vec![0.1, 0.6, 0.1], vec![0.2, 0.1, 0.7], vec![0.3, 0.3, 0.3], vec![0.05, 0.9, 0.05]];
    let expected = exact(&counts, &names);
    let flat: Vec<f64> = names.concat();
    // Many short runs, because the draws of one run are correlated.
    let (mut sums, runs) = (vec![0.0; 15], 400);
    for seed in 0..runs {
        let gibbs = Gibbs { burn_in: 50, kept: 250, seed };
        let means = gibbs.scores(7, &counts, &flat);
        sums.iter_mut().zip(means).for_each(|(sum, mean)| *sum += mean / runs as f64);
    }
    for (person, expected) in expected.iter().enumerate() {
        for class in 0..3 {
            let off = sums[person * 3 + class] - expected[class];
            assert!(off.abs() < 0.004, "person {person}, class {class}: {off} beside {}", expected[class]);
        }
    }
}

#[test]
fn means_belong_to_seed_and_place() {
    let (counts, names) = ([2.0, 5.0], [0.4, 0.6, 0.7, 0.3, 0.5, 0.5]);
    let gibbs = Gibbs { burn_in: 10, kept: 100, seed: 1 };
    let means = gibbs.scores(3, &counts, &names);
    assert_eq!(means, gibbs.scores(3, &counts, &names));
    assert!(means.chunks_exact(2).all(|row| (row[0] + row[1] - 1.0).abs() < 1e-12));
    assert_ne!(means, gibbs.scores(4, &counts, &names));
    assert_ne!(means, Gibbs { seed: 2, ..gibbs }.scores(3, &counts, &names));
    // A change to these means needs an entry in the changelog.
    let rounded: Vec<f64> = means.iter().map(|mean| (mean * 1e6).round() / 1e6).collect();
    assert_eq!(rounded, [0.274236, 0.725764, 0.537628, 0.462372, 0.35, 0.65]);
}

/// The means are closer to the exact law than the frequencies of as many independent draws would be on average.
#[test]
fn means_have_less_noise_than_draws() {
    let (counts, names) = ([30.0, 10.0], vec![vec![0.4, 0.6], vec![0.9, 0.1], vec![0.5, 0.5]]);
    let (expected, flat) = (exact(&counts, &names), names.concat());
    let (mut noise, mut of_draws) = (0.0, 0.0);
    for seed in 0..50 {
        let means = Gibbs { burn_in: 20, kept: 100, seed }.scores(1, &counts, &flat);
        for (mean, expected) in means.chunks_exact(2).zip(&expected) {
            noise += (mean[0] - expected[0]).powi(2);
            of_draws += expected[0] * (1.0 - expected[0]) / 100.0;
        }
    }
    assert!(noise < 0.1 * of_draws, "{noise} {of_draws}");
}

/// A false zero in the Census counts does not exclude a class, and no score is zero.
#[test]
fn false_zeros_are_cured() {
    let names: Vec<f64> = (0..20).flat_map(|_| [1e-6, 0.01]).collect();
    let means = Gibbs::default().scores(0, &[50.0, 0.0], &names);
    let second: f64 = means.iter().skip(1).step_by(2).sum();
    assert!(second / 20.0 > 0.9, "{second}");
    let sure = Gibbs::default().scores(0, &[1e6, 0.0], &[0.9, 1e-15]);
    assert!(sure[1] > 0.0 && sure[1] < 1e-15, "{sure:?}");
}
