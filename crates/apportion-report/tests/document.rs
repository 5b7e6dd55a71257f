//! Reports from plain data: their sentences, what is hidden, and names that are escaped everywhere.
#![allow(clippy::unwrap_used)] // in helpers

use apportion::audit::{Audit, AuditOptions, Bootstrap, Calibration, GroupTotals, Interval};
use apportion::rule::{Point, RuleKind};
use apportion::text::Setting;
use apportion::{Classes, Labels, Matrix, Scores, UNCODED};
use apportion_report::{
    Block, Chart, Disparity, Estimator, Geometry, Groups, LabelKind, LabelSet, Method, Provenance, Sample, Study,
    Table, Trade, TradeReference,
};

/// Formats a setting as a command-line option.
fn option(setting: Setting, value: Option<&str>) -> String {
    format!("--{} {}", setting.id(), value.unwrap_or_default()).trim_end().to_owned()
}

fn totals(people: u64, posterior: &[f64], truth: Option<&[u64]>) -> GroupTotals {
    let mut totals = GroupTotals::default();
    totals.people = people;
    totals.posterior = Some(posterior.to_vec());
    totals.truth = truth.map(<[u64]>::to_vec);
    totals.posterior_with_truth = truth.map(|_| posterior.to_vec());
    totals
}

/// Returns totals with the same shares and another number of people.
fn of_people(people: u64, totals: &GroupTotals) -> GroupTotals {
    let mut totals = totals.clone();
    totals.people = people;
    totals
}

fn label_set(name: &str, counts: [u64; 3], confusion: Option<[[u64; 4]; 3]>, in_groups: &[[u64; 4]]) -> LabelSet {
    LabelSet {
        name: name.into(),
        kind: match name {
            "argmax" => LabelKind::Rule(RuleKind::Argmax),
            "match" => LabelKind::Rule(RuleKind::Match),
            "threshold" => LabelKind::Rule(RuleKind::Threshold),
            other => panic!("{other}"),
        },
        counts: counts.to_vec(),
        uncoded: 0,
        confusion: confusion.map(|rows| rows.map(|row| row.to_vec()).to_vec()),
        in_groups: in_groups.iter().map(|row| row.to_vec()).collect(),
        accuracy: confusion.map(|_| 0.8),
        expected_accuracy: Some(0.75),
        fidelity_to_posterior: Some(-0.2),
        fidelity_to_truth: confusion.map(|_| -0.3),
        fidelity_in_groups: None,
        coverage: None,
        frontier_gap: Some(0.0),
        certificate: None,
        tied_rows: 0,
        draws: Vec::new(),
    }
}

/// A hundred people of three classes, labeled by argmax and by match.
fn study(classes: [&str; 3], has_truth: bool) -> Study {
    let truth: Option<&[u64]> = has_truth.then_some(&[60, 30, 10]);
    let confusion = has_truth.then_some([[58, 2, 0, 0], [10, 20, 0, 0], [8, 2, 0, 0]]);
    let matched = has_truth.then_some([[52, 5, 3, 0], [5, 21, 4, 0], [5, 2, 3, 0]]);
    let point = |from_gamma: f64, counts: [u64; 3], accuracy, fidelity| Point {
        from_gamma,
        to_gamma: from_gamma + 0.1,
        counts: counts.to_vec(),
        accuracy,
        fidelity,
    };
    Study {
        classes: classes.map(String::from).to_vec(),
        focus: 0,
        rows: 100,
        whole: totals(100, &[0.62, 0.28, 0.10], truth),
        truth_given: has_truth,
        groups: None,
        label_sets: vec![
            label_set("argmax", [76, 24, 0], confusion, &[]),
            label_set("match", [62, 28, 10], matched, &[]),
        ],
        subject: 0,
        corrected: Some(1),
        calibration: vec![None; 3],
        audit: None,
        trades: vec![Trade {
            reference: TradeReference::Posterior,
            points: vec![point(0.9, [76, 24, 0], 0.76, -0.28), point(0.0, [62, 28, 10], 0.75, 0.0)],
            of: 2,
            error: 0.0,
        }],
        learned: Vec::new(),
        sample: None,
        outcomes: None,
        shapes: None,
        provenance: Provenance { command: "apportion compare 'a b.csv'".into(), ..Provenance::default() },
        name_setting: option,
    }
}

fn lead(study: &Study, id: &str) -> String {
    study.document().sections.into_iter().find(|section| section.id == id).unwrap().lead
}

