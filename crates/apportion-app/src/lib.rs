//! The jobs of apportion. Each module has a `Request` (a plain struct with defaults), a `Response` (a plain struct that
//! serializes to the JSON contract) and `run(&Request, &Context)`.
//!
//! The command line, Python and R convert their arguments to a request and show the response in their own style.
//! Nothing here reads arguments, prints, or formats a setting for a particular front end: messages name settings by
//! [`Setting`](apportion::text::Setting).

pub mod apply;
pub mod audit;
pub mod calibrate;
pub mod class_map;
pub mod compare;
mod context;
pub mod decision_file;
pub mod demo;
pub mod describe;
pub mod disparity;
mod error;
pub mod estimated_reference;
pub mod existing_labels;
pub mod export;
pub mod fit;
pub mod frontier;
pub mod input;
pub mod label;
pub mod labels;
mod lost_classes;
pub mod memory;
pub mod output;
pub mod predict;
pub mod protect;
pub mod provenance;
mod public_voters;
pub mod reference;
pub mod report;
pub mod reproduce;
mod results;
pub mod rule;
#[cfg(feature = "schema")]
pub mod schema;
pub mod settings;
mod similar_groups;
pub mod simulate;
pub mod summary;
pub mod table;
pub mod tables;
pub mod text;
mod unknown_groups;
pub mod verify;

pub use context::{Context, Notice, Working};
pub use error::{Error, Result};
pub use predict::explain;
