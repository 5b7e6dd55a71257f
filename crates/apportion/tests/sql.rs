//! Tests of the SQL text of a decision: quoting and numbers in each dialect, and errors. `make test-sql` tests that
//! databases give the same labels as `apply`.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)] // also in helper functions

use apportion::Decision;
use apportion::sql::{Dialect, SqlOptions};
use serde_json::{Value, json};

const DIALECTS: [Dialect; 6] =
    [Dialect::DuckDb, Dialect::PostgreSql, Dialect::Sqlite, Dialect::BigQuery, Dialect::Snowflake, Dialect::Spark];

fn decision(classes: &[&str], rule: Value) -> Decision {
    serde_json::from_value(json!({"version": 2, "classes": classes, "seed": 0, "rule": rule})).unwrap()
}

/// Returns the expression without the comment above it.
fn expression(decision: &Decision, options: &SqlOptions) -> String {
    let sql = decision.to_sql(options).unwrap();
    let lines: Vec<&str> = sql.lines().skip_while(|line| line.starts_with("-- ")).collect();
    assert!(lines.len() < sql.lines().count(), "it begins with a comment: {sql}");
    lines.join("\n")
}

fn duckdb(columns: &[&str]) -> SqlOptions {
    SqlOptions::new(Dialect::DuckDb, columns.iter().copied())
}

#[test]
fn argmax_is_guarded_and_takes_the_largest() {
    let found = expression(&decision(&["a", "b"], json!("argmax")), &duckdb(&["p_a", "p_b"]));
    let expected = r#"CASE WHEN "p_a" >= -1e-6 AND "p_b" >= -1e-6 AND ABS(0e0 + "p_a" + "p_b" - 1e0) <= 1e-3 THEN
  CASE GREATEST("p_a", "p_b")
  WHEN "p_a" THEN 'a'
  WHEN "p_b" THEN 'b'
  END
END"#;
    assert_eq!(found, expected);
}