#[test]
fn sentences_are_made_from_the_numbers() {
    let known = study(["white", "black", "other"], true);
    assert_eq!(
        lead(&known, "glance"),
        "Argmax counts 10 fewer other than there are in truth (−100.0%); match brings that to 0.0%, at no cost in expected \
         accuracy."
    );
    assert_eq!(
        lead(&known, "counts"),
        "Against the truth, argmax undercounts other by 10 (−100.0%): 0.0% comes of the scores (miscalibration), −100.0% of \
         making labels of them (discretization)."
    );
    let unknown = study(["white", "black", "other"], false);
    assert_eq!(
        lead(&unknown, "glance"),
        "Argmax counts 10 fewer other than the scores say (−100.0%); match brings that to 0.0%, at no cost in expected accuracy."
    );
    assert!(
        lead(&unknown, "trade")
            .starts_with("From argmax (expected accuracy 0.7600, fidelity −0.280) to right counts there are 2 optimal")
    );
}

#[test]
fn what_is_not_known_is_left_out_in_a_line() {
    let document = study(["white", "black", "other"], false).document();
    for (id, way) in [("groups", "--by COL"), ("map", "--geometry FILE"), ("calibration", "--truth COL")] {
        let section = document.sections.iter().find(|section| section.id == id).unwrap();
        assert!(section.lead.contains(way) && section.blocks.is_empty(), "{id}: {}", section.lead);
    }
    let html = document.to_html();
    let ours = html.split("id=\"looks\"").next().unwrap();
    assert!(!ours.contains("NaN") && !ours.contains("Off the truth"));
}

#[test]
fn nobody_is_no_reason_to_fail() {
    let mut nobody = study(["white", "black", "other"], false);
    nobody.whole = GroupTotals::default();
    nobody.label_sets = vec![label_set("argmax", [0; 3], None, &[])];
    nobody.trades = Vec::new();
    nobody.corrected = None;
    let document = nobody.document();
    assert!(document.to_html().contains("0 people") && document.to_markdown().contains("0 people"));
}

fn chart(study: &Study, id: &str) -> Chart {
    study.document().charts().find(|chart| chart.id == id).unwrap().clone()
}

#[test]
fn rules_are_on_the_chart_by_the_measure_of_the_frontier() {
    let mut own = study(["white", "black", "other"], false);
    own.label_sets.push(LabelSet { uncoded: 50, ..label_set("threshold", [40, 10, 0], None, &[]) });
    own.label_sets[0].fidelity_to_posterior = Some(0.0); // may differ, because it is relative to exact shares
    let trade = chart(&own, "trade");
    assert_eq!(trade.data[1]["x"][0], -0.28);
    assert_eq!(trade.data[2]["x"][0], 0.0);
    assert_eq!(trade.data.as_array().unwrap().len(), 3);
    let (shares, counts) = (&*trade.sheet.rows[0][2], &*trade.sheet.rows[0][7]);
    assert_eq!((shares, counts), ("0", "-0.28"));
    assert!(trade.caption.ends_with("leaves people without a label: threshold."), "{}", trade.caption);
    own.trades[0].of = 1;
    assert!(lead(&own, "trade").ends_with("there is nothing to trade."));
}

#[test]
fn a_truth_that_is_known_of_some_has_no_frontier() {
    let mut own = study(["white", "black", "other"], true);
    own.trades.push(Trade { reference: TradeReference::Truth, ..own.trades[0].clone() });
    let references = |own: &Study| {
        let mut all: Vec<String> = chart(own, "trade").sheet.rows.iter().map(|row| row[1].clone()).collect();
        all.dedup();
        all
    };
    assert_eq!(references(&own), ["posterior", "truth"]);
    assert!(own.document().to_html().contains("Off the truth, in %"));
    own.whole.people = 120;
    assert_eq!(references(&own), ["posterior"]);
    let html = own.document().to_html();
    assert!(!html.contains("Off the truth, in %") && html.contains("known of 100 of 120 people only"));
}

#[test]
fn ties_are_named_and_labels_are_many() {
    let mut own = study(["white", "black", "other"], false);
    assert!(lead(&own, "tables").contains("argmax and match are the most accurate"));
    own.label_sets[0].name = "your labels".into();
    own.label_sets[0].kind = LabelKind::Own;
    own.label_sets[0].expected_accuracy = Some(0.8);
    assert!(lead(&own, "tables").contains("your labels are the most accurate (expected accuracy 0.8000)"));
}

