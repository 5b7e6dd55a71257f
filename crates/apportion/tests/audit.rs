//! Tests of the audit: against the worked example of the semantics, against a naive second implementation, and for any
//! row order, batch size and number of threads.

use apportion::audit::{
    Audit, AuditOptions, Binning, Bootstrap, ClassAudit, GroupMeasures, GroupSection, Interval, Measures, Section,
    Tally, UncodedPolicy, Undercounted,
};
use apportion::{Classes, Error, Groups, Keys, Label, Labels, Matrix, Scaling, Scores, UNCODED, seed};
use proptest::prelude::*;

/// A random number generator for tests: the seed and the position.
struct Random(u64, u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.1 += 1;
        seed::below(seed::hash(self.0, self.1, 77), bound)
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 50) as f64 / (1u64 << 50) as f64
    }
}

/// A table that owns its columns.
#[derive(Clone, Debug)]
struct Table {
    classes: Classes,
    scores: Vec<f64>,
    labels: Vec<Label>,
    truth: Vec<Label>,
    counts: Vec<u64>,
    codes: Vec<u32>,
    names: Vec<String>,
    keys: Vec<u64>,
}

impl Table {
    fn empty(k: usize, groups: usize) -> Table {
        Table {
            classes: Classes::new((0..k).map(|class| format!("class {class}"))).expect("distinct"),
            scores: Vec::new(),
            labels: Vec::new(),
            truth: Vec::new(),
            counts: Vec::new(),
            codes: Vec::new(),
            names: (0..groups).map(|group| format!("group {group}")).collect(),
            keys: Vec::new(),
        }
    }

    /// Creates rows with truth, groups, counts and Uncoded rows. Scores are multiples of 1/64, or arbitrary if `fine`.
    fn random(seed: u64, rows: usize, k: usize, groups: usize, fine: bool) -> Table {
        let mut random = Random(seed, 0);
        let mut table = Table::empty(k, groups);
        for row in 0..rows {
            let mut cuts: Vec<f64> = (1..k)
                .map(|_| if fine { random.unit().powi(2) } else { random.below(65) as f64 / 64.0 })
                .chain([0.0, 1.0])
                .collect();
            cuts.sort_by(f64::total_cmp);
            let q: Vec<f64> = cuts.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let mut draw = random.unit();
            let drawn = q.iter().position(|&score| {
                draw -= score;
                draw < 0.0
            });
            table.scores.extend(&q);
            table.truth.push(if random.below(5) == 0 { UNCODED } else { drawn.unwrap_or(0) as Label });
            let argmax = (0..k).fold(0, |best, class| if q[class] > q[best] { class } else { best });
            table.labels.push(match random.below(6) {
                0 => UNCODED,
                1 => random.below(k as u64) as Label,
                _ => argmax as Label,
            });
            table.counts.push(random.below(4));
            table.codes.push(random.below(groups as u64) as u32);
            table.keys.push(seed::hash(seed, row as u64, 1));
        }
        table
    }

    fn rows(&self) -> usize {
        self.labels.len()
    }

    fn q(&self, row: usize) -> &[f64] {
        &self.scores[row * self.classes.len()..][..self.classes.len()]
    }

    /// Returns the given rows in the given order.
    fn pick(&self, rows: &[usize]) -> Table {
        Table {
            scores: rows.iter().flat_map(|&row| self.q(row).to_vec()).collect(),
            labels: rows.iter().map(|&row| self.labels[row]).collect(),
            truth: rows.iter().map(|&row| self.truth[row]).collect(),
            counts: rows.iter().map(|&row| self.counts[row]).collect(),
            codes: rows.iter().map(|&row| self.codes[row]).collect(),
            keys: rows.iter().map(|&row| self.keys[row]).collect(),
            ..self.clone()
        }
    }

    fn view(&self) -> Scores<'_> {
        Scores::new(&self.classes, Matrix::RowsF64(&self.scores))
            .and_then(|scores| scores.with_truth(&self.truth))
            .and_then(|scores| scores.with_counts(&self.counts))
            .and_then(|scores| scores.with_keys(Keys::Given(&self.keys)))
            .and_then(|scores| scores.with_groups(Groups { codes: &self.codes, names: &self.names }))
            .expect("a sound table")
    }

    fn given_labels(&self) -> Labels {
        Labels::new(self.labels.clone(), &self.classes).expect("sound labels")
    }

    fn audit(&self, options: &AuditOptions) -> Audit {
        Audit::of(&self.view(), &self.given_labels(), options).expect("a sound audit")
    }
}

fn json(audit: &Audit) -> String {
    serde_json::to_string(audit).expect("plain data")
}

#[track_caller]
fn close(found: impl Into<Option<f64>>, expected: impl Into<Option<f64>>) {
    within(found, expected, 1e-9);
}

