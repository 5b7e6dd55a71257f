//! Reports from plain data: their sentences, what is hidden, and names that are escaped everywhere.
#![allow(clippy::unwrap_used)] // in helpers

use apportion::audit::{Audit, AuditOptions, Bootstrap, Calibration, GroupTotals, Interval};
use apportion::rule::{Point, RuleKind};
use apportion::text::Setting;
use apportion::{Classes, Labels, Matrix, Scores, UNCODED};
use apportion_report::{
    Block, Changes, Chart, Disparity, Estimator, Geometry, Groups, LabelKind, LabelSet, Method, Provenance, SCORE_BINS,
    ScoreBin, Study, Table, Trade, TradeReference,
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
            "match by group" => LabelKind::Rule(RuleKind::MatchByGroup),
            "threshold" => LabelKind::Rule(RuleKind::Threshold),
            "thompson" => LabelKind::Rule(RuleKind::Thompson),
            "your labels" => LabelKind::Own,
            other => panic!("{other}"),
        },
        counts: counts.to_vec(),
        label_scores: counts.map(|count| 0.75 * count as f64).to_vec(),
        uncoded: 0,
        confusion: confusion.map(|rows| rows.map(|row| row.to_vec()).to_vec()),
        in_groups: in_groups.iter().map(|row| row.to_vec()).collect(),
        in_groups_with_truth: Vec::new(),
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
        trade: Some(Trade {
            reference: TradeReference::Posterior,
            points: vec![point(0.9, [76, 24, 0], 0.76, -0.28), point(0.0, [62, 28, 10], 0.75, 0.0)],
            of: 2,
            error: 0.0,
        }),
        learned: Vec::new(),
        changes: None,
        outcomes: None,
        shapes: None,
        provenance: Provenance { command: "apportion compare 'a b.csv'".into(), ..Provenance::default() },
        title: None,
        date: None,
        name_setting: option,
    }
}

fn lead(study: &Study, id: &str) -> String {
    study.document().sections.into_iter().find(|section| section.id == id).unwrap().lead
}

/// Three hundred thousand people whose labels have the counts of the scores, which are wrong.
fn with_wrong_scores() -> Study {
    let mut own = study(["white", "black", "hispanic"], true);
    own.whole = totals(300_000, &[205_000.0 / 3e5, 82_022.0 / 3e5, 12_978.0 / 3e5], Some(&[214_474, 78_660, 6_866]));
    let confusion = [[204_000, 6_474, 4_000, 0], [900, 75_548, 2_212, 0], [100, 0, 6_766, 0]];
    let mut labels = label_set("your labels", [205_000, 82_022, 12_978], Some(confusion), &[]);
    labels.fidelity_to_truth = Some(-0.063);
    own.label_sets.insert(0, labels);
    let argmax = [[214_000, 474, 0, 0], [20_000, 58_660, 0, 0], [866, 0, 6_000, 0]];
    own.label_sets[1] = label_set("argmax", [234_866, 59_134, 6_000], Some(argmax), &[]);
    own.label_sets[2] = label_set("match", [205_000, 82_022, 12_978], Some(confusion), &[]);
    (own.subject, own.corrected) = (0, Some(2));
    own
}

#[test]
fn an_error_of_the_scores_is_the_first_sentence() {
    let own = with_wrong_scores();
    assert_eq!(
        lead(&own, "answer"),
        "Your labels overcount hispanic by 6,112 people (+89.0%: 12,978 labels, 6,866 in truth). The cause is the scores of \
         hispanic, which add up to 12,978: correct the scores, for example by predicting them again with the known share of each \
         class among these people (--margin FILE). Other labels would not help: your labels already have the counts that the scores add up to."
    );
}

