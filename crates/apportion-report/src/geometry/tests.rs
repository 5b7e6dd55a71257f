//! The same two squares in three formats.

use ::shapefile::dbase::{FieldValue, Record, TableWriterBuilder};
use ::shapefile::{Point, Polygon, PolygonRing, Writer};

use super::*;

const GEOJSON: &str = r#"{"type":"FeatureCollection","features":[
    {"type":"Feature","id":"01001","properties":{"name":"West","state":"A","n":7},
     "geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]],[[0.2,0.2],[0.4,0.2],[0.4,0.4],[0.2,0.2]]]}},
    {"type":"Feature","id":"01003","properties":{"name":"East","state":"A"},
     "geometry":{"type":"MultiPolygon","coordinates":[[[[1,0],[2,0],[2,1],[1,1],[1,0]]]]}}]}"#;

const TOPOJSON: &str = r#"{"type":"Topology","transform":{"scale":[0.5,0.5],"translate":[0,0]},
    "arcs":[[[2,0],[0,2]],[[2,2],[-2,0],[0,-2],[2,0]],[[2,0],[2,0],[0,2],[-2,0]]],
    "objects":{"nation":{"type":"Polygon","arcs":[[1,2]]},"counties":{"type":"GeometryCollection","geometries":[
      {"type":"Polygon","id":"01001","properties":{"name":"West"},"arcs":[[0,1]]},
      {"type":"MultiPolygon","id":"01003","properties":{"name":"East"},"arcs":[[[2,-1]]]}]}}}"#;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn outlines_are_matched_by_the_property_that_fits_best() {
    for text in [GEOJSON, TOPOJSON] {
        let geometry = Geometry::parse(text.as_bytes()).unwrap();
        for groups in [names(&["west", "EAST "]), names(&["1001", "1003"])] {
            let shapes = geometry.matched(&groups, None).unwrap();
            assert!(shapes.has(0) && shapes.has(1) && !shapes.has(2) && shapes.unused().is_empty());
            assert_eq!((shapes.bounds.low, shapes.bounds.high), ([0.0, 0.0], [2.0, 1.0]));
            assert_eq!(shapes.geojson()["features"][1]["id"], 1);
        }
        let shapes = geometry.matched(&names(&["North", "West"]), Some(&names(&["name"]))).unwrap();
        assert_eq!((shapes.has(0), shapes.has(1), shapes.unused()), (false, true, &names(&["East"])[..]));
    }
    let geometry = Geometry::parse(GEOJSON.as_bytes()).unwrap();
    let both = geometry.matched(&names(&["A / West"]), Some(&names(&["state", "name"]))).unwrap();
    assert!(both.has(0));
}

#[test]
fn groups_that_are_found_count_and_not_outlines() {
    let county = |index: u32| {
        let (x, number) = (f64::from(index) / 10.0, 2 * index + 1);
        format!(
            r#"{{"type":"Feature","properties":{{"COUNTYFP":"{number:03}","STATEFP":"37"}},"geometry":{{"type":"Polygon","coordinates":[[[{x},0],[{x},1],[{},1],[{x},0]]]}}}}"#,
            x + 0.1
        )
    };
    let counties: Vec<String> = (0..100).map(county).collect();
    let text = format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, counties.join(","));
    let geometry = Geometry::parse(text.as_bytes()).unwrap();
    let shapes = geometry.matched(&names(&["1", "3", "37", "39", "41"]), None).unwrap();
    assert!((0..5).all(|group| shapes.polygons[group].len() == 1));
    assert_eq!(shapes.unused().len(), 95);
    // Both properties match the group; the one with fewer outlines is used.
    let shapes = geometry.matched(&names(&["37"]), None).unwrap();
    assert_eq!(shapes.polygons[0].len(), 1);
}

#[test]
fn an_exact_name_goes_before_one_that_is_like_it() {
    for (groups, own) in [(["05", "5"], 0), (["5", "05"], 1)] {
        let text = GEOJSON.replace("West", "05");
        let shapes = Geometry::parse(text.as_bytes()).unwrap().matched(&names(&groups), None).unwrap();
        assert!(shapes.has(own) && !shapes.has(1 - own));
    }
}

