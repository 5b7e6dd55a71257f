//! Shapefiles: polygons from the .shp file, and their properties from the .dbf file next to it.

use std::path::Path;

use ::shapefile::dbase::{FieldValue, Record};
use ::shapefile::{PolygonRing, Shape};

use super::{GeometryError, Outline, Result, Ring, close, shp_lengths};

pub(super) fn read(path: &Path) -> Result<Vec<Outline>> {
    refuse_bad_lengths(path)?;
    let failed = |error: ::shapefile::Error| {
        let problem =
            format!("it cannot be read as a Shapefile ({error}); its .dbf and .shx must be in the same folder");
        GeometryError::Format(problem.into())
    };
    let mut reader = ::shapefile::Reader::from_path(path).map_err(failed)?;
    let mut outlines = Vec::new();
    for pair in reader.iter_shapes_and_records() {
        let (shape, record) = pair.map_err(failed)?;
        outlines.push(Outline { properties: properties(record), polygons: polygons(shape) });
    }
    Ok(outlines)
}

/// Refuses a file if a record does not have the length that it states.
fn refuse_bad_lengths(path: &Path) -> Result<()> {
    let shp = std::fs::read(path)?;
    let shx = std::fs::read(path.with_extension("shx")).ok();
    if shp_lengths::fit(&shp, shx.as_deref()) {
        return Ok(());
    }
    let problem =
        "a record of the Shapefile, or of its .shx, is not as long as it says; the file is damaged: get it again";
    Err(GeometryError::Format(problem.into()))
}

fn properties(record: Record) -> std::collections::BTreeMap<String, String> {
    let text = |value: FieldValue| match value {
        FieldValue::Character(text) => text.map(|text| text.trim().to_owned()),
        FieldValue::Numeric(number) => number.map(|number| number.to_string()),
        FieldValue::Integer(number) => Some(number.to_string()),
        FieldValue::Double(number) => Some(number.to_string()),
        _ => None,
    };
    record.into_iter().filter_map(|(name, value)| Some((name, text(value)?))).collect()
}

/// Returns the polygons of a shape. An outer ring starts a polygon; the holes after it belong to it.
fn polygons(shape: Shape) -> Vec<Vec<Ring>> {
    let rings: Vec<(bool, Ring)> = match shape {
        Shape::Polygon(own) => own.rings().iter().map(|ring| points(ring, |point| [point.x, point.y])).collect(),
        Shape::PolygonM(own) => own.rings().iter().map(|ring| points(ring, |point| [point.x, point.y])).collect(),
        Shape::PolygonZ(own) => own.rings().iter().map(|ring| points(ring, |point| [point.x, point.y])).collect(),
        _ => Vec::new(),
    };
    let mut polygons: Vec<Vec<Ring>> = Vec::new();
    for (is_outer, ring) in rings {
        match polygons.last_mut().filter(|_| !is_outer) {
            Some(polygon) => polygon.push(ring),
            None => polygons.push(vec![ring]),
        }
    }
    polygons
}

fn points<P>(ring: &PolygonRing<P>, coordinates: impl Fn(&P) -> [f64; 2]) -> (bool, Ring) {
    let mut own: Ring = ring.points().iter().map(coordinates).collect();
    close(&mut own);
    (matches!(ring, PolygonRing::Outer(_)), own)
}