#[test]
fn an_error_of_the_labels_has_a_remedy() {
    let known = study(["white", "black", "other"], true);
    assert_eq!(
        lead(&known, "answer"),
        "Argmax overcounts white by 16 people (+26.7%: 76 labels, 60 in truth). In percent, the largest error is for the class \
         other: 10 people too few (−100.0%). The cause is turning scores into labels: the scores of white add up to 62.0, \
         which is closer to the truth. Use match, which reduces the error of white to +3.3% at no cost in expected accuracy."
    );
    let mut unknown = study(["white", "black", "other"], false);
    assert_eq!(
        lead(&unknown, "answer"),
        "Argmax overcounts white by 14 people (+22.6%: 76 labels, 62.0 by the scores). In percent, the largest error is for the class \
         other: 10 people too few (−100.0%). The cause is turning scores into labels. Use match, which reduces the error \
         of white to 0.0% at no cost in expected accuracy."
    );
    unknown.label_sets[1].expected_accuracy = Some(0.73);
    assert!(
        lead(&unknown, "answer")
            .ends_with("reduces the error of white to 0.0% and costs 2.00 points of expected accuracy.")
    );
    unknown.label_sets[1].expected_accuracy = None;
    assert!(lead(&unknown, "answer").ends_with("Use match, which reduces the error of white to 0.0%."));
    // A remedy that changes nothing is not named.
    unknown.label_sets[1].counts = vec![76, 24, 0];
    assert!(lead(&unknown, "answer").ends_with("The cause is turning scores into labels."));
}

#[test]
fn an_error_can_have_both_causes() {
    let mut own = with_wrong_scores();
    // Half of the error of hispanic comes from the scores.
    own.whole.posterior_with_truth = Some(vec![211_442.0 / 3e5, 78_636.0 / 3e5, 9_922.0 / 3e5]);
    let first = lead(&own, "answer");
    assert!(
        first.contains(
            "About 50% of the error of hispanic comes from the scores, which add up to 9,922, and the rest from turning"
        ),
        "{first}"
    );
}

#[test]
fn a_person_is_no_main_finding() {
    let mut own = study(["white", "black", "other"], false);
    own.whole.people = 200;
    own.whole.posterior = Some(vec![0.761, 0.22, 0.019]);
    own.label_sets[0].counts = vec![153, 44, 3]; // other: one of 3.8, −21%
    own.label_sets[1].counts = vec![152, 44, 4];
    assert_eq!(
        lead(&own, "answer"),
        "Argmax has the counts that the scores add up to, so other labels would not improve them. To \
         check whether the scores are right, give a column of known classes (--truth COL)."
    );
    own.label_sets.push(label_set("your labels", [152, 44, 4], None, &[]));
    own.label_sets[0].counts = vec![190, 10, 0];
    own.subject = 2;
    assert!(
        lead(&own, "answer")
            .ends_with("Argmax would overcount white by 38 people (+24.8%: 190 labels, 152 by the scores).")
    );
}

#[test]
fn counts_that_are_right_are_said_to_be() {
    let mut own = with_wrong_scores();
    own.whole.truth = Some(vec![205_100, 81_950, 12_950]);
    own.label_sets[0].confusion = Some(vec![vec![205_000, 100, 0, 0], vec![0, 81_922, 28, 0], vec![0, 0, 12_950, 0]]);
    let first = lead(&own, "answer");
    assert!(
        first.starts_with("Your labels count every class correctly, up to rounding and chance. Argmax would"),
        "{first}"
    );
}

