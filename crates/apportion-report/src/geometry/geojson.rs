//! GeoJSON: a collection of features, each with polygons and properties.

use serde_json::Value;

use super::{Outline, Result, Ring, properties, refuse, ring};

pub(super) fn outlines(value: &Value) -> Result<Vec<Outline>> {
    let features = match (value["type"].as_str(), value["features"].as_array()) {
        (Some("FeatureCollection"), Some(features)) => features.as_slice(),
        (Some("Feature"), _) => std::slice::from_ref(value),
        _ => return refuse("it is neither GeoJSON (a FeatureCollection) nor TopoJSON (a Topology)"),
    };
    let outline =
        |feature: &Value| Ok(Outline { properties: properties(feature), polygons: polygons(&feature["geometry"])? });
    features.iter().map(outline).collect()
}

/// Returns the polygons of a geometry. Points and lines are ignored.
fn polygons(geometry: &Value) -> Result<Vec<Vec<Ring>>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let polygon = |rings: &Value| list(rings).iter().map(ring).collect::<Result<Vec<Ring>>>();
    match geometry["type"].as_str() {
        Some("Polygon") => Ok(vec![polygon(&geometry["coordinates"])?]),
        Some("MultiPolygon") => list(&geometry["coordinates"]).iter().map(polygon).collect(),
        Some("GeometryCollection") => {
            let parts: Vec<Vec<Vec<Ring>>> =
                list(&geometry["geometries"]).iter().map(polygons).collect::<Result<_>>()?;
            Ok(parts.concat())
        }
        _ => Ok(Vec::new()),
    }
}