#[track_caller]
fn within(found: impl Into<Option<f64>>, expected: impl Into<Option<f64>>, tolerance: f64) {
    match (found.into(), expected.into()) {
        (Some(found), Some(expected)) => {
            assert!((found - expected).abs() <= tolerance * (1.0 + expected.abs()), "{found} is not {expected}");
        }
        (found, expected) => assert_eq!(found, expected),
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The worked example

const EXAMPLE: [f64; 18] =
    [0.80, 0.15, 0.05, 0.70, 0.25, 0.05, 0.60, 0.35, 0.05, 0.55, 0.40, 0.05, 0.20, 0.75, 0.05, 0.50, 0.30, 0.20];

fn example(labels: [Label; 6]) -> Section {
    let classes = Classes::new(["white", "black", "other"]).expect("distinct");
    let scores = Scores::new(&classes, Matrix::RowsF64(&EXAMPLE)).expect("a table");
    let labels = Labels::new(labels.to_vec(), &classes).expect("labels");
    let audit = Audit::of(&scores, &labels, &AuditOptions::default()).expect("an audit");
    assert!(audit.groups.is_empty() && audit.undercounted.is_none());
    assert_eq!(audit.focus, Some(0));
    audit.overall
}

fn label_counts(section: &Section) -> Vec<u64> {
    section.classes.iter().map(|class| class.labels).collect()
}

#[test]
fn worked_example_argmax() {
    let section = example([0, 0, 0, 0, 1, 0]);
    assert_eq!(label_counts(&section), [5, 1, 0]);
    close(section.expected_accuracy, 0.65);
    let distance = section.against_posterior.expect("labels");
    within(distance.fidelity, -0.55, 1e-9);
    within(distance.l2, 0.348210, 5e-7);
    within(distance.kl, 0.202322, 5e-7);
    within(section.score_error.implied_mae, 0.474167, 5e-7);
    let white = section.classes[0].against_posterior.expect("labels");
    within(white.difference, 0.275, 1e-9);
    within(white.percent, 100.0 * 0.275 / (3.35 / 6.0), 1e-9);
    for (class, share) in section.classes.iter().zip([0.558333, 0.366667, 0.075]) {
        within(class.posterior_share, share, 5e-7);
    }
    let argmax = section.score_error.argmax.expect("rows");
    assert!(argmax.class == 0 && argmax.bound_holds && argmax.allowance < 1e-11);
    close(argmax.bias, 0.275);
    assert_eq!((section.argmax_agreement, section.tied, section.coverage), (Some(1.0), Some(0), Some(1.0)));
    close(section.others.and_then(|others| others.against_posterior).map(|bias| bias.difference), -0.275);
    assert!(section.confusion.is_none() && section.accuracy.is_none() && section.classes[0].calibration.is_none());
}

#[test]
fn worked_example_match_and_balance() {
    let section = example([0, 0, 0, 1, 1, 2]);
    assert_eq!(label_counts(&section), [3, 2, 1]);
    close(section.expected_accuracy, 0.575);
    within(section.against_posterior.map(|distance| distance.fidelity), -0.183333, 5e-7);
    let section = example([0, 0, 0, 1, 1, 0]);
    assert_eq!(label_counts(&section), [4, 2, 0]);
    close(section.expected_accuracy, 0.625);
    within(section.against_posterior.map(|distance| distance.fidelity), -0.216667, 5e-7);
}

#[test]
fn worked_example_threshold() {
    let section = example([0, 0, UNCODED, UNCODED, 1, UNCODED]);
    assert_eq!(label_counts(&section), [2, 1, 0]);
    assert_eq!((section.labeled, section.uncoded, section.coverage), (3, 3, Some(0.5)));
    close(section.expected_accuracy, 0.75);
    within(section.against_posterior.map(|distance| distance.fidelity), -0.216667, 5e-7);
    close(section.classes[1].posterior_coverage, 1.15 / 2.2);
    let uncoded = section.uncoded_rows.expect("three rows");
    assert_eq!(uncoded.people, 3);
    uncoded.mean_scores.iter().zip([0.55, 0.35, 0.1]).for_each(|(&found, mean)| close(found, mean));
    uncoded.top_score_quartiles.iter().zip([0.5, 0.55, 0.6]).for_each(|(&found, quartile)| close(found, quartile));
}

#[test]
fn worked_example_with_each_policy_for_uncoded_rows() {
    let classes = Classes::new(["white", "black", "other"]).expect("distinct");
    let scores = Scores::new(&classes, Matrix::RowsF64(&EXAMPLE)).expect("a table");
    let labels = Labels::new(vec![0, 0, UNCODED, UNCODED, 1, UNCODED], &classes).expect("labels");
    let audit = |uncoded| {
        let options = AuditOptions { uncoded, ..AuditOptions::default() };
        Audit::of(&scores, &labels, &options).expect("an audit").overall
    };
    let argmax = audit(UncodedPolicy::Argmax);
    assert_eq!(label_counts(&argmax), [5, 1, 0]);
    close(argmax.expected_accuracy, 0.65);
    assert_eq!((argmax.labeled, argmax.coverage), (3, Some(0.5)), "coverage is that of the given labels");
    let drop = audit(UncodedPolicy::Drop);
    assert_eq!(label_counts(&drop), [2, 1, 0]);
    close(drop.classes[0].posterior_share, 1.7 / 3.0);
    close(drop.classes[0].posterior_coverage, 1.7 / 3.35);
    assert_eq!((drop.people, drop.uncoded), (6, 3));
}

#[test]
fn north_carolina_split() {
    // 10,000 people, 2,000 of them black; scores sum to 1,674, labels to 1,436.
    let classes = Classes::new(["white", "black"]).expect("distinct");
    let rows = 10_000;
    let matrix: Vec<f64> = std::iter::repeat_n([1.0 - 0.1674, 0.1674], rows).flatten().collect();
    let truth: Vec<Label> = (0..rows).map(|row| Label::from(row < 2000)).collect();
    let labels = (0..rows).map(|row| Label::from(row % 10_000 < 1436)).collect();
    let scores = Scores::new(&classes, Matrix::RowsF64(&matrix)).and_then(|s| s.with_truth(&truth)).expect("a table");
    let labels = Labels::new(labels, &classes).expect("labels");
    let audit = Audit::of(&scores, &labels, &AuditOptions::default()).expect("an audit");
    let black = &audit.overall.classes[1];
    let split = black.split.expect("truth");
    close(split.miscalibration.percent, -16.3);
    close(split.discretization.percent, -11.9);
    close(black.against_truth.and_then(|bias| bias.percent), -28.2);
    assert_eq!((black.truth_count, black.truth_coverage), (Some(2000), Some(1.0)));
}

// ---------------------------------------------------------------------------------------------------------------------
// A naive second implementation: straight sums of f64 over lists of people

struct Person<'a> {
    q: &'a [f64],
    given: Label,
    label: Label,
    truth: Label,
}

/// Returns one entry per person; counts are expanded.
fn people<'a>(table: &'a Table, group: Option<u32>, policy: UncodedPolicy) -> Vec<Person<'a>> {
    let rows = (0..table.rows()).filter(|&row| group.is_none_or(|group| table.codes[row] == group));
    rows.flat_map(|row| (0..table.counts[row]).map(move |_| row))
        .map(|row| {
            let (q, given) = (table.q(row), table.labels[row]);
            let relabel = given == UNCODED && policy == UncodedPolicy::Argmax;
            Person { q, given, label: if relabel { argmax(q) } else { given }, truth: table.truth[row] }
        })
        .collect()
}

fn argmax(q: &[f64]) -> Label {
    let most = q.iter().copied().fold(f64::MIN, f64::max);
    q.iter().position(|&score| score == most).expect("a class") as Label
}

fn part<'a>(people: &[&Person<'a>], of: impl Fn(&Person<'a>) -> bool) -> Option<f64> {
    mean(people, |person| f64::from(u8::from(of(person))))
}

fn mean<'a>(people: &[&Person<'a>], of: impl Fn(&Person<'a>) -> f64) -> Option<f64> {
    (!people.is_empty()).then(|| people.iter().map(|person| of(person)).sum::<f64>() / people.len() as f64)
}

/// Returns a sum divided by a positive size.
fn mean_of(sum: f64, size: f64) -> Option<f64> {
    (size > 0.0).then(|| sum / size)
}