#[test]
fn percentages_are_divided() {
    let options = SqlOptions { percent: true, ..duckdb(&["a", "b"]) };
    let found = expression(&decision(&["a", "b"], json!("argmax")), &options);
    assert!(found.contains(r#"AND ABS((0e0 + "a" + "b") / 1e2 - 1e0) <= 1e-3 THEN"#), "{found}");
    assert!(found.contains(r#"WHEN "a" / 1e2 THEN 'a'"#), "{found}");
}

/// Scores that round up to a threshold reach it. For single precision, the threshold is rounded to single precision.
#[test]
fn thresholds_have_a_bar_a_class() {
    let decision = decision(&["a", "b"], json!({"threshold": {"at": [0.75, 0.7]}}));
    for single in [false, true] {
        let found = expression(&decision, &SqlOptions { single, ..duckdb(&["a", "b"]) });
        let bar = |class: &str| -> f64 {
            let line = found.lines().find(|line| line.contains(&format!("THEN '{class}' ELSE 'Uncoded' END"))).unwrap();
            line.split(">= ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
        };
        let bar_of_b = if single { f64::from(0.7f32) } else { 0.7 };
        assert_eq!(bar("a"), 0.75 - 0.5f64.powi(41));
        assert!(bar("b") < bar_of_b && bar_of_b - bar("b") <= 0.5f64.powi(40), "{found}");
    }
}

#[test]
fn prices_are_added_and_a_class_without_one_is_not_given() {
    let rule = json!({"prices": [{"prices": [-0.25, null, 0.125, 0.5]}]});
    let found = expression(&decision(&["a", "b", "c"], rule), &duckdb(&["a", "b", "c"]));
    let expected = r#"  CASE GREATEST("a" - 2.5e-1, "c" + 1.25e-1, 5e-1)
  WHEN "a" - 2.5e-1 THEN 'a'
  WHEN "c" + 1.25e-1 THEN 'c'
  WHEN 5e-1 THEN 'Uncoded'
  END"#;
    assert!(found.contains(expected), "{found}");
    // But it is checked, because a valid row has all scores.
    assert!(found.contains(r#""b" >= -1e-6"#), "{found}");
}

#[test]
fn groups_are_cases_and_others_have_no_label() {
    let rule = json!({"prices": [{"group": "x / 1", "prices": [0.0, 0.25]}, {"group": "y / ", "prices": [null, 0.0]}]});
    let options = duckdb(&["a", "b"]).with_groups(["state", "county"]);
    let found = expression(&decision(&["a", "b"], rule), &options);
    let expected = r#"  CASE COALESCE(CAST("state" AS VARCHAR), '') || ' / ' || COALESCE(CAST("county" AS VARCHAR), '')
  WHEN 'x / 1' THEN
    CASE GREATEST("a" + 0e0, "b" + 2.5e-1)
    WHEN "a" + 0e0 THEN 'a'
    WHEN "b" + 2.5e-1 THEN 'b'
    END
  WHEN 'y / ' THEN
    'b'
  END
END"#;
    assert!(found.ends_with(expected), "{found}");
    assert!(!found.contains("ELSE"), "{found}");
}

#[test]
fn every_dialect_has_its_quotes_and_numbers() {
    let rule = json!({"prices": [{"group": "O'Brien \\ \"x\"\n", "prices": [0.1, -0.1]}]});
    let decision = decision(&["it's", "b"], rule);
    for (dialect, name, label, group, number, kind) in [
        (Dialect::DuckDb, r#""a""b`c\""#, "'it''s'", "'O''Brien \\ \"x\"\n'", "e-1,", "VARCHAR"),
        (Dialect::PostgreSql, r#""a""b`c\""#, "'it''s'", "'O''Brien \\ \"x\"\n'", "::float8", "TEXT"),
        (Dialect::Sqlite, r#"`a"b``c\`"#, "'it''s'", "'O''Brien \\ \"x\"\n'", "e-1", "TEXT"),
        (Dialect::BigQuery, r#"`a"b\`c\\`"#, r"'it\'s'", r#"'O\'Brien \\ "x"\n'"#, "e-1", "STRING"),
        (Dialect::Snowflake, r#""a""b`c\""#, r"'it\'s'", r#"'O\'Brien \\ "x"\n'"#, "::FLOAT", "VARCHAR"),
        (Dialect::Spark, r#"`a"b``c\`"#, r"'it\'s'", r#"'O\'Brien \\ "x"\n'"#, "e-1D", "STRING"),
    ] {
        let options = SqlOptions::new(dialect, ["a\"b`c\\", "other"]).with_groups(["county"]);
        let found = decision.to_sql(&options).unwrap();
        for part in [name, &format!("THEN {label}"), number, &format!("AS {kind})")] {
            assert!(found.contains(part), "{dialect:?}: {part} in {found}");
        }
        // A line break inside a text is kept, and the line after it is not indented.
        assert!(found.contains(&format!("WHEN {group} THEN")), "{dialect:?}: {group} in {found}");
        let greatest = if dialect == Dialect::Sqlite { "CASE MAX(" } else { "CASE GREATEST(" };
        assert!(found.contains(greatest), "{dialect:?}: {found}");
    }
}

/// Numbers are written without loss.
#[test]
fn numbers_are_read_back_as_they_were() {
    let price = 123_456_789_012.0 / 0.5f64.powi(-40);
    let found =
        expression(&decision(&["a", "b"], json!({"prices": [{"prices": [price, -1024.0]}]})), &duckdb(&["a", "b"]));
    let first = found.split("\"a\" + ").nth(2).unwrap().split(',').next().unwrap();
    assert_eq!(first.parse::<f64>().unwrap(), price);
    assert!(found.contains("\"b\" - 1.024e3"), "{found}");
}

#[test]
fn many_classes_are_not_too_many_arguments() {
    let classes: Vec<String> = (0..250).map(|class| format!("c{class}")).collect();
    let names: Vec<&str> = classes.iter().map(String::as_str).collect();
    let found = expression(&decision(&names, json!("argmax")), &SqlOptions::new(Dialect::Sqlite, &classes));
    assert!(found.contains("CASE MAX(MAX((`c0` + 0e0), "), "{found}");
    assert!(found.contains("(`c99` + 0e0)), MAX((`c100` + 0e0)"), "{found}");
}

#[test]
fn it_has_a_name_or_is_a_statement() {
    let decision = decision(&["a", "b"], json!("argmax"));
    let named = SqlOptions { label: Some("my \"label\"".into()), ..duckdb(&["a", "b"]) };
    assert!(expression(&decision, &named).ends_with("END AS \"my \"\"label\"\"\""));
    let statement = expression(&decision, &SqlOptions { table: Some("s.t".into()), ..duckdb(&["a", "b"]) });
    assert!(statement.starts_with("SELECT *,\n  CASE WHEN"), "{statement}");
    assert!(statement.ends_with("END AS \"label\"\nFROM s.t;"), "{statement}");
}

/// The prices of groups are a table, in the statement or in the database. Classes without a price have a very low one.
#[test]
fn a_statement_by_group_joins_prices() {
    let rule = json!({"prices": [{"group": "x", "prices": [0.0, 0.25], "ties": [[null, 0.5]]},
                                 {"group": "it's", "prices": [null, -0.5]}]});
    let decision = decision(&["a", "b"], rule);
    let options = SqlOptions { table: Some("voters".into()), ..duckdb(&["a", "b"]).with_groups(["county"]) };
    let found = expression(&decision, &options);
    let expected = r#"WITH apportion_prices (apportion_group, apportion_price_1, apportion_price_2, apportion_tie_1, apportion_tie_2) AS (SELECT * FROM (VALUES
  ('x', 0e0, 2.5e-1, -4e3, 5e-1),
  ('it''s', -4e3, -5e-1, 0e0, 0e0)
) AS apportion_values)
SELECT apportion_rows.*,
  CASE WHEN "a" >= -1e-6 AND "b" >= -1e-6 AND ABS(0e0 + "a" + "b" - 1e0) <= 1e-3 THEN
    CASE WHEN apportion_group IS NOT NULL THEN
      CASE GREATEST("a" + apportion_price_1, "b" + apportion_price_2)
      WHEN "a" + apportion_price_1 THEN 'a'
      WHEN "b" + apportion_price_2 THEN 'b'
      END
    END
  END AS "label"
FROM (SELECT * FROM voters) AS apportion_rows
LEFT JOIN apportion_prices ON apportion_group = COALESCE(CAST("county" AS VARCHAR), '');"#;
    assert_eq!(found, expected);
    let joined = expression(&decision, &SqlOptions { prices: Some("my prices".into()), ..options });
    assert!(joined.starts_with("SELECT apportion_rows.*,"), "{joined}");
    assert!(joined.contains(r#"LEFT JOIN "my prices" ON apportion_group = "#), "{joined}");
    let table = decision.price_table().unwrap();
    assert_eq!(table.columns[3], "apportion_tie_1");
    assert_eq!(table.rows[0], ("x".to_owned(), vec![0.0, 0.25, -4000.0, 0.5]));
}

/// With a column of IDs, every dialect hashes the ID for each class and writes no class or group more often than needed.
#[test]
fn ties_are_settled_by_the_id() {
    let rule = json!({"prices": [{"prices": [0.0, 0.25, 0.5], "ties": [[-0.25, 0.5, null]]}]});
    let tied = decision(&["a", "b", "c"], rule);
    let never_tied = decision(&["a", "b", "c"], json!({"prices": [{"prices": [0.0, 0.25, 0.5]}]}));
    for (dialect, hash) in
        DIALECTS.iter().zip(["MD5(", "MD5(", "apportion_hash", "TO_HEX(MD5(", "MD5(", "CONV(SUBSTR(MD5("])
    {
        let options = SqlOptions { id: Some("voter id".into()), ..SqlOptions::new(*dialect, ["a", "b", "c"]) };
        let sql = tied.to_sql(&options).unwrap();
        assert!(
            sql.contains(hash) && sql.contains("voter id") && (sql.contains("ROUND(") || sql.contains("RINT(")),
            "{sql}"
        );
        assert!(sql.contains("differ only by chance") && !sql.contains("not rounded"), "{sql}");
        let plain = expression(&never_tied, &options);
        assert!(!plain.contains(hash), "no rows were tied: {plain}");
    }
}

#[test]
fn the_comment_tells_of_ties_and_precision() {
    let priced = decision(&["a", "b"], json!({"prices": [{"prices": [0.0, 0.1]}]}));
    let argmax = decision(&["a", "b"], json!("argmax"));
    for dialect in DIALECTS {
        let options = SqlOptions::new(dialect, ["a", "b"]);
        let of_prices = priced.to_sql(&options).unwrap();
        let of_argmax = argmax.to_sql(&options).unwrap();
        assert!(
            of_prices.contains("-- Ties: ") && of_prices.contains("counts here are exact only if no rows are tied")
        );
        assert!(of_argmax.contains("as in apportion") && of_argmax.contains("not rounded to multiples of 2^-40"));
    }
}

#[test]
fn linear_models_are_sums() {
    let planes =
        json!([{"weights": [1.5, -0.25, 0.0], "intercept": -0.5}, null, {"weights": [0, 2, 0], "intercept": 1}]);
    for learner in ["svm", "logistic"] {
        let decision = decision(&["a", "b", "c"], json!({"learned": {"learner": learner, "planes": planes}}));
        let found = expression(&decision, &duckdb(&["a", "b", "c"]));
        let value = r#"-5e-1 + 1.5e0 * "a" - 2.5e-1 * "b" + 0e0 * "c""#;
        assert!(found.contains(&format!("WHEN {value} THEN 'a'")) && !found.contains("THEN 'b'"), "{found}");
        let percent = expression(&decision, &SqlOptions { percent: true, ..duckdb(&["a", "b", "c"]) });
        assert!(percent.contains(r#"+ 1.5e0 * ("a" / 1e2) - "#), "{percent}");
    }
}

#[test]
fn what_has_no_expression_is_refused() {
    let refused =
        |rule: Value, options: &SqlOptions| decision(&["a", "b"], rule).to_sql(options).unwrap_err().to_string();
    let options = duckdb(&["a", "b"]);
    let by_group = json!({"prices": [{"group": "x", "prices": [0.0, 0.25]}]});
    for (found, message) in [
        (refused(json!("thompson"), &options), "Thompson sampling draws labels at random"),
        (refused(json!({"top-k": {"k": 2}}), &options), "use `apply`"),
        (refused(json!({"learned": {"learner": "forest", "trees": [[0]]}}), &options), "a linear learner"),
        (refused(json!("argmax"), &duckdb(&["a"])), "the list of score columns has 1 entry; expected 2"),
        (refused(by_group.clone(), &options), "it was fitted by group; name the group columns"),
        (refused(by_group, &options.clone().with_groups(["a", "b"])), "group \"x\" does not have 2 columns"),
        (refused(json!({"prices": []}), &options), "it has no prices"),
    ] {
        assert!(found.contains(message), "{found}");
    }
}
