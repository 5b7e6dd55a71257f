//! Provenance as text.

use apportion_app::provenance::Provenance;
use serde_json::Value;

use crate::text;

/// Returns provenance as lines of text.
pub(super) fn text(provenance: &Provenance) -> String {
    let mut lines = vec![
        format!("made by apportion {}: {}", provenance.apportion, provenance.job),
        format!("command: {}", provenance.command),
    ];
    for input in &provenance.inputs {
        let rows = input.rows.map_or_else(String::new, |rows| format!(", {}", text::counted(rows, "row", "rows")));
        let sha = input.sha256.as_deref().unwrap_or("not computed");
        lines.push(format!("{}: {}{rows}, SHA-256 {sha}", input.role, input.name));
    }
    lines.extend(provenance.tables.iter().map(|table| format!("built-in table: {table}")));
    if let Ok(Value::Object(options)) = serde_json::to_value(&provenance.options) {
        let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        lines.extend(options.iter().map(|(name, value)| format!("option {name}: {}", shown(value))));
    }
    if let Some(rows) = provenance.rows {
        lines.push(format!("rows: {}", text::count(rows)));
    }
    lines.extend(counts_text(provenance));
    match (&provenance.decision, &provenance.decision_omitted) {
        (Some(_), _) => lines.push("decision: included; print it with --json".into()),
        (None, Some(why)) => lines.push(format!("decision: not included, because {why}")),
        (None, None) => {}
    }
    if let Some(certificate) = &provenance.certificate {
        let verdict = if certificate.primal == certificate.dual { "proved optimal" } else { "not proved optimal" };
        let (primal, dual) = (&certificate.primal, &certificate.dual);
        lines.push(format!("certificate: primal value {primal}, dual value {dual}: {verdict}"));
    }
    lines.join("\n")
}

/// Returns the counts and targets of the classes as a table.
fn counts_text(provenance: &Provenance) -> Option<String> {
    let counts = provenance.counts.as_ref()?;
    let targets = provenance.targets.as_ref().map(|targets| &targets.overall);
    let target =
        |class: usize| targets.and_then(|targets| targets.get(class)).map_or("–".into(), |&own| text::count(own));
    let name = |class: usize| provenance.options.classes.get(class).cloned().unwrap_or_else(|| class.to_string());
    let row = |(class, &count): (usize, &u64)| vec![name(class), text::count(count), target(class)];
    let mut rows: Vec<Vec<String>> = counts.iter().enumerate().map(row).collect();
    if let Some(unlabeled) = provenance.unlabeled.filter(|&people| people > 0) {
        rows.push(vec!["Uncoded".into(), text::count(unlabeled), "–".into()]);
    }
    Some(format!("\n{}\n", text::columns(&["class", "labels", "target"], &rows)))
}
