//! Names: cleaning, lookup and tables.

mod cleaning;
#[cfg(test)]
mod cleaning_tests;
mod full_name;
mod lookup;
mod table;

pub use cleaning::{NameChanges, NamePart};
pub use full_name::FullName;
pub use lookup::{NameId, NameMatch, Scratch, cleaned_name};
pub use table::{NameRow, NameTable};
