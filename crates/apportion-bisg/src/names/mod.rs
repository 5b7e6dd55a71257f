//! Names: how they are found in a table, and what a table says of them.

mod lookup;
mod table;

pub use lookup::{Hit, NameMatch, Room};
pub use table::NameTable;
