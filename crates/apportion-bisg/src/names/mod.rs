//! Names: how they are found in a table, and what a table says of them.

mod lookup;
mod table;

pub use lookup::{NameId, NameMatch, Scratch};
pub use table::NameTable;