#[test]
fn the_united_states_are_known_and_no_group_vanishes() {
    let square = |name: &str, x: f64, y: f64, size: f64| {
        format!(
            r#"{{"type":"Feature","properties":{{"name":"{name}"}},"geometry":{{"type":"Polygon","coordinates":[[[{x},{y}],[{x},{}],[{},{}],[{},{y}],[{x},{y}]]]}}}}"#,
            y + size,
            x + size,
            y + size,
            x + size
        )
    };
    let mut squares: Vec<String> =
        (0..20).map(|index| square(&index.to_string(), -124.0 + 2.5 * f64::from(index), 35.0, 1.0)).collect();
    squares.push(square("tiny", -80.0, 40.0, 0.002));
    squares.push(square("beyond the date line", 179.0, 51.0, 0.5));
    let text = format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, squares.join(","));
    let shapes = Geometry::parse(text.as_bytes()).unwrap().matched(&names(&["0", "19", "tiny"]), None).unwrap();
    assert!(!shapes.united_states || shapes.has(2));
    let all: Vec<String> =
        (0..20).map(|index| index.to_string()).chain(names(&["tiny", "beyond the date line"])).collect();
    let shapes = Geometry::parse(text.as_bytes()).unwrap().matched(&all, None).unwrap();
    assert!(shapes.united_states && shapes.has(20) && shapes.has(21));
}

#[test]
fn outer_rings_run_clockwise_and_holes_do_not() {
    let geometry = Geometry::parse(GEOJSON.as_bytes()).unwrap();
    let shapes = geometry.matched(&names(&["West"]), None).unwrap();
    let polygon = &shapes.polygons[0][0];
    assert!(area(&polygon[0]) < 0.0 && area(&polygon[1]) > 0.0);
}

#[test]
fn a_shapefile_is_read_with_its_names() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("counties.shp");
    let table = TableWriterBuilder::new().add_character_field("NAME".try_into().unwrap(), 20);
    let mut writer = Writer::from_path(&path, table).unwrap();
    for (name, x) in [("West", 0.0), ("East", 1.0)] {
        let corner = |dx: f64, y: f64| Point::new(x + dx, y);
        let ring = vec![corner(0.0, 0.0), corner(0.0, 1.0), corner(1.0, 1.0), corner(1.0, 0.0), corner(0.0, 0.0)];
        let mut record = Record::default();
        record.insert("NAME".into(), FieldValue::Character(Some(name.into())));
        writer.write_shape_and_record(&Polygon::new(PolygonRing::Outer(ring)), &record).unwrap();
    }
    drop(writer);
    let shapes = Geometry::read(&path).unwrap().matched(&names(&["East", "West"]), None).unwrap();
    assert!(shapes.has(0) && shapes.has(1));
    assert_eq!(shapes.bounds.high, [2.0, 1.0]);
}

#[test]
fn what_is_no_map_is_refused_with_a_way_on() {
    let refused = |text: &str| Geometry::parse(text.as_bytes()).unwrap_err().to_string();
    assert!(refused("no").contains("give GeoJSON, TopoJSON or a .shp"));
    assert!(refused(r#"{"type":"Nothing"}"#).contains("neither GeoJSON"));
    assert!(refused(r#"{"type":"FeatureCollection","features":[]}"#).contains("no polygons"));
    let far = GEOJSON.replace("[2,0]", "[500000,0]");
    assert!(refused(&far).contains("EPSG:4326"));
    assert!(refused(&GEOJSON.replace("[2,0]", "[\"x\",0]")).contains("no pair of numbers"));
    assert!(refused(&TOPOJSON.replace("[[0,1]]", "[[0,9]]")).contains("no border 9"));
    let geometry = Geometry::parse(GEOJSON.as_bytes()).unwrap();
    let other = geometry.matched(&names(&["Elsewhere"]), None).unwrap_err().to_string();
    assert!(other.contains("\"Elsewhere\"") && other.contains("`geometry_key`: id, n, name, state"));
    let key = geometry.matched(&names(&["West"]), Some(&names(&["NAME"]))).unwrap_err().to_string();
    assert!(key.contains("no property \"NAME\""));
}