/// Checks every figure of a section.
fn check(section: &Section, table: &Table, group: Option<u32>, policy: UncodedPolicy, focus: usize) {
    let everyone = people(table, group, policy);
    let all: Vec<&Person<'_>> = everyone.iter().collect();
    let given: Vec<_> = all.iter().copied().filter(|person| person.given != UNCODED).collect();
    let uncoded: Vec<_> = all.iter().copied().filter(|person| person.given == UNCODED).collect();
    let left_in: Vec<_> = if policy == UncodedPolicy::Drop { given.clone() } else { all.clone() };
    let labeled: Vec<_> = left_in.iter().copied().filter(|person| person.label != UNCODED).collect();
    let known: Vec<_> = left_in.iter().copied().filter(|person| person.truth != UNCODED).collect();
    let known_labeled: Vec<_> = known.iter().copied().filter(|person| person.label != UNCODED).collect();

    assert_eq!(section.people, all.len() as u64);
    assert_eq!((section.labeled, section.uncoded), (given.len() as u64, uncoded.len() as u64));
    assert_eq!(section.with_truth, all.iter().filter(|person| person.truth != UNCODED).count() as u64);
    close(section.coverage, part(&all, |person| person.given != UNCODED));
    close(section.accuracy, part(&known_labeled, |person| person.label == person.truth));
    close(section.expected_accuracy, mean(&labeled, |person| person.q[usize::from(person.label)]));
    let squares = |person: &Person<'_>| 1.0 - person.q.iter().map(|q| q * q).sum::<f64>();
    close(section.score_error.implied_mae, mean(&left_in, squares));
    close(section.score_error.observed_mae, mean(&known, |person| 1.0 - person.q[usize::from(person.truth)]));
    close(section.argmax_agreement, part(&given, |person| person.given == argmax(person.q)));
    let tied = |person: &&&Person<'_>| {
        let most = person.q[usize::from(argmax(person.q))];
        person.q.iter().filter(|&&q| q == most).count() > 1
    };
    assert_eq!(section.tied, Some(left_in.iter().filter(tied).count() as u64));

    let mut l1 = [0.0; 2];
    let (mut l2, mut kl) = (0.0, 0.0);
    let mut others = [0.0; 2];
    for (class, audit) in section.classes.iter().enumerate() {
        let label = class as Label;
        let share = part(&labeled, |person| person.label == label);
        let posterior = mean(&left_in, |person| person.q[class]);
        let truth = part(&known, |person| person.truth == label);
        let share_known = part(&known_labeled, |person| person.label == label);
        let posterior_known = mean(&known, |person| person.q[class]);
        assert_eq!(audit.labels, labeled.iter().filter(|person| person.label == label).count() as u64);
        assert_eq!(audit.argmax, Some(left_in.iter().filter(|person| argmax(person.q) == label).count() as u64));
        close(audit.share, share);
        close(audit.posterior_share, posterior);
        close(audit.posterior_sum, left_in.iter().map(|person| person.q[class]).sum::<f64>());
        let variance = left_in.iter().map(|person| person.q[class] * (1.0 - person.q[class])).sum::<f64>();
        within(audit.count_sd * audit.count_sd, variance.max(0.0), 1e-6 * left_in.len() as f64);
        let own: f64 = labeled.iter().filter(|person| person.label == label).map(|person| person.q[class]).sum();
        close(audit.expected_precision(), mean_of(own, audit.labels as f64));
        close(audit.expected_recall(), mean_of(own, audit.posterior_sum));
        close(audit.truth_share, truth);
        close(audit.share_with_truth, share_known);
        close(audit.posterior_share_with_truth, posterior_known);
        let difference = |share: Option<f64>, reference: Option<f64>| Some(share? - reference?);
        let percent = |share: Option<f64>, reference: Option<f64>| {
            Some(100.0 * (share? - reference?) / reference?).filter(|_| reference != Some(0.0))
        };
        let (posterior_bias, truth_bias) = (audit.against_posterior, audit.against_truth);
        close(posterior_bias.map(|bias| bias.difference), difference(share, posterior));
        close(posterior_bias.and_then(|bias| bias.percent), percent(share, posterior));
        close(truth_bias.map(|bias| bias.difference), difference(share_known, truth));
        close(truth_bias.and_then(|bias| bias.percent), percent(share_known, truth));
        let split = audit.split.and_then(|split| Some((split.miscalibration.percent?, split.discretization.percent?)));
        if let Some((miscalibration, discretization)) = split {
            close(miscalibration, 100.0 * (posterior_known.expect("truth") / truth.expect("truth") - 1.0));
            close(truth_bias.and_then(|bias| bias.percent), miscalibration + discretization);
        }
        let mass = |people: &[&Person<'_>]| people.iter().map(|person| person.q[class]).sum::<f64>();
        close(audit.posterior_coverage, Some(mass(&given) / mass(&all)).filter(|part| part.is_finite()));
        let members: Vec<_> = all.iter().copied().filter(|person| person.truth == label).collect();
        close(audit.truth_coverage, part(&members, |person| person.given != UNCODED));

        let (true_here, called): (Vec<_>, Vec<_>) = (
            known.iter().copied().filter(|person| person.truth == label).collect(),
            known.iter().copied().filter(|person| person.label == label).collect(),
        );
        let not_here: Vec<_> = known.iter().copied().filter(|person| person.truth != label).collect();
        if let Some(rates) = audit.rates {
            close(rates.precision, part(&called, |person| person.truth == label));
            close(rates.recall, part(&true_here, |person| person.label == label));
            close(rates.false_negative, part(&true_here, |person| person.label != label));
            close(rates.false_positive, part(&not_here, |person| person.label == label));
        } else {
            assert!(known.is_empty());
        }
        if let Some(confusion) = &section.confusion {
            for column in 0..=section.classes.len() {
                let name = if column == section.classes.len() { UNCODED } else { column as Label };
                let count = true_here.iter().filter(|person| person.label == name).count();
                assert_eq!(confusion.people[class][column], count as u64);
            }
        }
        let scored: Vec<(f64, bool)> = known.iter().map(|person| (person.q[class], person.truth == label)).collect();
        match &audit.calibration {
            Some(calibration) => {
                check_equal_width(&calibration.equal_width, &scored);
                check_equal_count(&calibration.equal_count, &scored);
                close(calibration.kuiper, kuiper(&scored));
                check_correlation(calibration.correlation, &scored);
            }
            None => assert!(known.is_empty()),
        }
        if let (Some(m), Some(p)) = (share, posterior) {
            l1[0] += (m - p).abs();
            l2 += (m - p).powi(2);
            kl += if m > 0.0 { m * (m / p).ln() } else { 0.0 };
            if class != focus {
                others[0] += m;
                others[1] += p;
            }
        }
        if let (Some(m), Some(p)) = (share_known, truth) {
            l1[1] += (m - p).abs();
        }
    }
    if let Some(distance) = section.against_posterior {
        close(distance.l1, l1[0]);
        close(distance.fidelity, -l1[0]);
        close(distance.l2, l2.sqrt());
        close(distance.kl, Some(kl).filter(|kl| kl.is_finite()));
        let found = section.others.expect("a focus class");
        close(found.share, others[0]);
        close(found.posterior_share, others[1]);
        close(found.against_posterior.map(|bias| bias.difference), others[0] - others[1]);
    } else {
        assert!(labeled.is_empty());
    }
    close(section.against_truth.map(|distance| distance.l1), Some(l1[1]).filter(|_| !known_labeled.is_empty()));
    let bias = |class: usize| {
        let argmaxed = part(&left_in, |person| usize::from(argmax(person.q)) == class)?;
        Some(argmaxed - mean(&left_in, |person| person.q[class])?)
    };
    let largest = (0..section.classes.len()).filter_map(bias).reduce(f64::max);
    close(section.score_error.argmax.map(|argmax| argmax.bias), largest);
    assert!(section.score_error.argmax.is_none_or(|argmax| argmax.bound_holds));
    match &section.uncoded_rows {
        Some(found) => {
            for (class, &score) in found.mean_scores.iter().enumerate() {
                close(score, mean(&uncoded, |person| person.q[class]));
            }
            let mut tops: Vec<f64> = uncoded.iter().map(|person| person.q[usize::from(argmax(person.q))]).collect();
            tops.sort_by(f64::total_cmp);
            for (quarters, &quartile) in (1..).zip(&found.top_score_quartiles) {
                close(quartile, tops[(quarters * tops.len()).div_ceil(4) - 1]);
            }
        }
        None => assert!(uncoded.is_empty()),
    }
}

fn check_equal_width(binning: &Binning, scored: &[(f64, bool)]) {
    assert_eq!(binning.bins.len(), 10);
    let mut error = 0.0;
    for (tenth, bin) in binning.bins.iter().enumerate() {
        let (from, to) = (tenth as f64 / 10.0, (tenth + 1) as f64 / 10.0);
        let inside: Vec<_> = scored.iter().filter(|(q, _)| *q >= from && (*q < to || tenth == 9)).collect();
        assert_eq!((bin.from, bin.to, bin.people), (from, to, inside.len() as u64));
        error += check_bin(bin, &inside) / scored.len() as f64;
    }
    close(binning.expected_error, error);
}

/// Equal scores stay together, in the tenth of the people that contains the middle one.
fn check_equal_count(binning: &Binning, scored: &[(f64, bool)]) {
    let part = |q: f64| {
        let below = scored.iter().filter(|(score, _)| *score < q).count();
        let equal = scored.iter().filter(|(score, _)| *score == q).count();
        10 * (2 * below + equal) / (2 * scored.len())
    };
    let mut parts: Vec<Vec<&(f64, bool)>> = vec![Vec::new(); 10];
    let mut known = std::collections::HashMap::new();
    for person in scored {
        parts[*known.entry(person.0.to_bits()).or_insert_with(|| part(person.0))].push(person);
    }
    parts.retain(|part| !part.is_empty());
    assert_eq!(binning.bins.len(), parts.len());
    let error: f64 = binning.bins.iter().zip(&parts).map(|(bin, inside)| check_bin(bin, inside)).sum();
    close(binning.expected_error, error / scored.len() as f64);
}