#[test]
fn rules_have_one_order_and_three_are_shown() {
    let mut own = study(["white", "black", "other"], false);
    own.label_sets = ["threshold", "your labels", "match by group", "match", "thompson", "argmax"]
        .map(|name| label_set(name, [62, 28, 10], None, &[]))
        .to_vec();
    (own.subject, own.corrected) = (1, Some(3));
    let rules = table(&own, "rules-table");
    let names: Vec<&str> = rules.rows.iter().map(|row| row[0].text.as_str()).collect();
    assert_eq!(names, ["argmax", "match", "match by group", "your labels", "threshold", "thompson"]);
    assert_eq!(rules.minor_rows, [2, 4, 5]);
    // The chart shows the same three, and all on demand; the figures have all.
    let bars = chart(&own, "counts-percent");
    assert_eq!(bars.data[0]["y"], serde_json::json!(["argmax", "match", "your labels"]));
    assert_eq!(bars.with_all_rules.as_ref().unwrap().data[0]["y"].as_array().unwrap().len(), 6);
    assert_eq!(own.document().specification(&bars)["data"][0]["y"].as_array().unwrap().len(), 6);
    // Of argmax, match by group is the third.
    own.subject = 5;
    let rules = table(&own, "rules-table");
    assert_eq!(rules.minor_rows, [3, 4, 5]);
    let minor: Vec<&str> = (3..6).map(|index| row(&rules, index)[0]).collect();
    assert_eq!(own.document().minor_rules, minor);
    let adds = format!("“Show 3 more rules” at the top of the page adds {}, {} and {}.", minor[0], minor[1], minor[2]);
    assert!(rules.note.ends_with(&adds), "{}", rules.note);
    let page = own.document().to_html();
    assert!(page.contains(&format!("title=\"{}\">Show 3 more rules</button>", minor.join(", "))));
    // The trade-off has the same rules.
    let trade = chart(&own, "trade");
    let names = |data: &serde_json::Value| -> Vec<String> {
        data.as_array().unwrap().iter().map(|trace| trace["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&trade.data), ["exact frontier", "argmax", "match", "match by group", "the slider"]);
    assert_eq!(names(&trade.with_all_rules.unwrap().data).len(), 8);
}

#[test]
fn how_many_labels_are_right_is_next_to_their_count() {
    let known = study(["white", "black", "other"], true);
    let classes = table(&known, "classes");
    let spans: Vec<(&str, usize)> = classes.spans.iter().map(|(name, columns)| (name.as_str(), *columns)).collect();
    assert_eq!(spans, [("", 1), ("Argmax", 4), ("All people", 2), ("Match", 3)]);
    assert_eq!(classes.columns[1..5], ["Labels", "Off by", "Right in truth", "Expected right"].map(String::from));
    assert_eq!(classes.columns[7..], ["Labels", "Right in truth", "Expected right"].map(String::from));
    assert_eq!(row(&classes, 1), ["black", "24", "−6 (−20.0%)", "83%", "75%", "30", "28.0", "28", "75%", "75%"]);
    assert_eq!(row(&classes, 2)[1..5], ["0", "−10 (−100.0%)", "–", "–"]);
    let unknown = table(&study(["white", "black", "other"], false), "classes");
    assert_eq!(unknown.columns[1..4], ["Labels", "Off by", "Expected right"].map(String::from));
    let markdown = known.document().to_markdown();
    assert!(markdown.contains("| Class | Argmax: labels | Argmax: off by | Argmax: right in truth |"), "{markdown}");
    let page = known.document().to_html();
    assert!(page.contains(
        "<th scope=\"colgroup\" colspan=\"4\" class=\"\"><span class=\"term\" data-term=\"term-argmax\">Argmax"
    ));
}

#[test]
fn codes_of_classes_are_spelled_out() {
    let own = study(["white", "AIAN", "api"], false);
    let term = |name: &str| own.document().terms.into_iter().find(|term| term.name == name).map(|term| term.definition);
    assert_eq!(term("AIAN"), Some("American Indian or Alaska Native"));
    assert_eq!(term("api"), Some("Asian or Pacific Islander"));
    assert_eq!((term("aian"), term("nhpi")), (None, None));
    let caption = chart(&own, "counts").caption;
    assert!(caption.ends_with("AIAN: American Indian or Alaska Native. api: Asian or Pacific Islander."), "{caption}");
}

#[test]
fn a_policy_forbids_everything_that_a_page_does_not_need() {
    let page = study(["white", "black", "other"], false).document().to_html();
    let policy =
        page.split("Content-Security-Policy\" content=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    for rule in ["default-src 'none'", "base-uri 'none'", "form-action 'none'"] {
        assert!(policy.split("; ").any(|own| own == rule), "{policy}");
    }
}

#[test]
fn every_term_is_defined_and_marked() {
    let known = study(["white", "black", "other"], true);
    let document = known.document();
    let page = document.to_html();
    for name in ["score", "label", "truth", "argmax", "match", "expected accuracy", "fidelity", "frontier"] {
        assert!(document.terms.iter().any(|term| term.name == name), "{name}");
    }
    for term in ["argmax", "fidelity", "frontier", "gamma"] {
        assert!(
            page.contains(&format!("<dd id=\"term-{term}\">")) && page.contains(&format!("\"term-{term}\">")),
            "{term}"
        );
    }
    assert!(
        page.contains("<span class=\"term\" tabindex=\"0\" aria-describedby=\"term-argmax\">Argmax</span> overcounts")
    );
    assert!(document.to_markdown().contains("- **frontier**: The best expected accuracy"));
}

#[test]
fn a_title_and_a_date_are_shown() {
    let mut own = study(["white", "black", "other"], false);
    own.title = Some("Voters of <2026>".into());
    own.date = Some("2026-01-31".into());
    let (page, markdown) = (own.document().to_html(), own.document().to_markdown());
    assert!(page.contains("<h1>Voters of &#60;2026&#62;</h1>") || page.contains("<h1>Voters of &lt;2026&gt;</h1>"));
    assert!(markdown.starts_with("# Voters of &lt;2026&gt;\n\nLabels: argmax. 100 people, 3 classes. 2026-01-31\n"));
    assert!(markdown.contains("| Date | 2026-01-31 |"));
}

/// The study with ten people who change from white to other, at scores of 0.3 to 0.5 for other.
fn with_changes() -> Study {
    let mut own = study(["white", "black", "other"], false);
    let mut scores = vec![vec![ScoreBin { neither: 1, ..ScoreBin::default() }; SCORE_BINS]; 3];
    scores[2][30..40].fill(ScoreBin { after: 1, ..ScoreBin::default() });
    let people = vec![vec![66, 0, 10, 0], vec![0, 24, 0, 0], vec![0; 4], vec![0; 4]];
    own.changes = Some(Changes { before: 0, after: 1, people, scores });
    own
}

#[test]
fn changes_are_a_matrix() {
    let own = with_changes();
    assert_eq!(
        lead(&own, "changes"),
        "Match gives 10 of 100 people (10.0%) another label than argmax. The most frequent change is from white to other (10 \
         people)."
    );
    assert_eq!(row(&table(&own, "changes-table"), 0), ["white", "66", "0", "10", "76"]);
    let chart = chart(&own, "scores");
    assert_eq!(chart.sheet.rows.len(), 3 * SCORE_BINS);
    assert!(chart.caption.contains("solid after (match). Match gives the label white to no one."));
    assert!(!study(["a", "b", "c"], false).document().sections.iter().any(|section| section.id == "changes"));
}

#[test]
fn a_class_without_high_scores_has_no_cut_off() {
    let mut own = with_changes();
    let changes = own.changes.as_mut().unwrap();
    // Forty of a thousand people with scores below 0.04 have the label, and one of two with higher scores.
    changes.scores[2] = vec![ScoreBin::default(); SCORE_BINS];
    changes.scores[2][..4].fill(ScoreBin { neither: 240, after: 10, ..ScoreBin::default() });
    changes.scores[2][20] = ScoreBin { neither: 1, both: 1, ..ScoreBin::default() };
    let found = chart(&own, "scores");
    assert!(
        found.caption.ends_with(
            "No cutoff separates people with the label other from others, because their scores are similar: half of the people \
             with the label other by match have a score below 0.03. No score for other exceeds 0.21. The panel of \
             other shows only people with the label, at all scores."
        ),
        "{}",
        found.caption
    );
    let traces = found.data.as_array().unwrap();
    let of_other: Vec<_> = traces.iter().filter(|trace| trace["xaxis"] == "x3").collect();
    assert_eq!(of_other[3]["y"].as_array().unwrap().len(), 0, "another label");
    assert!(of_other[4..].iter().all(|line| line["x"][0].is_null()), "no lines");
    assert!(found.layout["xaxis3"]["range"][1].as_f64().unwrap() < 0.4);
}

#[test]
fn what_is_not_known_is_left_out_in_a_line() {
    let document = study(["white", "black", "other"], false).document();
    assert!(document.sections.iter().all(|section| section.id != "map"), "there is no empty section for a map");
    for (id, way) in [("groups", "(--by COL)"), ("calibration", "(--truth COL)")] {
        let section = document.sections.iter().find(|section| section.id == id).unwrap();
        assert!(section.lead.contains(way) && section.blocks.is_empty(), "{id}: {}", section.lead);
    }
    let html = document.to_html();
    let ours = html.split("id=\"looks\"").next().unwrap();
    assert!(!ours.contains("NaN") && !ours.contains("Minus the truth"));
}

#[test]
fn nobody_is_no_reason_to_fail() {
    let mut nobody = study(["white", "black", "other"], false);
    nobody.whole = GroupTotals::default();
    nobody.label_sets = vec![label_set("argmax", [0; 3], None, &[])];
    nobody.trade = None;
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
    assert_eq!(trade.data.as_array().unwrap().len(), 4, "the frontier, two rules and the slider");
    let (shares, counts) = (&*trade.sheet.rows[0][1], &*trade.sheet.rows[0][7]);
    assert_eq!((shares, counts), ("0", "-0.28"));
    let all = trade.with_all_rules.unwrap();
    assert!(all.caption.ends_with("because some people are unlabeled: threshold."), "{}", all.caption);
    // The axes do not depend on the slider.
    assert!(trade.layout["xaxis"]["range"][0].as_f64().unwrap() < -0.28);
    own.trade.as_mut().unwrap().of = 1;
    assert!(lead(&own, "trade").ends_with("so there is no tradeoff."));
}

#[test]
fn the_slider_has_a_command() {
    let page = study(["white", "black", "other"], true).document().to_html();
    assert!(page.contains("data-command=\"apportion label … --rule balance --gamma GAMMA\""));
    assert!(page.contains("Minus the truth, in %"));
    let mut some = study(["white", "black", "other"], true);
    some.whole.people = 120;
    assert!(!some.document().to_html().contains("Minus the truth, in %"), "the truth is known for some only");
}

#[test]
fn ties_are_named_and_labels_are_many() {
    let mut own = study(["white", "black", "other"], false);
    assert!(lead(&own, "rules").contains("argmax and match are the most accurate"));
    own.label_sets[0].name = "your labels".into();
    own.label_sets[0].kind = LabelKind::Own;
    own.label_sets[0].expected_accuracy = Some(0.8);
    assert!(lead(&own, "rules").contains("your labels are the most accurate (expected accuracy about 0.800)"));
}

#[test]
fn shares_of_some_are_not_counts_of_all() {
    let mut own = study(["white", "black", "other"], false);
    own.label_sets[0] = LabelSet { uncoded: 50, ..label_set("threshold", [40, 10, 0], None, &[]) };
    assert_eq!(
        lead(&own, "answer"),
        "Threshold overcounts the share of white by 18.00 points (+29.0%). In percent, the largest error is for the class other: \
         10.00 points too low (−100.0%). The cause is turning scores into labels. Use match, which reduces the error of \
         white to 0.0%."
    );
    let classes = table(&own, "classes");
    let off = classes.columns.iter().position(|name| name == "Off by").unwrap();
    assert_eq!(classes.rows[2][off].text, "−10.00 points (−100.0%)");
}

#[test]
fn nobody_with_a_label_has_sentences_of_its_own() {
    let mut own = study(["white", "black", "other"], false);
    own.label_sets[0] = LabelSet { uncoded: 100, ..label_set("threshold", [0; 3], None, &[]) };
    assert_eq!(lead(&own, "answer"), "No one has a label by threshold, so there is nothing to count.");
}

#[test]
fn a_truth_that_is_known_of_some_is_said_to_be() {
    let mut own = study(["white", "black", "other"], true);
    own.whole.people = 120;
    assert!(
        lead(&own, "answer")
            .contains("76 labels, 60 in truth), among the 100 people with known truth. In percent, the largest")
    );
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
        "Compared with the scores, argmax undercounts classes other than white together by one person or more in 1 of the 2 \
         counties. Overall, they are undercounted by 7 people (7.00 points)."
    );
    own.label_sets[0].in_groups[1] = vec![38, 12, 0, 50];
    own.label_sets[0].uncoded = 50;
    assert!(lead(&own, "groups").contains("or more (in shares of the labeled people) in 1 of the 2 counties"));
    let sheet = chart(&own, "groups").sheet;
    assert!(!sheet.rows[0][7].is_empty() && sheet.rows[1][7].is_empty());
    own = grouped([[62, 28, 10, 0], [62, 28, 10, 0]]);
    own.groups.as_mut().unwrap().totals[0].posterior = Some(vec![0.615, 0.285, 0.10]); // half a person
    assert_eq!(
        lead(&own, "groups"),
        "Compared with the scores, argmax undercounts classes other than white together by one person or more in 0 of the 2 \
         counties. Overall, they have the count of the scores."
    );
}

/// Two groups with known truth: a hundred people whose black members are undercounted, and fifty who are counted correctly.
fn grouped_with_truth() -> Study {
    let mut own = study(["white", "black", "other"], true);
    let of_groups = [[76, 24, 0, 0], [30, 15, 5, 0]];
    let groups =
        vec![totals(100, &[0.62, 0.28, 0.10], Some(&[55, 40, 5])), totals(50, &[0.6, 0.3, 0.1], Some(&[30, 15, 5]))];
    own.whole = totals(150, &[0.613, 0.287, 0.1], Some(&[85, 55, 10]));
    own.groups = Some(Groups { word: "county".into(), names: vec!["Ash".into(), "Bay".into()], totals: groups });
    own.label_sets[0].counts = vec![106, 39, 5];
    own.label_sets[0].confusion = Some(vec![vec![80, 5, 0, 0], vec![21, 34, 0, 0], vec![5, 0, 5, 0]]);
    own.label_sets[0].in_groups = of_groups.map(|row| row.to_vec()).to_vec();
    own.label_sets[0].in_groups_with_truth = of_groups.map(|row| row[..3].to_vec()).to_vec();
    own
}

#[test]
fn groups_are_compared_with_the_truth() {
    let own = grouped_with_truth();
    assert_eq!(
        lead(&own, "groups"),
        "Compared with the truth, the county with the largest error of argmax is Ash (white: 21 people too many, +38.2%). Overall, \
         classes other than white together are undercounted by 21 people (14.00 points)."
    );
    let groups = table(&own, "groups-table");
    assert_eq!(groups.columns[..5], ["County", "All people", "In truth", "By the scores", "Argmax"].map(String::from));
    assert_eq!(row(&groups, 0)[..5], ["Ash", "100", "45", "38.0", "−21"]);
    assert_eq!(row(&groups, 1)[..5], ["Bay", "50", "20", "20.0", "0"]);
    let spans: Vec<&str> = groups.spans.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        spans[1..],
        ["Classes other than white, people", "Labels minus truth, people", "Labels minus scores, people"]
    );
    let classes = table(&own, "groups-classes");
    assert_eq!(row(&classes, 1), ["Ash", "black", "40", "28.0", "−16", "−4"]);
    // The description of the chart compares with the truth, as its axis does.
    let alt = chart(&own, "groups").alt;
    assert!(alt.ends_with("the labels minus the truth range from −21.00 points (Ash) to 0.00 points (Bay), for classes other than white together."), "{alt}");
    // The views of the chart compare with the truth and with the scores, and each has its sentence.
    let chart = chart(&own, "groups");
    assert_eq!(chart.data[0]["y"][0], -21.0);
    let views = chart.views.unwrap().choices;
    let headings: Vec<_> = views.iter().map(|view| view.heading.unwrap()).collect();
    assert_eq!(headings, ["compared with the truth", "compared with the scores"]);
    assert!(views[1].lead.as_ref().unwrap().starts_with("Compared with the scores, argmax undercounts"));
    assert_eq!(views[1].update["y"][0][0], -14.0);
    let last = chart.sheet.rows.last().unwrap();
    assert_eq!(last[last.len() - 3..], ["5", "0", "0"].map(String::from));
    let page = own.document().to_html();
    assert_eq!(page.matches("<template class=\"lead-of-view\">").count(), 2);
}

#[test]
fn truth_of_fewer_than_five_people_in_a_group_is_hidden() {
    let mut own = grouped_with_truth();
    own.groups.as_mut().unwrap().totals[1].truth = Some(vec![2, 1, 1]);
    let groups = table(&own, "groups-table");
    assert_eq!((row(&groups, 1)[2], row(&groups, 1)[4]), ("–", "–"));
    let classes = table(&own, "groups-classes");
    assert_eq!((row(&classes, 3)[2], row(&classes, 3)[4]), ("–", "–"));
}

#[test]
fn small_groups_far_from_the_others_are_beyond_the_axis() {
    let mut own = grouped([[62, 28, 10, 0], [63, 27, 10, 0]]);
    let groups = own.groups.as_mut().unwrap();
    groups.totals = (0..40).map(|group| of_people(if group == 7 { 20 } else { 1000 }, &groups.totals[0])).collect();
    groups.names = (0..40).map(|group| format!("g{group}")).collect();
    own.label_sets[0].in_groups = (0..40)
        .map(|group| if group == 7 { vec![2, 18, 0, 0] } else { vec![620 + group, 380 - group, 0, 0] })
        .collect();
    let found = chart(&own, "groups");
    assert_eq!(found.data[0]["y"][7], serde_json::Value::Null);
    let top = found.layout["yaxis"]["range"][1].as_f64().unwrap();
    assert_eq!(found.data[1]["text"].as_array().unwrap().len(), 1);
    assert!(found.data[1]["y"][0].as_f64().unwrap() < top && top < 5.0, "{top}");
    assert_eq!(
        found.views.unwrap().choices[0].note,
        "Triangles at the edge: 1 county beyond the axis, in points: g7 (20 people) +52.0."
    );
    // A group with many people is never beyond the axis.
    own.groups.as_mut().unwrap().totals[7].people = 1000;
    assert_eq!(chart(&own, "groups").data[1]["text"].as_array().unwrap().len(), 0);
}

#[test]
fn a_map_names_the_largest_bias() {
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
        with_map([[62, 28, 10, 0], [62, 28, 10, 0]], &of_both),
        "By argmax, the count of white equals the sum of the scores in each county on the map."
    );
    let of_b = [[62, 28, 10, 0], [76, 24, 0, 0]];
    assert_eq!(
        with_map(of_b, &of_both),
        "Compared with the scores, argmax overcounts white most in b, by 14.00 points."
    );
    // Groups that are not on the map are not mentioned.
    assert_eq!(
        with_map(of_b, &of_a),
        "By argmax, the count of white equals the sum of the scores in each county on the map."
    );
}

