//! Outlines from GeoJSON, TopoJSON and Shapefiles.
//!
//! Oracle: accepted input has outlines, and outlines matched with groups have finite coordinates on the globe.

use apportion_report::{Geometry, Shapes};
use serde_json::Value;

use super::files::checked;
use crate::Outcome;
use crate::draw::Draw;
use crate::{mutate, scratch};

/// The magic number of a Shapefile bundle: this, the lengths of .shp and .dbf, then .shp, .dbf and .shx.
pub(crate) const BUNDLE: &[u8; 4] = b"SHPX";

/// Reads bytes as outlines.
pub(super) fn run(data: &[u8]) -> Outcome {
    let read = match parts(data) {
        Some([shp, dbf, shx]) => scratch::with_files(&[("a.shp", shp), ("a.dbf", dbf), ("a.shx", shx)], |folder| {
            checked(Geometry::read(&folder.join("a.shp")))
        }),
        None => checked(Geometry::parse(data)),
    };
    let Some(geometry) = read else { return Outcome::Refused };
    assert!(geometry.outlines() > 0, "accepted without outlines");
    let groups = ["37183", "Wake", "1", "01", "a / b", ""].map(str::to_owned);
    checked(geometry.matched(&groups, None)).iter().for_each(|shapes| check(shapes, groups.len()));
    for property in geometry.properties() {
        let key = [property.to_owned()];
        checked(geometry.matched(&groups, Some(&key))).iter().for_each(|shapes| check(shapes, groups.len()));
    }
    Outcome::Accepted
}

/// Returns the parts of a bundle, or `None` if it is not a bundle.
pub(crate) fn parts(data: &[u8]) -> Option<[&[u8]; 3]> {
    let rest = data.strip_prefix(BUNDLE)?;
    let (shp, rest) = rest.split_first_chunk::<4>()?;
    let (dbf, rest) = rest.split_first_chunk::<4>()?;
    let (shp, rest) = rest.split_at_checked(u32::from_le_bytes(*shp) as usize)?;
    let (dbf, shx) = rest.split_at_checked(u32::from_le_bytes(*dbf) as usize)?;
    Some([shp, dbf, shx])
}

/// Bundles the files of a Shapefile.
pub(crate) fn bundle([shp, dbf, shx]: [&[u8]; 3]) -> Vec<u8> {
    let length = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
    [BUNDLE, &length(shp)[..], &length(dbf), shp, dbf, shx].concat()
}

fn check(shapes: &Shapes, groups: usize) {
    let json = shapes.geojson();
    let features = json["features"].as_array().map_or(0, Vec::len);
    assert_eq!(
        features,
        (0..groups).filter(|&group| shapes.has(group)).count(),
        "a feature for each group with an outline"
    );
    check_numbers(&json["features"]);
}

/// Checks that all coordinates are on the globe. Numbers that are not finite are null in JSON.
fn check_numbers(value: &Value) {
    match value {
        Value::Array(values) => values.iter().for_each(check_numbers),
        Value::Object(fields) => fields.values().for_each(check_numbers),
        Value::Number(number) => assert!(number.as_f64().is_some_and(|number| number.abs() <= 181.0), "{number}"),
        Value::Null => panic!("a coordinate that is no number"),
        Value::Bool(_) | Value::String(_) => {}
    }
}

/// Damages JSON as text, and one part of a bundle as bytes.
pub(super) fn mutate(input: &[u8], draw: &mut Draw<'_>) -> Vec<u8> {
    let Some(mut parts) = parts(input) else { return mutate::text(input, draw) };
    let part = draw.index(3);
    let damaged = mutate::bytes(parts[part], draw);
    parts[part] = &damaged;
    bundle(parts)
}
