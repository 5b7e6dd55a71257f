//! The report as Markdown: sentences, tables and terms, and for each chart a description and, if there are few, its numbers.

use std::fmt::Write;

use crate::document::{Block, Cell, Chart, Document, Sheet, Table, has_numbers};
use crate::text;

/// Charts with more rows of numbers than this are only described in words.
const MOST_ROWS: usize = 40;

pub(crate) fn write(document: &Document) -> String {
    let mut out = format!("# {}\n\n{}\n", plain(&document.title), plain(&document.subtitle));
    for section in &document.sections {
        let _ = write!(out, "\n## {}\n\n{}\n", plain(section.title), plain(&section.lead));
        let mut written = None;
        section.blocks.iter().for_each(|own| block(&mut out, own, document, &mut written));
    }
    out
}

/// Writes a block. `written` is the sheet that was written last; it is not repeated.
fn block<'a>(out: &mut String, block: &'a Block, document: &Document, written: &mut Option<&'a Sheet>) {
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
        Block::Chart(own) => chart(out, own, written.replace(&own.sheet)),
        Block::Table(own) => table(out, own),
        Block::Glossary => {
            out.push('\n');
            for term in &document.terms {
                let _ = writeln!(out, "- **{}**: {}", plain(term.name), plain(term.definition));
            }
        }
        Block::Slider(own) => {
            let _ = write!(out, "\n### {}\n\n{}\n", plain(&own.chart.title), plain(&own.chart.alt));
            table(out, &own.table);
        }
    }
}

fn chart(out: &mut String, chart: &Chart, written: Option<&Sheet>) {
    let _ = write!(out, "\n### {}\n\n{}\n", plain(&chart.title), plain(&chart.alt));
    if chart.sheet.rows.len() <= MOST_ROWS && written != Some(&chart.sheet) {
        let rows: Vec<Vec<Cell>> =
            chart.sheet.rows.iter().map(|row| row.iter().map(|cell| shortened(cell)).collect()).collect();
        let columns: Vec<String> = chart.sheet.columns.iter().map(|name| heading(name)).collect();
        lines(out, &columns, &rows);
    }
}

fn table(out: &mut String, table: &Table) {
    let _ = write!(out, "\n**{}**\n", plain(&table.caption));
    lines(out, &table.full_names(), &table.rows);
    if !table.note.is_empty() {
        let _ = write!(out, "\n{}\n", plain(&table.note));
    }
}

/// Writes the rows of a table: text is left-aligned, numbers are right-aligned.
fn lines(out: &mut String, columns: &[String], rows: &[Vec<Cell>]) {
    fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
        format!("| {} |\n", cells.map(plain).collect::<Vec<_>>().join(" | "))
    }
    let is_text = |index: usize| index == 0 || !has_numbers(rows, index);
    let rules = (0..columns.len()).map(|index| if is_text(index) { "---" } else { "---:" });
    let _ = write!(out, "\n{}", line(columns.iter().map(String::as_str)));
    let _ = writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "));
    rows.iter().for_each(|row| out.push_str(&line(row.iter().map(|cell| cell.text.as_str()))));
}

/// Returns the name of a sheet's column as a heading: "labels_with_truth" is "Labels with truth".
fn heading(name: &str) -> String {
    text::begin(&name.replace('_', " "))
}

/// Formats a value of a sheet: numbers are rounded and have thousands separators.
fn shortened(cell: &str) -> Cell {
    match cell.parse::<f64>() {
        Ok(number) => Cell { text: rounded(number), value: Some(number) },
        Err(_) if cell.is_empty() => Cell::text("–"),
        Err(_) => Cell::text(cell),
    }
}

/// Formats a number with as many decimals as its size needs.
fn rounded(number: f64) -> String {
    let size = number.abs();
    let decimals = match size {
        _ if number.fract() == 0.0 || size >= 1_000.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 1.0 => 2,
        _ => 4,
    };
    let sign = if number < 0.0 { "−" } else { "" };
    match decimals {
        0 if size < 1e15 => format!("{}{}", if size < 0.5 { "" } else { sign }, text::count(size.round() as u64)),
        _ => text::plain(number, decimals),
    }
}

/// Escapes text, so that Markdown shows it unchanged and within its cell.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_charts_are_rounded() {
        let all = ["-9474.00000", "0.123456789", "-33.456", "1234567", "0", "-0.0", "2.5", "", "black", "inf"];
        let shown = ["−9,474", "0.1235", "−33.5", "1,234,567", "0", "0", "2.50", "–", "black", "inf"];
        assert_eq!(all.map(|cell| shortened(cell).text), shown);
        assert_eq!(heading("labels_with_truth"), "Labels with truth");
    }
}
