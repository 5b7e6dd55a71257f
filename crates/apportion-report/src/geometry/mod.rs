//! Outlines of groups: read from a file, matched with the groups by a property, and simplified for a page.

mod geojson;
mod projection;
mod shapefile;
mod shp_lengths;
mod topojson;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use apportion::text::{Message, Setting, group_name, quoted};
use serde_json::{Value, json};

use crate::document::Outlines;

/// An error in a file of outlines.
#[derive(Debug, thiserror::Error)]
pub enum GeometryError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The content is invalid; the message includes the fix.
    #[error("{0}")]
    Format(Message),
}

impl GeometryError {
    /// Returns the sentence, for a front end to render.
    pub fn message(&self) -> Message {
        match self {
            GeometryError::Io(error) => error.to_string().into(),
            GeometryError::Format(problem) => problem.clone(),
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, GeometryError>;

pub(crate) fn refuse<T>(problem: impl Into<Message>) -> Result<T> {
    Err(GeometryError::Format(problem.into()))
}

/// A closed ring of longitudes and latitudes: the last point equals the first.
pub(crate) type Ring = Vec<[f64; 2]>;

/// An outline: polygons, each with an outer ring and holes, and properties.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) polygons: Vec<Vec<Ring>>,
}

/// The outlines of a file.
#[derive(Clone, Debug)]
pub struct Geometry {
    outlines: Vec<Outline>,
}

/// Outlines matched with groups.
#[derive(Clone, Debug)]
pub struct Shapes {
    /// The polygons of each group; empty for a group without an outline.
    polygons: Vec<Vec<Vec<Ring>>>,
    /// The names of outlines without a group.
    unused: Vec<String>,
    bounds: Bounds,
    /// Whether the outlines are the United States, which are drawn with Alaska and Hawaii as insets.
    united_states: bool,
}

/// The bounds of the United States without Alaska, Hawaii and the territories.
const LOWER_48: Bounds = Bounds { low: [-125.0, 24.0], high: [-66.5, 49.6] };

#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: [f64; 2],
    high: [f64; 2],
}

impl Geometry {
    /// Reads GeoJSON or TopoJSON or, if the extension is .shp, a Shapefile.
    pub fn read(path: &Path) -> Result<Geometry> {
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("shp")) {
            return Geometry::of(shapefile::read(path)?);
        }
        Geometry::parse(&std::fs::read(path)?)
    }

