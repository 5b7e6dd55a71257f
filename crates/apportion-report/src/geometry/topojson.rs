//! TopoJSON: shared borders are stored once, as delta-encoded arcs, and polygons are lists of arcs.

use serde_json::Value;

use super::{Outline, Result, Ring, close, properties, refuse};

pub(super) fn outlines(value: &Value) -> Result<Vec<Outline>> {
    let arcs = arcs(value)?;
    let objects = value["objects"].as_object().into_iter().flatten().map(|(_, object)| object);
    // If there are several layers, the one with the most areas is used: for example counties, not states.
    let layers: Vec<Vec<Outline>> = objects.map(|object| layer(object, &arcs)).collect::<Result<_>>()?;
    let areas = |layer: &Vec<Outline>| layer.iter().filter(|own| !own.polygons.is_empty()).count();
    Ok(layers.into_iter().max_by_key(areas).unwrap_or_default())
}

/// Returns the arcs, with the deltas summed and converted to longitudes and latitudes.
fn arcs(value: &Value) -> Result<Vec<Ring>> {
    let number = |value: &Value, what: &str| match value.as_f64() {
        Some(number) => Ok(number),
        None => refuse(format!("its {what} is no number; it is no valid TopoJSON")),
    };
    let transform = match &value["transform"] {
        Value::Null => None,
        own => {
            let pair = |name: &str| -> Result<[f64; 2]> {
                Ok([number(&own[name][0], "transform")?, number(&own[name][1], "transform")?])
            };
            Some((pair("scale")?, pair("translate")?))
        }
    };
    let arc = |arc: &Value| -> Result<Ring> {
        let mut at = [0.0; 2];
        let points = arc.as_array().into_iter().flatten().map(|point| {
            let point = [number(&point[0], "point")?, number(&point[1], "point")?];
            let Some((scale, translate)) = transform else { return Ok(point) };
            at = [at[0] + point[0], at[1] + point[1]];
            Ok([at[0] * scale[0] + translate[0], at[1] * scale[1] + translate[1]])
        });
        points.collect()
    };
    value["arcs"].as_array().into_iter().flatten().map(arc).collect()
}

fn layer(object: &Value, arcs: &[Ring]) -> Result<Vec<Outline>> {
    if let Some(members) = object["geometries"].as_array() {
        let members: Vec<Vec<Outline>> = members.iter().map(|member| layer(member, arcs)).collect::<Result<_>>()?;
        return Ok(members.concat());
    }
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let polygon = |rings: &Value| list(rings).iter().map(|ring| joined(ring, arcs)).collect::<Result<Vec<Ring>>>();
    let polygons = match object["type"].as_str() {
        Some("Polygon") => vec![polygon(&object["arcs"])?],
        Some("MultiPolygon") => list(&object["arcs"]).iter().map(polygon).collect::<Result<_>>()?,
        _ => Vec::new(),
    };
    Ok(vec![Outline { properties: properties(object), polygons }])
}

/// Joins arcs to a ring; each arc starts where the previous one ended. An arc with a negative index is reversed.
fn joined(ring: &Value, arcs: &[Ring]) -> Result<Ring> {
    let mut points: Ring = Vec::new();
    for index in ring.as_array().into_iter().flatten() {
        let number = index.as_i64().unwrap_or(i64::MAX);
        let Some(arc) =
            usize::try_from(if number < 0 { !number } else { number }).ok().and_then(|index| arcs.get(index))
        else {
            return refuse(format!("there is no border {index}; it is no valid TopoJSON"));
        };
        points.pop(); // the arc starts at the last point of the previous one
        if number < 0 { points.extend(arc.iter().rev()) } else { points.extend(arc) }
    }
    close(&mut points);
    Ok(points)
}
