//! The report as Markdown: sentences, tables, and for each chart what it shows and, where they are few, its numbers.

use std::fmt::Write;

use crate::document::{Block, Chart, Document, Table};

/// Charts with more numbers than this are told in words.
const MOST_ROWS: usize = 60;

pub(crate) fn write(document: &Document) -> String {
    let mut out = format!("# {}\n\n{}\n", plain(&document.title), plain(&document.subtitle));
    for section in &document.sections {
        let _ = write!(out, "\n## {}\n\n{}\n", plain(section.title), plain(&section.lead));
        section.blocks.iter().for_each(|own| block(&mut out, own));
    }
    out
}

fn block(out: &mut String, block: &Block) {
    match block {
        Block::Text(text) => {
            let _ = write!(out, "\n{}\n", plain(text));
        }
        Block::Code(text) => {
            let _ = write!(out, "\n```sh\n{}\n```\n", text.replace("```", "` ` `"));
        }
        Block::Cards(cards) => {
            out.push('\n');
            for card in cards {
                let _ = writeln!(out, "- **{}**: {}. {}", plain(&card.name), plain(&card.figure), plain(&card.note));
            }
        }
        Block::Chart(own) => chart(out, own),
        Block::Table(own) => table(out, own),
        Block::Slider(own) => {
            let _ = write!(out, "\n### {}\n\n{}\n", plain(&own.chart.title), plain(&own.chart.caption));
            table(out, &own.table);
        }
    }
}

fn chart(out: &mut String, chart: &Chart) {
    let _ = write!(out, "\n### {}\n\n{}\n", plain(&chart.title), plain(&chart.alt));
    if chart.sheet.rows.len() <= MOST_ROWS {
        lines(
            out,
            &chart.sheet.columns,
            chart.sheet.rows.iter().map(|row| row.iter().map(|cell| shortened(cell)).collect()),
        );
    }
}

fn table(out: &mut String, table: &Table) {
    let _ = write!(out, "\n**{}**\n", plain(&table.caption));
    lines(out, &table.columns, table.rows.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect()));
    if !table.note.is_empty() {
        let _ = write!(out, "\n{}\n", plain(&table.note));
    }
}

/// Rows between bars, the first column to the left.
fn lines(out: &mut String, columns: &[String], rows: impl Iterator<Item = Vec<String>>) {
    let line =
        |cells: &[String]| format!("| {} |\n", cells.iter().map(|cell| plain(cell)).collect::<Vec<_>>().join(" | "));
    let rules: Vec<&str> = (0..columns.len()).map(|place| if place == 0 { "---" } else { "---:" }).collect();
    let _ = write!(out, "\n{}| {} |\n", line(columns), rules.join(" | "));
    rows.for_each(|row| out.push_str(&line(&row)));
}

/// A number in full is long: five digits are enough to read.
fn shortened(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) if cell.len() > 8 && cell.contains('.') => format!("{number:.5}"),
        _ => cell.to_owned(),
    }
}

/// Text that stays text, and stays in its cell.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' => out.extend(['\\', letter]),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