#[test]
fn a_map_shows_one_class_before_and_after() {
    let mut own = with_few();
    own.label_sets[1].in_groups = vec![vec![62, 28, 10, 0], vec![2, 1, 0, 0]];
    own.label_sets[0].in_groups[0] = vec![72, 27, 1, 0];
    let map = chart(&own, "map");
    let views: Vec<&str> = map.views.as_ref().unwrap().choices.iter().map(|view| view.name.as_str()).collect();
    assert_eq!(views, ["white", "other", "black"], "the most biased class is first");
    assert_eq!((&map.data[0]["z"][0], &map.data[1]["z"][0]), (&10.0.into(), &0.0.into()));
    let document = own.document();
    let paths = &document.outlines.as_ref().unwrap().paths;
    assert_eq!(paths["paths"].as_array().unwrap().len(), 2);
    assert!(paths["paths"][0].as_str().unwrap().starts_with('M'));
    assert_eq!(document.specification(&map)["data"][0]["geojson"]["type"], "FeatureCollection");
}

#[test]
fn small_classes_are_judged_by_their_own_measure() {
    let calibration = || Some(Calibration::default());
    let mut own = study(["white", "black", "other"], true);
    own.calibration = vec![calibration(), calibration(), calibration()];
    assert!(lead(&own, "calibration").contains("largest difference between scores and truth is for"));
    own.whole.truth = Some(vec![60_000, 39_900, 100]);
    own.whole.people = 100_000;
    own.whole.posterior_with_truth = Some(vec![0.6001, 0.3993, 0.0006]);
    assert!(
        lead(&own, "calibration")
            .ends_with("For other, a small class, the mean is 0.060% and the share in truth is 0.100%.")
    );
    own.whole.posterior_with_truth = Some(vec![0.6, 0.399, 0.001]);
    assert!(lead(&own, "calibration").ends_with("well calibrated for every class."));
    own.calibration = vec![None; 3];
    own.whole.truth = None;
    own.truth_given = false;
    assert!(lead(&own, "calibration").ends_with("name a column of known classes (--truth COL)."));
    own.truth_given = true;
    assert!(lead(&own, "calibration").starts_with("The truth column is empty. To see how often"));
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
    assert!(
        all.contains("1 county with fewer than 5 people is hidden, because the figures could identify individuals.")
    );
    assert!(all.contains("1 outline has no county in the table"), "one is one");
    let sheet = chart(&own, "groups").sheet;
    // Without truth, the last three columns are empty.
    assert!(sheet.rows.iter().all(|row| row[..9].iter().all(|cell| !cell.is_empty())), "{:?}", sheet.rows);
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
    assert_eq!(lead(&own, "map"), "Most groups have too few people to be shown; see Groups.");
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
    assert_eq!(row(&classes, 3), ["b", "white", "62.0", "+14"]);
    assert_eq!(row(&classes, 5), ["b", "other", "10.0", "−10"]);
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
        label_set.label_scores = vec![10.0; 20];
        let hits = |class: usize| (0..21).map(|label| if label == class { 20 } else { 0 }).collect();
        label_set.confusion = Some((0..20).map(hits).collect());
    }
    own.label_sets[1].name = "threshold".into();
    own.label_sets[1].kind = LabelKind::Rule(RuleKind::Threshold);
    own.label_sets[1].uncoded = 1;
    own.calibration = vec![Some(Calibration::default()); 20];
    own.trade.as_mut().unwrap().points.iter_mut().for_each(|point| point.counts = spread(20));
    own
}

