//! Names: lookup and tables.

mod lookup;
mod table;

pub use lookup::{NameId, NameMatch, Scratch};
pub use table::NameTable;