#[test]
fn a_price_that_is_not_known_is_not_named() {
    let mut own = study(["white", "black", "other"], false);
    own.label_sets[1].expected_accuracy = None;
    assert_eq!(
        lead(&own, "glance"),
        "Argmax counts 10 fewer other than the scores say (−100.0%); match brings that to 0.0%."
    );
    own.label_sets[1].expected_accuracy = Some(0.73);
    assert!(lead(&own, "glance").ends_with("for 2.00 points of expected accuracy."));
    own.label_sets[1].counts = vec![76, 24, 0];
    assert!(lead(&own, "glance").contains("match has it at −100.0%"));
    own.label_sets[1].counts = vec![0; 3];
    assert!(lead(&own, "glance").ends_with("say (−100.0%)."));
}

#[test]
fn shares_of_some_are_not_counts_of_all() {
    let mut own = study(["white", "black", "other"], false);
    own.label_sets[0] = LabelSet { uncoded: 50, ..label_set("threshold", [40, 10, 0], None, &[]) };
    assert_eq!(
        lead(&own, "glance"),
        "Threshold gives other a share 10.00 points smaller than the scores say (−100.0%), among those labeled; match brings \
         that to 0.0%."
    );
    assert!(
        lead(&own, "counts").contains("among those labeled, threshold undercounts other by 10.00 points (−100.0%)")
    );
    let people = chart(&own, "counts-people");
    assert!(people.data[0]["x"][0].is_null() && people.data[0]["x"][1] == 0.0, "{}", people.data[0]);
    assert!(people.caption.contains("without a label: threshold"));
    let Block::Cards(cards) = own.document().sections[0].blocks[0].clone() else { panic!("cards") };
    assert!(cards.iter().all(|card| card.name != "Its price"));
    assert_eq!(cards[1].figure, "−10.00 points");
}

#[test]
fn nobody_with_a_label_has_sentences_of_its_own() {
    let mut own = study(["white", "black", "other"], false);
    own.label_sets[0] = LabelSet { uncoded: 100, ..label_set("threshold", [0; 3], None, &[]) };
    for id in ["glance", "counts"] {
        assert_eq!(lead(&own, id), "Nobody has a label by threshold: there is nothing to count.");
    }
}

#[test]
fn overcounts_are_seen_where_nothing_is_undercounted() {
    let mut own = study(["white", "black", "other"], false);
    own.whole.posterior = Some(vec![0.60, 0.283, 0.103]);
    own.label_sets[0].counts = vec![62, 28, 10];
    assert_eq!(
        lead(&own, "counts"),
        "Argmax undercounts no class by a person or more, and overcounts white by 2 (+3.3%)."
    );
    own.whole.posterior = Some(vec![0.617, 0.283, 0.103]);
    assert_eq!(lead(&own, "counts"), "Argmax has every class within a person of the scores.");
}

#[test]
fn a_truth_that_is_known_of_some_is_said_to_be() {
    let mut own = study(["white", "black", "other"], true);
    own.whole.people = 120;
    assert!(lead(&own, "glance").contains("in truth, among the 100 whose truth is known (−100.0%)"));
    assert!(lead(&own, "counts").starts_with("Against the truth, among the 100 whose truth is known, argmax"));
    let sheet = chart(&own, "counts-percent").sheet;
    assert_eq!((&*sheet.columns[3], &*sheet.rows[0][3]), ("labels_with_truth", "76"));
}

/// The same study with two groups of a hundred people, and the given labels of the subject in each group.
fn grouped(of_groups: [[u64; 4]; 2]) -> Study {
    let mut own = study(["white", "black", "other"], false);
    own.groups = Some(Groups {
        word: "county".into(),
        names: vec!["a".into(), "b".into()],
        totals: vec![own.whole.clone(), own.whole.clone()],
    });
    own.label_sets[0].in_groups = of_groups.map(|row| row.to_vec()).to_vec();
    own.label_sets[0].counts = (0..3).map(|class| of_groups[0][class] + of_groups[1][class]).collect();
    own
}

#[test]
fn groups_are_undercounted_by_whole_people() {
    let mut own = grouped([[62, 28, 10, 0], [76, 24, 0, 0]]);
    assert_eq!(
        lead(&own, "groups"),
        "By argmax, all but white are undercounted by a person or more in 1 of 2 counties, and by 7.00 points overall."
    );
    own.label_sets[0].in_groups[1] = vec![38, 12, 0, 50];
    own.label_sets[0].uncoded = 50;
    assert!(lead(&own, "groups").contains("or more, were all labeled as those with a label are, in 1 of 2 counties"));
    let sheet = chart(&own, "groups").sheet;
    assert!(!sheet.rows[0][7].is_empty() && sheet.rows[1][7].is_empty());
    own = grouped([[62, 28, 10, 0], [62, 28, 10, 0]]);
    own.groups.as_mut().unwrap().totals[0].posterior = Some(vec![0.615, 0.285, 0.10]); // half a person
    assert_eq!(
        lead(&own, "groups"),
        "By argmax, all but white are undercounted by a person or more in 0 of 2 counties, and are as many overall as the \
         scores say."
    );
}

