//! Text that several crates write the same way: values in messages, and names of groups.

mod group_name;
mod quote;

pub(crate) use group_name::{GROUP_JOINT, count_group_values};
pub use group_name::{group_name, write_group_name};
pub use quote::quoted;
