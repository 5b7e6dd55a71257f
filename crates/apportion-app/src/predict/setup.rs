//! Everything that scores need before people are read: the columns, the tables, the margins and the model.

use apportion::Classes;
use apportion::text::{Message, Setting};
use apportion_bisg::{Bisg, KnownMargins};

use super::columns::PeopleColumns;
use super::sources::{TableFiles, UsedTable};
use super::{Request, margin, unused};
use crate::{Context, Error, Result};

/// The columns, tables, margins and model of a request.
pub(super) struct Setup {
    pub(super) columns: PeopleColumns,
    pub(super) classes: Classes,
    pub(super) used: Vec<UsedTable>,
    /// The class shares of `voter` and `rake`.
    pub(super) margin: Option<Vec<f64>>,
    /// The margins by surname and place of `rake`.
    pub(super) margins: Option<KnownMargins>,
    pub(super) bisg: Bisg,
}

impl Setup {
    /// Combines the tables, and lists the columns of places that they do not have.
    pub(super) fn new(
        request: &Request,
        mut columns: PeopleColumns,
        tables: TableFiles,
        context: &Context,
    ) -> Result<Setup> {
        let mut tables = tables.with_same_classes(request, columns.within)?;
        let classes = checked_classes(&tables.classes)?;
        let used = std::mem::take(&mut tables.used);
        let unused_places = unused::take_places(&mut columns, request, &used);
        columns.unused.extend(unused_places);
        let margin = margin::read(request, &classes, context)?;
        let margins = tables.margins.take();
        let bisg = margin::model(request, tables, margin.clone())?;
        Ok(Setup { columns, classes, used, margin, margins, bisg })
    }
}

fn checked_classes(names: &[String]) -> Result<Classes> {
    Classes::new(names.to_vec()).map_err(|error| {
        let fix = Message::from("; rename classes with ") + Setting::Crosswalk.with("OLD=NEW");
        Error::data(Error::from(error).message() + fix)
    })
}