    /// Parses GeoJSON or TopoJSON.
    pub fn parse(bytes: &[u8]) -> Result<Geometry> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| {
            GeometryError::Format(format!("it is no JSON ({error}); give GeoJSON, TopoJSON or a .shp").into())
        })?;
        match value["type"].as_str() {
            Some("Topology") => Geometry::of(topojson::outlines(&value)?),
            _ => Geometry::of(geojson::outlines(&value)?),
        }
    }

    fn of(outlines: Vec<Outline>) -> Result<Geometry> {
        let outlines: Vec<Outline> = outlines.into_iter().filter(|own| !own.polygons.is_empty()).collect();
        if outlines.is_empty() {
            return refuse("it has no polygons; give a file of areas");
        }
        let points = outlines.iter().flat_map(|own| own.polygons.iter().flatten().flatten());
        match points.copied().find(|[x, y]| !(x.abs() <= 180.5 && y.abs() <= 90.5)) {
            Some([x, y]) => refuse(format!(
                "the point {x}, {y} is no longitude and latitude; project it to WGS 84 (EPSG:4326) first"
            )),
            None => Ok(Geometry { outlines }),
        }
    }

    /// Returns the number of outlines.
    pub fn outlines(&self) -> usize {
        self.outlines.len()
    }

    /// Returns the properties by which outlines can be matched.
    pub fn properties(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.outlines.iter().flat_map(|own| own.properties.keys().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Matches groups by the given property or, without one, by the property that matches the most groups. Several
    /// properties are joined in the same way as the columns of a group.
    pub fn matched(&self, groups: &[String], key: Option<&[String]>) -> Result<Shapes> {
        let keys: Vec<Vec<String>> = match key {
            Some(key) => {
                let missing = key.iter().find(|key| !self.properties().contains(&key.as_str()));
                if let Some(missing) = missing {
                    return refuse(format!(
                        "there is no property {missing:?}; there are {}",
                        self.properties().join(", ")
                    ));
                }
                vec![key.to_vec()]
            }
            None => self.properties().iter().map(|name| vec![(*name).to_owned()]).collect(),
        };
        let index = GroupIndex::of(groups);
        // Prefers the key that finds the most groups, then the one with the fewest outlines: a state must not match all
        // of its counties, which have its code as a property.
        let matches = |key: &Vec<String>| {
            let names = self.outlines.iter().filter_map(|own| own.name(key));
            let found: Vec<usize> = names.filter_map(|name| index.group(&name)).collect();
            (found.iter().collect::<BTreeSet<_>>().len(), Reverse(found.len()))
        };
        let best =
            keys.iter().map(|key| (matches(key), key)).reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some(((1.., _), key)) = best else {
            let example = groups.first().map(String::as_str).unwrap_or_default();
            let problem = format!("no outline has the name of a group, such as {}", quoted(example));
            let problem = Message::from(format!("{problem}; name the property with ")) + Setting::GeometryKey;
            return refuse(problem + format!(": {}", self.properties().join(", ")));
        };
        Ok(self.shapes(groups.len(), &index, key))
    }

    fn shapes(&self, groups: usize, index: &GroupIndex, key: &[String]) -> Shapes {
        let (mut polygons, mut unused) = (vec![Vec::new(); groups], Vec::new());
        for own in &self.outlines {
            let name = own.name(key).unwrap_or_else(|| "(without a name)".into());
            match index.group(&name) {
                Some(group) => polygons[group].extend(own.polygons.iter().cloned()),
                None => unused.push(name),
            }
        }
        unused.sort();
        let united_states = are_united_states(&polygons);
        let bounds = if united_states { LOWER_48 } else { Bounds::of(polygons.iter().flatten().flatten().flatten()) };
        let step = (bounds.size(0).max(bounds.size(1)) / FINENESS).max(1e-6);
        for own in &mut polygons {
            let light: Vec<Vec<Ring>> = own.iter().filter_map(|polygon| lighter(polygon, step)).collect();
            // An outline that would be removed as a whole is snapped to a finer grid instead.
            *own = if light.is_empty() {
                own.iter().filter_map(|polygon| lighter(polygon, 1e-4)).collect()
            } else {
                light
            };
        }
        Shapes { polygons, unused, bounds, united_states }
    }
}

/// The groups by name: exact, and normalized for comparison.
struct GroupIndex {
    exact: BTreeMap<String, usize>,
    normalized: BTreeMap<String, usize>,
}

impl GroupIndex {
    fn of(groups: &[String]) -> GroupIndex {
        let (mut exact, mut normalized) = (BTreeMap::new(), BTreeMap::new());
        for (group, name) in groups.iter().enumerate() {
            exact.entry(name.trim().to_owned()).or_insert(group);
            normalized.entry(plain(name)).or_insert(group);
        }
        GroupIndex { exact, normalized }
    }

    /// Returns the group with this name, or else one whose normalized name is equal.
    fn group(&self, name: &str) -> Option<usize> {
        self.exact.get(name.trim()).or_else(|| self.normalized.get(&plain(name))).copied()
    }
}

/// Returns whether nearly all outlines begin in the contiguous United States and together span it from coast to coast.
fn are_united_states(polygons: &[Vec<Vec<Ring>>]) -> bool {
    let starts: Vec<&[f64; 2]> = polygons.iter().filter_map(|own| own.first()?.first()?.first()).collect();
    let inside =
        |point: &[f64; 2]| (0..2).all(|side| (LOWER_48.low[side]..=LOWER_48.high[side]).contains(&point[side]));
    let inner: Vec<&[f64; 2]> = starts.iter().copied().filter(|point| inside(point)).collect();
    inner.len() * 10 >= starts.len() * 9 && Bounds::of(inner.into_iter()).size(0) > 35.0
}

/// The number of grid steps along the longer side of a map; finer than a screen.
const FINENESS: f64 = 2400.0;

/// Snaps a polygon to a grid. Neighbors still share the points of their common border. Islands smaller than a step are
/// removed.
fn lighter(polygon: &[Ring], step: f64) -> Option<Vec<Ring>> {
    let rings = polygon.iter().enumerate().map(|(index, ring)| {
        let snap = |number: f64| (number / step).round() * step;
        let mut own: Ring = ring.iter().map(|[x, y]| [snap(*x), snap(*y)]).collect();
        own.dedup();
        // d3, which draws the map, expects clockwise outer rings and counterclockwise holes.
        if (area(&own) > 0.0) == (index == 0) {
            own.reverse();
        }
        own
    });
    let rings: Vec<Ring> = rings.collect();
    let is_something = |ring: &Ring| ring.len() >= 4 && area(ring) != 0.0;
    if !rings.first().is_some_and(is_something) {
        return None;
    }
    Some(rings.into_iter().filter(is_something).collect())
}

/// Returns twice the signed area of a ring; positive if it is counterclockwise.
fn area(ring: &Ring) -> f64 {
    ring.windows(2).map(|pair| pair[0][0] * pair[1][1] - pair[1][0] * pair[0][1]).sum()
}

impl Outline {
    fn name(&self, key: &[String]) -> Option<String> {
        let values: Option<Vec<&str>> = key.iter().map(|key| self.properties.get(key).map(String::as_str)).collect();
        values.map(group_name)
    }
}

/// Normalizes a name for comparison: lowercase, and without leading zeros if it is a number, because tables lose them.
fn plain(name: &str) -> String {
    let name = name.trim().to_lowercase();
    if name.chars().all(|letter| letter.is_ascii_digit()) { name.trim_start_matches('0').to_owned() } else { name }
}

impl Bounds {
    fn of<'a>(points: impl Iterator<Item = &'a [f64; 2]>) -> Bounds {
        let none = Bounds { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] };
        points.fold(none, |mut bounds, point| {
            for (side, &coordinate) in point.iter().enumerate() {
                bounds.low[side] = bounds.low[side].min(coordinate);
                bounds.high[side] = bounds.high[side].max(coordinate);
            }
            bounds
        })
    }

    fn size(&self, side: usize) -> f64 {
        (self.high[side] - self.low[side]).max(0.0)
    }
}