/// Checks a bin; returns |Σ score − truth|.
fn check_bin(bin: &apportion::audit::Bin, inside: &[&(f64, bool)]) -> f64 {
    let n = inside.len() as f64;
    assert_eq!(bin.people, inside.len() as u64);
    let (sum, members) = inside.iter().fold((0.0, 0.0), |(s, t), (q, truth)| (s + q, t + f64::from(u8::from(*truth))));
    close(bin.mean_score, Some(sum / n).filter(|_| n > 0.0));
    close(bin.observed, Some(members / n).filter(|_| n > 0.0));
    assert_eq!(bin.interval.is_some(), n > 0.0);
    if let (Some(Interval { low, high }), Some(observed)) = (bin.interval, bin.observed) {
        assert!(0.0 <= low && low <= observed && observed <= high && high <= 1.0);
        // At the ends of Wilson's interval, the observed rate is 1.96 standard errors away.
        for end in [low, high].into_iter().filter(|end| *end > 0.0 && *end < 1.0) {
            close((observed - end).abs(), 1.959_963_984_540_054 * (end * (1.0 - end) / n).sqrt());
        }
    }
    (sum - members).abs()
}

/// Compares with Pearson's correlation from deviations, person by person.
fn check_correlation(found: Option<f64>, scored: &[(f64, bool)]) {
    let people = scored.len() as f64;
    let truth = |own: &(f64, bool)| f64::from(u8::from(own.1));
    let (score, share) =
        (scored.iter().map(|own| own.0).sum::<f64>() / people, scored.iter().map(truth).sum::<f64>() / people);
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| scored.iter().map(|own| of(own.0 - score, truth(own) - share)).sum::<f64>();
    let variances = sum(&|q, _| q * q) * sum(&|_, r| r * r);
    match found {
        Some(found) => assert!((found - sum(&|q, r| q * r) / variances.sqrt()).abs() < 1e-8, "{found}"),
        None => assert!(variances < 1e-12, "{variances}"),
    }
}

fn kuiper(scored: &[(f64, bool)]) -> f64 {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut f, mut least, mut most) = (0.0, 0.0f64, 0.0f64);
    for (position, (q, truth)) in sorted.iter().enumerate() {
        f += f64::from(u8::from(*truth)) - q;
        if sorted.get(position + 1).is_none_or(|next| next.0 != *q) {
            least = least.min(f);
            most = most.max(f);
        }
    }
    (most - least) / scored.len() as f64
}

#[test]
fn agrees_with_the_naive_implementation() {
    for seed in 0..60 {
        let (rows, k) = ([3, 40, 400, 3000][seed as usize % 4], 1 + seed as usize % 5);
        let table = Table::random(seed, rows, k, 4, false);
        for uncoded in [UncodedPolicy::Keep, UncodedPolicy::Drop, UncodedPolicy::Argmax] {
            let audit = table.audit(&AuditOptions { uncoded, ..AuditOptions::default() });
            let Some(focus) = audit.focus else { continue };
            assert_eq!(audit.overall.rows, rows as u64);
            check(&audit.overall, &table, None, uncoded, focus);
            for group in &audit.groups {
                assert_eq!(group.name, table.names[group.code]);
                check(&group.section, &table, Some(group.code as u32), uncoded, focus);
            }
            let people = |group: &GroupSection| group.section.people as f64;
            let missing: Vec<(f64, f64)> = audit
                .groups
                .iter()
                .filter_map(|group| Some((-group.section.others?.against_posterior?.difference, people(group))))
                .collect();
            let (of, groups) = (missing.len(), missing.iter().filter(|(share, _)| *share > 1e-9).count());
            let by_a_person_or_more = missing.iter().filter(|(share, people)| share * people >= 1.0).count();
            let expected = (groups, by_a_person_or_more, of);
            assert_eq!(audit.undercounted.map(undercounted), (of > 0).then_some(expected));
        }
    }
}

#[test]
fn scores_of_any_fineness_agree_within_the_resolution_of_the_histogram() {
    let table = Table::random(9, 20_000, 3, 2, true);
    let audit = table.audit(&AuditOptions::default());
    let scored = |class: usize, group: Option<u32>| -> Vec<(f64, bool)> {
        let known = people(&table, group, UncodedPolicy::Keep).into_iter().filter(|person| person.truth != UNCODED);
        known.map(|person| (person.q[class], usize::from(person.truth) == class)).collect()
    };
    for class in 0..3 {
        let scored_overall = scored(class, None);
        let overall = audit.overall.classes[class].calibration.as_ref().expect("truth");
        check_equal_width(&overall.equal_width, &scored_overall);
        let exact = kuiper(&scored_overall);
        assert!(overall.kuiper <= exact + 1e-9 && exact - overall.kuiper < 1e-3, "{} {exact}", overall.kuiper);
        let tenth = scored_overall.len() as u64 / 10;
        assert!(overall.equal_count.bins.len() == 10);
        assert!(overall.equal_count.bins.iter().all(|bin| bin.people.abs_diff(tenth) <= tenth / 20));
        let scored_group = scored(class, Some(1));
        let group = audit.groups[1].section.classes[class].calibration.as_ref().expect("truth");
        check_equal_width(&group.equal_width, &scored_group);
        let exact = kuiper(&scored_group);
        assert!(group.kuiper <= exact + 1e-9 && exact - group.kuiper < 0.03, "{} {exact}", group.kuiper);
    }
}

