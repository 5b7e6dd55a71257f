//! Everything that scores need before people are read: the columns, the tables, the margins and the model.
//!
//! The last model of built-in tables is kept: to unpack and combine them takes longer than to score thousands of people.

use std::sync::{Arc, Mutex, PoisonError};

use apportion::Classes;
use apportion::text::{Message, Setting};
use apportion_bisg::{Bisg, KnownMargins};

use super::columns::PeopleColumns;
use super::sources::{TableFiles, UsedTable};
use super::{Request, margin, unused};
use crate::{Context, Error, Result};

/// The last model of built-in tables, and what it depends on.
static LAST: Mutex<Option<(String, Kept)>> = Mutex::new(None);

/// A model of built-in tables, without margins.
#[derive(Clone)]
struct Kept {
    classes: Classes,
    used: Vec<UsedTable>,
    bisg: Arc<Bisg>,
}

/// The columns, tables, margins and model of a request.
pub(super) struct Setup {
    pub(super) columns: PeopleColumns,
    pub(super) classes: Classes,
    pub(super) used: Vec<UsedTable>,
    /// The class shares of `voter` and `rake`.
    pub(super) margin: Option<Vec<f64>>,
    /// The margins by surname and place of `rake`.
    pub(super) margins: Option<KnownMargins>,
    pub(super) bisg: Arc<Bisg>,
}

impl Setup {
    /// Reads and combines the tables, or takes the last model if it is for the same tables.
    pub(super) fn read(request: &Request, columns: PeopleColumns, context: &Context) -> Result<Setup> {
        let key = key(request, &columns)?;
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let are_built_in = request.tables.is_empty();
        if let Some((_, Kept { classes, used, bisg })) = last.filter(|(last, _)| are_built_in && *last == key) {
            let mut setup = Setup { columns, classes, used, margin: None, margins: None, bisg };
            setup.list_unused_places(request);
            return Ok(setup);
        }
        let tables = TableFiles::read(request, &columns)?;
        let setup = Setup::new(request, columns, tables, context)?;
        let has_margins = setup.margin.is_some() || setup.margins.is_some();
        if !has_margins && are_built_in && setup.used.iter().all(|table| table.built_in().is_some()) {
            let (classes, used) = (setup.classes.clone(), setup.used.clone());
            let kept = Kept { classes, used, bisg: setup.bisg.clone() };
            *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some((key, kept));
        }
        Ok(setup)
    }

    /// Combines the tables, and lists the columns of places that they do not have.
    pub(super) fn new(
        request: &Request,
        columns: PeopleColumns,
        tables: TableFiles,
        context: &Context,
    ) -> Result<Setup> {
        let mut tables = tables.with_same_classes(request, columns.within)?;
        let classes = checked_classes(&tables.classes)?;
        let used = std::mem::take(&mut tables.used);
        let margin = margin::read(request, &classes, context)?;
        let margins = tables.margins.take();
        let bisg = Arc::new(margin::model(request, tables, margin.clone())?);
        let mut setup = Setup { columns, classes, used, margin, margins, bisg };
        setup.list_unused_places(request);
        Ok(setup)
    }

    fn list_unused_places(&mut self, request: &Request) {
        let unused_places = unused::take_places(&mut self.columns, request, &self.used);
        self.columns.unused.extend(unused_places);
    }
}

/// Returns everything that a model of built-in tables depends on: the request and the kinds of columns.
fn key(request: &Request, columns: &PeopleColumns) -> Result<String> {
    let levels: Vec<_> = columns.codes.iter().map(|(level, _)| level).collect();
    let request = serde_json::to_string(request).map_err(|error| Error::settings(error.to_string()))?;
    Ok(format!("{request} {levels:?} {:?} {}", columns.within, columns.first_name.is_some()))
}

fn checked_classes(names: &[String]) -> Result<Classes> {
    Classes::new(names.to_vec()).map_err(|error| {
        let fix = Message::from("; rename classes with ") + Setting::Crosswalk.with("OLD=NEW");
        Error::data(Error::from(error).message() + fix)
    })
}