impl Shapes {
    /// Returns whether a group has an outline.
    pub fn has(&self, group: usize) -> bool {
        self.polygons.get(group).is_some_and(|own| !own.is_empty())
    }

    /// Returns the names of outlines without a group.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }

    /// Returns the outlines as GeoJSON, with the index of the group as ID.
    pub fn geojson(&self) -> Value {
        let round = |number: f64| (number * 1e4).round() / 1e4;
        let feature = |(group, own): (usize, &Vec<Vec<Ring>>)| {
            let ring = |ring: &Ring| ring.iter().map(|[x, y]| json!([round(*x), round(*y)])).collect::<Value>();
            let coordinates: Value = own.iter().map(|polygon| polygon.iter().map(ring).collect::<Value>()).collect();
            json!({ "type": "Feature", "id": group, "geometry": { "type": "MultiPolygon", "coordinates": coordinates } })
        };
        let some = self.polygons.iter().enumerate().filter(|(_, own)| !own.is_empty());
        json!({ "type": "FeatureCollection", "features": some.map(feature).collect::<Vec<_>>() })
    }

    /// Returns the outlines for the maps of a report.
    pub fn outlines(&self) -> Outlines {
        Outlines { geojson: self.geojson(), paths: self.paths() }
    }

    /// Returns the Plotly view of the map: the usual projection for the United States, otherwise the bounds of the
    /// outlines.
    pub fn view(&self) -> Value {
        if self.united_states {
            return json!({ "projection": { "type": "albers usa" } });
        }
        let Bounds { low, high } = self.bounds;
        json!({
            "projection": { "type": "mercator" },
            "lonaxis": { "range": [low[0], high[0]] }, "lataxis": { "range": [low[1], high[1]] },
        })
    }
}

/// Parses GeoJSON coordinates as a ring. Values after longitude and latitude are ignored.
pub(crate) fn ring(value: &Value) -> Result<Ring> {
    let Some(points) = value.as_array() else { return refuse("a ring is no list of points; it is no valid GeoJSON") };
    let point = |point: &Value| match (point[0].as_f64(), point[1].as_f64()) {
        (Some(x), Some(y)) => Ok([x, y]),
        _ => refuse("a point is no pair of numbers; it is no valid GeoJSON"),
    };
    let mut ring = points.iter().map(point).collect::<Result<Ring>>()?;
    close(&mut ring);
    Ok(ring)
}

/// Closes a ring by repeating its first point, if needed.
pub(crate) fn close(ring: &mut Ring) {
    if let Some(&first) = ring.first().filter(|first| ring.last() != Some(first)) {
        ring.push(first);
    }
}

/// Returns the properties of a JSON object as text.
pub(crate) fn properties(value: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let own = value["properties"].as_object().into_iter().flatten();
    let mut all: BTreeMap<String, String> =
        own.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect();
    if let Some(id) = text(&value["id"]) {
        all.entry("id".into()).or_insert(id);
    }
    all
}

#[cfg(test)]
mod tests;
