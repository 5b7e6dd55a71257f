//! Random problems for the joint rules, with oracles of their own: exhaustive search for small ones (`small`), weak duality
//! for large ones (`large`).

pub mod exact;
pub mod large;
pub mod small;
mod tables;