#[test]
fn a_map_takes_from_nobody_where_nobody_is_missing() {
    let feature = |name: &str| {
        format!(
            r#"{{"type":"Feature","properties":{{"name":"{name}"}},
            "geometry":{{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}}}"#
        )
    };
    let map = |features: &[String]| format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, features.join(","));
    let (of_a, of_both) = (map(&[feature("a")]), map(&[feature("a"), feature("b")]));
    let with_map = |of_groups, map: &str| {
        let mut own = grouped(of_groups);
        let names = own.groups.as_ref().unwrap().names.clone();
        own.shapes = Some(Geometry::parse(map.as_bytes()).unwrap().matched(&names, None).unwrap());
        lead(&own, "map")
    };
    assert_eq!(
        with_map([[60, 30, 10, 0], [62, 28, 10, 0]], &of_both),
        "By argmax, all but white are undercounted in no county on the map."
    );
    let of_b = [[60, 30, 10, 0], [76, 24, 0, 0]];
    assert!(with_map(of_b, &of_both).starts_with("Argmax takes most from all but white in b: −14.00"));
    // Groups that are not on the map are not mentioned.
    assert_eq!(with_map(of_b, &of_a), "By argmax, all but white are undercounted in no county on the map.");
}

#[test]
fn the_triangle_tells_classes_from_no_label() {
    let mut own = study(["white", "black", "other"], false);
    assert_eq!(lead(&own, "simplex"), "There is nobody to show.");
    let points = vec![[0.5, 0.25, 0.25]; 3];
    own.sample = Some(Sample { corners: [0, 1], points, labels: vec![vec![0, 0, 3], vec![0, 1, 1]] });
    assert!(lead(&own, "simplex").ends_with(
        ": match gives 1 of them another class than argmax, near the borders; 1 without a label has one by it."
    ));
    own.label_sets[0].kind = LabelKind::Rule(RuleKind::Thompson);
    assert!(!lead(&own, "simplex").contains("borders"));
}

#[test]
fn small_classes_are_judged_by_their_own_measure() {
    let calibration = || Some(Calibration::default());
    let mut own = study(["white", "black", "other"], true);
    own.calibration = vec![calibration(), calibration(), calibration()];
    assert!(lead(&own, "calibration").contains("furthest off for"));
    own.whole.truth = Some(vec![60_000, 39_900, 100]);
    own.whole.people = 100_000;
    own.whole.posterior_with_truth = Some(vec![0.6001, 0.3993, 0.0006]);
    assert!(lead(&own, "calibration").ends_with("for other, which is small, they say 0.060%, and 0.100% are."));
    own.whole.posterior_with_truth = Some(vec![0.6, 0.399, 0.001]);
    assert!(lead(&own, "calibration").ends_with("as often true as they say."));
    own.calibration = vec![None; 3];
    own.whole.truth = None;
    own.truth_given = false;
    assert!(lead(&own, "calibration").starts_with("No truth was given: --truth COL"));
    own.truth_given = true;
    assert!(lead(&own, "calibration").starts_with("The truth that was given is empty: --truth COL"));
}

#[test]
fn names_stay_text_in_page_charts_and_markdown() {
    let hostile = "</script><img src=x onerror=alert(1)>";
    let mut own = study([hostile, "<b>b</b>", "c|d"], true);
    own.groups = Some(Groups {
        word: "county".into(),
        names: vec![hostile.into(), "%{x}".into()],
        totals: vec![own.whole.clone(), own.whole.clone()],
    });
    for label_set in &mut own.label_sets {
        label_set.in_groups = vec![vec![76, 24, 0, 0], vec![62, 28, 10, 0]];
    }
    own.sample = Some(Sample { corners: [0, 1], points: vec![[0.5, 0.25, 0.25]], labels: vec![vec![0], vec![3]] });
    let document = own.document();
    let (html, markdown) = (document.to_html(), document.to_markdown());
    assert!(!html.contains("<img") && !html.contains("<b>b"), "in the page");
    assert!(!markdown.contains("<img") && markdown.contains("c\\|d"), "in Markdown");
    for chart in document.charts() {
        let text = document.specification(chart).to_string();
        assert!(!text.contains("<img") && !text.contains("<b>b") && !text.contains("\"%{x}\""), "{}", chart.id);
    }
}

