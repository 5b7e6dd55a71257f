//! Provenance as people read it.

use serde_json::Value;

use super::Provenance;
use crate::text;

impl Provenance {
    /// As lines of text.
    pub(crate) fn text(&self) -> String {
        let mut lines =
            vec![format!("made by apportion {}: {}", self.apportion, self.job), format!("command: {}", self.command)];
        for input in &self.inputs {
            let rows = input.rows.map_or_else(String::new, |rows| format!(", {}", text::counted(rows, "row", "rows")));
            let sha = input.sha256.as_deref().unwrap_or("not computed");
            lines.push(format!("{}: {}{rows}, SHA-256 {sha}", input.role, input.name));
        }
        lines.extend(self.tables.iter().map(|table| format!("table inside the program: {table}")));
        if let Ok(Value::Object(options)) = serde_json::to_value(&self.options) {
            let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            lines.extend(options.iter().map(|(name, value)| format!("option {name}: {}", shown(value))));
        }
        if let Some(rows) = self.rows {
            lines.push(format!("rows: {}", text::count(rows)));
        }
        lines.extend(self.counts_text());
        match (&self.decision, &self.decision_omitted) {
            (Some(_), _) => lines.push("decision: inside; print it with --json".into()),
            (None, Some(why)) => lines.push(format!("decision: left out, because {why}")),
            (None, None) => {}
        }
        if let Some(certificate) = &self.certificate {
            let verdict = if certificate.primal == certificate.dual { "proved optimal" } else { "not proved optimal" };
            let (primal, dual) = (&certificate.primal, &certificate.dual);
            lines.push(format!("certificate: primal {primal}, dual {dual}: {verdict}"));
        }
        lines.join("\n")
    }

    /// Counts and targets of the classes, as a table.
    fn counts_text(&self) -> Option<String> {
        let counts = self.counts.as_ref()?;
        let targets = self.targets.as_ref().map(|targets| &targets.overall);
        let target =
            |class: usize| targets.and_then(|targets| targets.get(class)).map_or("–".into(), |&own| text::count(own));
        let name = |class: usize| self.options.classes.get(class).cloned().unwrap_or_else(|| class.to_string());
        let row = |(class, &count): (usize, &u64)| vec![name(class), text::count(count), target(class)];
        let mut rows: Vec<Vec<String>> = counts.iter().enumerate().map(row).collect();
        if let Some(unlabeled) = self.unlabeled.filter(|&people| people > 0) {
            rows.push(vec!["Uncoded".into(), text::count(unlabeled), "–".into()]);
        }
        Some(format!("\n{}\n", text::columns(&["class", "labels", "target"], &rows)))
    }
}
