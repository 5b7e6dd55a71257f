//! Text that several crates write the same way: values in messages, names of groups, and sentences that name settings.

mod group_name;
mod message;
mod number;
mod quote;
mod setting;

pub(crate) use group_name::{GROUP_JOINT, count_group_values};
pub use group_name::{group_name, write_group_name};
pub use message::{Message, Part};
pub use number::{count, counted};
pub use quote::quoted;
pub use setting::Setting;
