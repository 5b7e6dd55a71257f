//! Tables, counts, calibration and maps of a small public file, computed again cell by cell; and the figures of simulated
//! voters, compared with each other.
#![allow(clippy::unwrap_used)] // in helpers

use std::sync::OnceLock;

use apportion_bisg::census::counties;
use apportion_paper::*;

const K: usize = 6;

/// Random numbers from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}

/// Cells of 90 surnames in four counties. The largest class differs between surnames; BISG is close to the true shares,
/// and raking has smaller scores for white.
fn public() -> PublicVoters {
    let mut random = Random(7);
    let mut cells = Vec::new();
    for surname in 0..90 {
        for county in 0..4 {
            let weight = |class: usize| match class {
                0 if surname % 3 != 0 => 6.0,
                class if class == surname % K => 5.0,
                _ => 0.6,
            };
            let expected: [f64; K] = std::array::from_fn(|class| weight(class) * (0.2 + random.next()));
            let voters = expected.map(|expected| (4.0 * expected).round() as u64);
            let scaled = |factors: [f64; K]| {
                let values: [f64; K] = std::array::from_fn(|class| expected[class] * factors[class]);
                let sum: f64 = values.iter().sum();
                values.map(|value| value / sum)
            };
            let bisg = scaled(std::array::from_fn(|_| 0.8 + 0.4 * random.next()));
            let raking = scaled([0.6, 1.0, 1.1, 1.3, 1.2, 1.5]);
            cells.push(PublicCell { county, voters, bisg, raking });
        }
    }
    let names = ["Durham", "WAKE", "37135", "Chatham county"].map(String::from);
    PublicVoters { name: "public.csv".into(), counties: names.to_vec(), cells }
}

fn reduced() -> &'static Reproduction {
    static REDUCED: OnceLock<Reproduction> = OnceLock::new();
    let plan = Plan { datasets: 2, rows: 100, voters: 3000, seed: 4 };
    REDUCED.get_or_init(|| Reproduction::of(&plan, Some(&public()), |_| ()).unwrap())
}

fn file(made: Made) -> &'static VoterFile {
    reduced().voters.iter().find(|file| file.made == made).unwrap()
}

fn counts(file: &VoterFile, rule: &str) -> [f64; K] {
    let (_, counts) = file.counts.iter().find(|(name, _)| *name == rule).unwrap();
    std::array::from_fn(|class| counts[class] as f64)
}

/// −Σ |share − share|.
fn fidelity(counts: &[f64], reference: &[f64]) -> f64 {
    let (n, m): (f64, f64) = (counts.iter().sum(), reference.iter().sum());
    -counts.iter().zip(reference).map(|(own, other)| (own / n - other / m).abs()).sum::<f64>()
}

fn close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() < 1e-6, "{what}: {a} and {b}");
}