#[test]
fn every_chart_has_words_numbers_and_a_specification() {
    let document = study(["white", "black", "other"], true).document();
    let files = document.figures();
    for chart in document.charts() {
        assert!(!chart.alt.is_empty() && !chart.title.is_empty() && !chart.sheet.rows.is_empty(), "{}", chart.id);
        assert!(chart.sheet.rows.iter().all(|row| row.len() == chart.sheet.columns.len()), "{}", chart.id);
        for ending in ["csv", "json"] {
            assert!(files.iter().any(|(name, bytes)| *name == format!("{}.{ending}", chart.id) && !bytes.is_empty()));
        }
    }
    let tables = document.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    for table in tables {
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.id);
    }
}

#[test]
fn signed_numbers_are_written_as_plotly_reads_them() {
    // Plotly puts a ~ before formats that begin with a sign, and then cannot parse them.
    let figures = study(["a", "b", "c"], true).document().figures();
    let specs: Vec<String> = figures.into_iter().map(|(_, bytes)| String::from_utf8(bytes).unwrap()).collect();
    assert!(specs.iter().any(|spec| spec.contains(":0>+.1f}")) && !specs.iter().any(|spec| spec.contains(":+")));
}

/// Returns the report in all output formats.
fn written(study: &Study) -> String {
    let document = study.document();
    let figures = document.figures().into_iter().map(|(_, bytes)| String::from_utf8(bytes).unwrap());
    let page = document.to_html();
    let ours = page.split("id=\"looks\"").next().unwrap().to_owned();
    [ours, document.to_markdown()].into_iter().chain(figures).collect()
}

/// The outlines of two groups.
const SQUARES: &str = r#"{"type":"FeatureCollection","features":[
    {"type":"Feature","properties":{"name":"Person 17"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}},
    {"type":"Feature","properties":{"name":"Large"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}},
    {"type":"Feature","properties":{"name":"Nobody's"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}]}"#;

/// Two groups on a map, the second with three people.
fn with_few() -> Study {
    let mut own = grouped([[62, 28, 10, 0], [1, 2, 0, 0]]);
    let groups = own.groups.as_mut().unwrap();
    groups.names = vec!["Large".into(), "Person 17".into()];
    groups.totals[1].people = 3;
    let names = groups.names.clone();
    own.shapes = Some(Geometry::parse(SQUARES.as_bytes()).unwrap().matched(&names, None).unwrap());
    own
}

#[test]
fn very_few_are_not_named() {
    let own = with_few();
    let all = written(&own);
    assert!(all.contains("Large") && !all.contains("Person 17"));
    assert!(all.contains("1 county of fewer than 5 people is not shown: what is said of very few is said of each."));
    assert!(all.contains("1 outline has no county in the table"), "one is one");
    let sheet = chart(&own, "groups").sheet;
    assert!(sheet.rows.iter().flatten().all(|cell| !cell.is_empty()), "{:?}", sheet.rows);
}

#[test]
fn where_groups_are_people_none_is_named() {
    let mut own = with_few();
    let groups = own.groups.as_mut().unwrap();
    groups.names.push("Person 18".into());
    groups.totals.push(of_people(1, &groups.totals[0]));
    own.label_sets[0].in_groups.push(vec![1, 0, 0, 0]);
    assert!(own.groups.as_ref().unwrap().are_people());
    let all = written(&own);
    assert!(!all.contains("Person 1") && !all.contains("Large"));
    assert!(lead(&own, "groups").starts_with("2 of 3 groups have fewer than 5 people. Groups are hidden"));
    assert_eq!(lead(&own, "map"), "Most groups have too few people to be shown: see Groups.");
}

fn table(study: &Study, id: &str) -> Table {
    let sections = study.document().sections;
    let tables = sections.into_iter().flat_map(|section| section.blocks).filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    tables.into_iter().find(|table| table.id == id).unwrap()
}

/// Returns the texts of a row of a table.
fn row(table: &Table, place: usize) -> Vec<&str> {
    table.rows[place].iter().map(|cell| cell.text.as_str()).collect()
}

