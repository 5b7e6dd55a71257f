//! Lists, describes, exports, imports and checks tables of names and places.

use anyhow::Result;
use apportion_app::output::written;
use apportion_app::settings::Job;
use apportion_app::tables::{self, CheckedTable, ImportedTable, ListedTable, Request, Response, ShownTable};

use crate::terminal::Terminal;
use crate::text;

pub(super) fn run(job: Job, terminal: &Terminal) -> Result<()> {
    let request = Request::from_values(job, terminal.values().clone())?;
    match tables::run(&request, &terminal.context())? {
        Response::List(tables) => text::print_text(list(&tables)),
        Response::Show(table) => text::print_text(show(&table)),
        Response::Export(exported) => {
            terminal.say(written(&exported.paths));
            Ok(())
        }
        Response::Import(imported) => {
            imported.remarks.iter().for_each(|remark| terminal.say(format!("note: {remark}")));
            terminal.say(import(&imported));
            terminal.say(written(&imported.paths));
            terminal.print_json(&imported)
        }
        Response::Check(checked) => terminal.print_either(&checked, || check(&checked)),
    }
}

fn list(tables: &[ListedTable]) -> String {
    let width = tables.iter().map(|table| table.name.len()).max().unwrap_or(0);
    let line = |table: &ListedTable| {
        let rows = text::count(table.rows);
        format!("{:<width$}  {rows:>9}  {}", table.name, table.title)
    };
    tables.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn show(table: &ShownTable) -> String {
    let width = table.classes.iter().map(|class| class.class.len()).max().unwrap_or(0);
    let classes = table.classes.iter().map(|class| format!("  {:<width$}  {}", class.class, class.definition));
    let classes: Vec<String> = classes.collect();
    format!(
        "{}\n{}\nkeys: {}, …\nclasses:\n{}\n\n{}",
        table.title,
        table.description,
        table.keys.join(", "),
        classes.join("\n"),
        table.provenance
    )
}

fn import(table: &ImportedTable) -> String {
    let row = |(class, people): (&&str, &f64)| {
        let share = if table.people > 0.0 { 100.0 * people / table.people } else { 0.0 };
        vec![(*class).to_owned(), text::count(people.round() as u64), text::plain(Some(share), 2)]
    };
    let rows: Vec<Vec<String>> = table.classes.iter().zip(&table.counts).map(row).collect();
    let places = text::counted(table.places as u64, "place", "places");
    let people = text::count(table.people.round() as u64);
    format!(
        "{}: {}\n{places} ({}), {people} people\n{}\n{}",
        table.source,
        table.population,
        table.level,
        table.definition,
        text::columns(&["class", "people", "share, %"], &rows)
    )
}

fn check(table: &CheckedTable) -> String {
    let mut lines = vec![table.description.clone()];
    lines.push(match &table.margin {
        Some(margin) => {
            let row = |(class, share): (&String, &f64)| vec![class.clone(), text::plain(Some(100.0 * share), 2)];
            let rows: Vec<Vec<String>> = table.classes.iter().zip(margin).map(row).collect();
            text::columns(&["class", "share, %"], &rows)
        }
        None => format!("classes: {}", table.classes.join(", ")),
    });
    if let (Some(all), Some(largest)) = (table.people, &table.largest) {
        let what = if table.level.is_some() { "largest place" } else { "largest row" };
        let [all, most] = [all, largest.people].map(|people| text::count(people.round() as u64));
        lines.push(format!("{all} people; {what}: {}, {most}", largest.key));
    }
    lines.extend(table.remarks.iter().map(|remark| format!("note: {remark}")));
    lines.push("no problems found".into());
    lines.join("\n")
}