#[test]
fn a_public_file_is_computed_cell_by_cell() {
    let public = public();
    for (made, scores) in
        [(Made::Calibrated, (|cell| cell.bisg) as fn(&PublicCell) -> [f64; K]), (Made::CensusPrior, |cell| cell.raking)]
    {
        let file = file(made);
        assert!(file.is_public && file.words().contains("public file"));
        let (mut truth, mut posterior) = ([0.0; K], [0.0; K]);
        let (mut argmax, mut right) = ([0.0; K], 0.0);
        let (mut sure, mut sure_right) = ([0.0; K], 0.0);
        for cell in &public.cells {
            let (scores, people) = (scores(cell), cell.voters.iter().sum::<u64>() as f64);
            let best = (0..K).fold(0, |best, class| if scores[class] > scores[best] { class } else { best });
            argmax[best] += people;
            right += cell.voters[best] as f64;
            if scores[best] >= 0.8 {
                sure[best] += people;
                sure_right += cell.voters[best] as f64;
            }
            for class in 0..K {
                truth[class] += cell.voters[class] as f64;
                posterior[class] += people * scores[class];
            }
        }
        let n: f64 = truth.iter().sum();
        assert_eq!(file.voters as f64, n);
        assert!(file.truth.iter().zip(truth).all(|(own, truth)| *own as f64 == truth));
        file.posterior.iter().zip(posterior).for_each(|(own, sum)| assert!((own - sum).abs() < 1e-6 * n));
        assert_eq!(counts(file, "argmax"), argmax);
        let own = file.outcome("argmax").unwrap();
        close(own.accuracy, right / n, "accuracy of argmax");
        close(own.fidelity_to_truth, fidelity(&argmax, &truth), "argmax and truth");
        close(own.fidelity_to_posterior, fidelity(&argmax, &posterior), "argmax and posterior");
        let labeled: f64 = sure.iter().sum();
        let own = file.outcome("threshold 0.8").unwrap();
        assert!(labeled > 0.0 && labeled < n);
        close(own.coverage, labeled / n, "threshold");
        close(own.accuracy, sure_right / labeled, "accuracy of the threshold");
        assert_eq!(counts(file, "threshold 0.8"), sure);
        for (own, sum) in counts(file, "match").into_iter().zip(posterior) {
            assert!((own - sum).abs() < 1.0, "match: {own} and {sum}");
        }
        assert_eq!(counts(file, "match to truth"), truth);
        assert_eq!(counts(file, "match to truth by county"), truth);
        // Draws are within five standard errors, at most 0.5 / √n each.
        let drawn: f64 = public
            .cells
            .iter()
            .map(|cell| {
                let scores = scores(cell);
                (0..K).map(|class| scores[class] * cell.voters[class] as f64).sum::<f64>()
            })
            .sum();
        let own = file.outcome("thompson").unwrap().accuracy;
        assert!((own - drawn / n).abs() < 2.5 / n.sqrt(), "{own} and {}", drawn / n);
    }
    assert!(!file(Made::Overconfident).is_public && !file(Made::WithoutUncoded).is_public);
    let facts = reduced().public.clone().unwrap();
    assert_eq!((facts.name.as_str(), facts.cells, facts.voters), ("public.csv", 360, file(Made::Calibrated).voters));
}

/// Ten bins of equal width, in a loop over cells.
#[test]
fn calibration_is_that_of_a_loop_over_bins() {
    let (public, file) = (public(), file(Made::CensusPrior));
    for class in 0..K {
        let mut bins = [(0, 0.0, 0); 10];
        for cell in &public.cells {
            let (score, people) = (cell.raking[class], cell.voters.iter().sum::<u64>());
            let (all, sum, of_class) = &mut bins[((10.0 * score) as usize).min(9)];
            *all += people;
            *sum += people as f64 * score;
            *of_class += cell.voters[class];
        }
        let found = &file.calibration[class].equal_width.bins;
        assert_eq!(found.len(), 10);
        for (bin, (people, sum, of_class)) in found.iter().zip(bins) {
            assert_eq!(bin.people, people, "class {class}: {bin:?}");
            if people > 0 {
                close(bin.mean_score.unwrap(), sum / people as f64, "mean score");
                close(bin.observed.unwrap(), of_class as f64 / people as f64, "share in truth");
            }
        }
    }
}

#[test]
fn counties_have_the_shares_of_their_cells() {
    let (public, file) = (public(), file(Made::Calibrated));
    assert_eq!(
        file.counties.iter().map(|county| &county.name).collect::<Vec<_>>(),
        public.counties.iter().collect::<Vec<_>>()
    );
    for (code, county) in (0..).zip(&file.counties) {
        let (mut people, mut white, mut score, mut argmax) = (0.0, 0.0, 0.0, 0.0);
        for cell in public.cells.iter().filter(|cell| cell.county == code) {
            let own = cell.voters.iter().sum::<u64>() as f64;
            people += own;
            white += cell.voters[0] as f64;
            score += own * cell.bisg[0];
            argmax += if cell.bisg[1..].iter().all(|other| cell.bisg[0] >= *other) { own } else { 0.0 };
        }
        assert_eq!(county.voters as f64, people);
        close(county.truth, white / people, "truth");
        close(county.posterior, score / people, "posterior");
        let of = |rule: &str| MAPPED.iter().position(|own| *own == rule).unwrap();
        close(county.labels[of("argmax")].unwrap(), argmax / people, "argmax");
        close(county.bias()[of("argmax")].unwrap(), (argmax - score) / people, "bias of argmax");
        assert!(county.bias()[of("match by county")].unwrap().abs() * people < 1.0);
    }
}

