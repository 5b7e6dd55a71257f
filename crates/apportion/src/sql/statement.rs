//! The query around the expression: its table, the name of the label, and the prices of groups as a table.
//!
//! With many groups, a table of prices that is joined is faster than one `CASE` per group.

use super::Dialect;
use super::expression::{ClassPrice, Lines, NEVER, Writer, indented};
use crate::decision::{Decision, GroupPrices};
use crate::error::Result;

/// The prices of a decision by group as a table: one row per group, whose name comes first.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceTable {
    /// The names of the columns: the group, the prices of the classes, and their prices among tied classes.
    pub columns: Vec<String>,
    /// The groups, and their numbers.
    pub rows: Vec<(String, Vec<f64>)>,
}

impl Decision {
    /// Returns the prices as a table that [`to_sql`](Self::to_sql) can join; `None` if the decision is not by group.
    pub fn price_table(&self) -> Option<PriceTable> {
        self.groups().map(|groups| self.price_table_of(groups))
    }

    pub(super) fn price_table_of(&self, groups: &[GroupPrices]) -> PriceTable {
        // There is one more price if some rows stay Uncoded.
        let width = groups.iter().map(|group| group.prices.len()).max().unwrap_or_default();
        let names =
            ["price", "tie"].iter().flat_map(|kind| (1..=width).map(move |place| format!("apportion_{kind}_{place}")));
        let row = |group: &GroupPrices| {
            let number = |prices: &[Option<f64>], place: usize| prices.get(place).copied().flatten().unwrap_or(NEVER);
            let ties = |place: usize| group.ties.first().map_or(0.0, |ties| number(ties, place));
            let prices = (0..width).map(|place| number(&group.prices, place));
            (group.group.clone().unwrap_or_default(), prices.chain((0..width).map(ties)).collect())
        };
        PriceTable {
            columns: std::iter::once(GROUP.to_owned()).chain(names).collect(),
            rows: groups.iter().map(row).collect(),
        }
    }
}

/// The column with the names of the groups.
const GROUP: &str = "apportion_group";

/// The name of the table of prices that is part of the statement.
const PRICES: &str = "apportion_prices";

impl Writer<'_> {
    /// Returns the expression with its name, or the complete statement.
    pub(super) fn statement(&self, mut lines: Lines) -> String {
        let name = self.options.label.as_deref().or(self.options.table.as_ref().map(|_| "label"));
        if let (Some(name), Some(last)) = (name, lines.last_mut()) {
            *last += &format!(" AS {}", self.dialect.name(name));
        }
        if let Some(table) = &self.options.table {
            lines = indented(lines);
            lines.insert(0, "SELECT *,".into());
            lines.push(format!("FROM {table};"));
        }
        lines.join("\n") + "\n"
    }

    /// Returns a statement that joins the prices of each row's group.
    pub(super) fn statement_by_group(&self, table: &PriceTable, groups: &[GroupPrices]) -> Result<String> {
        let width = (table.columns.len() - 1) / 2;
        let has_price = |class: usize| table.rows.iter().any(|(_, numbers)| numbers[class] > NEVER);
        let class_price = |class: usize| {
            let term = |place: usize| format!("+ {}", table.columns[place]);
            ClassPrice { class, price: term(1 + class), tie: Some(term(1 + width + class)) }
        };
        let prices: Vec<ClassPrice> = (0..width).filter(|&class| has_price(class)).map(class_price).collect();
        let is_known = format!("CASE WHEN {GROUP} IS NOT NULL THEN");
        let label = [vec![is_known], indented(self.priced(&prices)), vec!["END".to_owned()]].concat();
        let mut lines = match &self.options.prices {
            Some(_) => Lines::new(),
            None => self.inline(table),
        };
        let name = self.dialect.name(self.options.label.as_deref().unwrap_or("label"));
        lines.push("SELECT apportion_rows.*,".into());
        lines.extend(indented(self.guarded(label)));
        if let Some(last) = lines.last_mut() {
            *last += &format!(" AS {name}");
        }
        let prices = self.options.prices.as_deref().map_or_else(|| PRICES.to_owned(), |name| self.dialect.name(name));
        let rows = self.options.table.as_deref().unwrap_or_default();
        lines.push(format!("FROM (SELECT * FROM {rows}) AS apportion_rows"));
        lines.push(format!("LEFT JOIN {prices} ON {GROUP} = {};", self.group_of_row(groups)?));
        Ok(lines.join("\n") + "\n")
    }

    /// Returns the table of prices as the first part of a statement.
    fn inline(&self, table: &PriceTable) -> Lines {
        let columns = table.columns.join(", ");
        let row = |(group, numbers): &(String, Vec<f64>)| {
            let numbers: String = numbers.iter().map(|&number| format!(", {}", self.dialect.number(number))).collect();
            format!("({}{numbers})", self.dialect.text(group))
        };
        let (begin, end) = if self.dialect == Dialect::BigQuery {
            let numbers: String = table.columns[1..].iter().map(|name| format!(", {name} FLOAT64")).collect();
            let kind = format!("ARRAY<STRUCT<{GROUP} STRING{numbers}>>");
            (format!("WITH {PRICES} AS (SELECT * FROM UNNEST({kind}["), "]))")
        } else {
            (format!("WITH {PRICES} ({columns}) AS (SELECT * FROM (VALUES"), ") AS apportion_values)")
        };
        let last = table.rows.len() - 1;
        let rows = table.rows.iter().enumerate().map(|(place, own)| row(own) + if place < last { "," } else { "" });
        std::iter::once(begin).chain(rows.map(|row| format!("  {row}"))).chain([end.to_owned()]).collect()
    }
}