#[test]
fn biases_are_told_in_points_and_percent() {
    let known = study(["white", "black", "other"], true);
    let truth = table(&known, "bias-truth");
    assert_eq!(row(&truth, 0), ["argmax", "+16.00 (+26.7%)", "−6.00 (−20.0%)", "−10.00 (−100.0%)"]);
    let scores = table(&known, "bias-scores");
    assert_eq!(row(&scores, 0), ["argmax", "+14.00 (+22.6%)", "−4.00 (−14.3%)", "−10.00 (−100.0%)"]);
    // By group and class.
    let own = grouped([[62, 28, 10, 0], [76, 24, 0, 0]]);
    let classes = table(&own, "groups-classes");
    assert_eq!(classes.rows.len(), 6);
    assert_eq!(row(&classes, 3), ["b", "white", "62.0", "76", "+14.00", "+22.6%"]);
    assert_eq!(row(&classes, 5), ["b", "other", "10.0", "0", "−10.00", "−100.0%"]);
    let sheet = chart(&own, "groups").sheet;
    let last = sheet.rows.last().unwrap();
    assert_eq!(last[..6], ["argmax", "b", "other", "100", "0", "0.1"].map(String::from));
}

#[test]
fn of_very_many_groups_the_largest_are_told_class_by_class() {
    let mut own = grouped([[62, 28, 10, 0], [76, 24, 0, 0]]);
    let groups = own.groups.as_mut().unwrap();
    groups.totals = (0..1200).map(|group| of_people(100 + group, &groups.totals[0])).collect();
    groups.names = (0..1200).map(|place| format!("g{place}")).collect();
    own.label_sets[0].in_groups = vec![vec![62, 28, 10, 0]; 1200];
    let classes = table(&own, "groups-classes");
    assert_eq!((classes.rows.len(), row(&classes, 0)[0]), (3000, "g200"));
    assert!(classes.note.contains("the 1,000 counties with the most people, of 1,200; --figures DIR writes all"));
    assert_eq!(chart(&own, "groups").sheet.rows.len(), 1200 + 3 * 1200);
}

/// Twenty classes with long names and twenty people each; one person is unlabeled in the second label set.
fn many_classes() -> Study {
    let mut own = study(["a", "b", "c"], false);
    let spread = |labels: u64| (0..20).map(|_| labels).collect::<Vec<u64>>();
    own.classes = (1..=20).map(|place| format!("The class of {place} among twenty")).collect();
    own.whole = totals(400, &[0.05; 20], Some(&spread(20)));
    for label_set in &mut own.label_sets {
        label_set.counts = spread(20);
        let hits = |class: usize| (0..21).map(|label| if label == class { 20 } else { 0 }).collect();
        label_set.confusion = Some((0..20).map(hits).collect());
    }
    own.label_sets[1].name = "threshold".into();
    own.label_sets[1].kind = LabelKind::Rule(RuleKind::Threshold);
    own.label_sets[1].uncoded = 1;
    own.calibration = vec![Some(Calibration::default()); 20];
    own.trades[0].points.iter_mut().for_each(|point| point.counts = spread(20));
    own.sample = Some(Sample { corners: [0, 1], points: vec![[0.5, 0.25, 0.25]], labels: vec![vec![0], vec![19]] });
    own
}