/// The fidelities of the tables, from the counts; and sums over bins and counties, for simulated and public voters.
#[test]
fn figures_agree_with_each_other() {
    for file in &reduced().voters {
        let truth: Vec<f64> = file.truth.iter().map(|&own| own as f64).collect();
        let rules = file.counts.iter().map(|(name, counts)| (*name, counts, *file.outcome(name).unwrap()));
        let variants = file.variants.iter().map(|own| (own.family.name(), &own.counts, own.outcome));
        assert_eq!((file.counts.len(), file.variants.len()), (10, 32));
        for (name, counts, outcome) in rules.chain(variants) {
            let counts: Vec<f64> = counts.iter().map(|&own| own as f64).collect();
            let what = format!("{name}, {}", file.words());
            close(outcome.coverage, counts.iter().sum::<f64>() / file.voters as f64, &what);
            // A high threshold may leave everyone unlabeled.
            if outcome.coverage == 0.0 {
                continue;
            }
            close(outcome.fidelity_to_posterior, fidelity(&counts, &file.posterior), &what);
            close(outcome.fidelity_to_truth, fidelity(&counts, &truth), &what);
        }
        for (class, calibration) in file.calibration.iter().enumerate() {
            let sum = |of: fn(&apportion::audit::Bin) -> f64| calibration.equal_width.bins.iter().map(of).sum::<f64>();
            assert_eq!(sum(|bin| bin.people as f64), file.voters as f64);
            let posterior = sum(|bin| bin.people as f64 * bin.mean_score.unwrap_or_default());
            close(posterior / file.voters as f64, file.posterior[class] / file.voters as f64, "mean score");
            let observed = sum(|bin| bin.people as f64 * bin.observed.unwrap_or_default());
            close(observed / file.voters as f64, truth[class] / file.voters as f64, "truth");
        }
        let people = |share: &dyn Fn(&CountyShares) -> f64| -> f64 {
            file.counties.iter().map(|county| county.voters as f64 * share(county)).sum()
        };
        assert_eq!(people(&|_| 1.0), file.voters as f64);
        close(people(&|county| county.truth) / truth[0], 1.0, "white voters");
        let argmax = people(&|county| county.labels[0].unwrap());
        close(argmax / counts(file, "argmax")[0], 1.0, "white labels");
    }
    let names: Vec<&str> = file(Made::Overconfident).counties.iter().map(|county| county.name.as_str()).collect();
    assert!(names.iter().all(|name| counties().iter().any(|county| county.name == *name)) && names.len() > 90);
}

#[test]
fn the_page_names_the_public_file() {
    let files = reduced().files("apportion reproduce -o paper --public public.csv");
    let text = |name: &str| {
        let (_, bytes) = files.iter().find(|(file, _)| file == name).unwrap();
        String::from_utf8(bytes.clone()).unwrap()
    };
    let page = text("report.html");
    for part in
        ["public.csv: ", "voters of the public file, BISG", "voters of the public file, raking", "popmap-public"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(
        text("votercounts-bisg.csv")
            .starts_with("what,setting,value,class,count,truth,difference,percent\nscores,,,white,")
    );
    assert_eq!(text("biasmap-raking.csv").lines().count(), 5);
    // Counties are found by name or code.
    let map: serde_json::Value = serde_json::from_str(&text("biasmap-bisg.json")).unwrap();
    let at = |name: &str| counties().iter().position(|county| county.name == name).unwrap();
    let expected = ["Durham", "Wake", "Orange", "Chatham"].map(at);
    assert_eq!(map["data"][0]["locations"], serde_json::json!(expected));
    assert_eq!(map["data"].as_array().unwrap().len(), MAPPED.len());
    assert_eq!(map["data"][0]["geojson"]["features"].as_array().unwrap().len(), 100);
    // A county that is not in North Carolina: no map, and the reason.
    let mut elsewhere = reduced().clone();
    let county = elsewhere.voters.iter_mut().find(|file| file.made == Made::Calibrated).unwrap();
    county.counties[1].name = "12".into();
    let page = String::from_utf8(elsewhere.files("")[0].1.clone()).unwrap();
    assert!(page.contains("There is no map of the voters of the public file, BISG"));
}
