//! Groups of rows: the combined values of one or more columns, with an ID for each group.

use std::collections::HashMap;

use apportion::text::write_group_name;

use super::column::ColumnTexts;

/// The group of each row.
#[derive(Debug, Default)]
pub(crate) struct GroupColumn {
    pub(crate) ids: Vec<u32>,
    /// The combined name of each group.
    pub(crate) names: Vec<String>,
    /// The value of each column, for each group.
    pub(crate) values: Vec<Vec<String>>,
}

impl GroupColumn {
    /// Sorts the groups by their values, independently of the order in the files.
    pub(crate) fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|&a, &b| self.values[a].cmp(&self.values[b]));
        let mut ranks = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, &group)| ranks[group] = rank as u32);
        self.ids.iter_mut().for_each(|id| *id = ranks[*id as usize]);
        self.names = order.iter().map(|&group| self.names[group].clone()).collect();
        self.values = order.iter().map(|&group| self.values[group].clone()).collect();
    }

    /// Returns the units that contain the groups, level by level: see
    /// [`Table::nesting`](super::Table::nesting).
    pub(crate) fn nesting(&self) -> Vec<Vec<u32>> {
        let mut inner: Vec<&[String]> = self.values.iter().map(Vec::as_slice).collect();
        // Groups of one column are all part of one unit.
        if inner.iter().all(|values| values.len() == 1) {
            return vec![vec![0; inner.len()]];
        }
        let mut levels = Vec::new();
        while inner.first().is_some_and(|values| values.len() > 1) {
            let units: Vec<&[String]> = inner.iter().map(|values| &values[..values.len() - 1]).collect();
            let mut outer = units.clone();
            outer.sort_unstable();
            outer.dedup();
            let index = |unit: &&[String]| outer.binary_search(unit).unwrap_or_default() as u32;
            levels.push(units.iter().map(index).collect());
            inner = outer;
        }
        levels
    }
}

/// Assigns group IDs to rows, for groups and cells.
#[derive(Default)]
pub(crate) struct GroupBuilder {
    pub(crate) column: GroupColumn,
    id_of: HashMap<String, u32>,
}

impl GroupBuilder {
    /// Adds rows of some columns, whose values together form a group.
    pub(crate) fn push(&mut self, columns: &[ColumnTexts<'_>], rows: impl Iterator<Item = usize>) {
        let mut name = String::new();
        for row in rows {
            name.clear();
            write_group_name(columns.iter().map(|column| column.get(row)), &mut name);
            let id = match self.id_of.get(&name) {
                Some(&id) => id,
                None => {
                    let id = self.column.names.len() as u32;
                    self.id_of.insert(name.clone(), id);
                    self.column.names.push(name.clone());
                    self.column.values.push(columns.iter().map(|column| column.get(row).to_owned()).collect());
                    id
                }
            };
            self.column.ids.push(id);
        }
    }
}