#[test]
fn twenty_classes_find_room() {
    let own = many_classes();
    let document = own.document();
    let ids: Vec<&str> = document.charts().map(|chart| chart.id.as_str()).collect();
    for id in ["counts-percent", "counts-percent-2", "counts-percent-3", "counts-people-3"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    // Every class has a panel, and all panels share one scale.
    let charts = || document.charts().filter(|chart| chart.id.starts_with("counts-percent"));
    assert_eq!(charts().map(|chart| chart.layout["annotations"].as_array().unwrap().len()).sum::<usize>(), 20);
    assert!(charts().all(|chart| chart.layout["xaxis"]["range"] == charts().next().unwrap().layout["xaxis"]["range"]));
    assert_eq!(charts().next().unwrap().layout["annotations"][0]["text"], "The class of 1 among<br>twenty");
    // If classes would make too many columns, they are rows.
    for id in ["counts-table", "bias-truth", "precision", "recall", "coverage"] {
        let table = table(&own, id);
        assert!(table.columns.len() <= 5 && table.rows.len() >= 20, "{id}: {:?}", table.columns);
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{id}");
    }
    let confusion = table(&own, "confusion-0");
    assert_eq!((&*confusion.columns[20], row(&confusion, 19)[0]), ("20", "20. The class of 20 among twenty °"));
    assert!(table(&own, "recall").note.starts_with("° of fewer than 30 people"));
}

#[test]
fn a_person_is_much_of_a_small_class() {
    let own = study(["white", "black", "other"], false);
    let markdown = own.document().to_markdown();
    assert!(
        markdown.contains("are off by up to a person, which is 10.0% of other (10.0 by the scores)."),
        "{markdown}"
    );
    assert_eq!(row(&table(&own, "counts-table"), 0)[1..4], ["62.0", "28.0", "10.0"]);
    // Half a person is rounding, not an undercount.
    let mut half = study(["white", "black", "other"], false);
    half.label_sets[0].counts = vec![62, 28, 10];
    half.whole.posterior = Some(vec![0.613, 0.28, 0.107]);
    assert_eq!(lead(&half, "counts"), "Argmax has every class within a person of the scores.");
}

#[test]
fn draws_have_a_range() {
    let mut own = study(["white", "black", "other"], false);
    own.label_sets[0].draws = vec![vec![76, 24, 0], vec![60, 30, 10], vec![62, 27, 11]];
    let draws = table(&own, "draws");
    assert_eq!(row(&draws, 0), ["white", "62.0", "76", "66.0", "60", "76"]);
    assert_eq!(row(&draws, 2), ["other", "10.0", "0", "7.0", "0", "11"]);
    assert!(draws.caption.contains("over 3 draws of argmax") && draws.note.contains("the first draw"));
    assert!(own.document().to_markdown().contains("This report is about argmax, the first of 3 draws."));
}

#[test]
fn markdown_has_texts_to_the_left_and_numbers_to_the_right() {
    let mut own = study(["white", "black", "other"], true);
    own.provenance.files.push(("a.csv".into(), 100, "abc".into()));
    let markdown = own.document().to_markdown();
    assert!(markdown.contains("| File | Rows | SHA-256 |\n| --- | ---: | --- |\n| a.csv | 100 | abc |"), "{markdown}");
    assert!(markdown.contains("| What | How |\n| --- | --- |"));
    assert!(markdown.contains("| rule | class | labels |") && markdown.contains("| --- | --- | ---: | ---: | ---: |"));
    assert!(markdown.contains("This page was made from 1 file by"));
    assert_eq!(markdown.matches("| rule | class | labels |").count(), 1, "two charts of the same numbers");
}

#[test]
fn one_is_one_and_several_are_many() {
    let mut one = grouped([[1, 0, 0, 0], [0, 0, 0, 0]]);
    one.rows = 1;
    one.whole.people = 1;
    one.label_sets.truncate(1);
    one.corrected = None;
    let groups = one.groups.as_mut().unwrap();
    (groups.names, groups.totals) = (vec!["a".into()], vec![of_people(6, &groups.totals[0])]);
    one.label_sets[0].in_groups = vec![vec![6, 0, 0, 0]];
    one.sample = Some(Sample { corners: [0, 1], points: vec![[0.5, 0.25, 0.25]], labels: vec![vec![0]] });
    let all = written(&one);
    assert!(all.contains("1 person, 3 classes, 1 way of labeling them"));
    assert!(all.contains("1 row, 1 county.") && all.contains("in 1 of 1 county, "));
    assert!(all.contains("1 person's scores, shown in the colour of the label."));
    for wrong in
        [" 1 people", " 1 rows", " 1 counties", " 1 outlines", " 1 ways", " 1 groups", " 1 files", " 1 points,"]
    {
        assert!(!all.contains(wrong), "{wrong}");
    }
}

/// Four hundred people with turnout by two estimators, and bounds.
fn with_outcome(mut study: Study) -> Study {
    let figure = |estimate: Option<f64>, low: f64, high: f64, effective_n: f64| {
        Some(apportion::estimate::Figure { estimate, error: None, interval: Some(Interval { low, high }), effective_n })
    };
    let estimator = |name: &str, method: Method, figures: [Option<apportion::estimate::Figure>; 3]| {
        let of = |class: usize| figures[class].and_then(|own: apportion::estimate::Figure| own.estimate);
        let gap = |class: usize, against: usize| {
            let difference = of(class).zip(of(against)).map(|(a, b)| a - b);
            apportion::estimate::Gap { class, against, difference, error: None, interval: None }
        };
        let gaps = vec![gap(0, 1), gap(0, 2), gap(1, 2)];
        let estimates = vec![apportion::estimate::Estimate { classes: figures.to_vec(), gaps }];
        let labels = (method == Method::Labels).then_some(LabelKind::Rule(RuleKind::Argmax));
        Estimator { name: name.into(), method, labels, estimates, biases: Vec::new() }
    };
    let heads = |rows| apportion::estimate::Counts { rows, people: rows };
    study.outcomes = Some(Disparity {
        outcome: "turnout <2024>".into(),
        levels: vec!["1".into()],
        classes: study.classes.clone(),
        against: 0,
        known: heads(400),
        unknown: heads(3),
        estimators: vec![
            estimator(
                "argmax",
                Method::Labels,
                [
                    figure(Some(0.62), 0.55, 0.69, 200.0),
                    figure(Some(0.479), 0.41, 0.55, 180.0),
                    figure(Some(0.9), 0.1, 1.0, 4.0),
                ],
            ),
            estimator(
                "weighted",
                Method::Weighted,
                [
                    figure(Some(0.6), 0.55, 0.65, 300.0),
                    figure(Some(0.51), 0.45, 0.57, 200.0),
                    figure(Some(0.4), 0.2, 0.6, 20.0),
                ],
            ),
            estimator(
                "bounds",
                Method::Bounds,
                [figure(None, 0.2, 0.9, 240.0), figure(None, 0.0, 1.0, 120.0), figure(None, 0.0, 1.0, 40.0)],
            ),
        ],
        remarks: vec!["3 of 403 rows have no outcome.".into()],
    });
    study
}

#[test]
fn outcomes_are_told_side_by_side() {
    let study = with_outcome(study(["white", "black", "other"], false));
    assert_eq!(
        lead(&study, "outcomes"),
        "By argmax labels, turnout <2024> of black is 3.1 points below what the weighted estimate says; its gap to white is \
         −14.1 points instead of −9.0."
    );
    let document = study.document();
    let markdown = document.to_markdown();
    // Figures of four people are hidden, figures of twenty are flagged, and bounds have no point estimate.
    for line in [
        "| argmax | 62.0 (55.0 to 69.0) | 47.9 (41.0 to 55.0) | – |",
        "| weighted | 60.0 (55.0 to 65.0) | 51.0 (45.0 to 57.0) | 40.0 (20.0 to 60.0) ° |",
        "| bounds | 20.0 to 90.0 | 0.0 to 100.0 | 0.0 to 100.0 |",
        "| argmax | – | −14.1 | – |",
        "3 of 403 rows have no outcome.",
        "Weighted: everybody counts for each class as much as the scores say.",
    ] {
        assert!(markdown.contains(line), "{line}\n{markdown}");
    }
    let chart = document.charts().find(|chart| chart.id == "outcomes").unwrap();
    // The bounds do not determine the scale.
    let range: Vec<f64> =
        chart.layout["xaxis"]["range"].as_array().unwrap().iter().map(|own| own.as_f64().unwrap()).collect();
    assert!(range[0] > 35.0 && range[1] < 75.0, "{range:?}");
    assert_eq!(chart.data[2]["x"][0], serde_json::Value::Null);
    assert!(chart.alt.contains("argmax: white 62.0% and black 47.9%"), "{}", chart.alt);
    let page = document.to_html();
    assert!(page.contains("turnout &lt;2024&gt;") || page.contains("turnout &#60;2024&#62;"));
}

#[test]
fn figures_of_an_audit_are_tables() {
    let classes = Classes::new(["white", "black", "other"]).unwrap();
    let table_ids = |unlabeled: usize| {
        let values: Vec<f64> =
            (0..40).flat_map(|row| [0.5, 0.3 + row as f64 / 400.0, 0.2 - row as f64 / 400.0]).collect();
        let labels = (0..40).map(|row| if row < unlabeled { UNCODED } else { (row % 2) as u8 }).collect();
        let truth: Vec<u8> = (0..40).map(|row| (row % 3) as u8).collect();
        let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap().with_truth(&truth).unwrap();
        let bootstrap = Some(Bootstrap { replicates: 20, ..Bootstrap::default() });
        let options = AuditOptions { bootstrap, ..AuditOptions::default() };
        let audit = Audit::of(&scores, &Labels::new(labels, &classes).unwrap(), &options).unwrap();
        let mut own = study(["white", "black", "other"], true);
        own.audit = Some(audit.overall);
        let sections = own.document().sections;
        let blocks = sections.into_iter().flat_map(|section| section.blocks);
        let ids = blocks.filter_map(|block| if let Block::Table(table) = block { Some(table.id) } else { None });
        ids.collect::<Vec<String>>()
    };
    let ids = table_ids(5);
    for id in ["split", "argmax-agreement", "unlabeled", "class-intervals", "intervals"] {
        assert!(ids.iter().any(|own| own == id), "{id}: {ids:?}");
    }
    assert!(!table_ids(4).contains(&"unlabeled".to_owned()), "scores of very few people are not shown");
}