#[test]
fn scores_at_tenths_are_in_the_upper_bin() {
    let classes = Classes::new(["a", "b"]).expect("distinct");
    let matrix: Vec<f64> =
        (0..=10).flat_map(|tenth| [f64::from(tenth) / 10.0, 1.0 - f64::from(tenth) / 10.0]).collect();
    let scores = Scores::new(&classes, Matrix::RowsF64(&matrix)).and_then(|s| s.with_truth(&[0; 11])).expect("a table");
    let labels = Labels::new(vec![0; 11], &classes).expect("labels");
    let audit = Audit::of(&scores, &labels, &AuditOptions::default()).expect("an audit");
    let bins = &audit.overall.classes[0].calibration.as_ref().expect("truth").equal_width.bins;
    let people: Vec<u64> = bins.iter().map(|bin| bin.people).collect();
    assert_eq!(people, [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Independence of the row order

#[test]
fn order_batches_and_threads_do_not_matter() {
    let table = Table::random(3, 9000, 4, 12, true);
    let bootstrap = Some(Bootstrap { replicates: 20, level: 0.9, seed: 4 });
    let options = AuditOptions { bootstrap, ..AuditOptions::default() };
    let expected = json(&table.audit(&options));
    assert!(!expected.contains("NaN") && expected.contains("fidelity_to_truth"));

    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        assert_eq!(pool.install(|| json(&table.audit(&options))), expected, "{threads} threads");
    }

    let mut random = Random(8, 0);
    let mut order: Vec<usize> = (0..table.rows()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    assert_eq!(json(&table.pick(&order).audit(&options)), expected, "permuted");

    for size in [1, 7, 1000, 100_000] {
        let mut tally = Tally::new(&table.classes, &options, &table.names).expect("options");
        for batch in order.chunks(size) {
            let batch = table.pick(batch);
            tally.add(&batch.view(), &batch.given_labels()).expect("a batch");
        }
        assert_eq!(json(&tally.finish().expect("no batch was refused")), expected, "batches of {size}");
    }

    let halves = order.split_at(3000);
    let tally = |rows: &[usize]| {
        let batch = table.pick(rows);
        let mut tally = Tally::new(&table.classes, &options, &table.names).expect("options");
        tally.add(&batch.view(), &batch.given_labels()).expect("a batch");
        tally
    };
    let mut merged = tally(halves.1);
    merged.merge(&tally(halves.0)).expect("one audit");
    assert_eq!(json(&merged.finish().expect("no batch was refused")), expected, "merged");
}

#[test]
fn index_keys_go_on_from_batch_to_batch() {
    let table = Table::random(5, 500, 3, 2, true);
    let bootstrap = Some(Bootstrap { replicates: 30, level: 0.9, seed: 4 });
    let options = AuditOptions { bootstrap, ..AuditOptions::default() };
    let whole = Scores::new(&table.classes, Matrix::RowsF64(&table.scores)).expect("a table");
    let whole = Audit::of(&whole, &table.given_labels(), &options).expect("an audit");
    let mut tally = Tally::new(&table.classes, &options, &[]).expect("options");
    for (rows, labels) in table.scores.chunks(300).zip(table.labels.chunks(100)).enumerate().map(|(i, batch)| {
        let labels = Labels::new(batch.1.to_vec(), &table.classes).expect("labels");
        let scores = Scores::new(&table.classes, Matrix::RowsF64(batch.0)).expect("a table");
        (scores.with_keys(Keys::Index(100 * i as u64)).expect("keys"), labels)
    }) {
        tally.add(&rows, &labels).expect("a batch");
    }
    assert_eq!(json(&tally.finish().expect("no batch was refused")), json(&whole));
}

#[test]
fn a_row_with_a_count_is_as_many_copies() {
    let table = Table::random(21, 800, 3, 5, true);
    let copies: Vec<usize> =
        (0..table.rows()).flat_map(|row| std::iter::repeat_n(row, table.counts[row] as usize)).collect();
    let mut expanded = table.pick(&copies);
    expanded.counts = vec![1; copies.len()];
    for uncoded in [UncodedPolicy::Keep, UncodedPolicy::Drop, UncodedPolicy::Argmax] {
        let options = AuditOptions { uncoded, ..AuditOptions::default() };
        let (mut counted, mut expanded) = (table.audit(&options), expanded.audit(&options));
        assert!(counted.overall.rows == 800 && expanded.overall.rows == expanded.overall.people);
        for audit in [&mut counted, &mut expanded] {
            audit.overall.rows = 0;
            audit.groups.iter_mut().for_each(|group| group.section.rows = 0);
        }
        assert_eq!(json(&counted), json(&expanded));
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Theorem 1

#[test]
fn without_information_argmax_takes_all() {
    let prior = [0.2, 0.5, 0.3];
    let mut table = Table::empty(3, 1);
    table.scores = prior.repeat(50);
    table.labels = vec![1; 50];
    let scores = Scores::new(&table.classes, Matrix::RowsF64(&table.scores)).expect("a table");
    let audit = Audit::of(&scores, &table.given_labels(), &AuditOptions::default()).expect("an audit");
    for (class, (audit, p)) in audit.overall.classes.iter().zip(prior).enumerate() {
        let bias = if class == 1 { 1.0 - p } else { -p };
        close(audit.against_posterior.map(|bias| bias.difference), bias);
    }
    let argmax = audit.overall.score_error.argmax.expect("rows");
    close(argmax.bias, 0.5);
    assert!(argmax.class == 1 && argmax.bound_holds);
}

#[test]
fn perfect_scores_have_no_bias() {
    let classes = Classes::new(["a", "b", "c"]).expect("distinct");
    let truth: Vec<Label> = (0..90).map(|row| [0, 0, 1, 2, 0, 1][row % 6]).collect();
    let matrix: Vec<f32> =
        truth.iter().flat_map(|&t| (0..3).map(move |class| f32::from(u8::from(class == t)))).collect();
    let scores = Scores::new(&classes, Matrix::RowsF32(&matrix)).and_then(|s| s.with_truth(&truth)).expect("a table");
    let labels = Labels::new(truth.clone(), &classes).expect("labels");
    let overall = Audit::of(&scores, &labels, &AuditOptions::default()).expect("an audit").overall;
    assert!(overall.classes.iter().all(|class| class.against_posterior.is_some_and(|bias| bias.difference == 0.0)));
    assert_eq!((overall.accuracy, overall.score_error.implied_mae), (Some(1.0), Some(0.0)));
    assert_eq!(overall.score_error.observed_mae, Some(0.0));
    assert!(overall.score_error.argmax.is_some_and(|argmax| argmax.bias == 0.0 && argmax.bound_holds));
    assert!(overall.classes.iter().all(|class| class.calibration.as_ref().is_some_and(|c| c.kuiper == 0.0)));
    assert!(json_of(&overall).contains("\"fidelity\":0.0"), "not −0");
}

fn json_of(section: &Section) -> String {
    serde_json::to_string(section).expect("plain data")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Row sums differ from one, and scores from zero, by as much as the tolerances allow.
    #[test]
    fn argmax_bias_is_bounded_by_the_implied_error(
        raw in prop::collection::vec(prop::collection::vec(0.0f64..1.0, 4), 1..12),
        sums in prop::collection::vec(-1e-3f64..1e-3, 12),
        power in 0.1f64..12.0,
        noise in 0usize..3,
    ) {
        let classes = Classes::new(["a", "b", "c", "d"]).expect("distinct");
        let mut matrix = Vec::new();
        for (row, off) in raw.iter().zip(sums) {
            let positive = if noise > 1 { 3 } else { 4 };
            let sum: f64 = row[..positive].iter().map(|q| q.powf(power)).sum();
            prop_assume!(sum > 1e-300);
            let scale = if noise > 0 { 1.0 + 0.99 * off } else { 1.0 };
            let mut q: Vec<f64> = row[..positive].iter().map(|q| q.powf(power) / sum * scale).collect();
            q.resize(4, -1e-6);
            matrix.extend(q);
        }
        let scores = Scores::new(&classes, Matrix::RowsF64(&matrix)).expect("a table");
        let labels = Labels::new(vec![0; raw.len()], &classes).expect("labels");
        let error = Audit::of(&scores, &labels, &AuditOptions::default()).expect("an audit").overall.score_error;
        let argmax = error.argmax.expect("rows");
        prop_assert!(argmax.bound_holds);
        prop_assert!(argmax.bias <= error.implied_mae.expect("rows") + argmax.allowance + 1e-12);
        let most = if noise == 0 { 1e-11 } else { 2.1e-3 };
        prop_assert!(argmax.allowance <= most);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The bootstrap

/// Two classes, with labels that are correct four times out of five.
fn accurate(rows: u64, replicates: u32) -> Section {
    let mut random = Random(rows, 0);
    let classes = Classes::new(["a", "b"]).expect("distinct");
    let truth: Vec<Label> = (0..rows).map(|_| random.below(2) as Label).collect();
    let labels = truth.iter().map(|&t| if random.below(5) == 0 { 1 - t } else { t }).collect();
    let matrix: Vec<f64> = (0..rows).map(|_| random.unit()).flat_map(|q| [q, 1.0 - q]).collect();
    let scores = Scores::new(&classes, Matrix::RowsF64(&matrix)).and_then(|s| s.with_truth(&truth)).expect("a table");
    let labels = Labels::new(labels, &classes).expect("labels");
    let bootstrap = Some(Bootstrap { replicates, level: 0.95, seed: 11 });
    let options = AuditOptions { bootstrap, ..AuditOptions::default() };
    let audit = Audit::of(&scores, &labels, &options).expect("an audit");
    assert_eq!(audit, Audit::of(&scores, &labels, &options).expect("an audit"));
    audit.overall
}

fn width(interval: Option<Interval>) -> f64 {
    interval.map(|interval| interval.high - interval.low).expect("an interval")
}

#[test]
fn bootstrap_intervals_are_those_of_theory() {
    let (small, large) = (accurate(1000, 1000), accurate(16_000, 1000));
    for (section, rows) in [(&small, 1000.0), (&large, 16_000.0)] {
        let intervals = section.intervals.as_ref().expect("asked for");
        let covers = |interval: Option<Interval>, value: Option<f64>| {
            let (interval, value) = interval.zip(value).expect("defined");
            assert!(interval.low < value && value < interval.high, "{interval:?} {value}");
        };
        covers(intervals.accuracy, section.accuracy);
        covers(intervals.expected_accuracy, section.expected_accuracy);
        for (position, class) in section.classes.iter().enumerate() {
            covers(intervals.share[position], class.share);
            let difference = |bias: Option<apportion::audit::Bias>| bias.map(|bias| bias.difference);
            covers(intervals.bias_against_posterior[position], difference(class.against_posterior));
            covers(intervals.bias_against_truth[position], difference(class.against_truth));
        }
        let accuracy = section.accuracy.expect("truth");
        let normal = 2.0 * 1.96 * (accuracy * (1.0 - accuracy) / rows).sqrt();
        within(width(intervals.accuracy), normal, 0.1 * normal);
        let share = section.classes[0].share.expect("labels");
        let normal = 2.0 * 1.96 * (share * (1.0 - share) / rows).sqrt();
        within(width(intervals.share[0]), normal, 0.1 * normal);
        for (fidelity, distance) in [
            (intervals.fidelity_to_posterior, section.against_posterior),
            (intervals.fidelity_to_truth, section.against_truth),
        ] {
            let (fidelity, distance) = fidelity.zip(distance).expect("defined");
            assert!(fidelity.low <= distance.fidelity && fidelity.high <= 0.0);
        }
    }
    let ratio = width(small.intervals.and_then(|i| i.accuracy)) / width(large.intervals.and_then(|i| i.accuracy));
    assert!((3.4..4.6).contains(&ratio), "16 times the rows, a quarter of the width: {ratio}");
}

/// Returns the weight of a row in a replicate: the smallest w such that the hash, scaled to 0 to 1, is below
/// P(Poisson(1) ≤ w).
fn weight(seed: u64, key: u64, replicate: u64) -> u64 {
    let uniform = seed::hash(seed, key, 0x626f_6f74_0000_0000 + replicate) as f64 / 2f64.powi(64);
    let (mut draw, mut density) = (0, (-1f64).exp());
    let mut distribution = density;
    while uniform >= distribution && draw < 20 {
        draw += 1;
        density /= draw as f64;
        distribution += density;
    }
    draw
}

/// Returns the quartiles of values, by linear interpolation.
fn quartiles(mut values: Vec<f64>) -> Option<Interval> {
    values.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let index = part * (values.len() - 1) as f64;
        let (below, above) = (values[index.floor() as usize], values[index.ceil() as usize]);
        below + (above - below) * index.fract()
    };
    (!values.is_empty()).then(|| Interval { low: at(0.25), high: at(0.75) })
}

#[test]
fn a_replicate_is_the_audit_of_rows_taken_as_often_as_drawn() {
    let table = Table::random(31, 60, 3, 2, true);
    for uncoded in [UncodedPolicy::Keep, UncodedPolicy::Drop, UncodedPolicy::Argmax] {
        let options = AuditOptions { uncoded, ..AuditOptions::default() };
        let replicate = |replicate: u64| {
            let mut table = table.clone();
            for (count, &key) in table.counts.iter_mut().zip(&table.keys) {
                *count *= weight(17, key, replicate);
            }
            table.audit(&options)
        };
        let replicates: Vec<Audit> = (0..40).map(replicate).collect();
        let bootstrap = Some(Bootstrap { replicates: 40, level: 0.5, seed: 17 });
        let audit = table.audit(&AuditOptions { bootstrap, ..options.clone() });
        let check = |section: &Section, of: &dyn Fn(&Audit) -> Section| {
            let found = section.intervals.as_ref().expect("asked for");
            let expect = |found: Option<Interval>, pick: &dyn Fn(&Section) -> Option<f64>| {
                let expected = quartiles(replicates.iter().filter_map(|audit| pick(&of(audit))).collect());
                close(found.map(|interval| interval.low), expected.map(|interval| interval.low));
                close(found.map(|interval| interval.high), expected.map(|interval| interval.high));
            };
            for class in 0..3 {
                expect(found.share[class], &|section| section.classes[class].share);
                let against_posterior = |section: &Section| Some(section.classes[class].against_posterior?.difference);
                expect(found.bias_against_posterior[class], &against_posterior);
                let against_truth = |section: &Section| Some(section.classes[class].against_truth?.difference);
                expect(found.bias_against_truth[class], &against_truth);
            }
            expect(found.accuracy, &|section| section.accuracy);
            expect(found.expected_accuracy, &|section| section.expected_accuracy);
            expect(found.fidelity_to_posterior, &|section| Some(section.against_posterior?.fidelity));
            expect(found.fidelity_to_truth, &|section| Some(section.against_truth?.fidelity));
        };
        check(&audit.overall, &|audit| audit.overall.clone());
        for (position, group) in audit.groups.iter().enumerate() {
            check(&group.section, &|audit| audit.groups[position].section.clone());
        }
    }
}

#[test]
fn bootstrap_of_groups_and_its_seed() {
    let table = Table::random(2, 600, 3, 3, true);
    let options = |seed| AuditOptions {
        bootstrap: Some(Bootstrap { replicates: 100, level: 0.95, seed }),
        ..AuditOptions::default()
    };
    let (one, other) = (table.audit(&options(1)), table.audit(&options(2)));
    assert_ne!(one.overall.intervals, other.overall.intervals);
    for group in &one.groups {
        // A group audited alone has the same intervals: draws depend on the rows only.
        let rows: Vec<usize> = (0..table.rows()).filter(|&row| table.codes[row] as usize == group.code).collect();
        assert_eq!(table.pick(&rows).audit(&options(1)).overall.intervals, group.section.intervals);
    }
    assert!(table.audit(&AuditOptions::default()).overall.intervals.is_none());
}

// ---------------------------------------------------------------------------------------------------------------------
// References, focus, and errors

#[test]
fn given_references_and_focus() {
    let table = Table::random(2, 400, 3, 2, false);
    let largest_posterior = table.audit(&AuditOptions::default()).focus.expect("rows");
    let focus = (largest_posterior + 1) % 3;
    let mut reference = vec![0.15 * 1.0005; 3];
    reference[focus] = 0.7 * 1.0005;
    let options = AuditOptions {
        reference: Some(reference),
        group_references: Some(vec![vec![1.0, 0.0, 0.0], vec![0.25, 0.25, 0.5]]),
        ..AuditOptions::default()
    };
    let audit = table.audit(&options);
    assert_eq!(audit.focus, Some(focus), "the largest in the given reference");
    let class = &audit.overall.classes[focus];
    close(class.given_share, 0.7);
    close(class.against_given.map(|bias| bias.difference), class.share.map(|share| share - 0.7));
    close(class.against_given.and_then(|bias| bias.percent), class.share.map(|share| 100.0 * (share / 0.7 - 1.0)));
    let others = audit.overall.others.expect("a focus");
    close(others.share, class.share.map(|share| 1.0 - share));
    let first = &audit.groups[0].section;
    assert_eq!(first.against_given.and_then(|distance| distance.kl), None, "infinite");
    assert!(first.against_given.is_some() && first.classes[1].against_given.is_some_and(|bias| bias.percent.is_none()));
    assert!(audit.groups[1].section.against_given.is_some_and(|distance| distance.kl.is_some()));

    let alone = table.audit(&AuditOptions { reference: options.reference.clone(), ..AuditOptions::default() });
    assert!(alone.groups.iter().all(|group| group.section.against_given.is_none()));
    let chosen = table.audit(&AuditOptions { focus: Some(2), ..options });
    assert_eq!(chosen.focus, Some(2));
}

#[test]
fn unsound_options_are_refused() {
    let classes = Classes::new(["a", "b"]).expect("distinct");
    let refuse = |options: AuditOptions| Tally::new(&classes, &options, &["g".to_owned()]).expect_err("unsound");
    let options = AuditOptions::default;
    assert!(matches!(refuse(AuditOptions { focus: Some(2), ..options() }), Error::Parameter { .. }));
    let with = |reference: Vec<f64>| AuditOptions { reference: Some(reference), ..options() };
    assert!(matches!(refuse(with(vec![1.0])), Error::Length { .. }));
    for reference in [vec![0.5, 0.6], vec![1.5, -0.5], vec![f64::NAN, 1.0], vec![0.0, 0.0]] {
        assert!(matches!(refuse(with(reference)), Error::Reference { .. }));
    }
    let groups = |references| AuditOptions { group_references: Some(references), ..options() };
    assert!(matches!(refuse(groups(vec![])), Error::Length { .. }));
    let error = refuse(groups(vec![vec![0.1, 0.1]])).to_string();
    assert!(error.starts_with("the reference of group \"g\" sums to 0.2"), "{error}");
    for (replicates, level) in [(0, 0.9), (u32::MAX, 0.9), (9, 0.0), (9, 1.0), (9, f64::NAN)] {
        let bootstrap = Some(Bootstrap { replicates, level, seed: 0 });
        assert!(matches!(refuse(AuditOptions { bootstrap, ..options() }), Error::Parameter { .. }));
    }
}

#[test]
fn batches_of_another_audit_are_refused() {
    let table = Table::random(2, 20, 3, 2, false);
    let options = AuditOptions::default();
    let tally = || Tally::new(&table.classes, &options, &table.names).expect("options");
    let other = Table::random(2, 20, 2, 2, false);
    assert!(matches!(tally().add(&other.view(), &other.given_labels()), Err(Error::Tally { what: "classes" })));
    let short = table.pick(&[1, 2]).given_labels();
    assert!(matches!(tally().add(&table.view(), &short), Err(Error::Length { .. })));
    let bare = Scores::new(&table.classes, Matrix::RowsF64(&table.scores)).expect("a table");
    assert!(matches!(tally().add(&bare, &table.given_labels()), Err(Error::Missing { .. })));
    let renamed = Table { names: vec!["group 0".to_owned(), "x".to_owned()], ..table.clone() };
    assert!(matches!(tally().add(&renamed.view(), &table.given_labels()), Err(Error::Tally { what: "groups" })));
    let drop = AuditOptions { uncoded: UncodedPolicy::Drop, ..AuditOptions::default() };
    let drop = Tally::new(&table.classes, &drop, &table.names).expect("options");
    let error = tally().merge(&drop).expect_err("other options").to_string();
    assert_eq!(
        error,
        "the audit was started with different options; use the same for every batch and tally of an audit"
    );
    // Labels with more classes than the scores.
    let many = Classes::new(["a", "b", "c", "d"]).expect("distinct");
    let labels = Labels::new(vec![3; 20], &many).expect("labels");
    assert!(matches!(tally().add(&table.view(), &labels), Err(Error::Length { found: 4, expected: 3, .. })));
    let huge = Table { counts: vec![Scores::MAX_PEOPLE / 32; 20], ..table.clone() };
    let mut full = tally();
    full.add(&huge.view(), &huge.given_labels()).expect("few enough");
    assert!(matches!(full.add(&huge.view(), &huge.given_labels()), Err(Error::TooManyPeople { .. })));
    assert!(full.finish().is_ok(), "the batch was refused before any of it was taken in");
}

#[test]
fn a_bad_row_spoils_the_tally() {
    let mut table = Table::random(2, 5000, 2, 2, false);
    let good = table.clone();
    table.scores[2 * 4321] = f64::NAN;
    table.scores[2 * 4900] = f64::NAN;
    let options = AuditOptions::default();
    let mut tally = Tally::new(&table.classes, &options, &table.names).expect("options");
    tally.add(&good.view(), &good.given_labels()).expect("good");
    let error = tally.add(&table.view(), &table.given_labels()).expect_err("bad");
    assert!(matches!(error, Error::NotFinite { row: 4321, .. }));
    assert!(tally.finish().is_err() && tally.add(&good.view(), &good.given_labels()).is_err());
    let parallel = Audit::of(&table.view(), &table.given_labels(), &options).expect_err("bad");
    assert!(matches!(parallel, Error::NotFinite { row: 4321, .. }));
}

// ---------------------------------------------------------------------------------------------------------------------
// Edge cases

/// Audits with all measures under each policy, and checks that the result contains no NaN.
fn audit_everything(table: &Table) -> Vec<Audit> {
    let bootstrap = Some(Bootstrap { replicates: 5, level: 0.5, seed: 1 });
    [UncodedPolicy::Keep, UncodedPolicy::Drop, UncodedPolicy::Argmax]
        .map(|uncoded| {
            let audit = table.audit(&AuditOptions { uncoded, bootstrap, ..AuditOptions::default() });
            assert_eq!(audit, audit.clone(), "NaN is not equal to itself");
            audit
        })
        .into()
}

#[test]
fn nobody() {
    for groups in [0, 1] {
        for audit in audit_everything(&Table::empty(3, groups)) {
            assert_eq!((audit.overall.rows, audit.focus, audit.undercounted), (0, None, None));
            assert!(audit.groups.is_empty() && audit.overall.coverage.is_none() && audit.overall.others.is_none());
            assert!(audit.overall.classes.iter().all(|class| class.share.is_none() && class.posterior_share.is_none()));
        }
    }
}

#[test]
fn rows_that_stand_for_nobody() {
    let mut table = Table::random(1, 30, 3, 2, false);
    table.counts = vec![0; 30];
    for audit in audit_everything(&table) {
        assert_eq!((audit.overall.rows, audit.overall.people), (30, 0));
        assert!(audit.overall.accuracy.is_none() && audit.overall.confusion.is_none());
        assert_eq!(audit.groups.len(), 2);
    }
}

#[test]
fn one_class() {
    let table = Table::random(1, 30, 1, 2, false);
    for audit in audit_everything(&table) {
        let section = &audit.overall;
        assert_eq!((section.accuracy, section.expected_accuracy), (Some(1.0), Some(1.0)));
        close(section.against_posterior.map(|distance| distance.l1), 0.0);
        close(section.others.and_then(|others| others.share), 0.0);
        assert_eq!(audit.undercounted.map(undercounted), Some((0, 0, 2)));
        assert_eq!(section.tied, Some(0));
    }
}

#[test]
fn everyone_uncoded() {
    let mut table = Table::random(1, 30, 3, 2, false);
    table.labels = vec![UNCODED; 30];
    let audits = audit_everything(&table);
    for audit in &audits[..2] {
        assert_eq!((audit.overall.labeled, audit.overall.coverage), (0, Some(0.0)));
        assert!(audit.overall.accuracy.is_none() && audit.overall.against_posterior.is_none());
        assert!(audit.overall.uncoded_rows.is_some() && audit.undercounted.is_none());
    }
    close(audits[0].overall.classes[0].rates.and_then(|rates| rates.recall), 0.0);
    assert!(audits[1].overall.confusion.is_none(), "dropped");
    assert!(audits[2].overall.accuracy.is_some() && audits[2].overall.argmax_agreement.is_none());
}

#[test]
fn no_truth_and_truth_of_one() {
    let mut table = Table::random(1, 30, 3, 2, false);
    table.counts = vec![1; 30];
    table.truth = vec![UNCODED; 30];
    for audit in audit_everything(&table) {
        assert!(audit.overall.with_truth == 0 && audit.overall.confusion.is_none());
        assert!(audit.overall.classes.iter().all(|class| class.truth_count.is_none() && class.calibration.is_none()));
        assert!(audit.overall.intervals.is_some_and(|intervals| intervals.accuracy.is_none()));
    }
    table.truth[0] = 1;
    table.labels[0] = 1;
    for audit in audit_everything(&table) {
        assert_eq!((audit.overall.with_truth, audit.overall.accuracy), (1, Some(1.0)));
        assert_eq!(audit.overall.classes[0].truth_share, Some(0.0));
        assert!(audit.overall.classes[0].against_truth.is_some_and(|bias| bias.percent.is_none()));
    }
}

#[test]
fn as_many_people_as_there_may_be_do_not_overflow() {
    let classes = Classes::new(["a", "b"]).expect("distinct");
    let matrix = [-1e-12, 1.000_000_000_1e-6, 1.0, 0.0];
    let scores = Scores::new(&classes, Matrix::RowsF64(&matrix)).expect("a table").scaled(Scaling::Normalize);
    let scores = scores.with_truth(&[0, 1]).and_then(|s| s.with_counts(&[Scores::MAX_PEOPLE / 2; 2])).expect("a table");
    let labels = Labels::new(vec![1, 0], &classes).expect("labels");
    let audit = Audit::of(&scores, &labels, &AuditOptions::default()).expect("an audit");
    assert_eq!((audit.overall.people, audit.overall.accuracy), (Scores::MAX_PEOPLE, Some(0.0)));
    assert_eq!(audit.overall.expected_accuracy, Some(1.0));
}

#[test]
fn percentages_and_columns_are_read_like_rows() {
    let table = Table::random(6, 200, 3, 2, false);
    let expected = table.audit(&AuditOptions::default());
    let columns: Vec<Vec<f64>> =
        (0..3).map(|class| (0..200).map(|row| 100.0 * table.q(row)[class]).collect()).collect();
    let matrix = Matrix::ColumnsF64(columns.iter().map(Vec::as_slice).collect());
    let scores = Scores::new(&table.classes, matrix).expect("a table").scaled(Scaling::Percent);
    let scores = scores.with_truth(&table.truth).and_then(|s| s.with_counts(&table.counts)).expect("a table");
    let audit = Audit::of(&scores, &table.given_labels(), &AuditOptions::default()).expect("an audit");
    assert_eq!(json_of(&audit.overall), json_of(&expected.overall));
}

/// A row whose people have several labels is equivalent to several rows with one label each.
#[test]
fn people_of_one_row_may_have_several_labels() {
    use apportion::{Match, Reference, Rule, Settings};
    let classes = Classes::new(["a", "b"]).unwrap();
    let (cells, counts, truth) = ([0.7, 0.3, 0.4, 0.6, 0.9, 0.1], [10, 4, 0], [0, UNCODED, 1]);
    let scores = Scores::new(&classes, Matrix::RowsF64(&cells)).unwrap();
    let scores = scores.with_counts(&counts).unwrap().with_truth(&truth).unwrap();
    let allotted = Rule::Match(Match::overall(Reference::Posterior)).allot(&scores, &Settings::default()).unwrap();
    assert_eq!(allotted.allotment.rows().collect::<Vec<_>>(), [[9, 1, 0], [0, 4, 0], [0, 0, 0]]);
    let audit = Audit::of_allotment(&scores, &allotted.allotment, &AuditOptions::default()).unwrap();

    let split = [0.7, 0.3, 0.7, 0.3, 0.4, 0.6];
    let people = Scores::new(&classes, Matrix::RowsF64(&split)).unwrap();
    let people = people.with_counts(&[9, 1, 4]).unwrap().with_truth(&[0, 0, UNCODED]).unwrap();
    let labels = Labels::new(vec![0, 1, 1], &classes).unwrap();
    let expected = Audit::of(&people, &labels, &AuditOptions::default()).unwrap();
    assert_eq!((audit.overall.rows, audit.overall.people), (3, 14));
    let figures = |audit: &Audit| {
        let mut section = audit.overall.clone();
        section.rows = 0;
        format!("{section:?}")
    };
    assert_eq!(figures(&audit), figures(&expected));
}

/// The figures of a summary equal those of the audit, for any table.
#[test]
fn a_summary_is_an_audit_without_some_measures() {
    let (classes, mut random) = (Classes::new(["a", "b", "c"]).unwrap(), Random(5, 0));
    for rows in [1, 7, 200, 70_000] {
        let mut values = Vec::new();
        for _ in 0..rows {
            let (a, b) = (random.unit() / 2.0, random.unit() / 2.0);
            values.extend([a, b, 1.0005 - a - b]);
        }
        let mut draw = |bound: u64, none: bool| match random.below(bound + u64::from(none)) {
            last if last == bound => UNCODED,
            class => class as Label,
        };
        let labels = Labels::new((0..rows).map(|_| draw(3, true)).collect(), &classes).unwrap();
        let truth: Vec<Label> = (0..rows).map(|_| draw(3, rows > 1)).collect();
        let counts: Vec<u64> = (0..rows).map(|_| u64::from(draw(4, false))).collect();
        let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
        for scores in [scores.clone(), scores.clone().with_truth(&truth).unwrap().with_counts(&counts).unwrap()] {
            let audit = Audit::of(&scores, &labels, &AuditOptions::default()).unwrap().overall;
            assert_eq!(Section::summary(&scores, &labels).unwrap(), without_measures(&audit));
            let scores_by_label: f64 = audit.classes.iter().map(|class| class.label_scores).sum();
            assert!((scores_by_label - audit.label_scores).abs() < 1e-9);
        }
        let codes: Vec<u32> = (0..rows).map(|row| row as u32 % 5).collect();
        let names: Vec<String> = (0..5).map(|group| group.to_string()).collect();
        let grouped = scores.with_groups(Groups { codes: &codes, names: &names }).unwrap();
        let audit = Audit::of(&grouped, &labels, &AuditOptions::default()).unwrap();
        let known =
            |group: &GroupSection| Some((group.section.people as f64, group.section.against_posterior?.fidelity));
        let all: Vec<(f64, f64)> = audit.groups.iter().filter_map(known).collect();
        let expected =
            all.iter().map(|(people, far)| people * far).sum::<f64>() / all.iter().map(|(p, _)| p).sum::<f64>();
        let tally = Tally::of(&grouped, &labels, &AuditOptions::summary_by_group()).unwrap();
        let found = tally.fidelity_in_groups();
        assert_eq!(found, audit.fidelity_in_groups);
        assert_eq!(found.is_none(), all.is_empty());
        assert!(found.is_none_or(|found| (found - expected).abs() < 1e-12), "{found:?} {expected}");
        for group in &audit.groups {
            assert_eq!(tally.group(group.code).unwrap(), without_measures(&group.section));
        }
    }
}

fn undercounted(own: Undercounted) -> (usize, usize, usize) {
    (own.groups, own.by_a_person_or_more, own.of)
}

/// Returns the section without the measures that a summary does not include, for each class and overall.
fn without_measures(section: &Section) -> Section {
    let mut section = section.clone();
    let error = &mut section.score_error;
    (error.implied_mae, error.observed_mae, error.argmax) = (None, None, None);
    (section.argmax_agreement, section.tied, section.uncoded_rows, section.intervals) = (None, None, None, None);
    let clear = |class: &mut ClassAudit| (class.argmax, class.calibration) = (None, None);
    section.classes.iter_mut().for_each(clear);
    section
}

#[test]
fn measures_of_groups_are_their_own() {
    let table = Table::random(7, 300, 3, 4, false);
    let bootstrap = Some(Bootstrap { replicates: 5, ..Bootstrap::default() });
    let options = AuditOptions { bootstrap, ..AuditOptions::default() };
    let all = table.audit(&options);
    let few = GroupMeasures::Each(Measures::SUMMARY);
    let own = table.audit(&AuditOptions { group_measures: few, ..options.clone() });
    assert_eq!(own.overall, all.overall);
    assert!(all.overall.intervals.is_some() && all.groups.iter().all(|group| group.section.intervals.is_some()));
    for (own, all) in own.groups.iter().zip(&all.groups) {
        assert_eq!(own.section, without_measures(&all.section));
    }
    let none = table.audit(&AuditOptions { group_measures: GroupMeasures::None, ..options });
    assert!(none.overall == all.overall && none.groups.is_empty() && none.fidelity_in_groups.is_none());
}