#[test]
fn twenty_classes_find_room() {
    let own = many_classes();
    let document = own.document();
    let ids: Vec<&str> = document.charts().map(|chart| chart.id.as_str()).collect();
    for id in ["counts", "counts-3", "counts-percent", "counts-percent-2", "counts-percent-3", "calibration-3"] {
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
    assert!(table(&own, "recall").note.starts_with("° Fewer than 30 people"));
}

#[test]
fn a_person_is_much_of_a_small_class() {
    let own = study(["white", "black", "other"], false);
    let note = table(&own, "classes").note;
    assert!(note.ends_with("which is much of a small class such as other (10.0 by the scores)."), "{note}");
    assert_eq!(row(&table(&own, "counts-table"), 0)[1..4], ["62.0", "28.0", "10.0"]);
}

#[test]
fn draws_have_a_range() {
    let mut own = study(["white", "black", "other"], false);
    own.label_sets[0].draws = vec![vec![76, 24, 0], vec![60, 30, 10], vec![62, 27, 11]];
    let draws = table(&own, "draws");
    assert_eq!(row(&draws, 0), ["white", "62.0", "76", "66.0", "60", "76"]);
    assert_eq!(row(&draws, 2), ["other", "10.0", "0", "7.0", "0", "11"]);
    assert!(draws.caption.contains("over 3 draws of argmax") && draws.note.contains("the first draw"));
}

#[test]
fn markdown_has_texts_to_the_left_and_numbers_to_the_right() {
    let mut own = study(["white", "black", "other"], true);
    own.provenance.files.push(("a.csv".into(), 100, "abc".into()));
    let markdown = own.document().to_markdown();
    assert!(markdown.contains("| File | Rows | SHA-256 |\n| --- | ---: | --- |\n| a.csv | 100 | abc |"), "{markdown}");
    assert!(markdown.contains("| Setting | Value |\n| --- | --- |"));
    assert!(markdown.contains("| Rule | Class | Labels | Labels with truth |"), "{markdown}");
    assert!(markdown.contains("This report was made from 1 file by the command below."));
    assert!(!markdown.contains("\\_") && !markdown.contains("00000"), "plain headings and rounded numbers");
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
    let all = written(&one);
    assert!(all.contains("1 person, 3 classes, 1 county"));
    assert!(all.contains("in 1 of the 1 county. Overall, they"));
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
        brackets: Vec::new(),
        limits_by_cells: false,
        error_rates: None,
        outcome: "turnout <2024>".into(),
        levels: vec!["1".into()],
        classes: study.classes.clone(),
        against: 0,
        known: heads(400),
        unknown: heads(3),
        survey: None,
        inference: apportion::estimate::Inference::Population,
        shows_small: false,
        birdie: None,
        ratios: None,
        regressions: None,
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
        "By argmax labels, the rate of turnout <2024> is 3.1 points below the weighted estimate for black; the gap to white \
         is −14.1 points by labels and −9.0 by the weighted estimate."
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
        "Weighted: the mean over everyone, weighted by the scores.",
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
        own.label_sets[0].kind = LabelKind::Own;
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
