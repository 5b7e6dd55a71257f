//! Map projections: outlines in longitude and latitude to SVG paths on a plane.

use serde_json::{Value, json};

use super::{Ring, Shapes};

/// The width of a map, in units of its paths.
const WIDTH: f64 = 2000.0;

impl Shapes {
    /// Returns the projected outlines: the width and height of the map, and an SVG path for each group. Groups without
    /// an outline have an empty path.
    pub(crate) fn paths(&self) -> Value {
        let project = if self.united_states { united_states } else { mercator };
        let planes: Vec<Vec<Vec<[f64; 2]>>> = self
            .polygons
            .iter()
            .map(|own| {
                own.iter().flatten().filter_map(|ring| ring.iter().map(|&point| project(point)).collect()).collect()
            })
            .collect();
        let all = || planes.iter().flatten().flatten();
        let least = |side: usize| all().map(|point| point[side]).fold(f64::INFINITY, f64::min);
        let most = |side: usize| all().map(|point| point[side]).fold(f64::NEG_INFINITY, f64::max);
        let origin = [least(0), least(1)];
        let size = [most(0) - origin[0], most(1) - origin[1]];
        let scale = WIDTH / size[0].max(size[1]).max(1e-12);
        let path = |rings: &Vec<Vec<[f64; 2]>>| rings.iter().map(|ring| path(ring, origin, scale)).collect::<String>();
        json!({
            "width": (scale * size[0]).ceil().max(1.0), "height": (scale * size[1]).ceil().max(1.0),
            "paths": planes.iter().map(path).collect::<Vec<String>>(),
        })
    }
}

/// Writes a ring as an SVG path with whole, relative coordinates.
fn path(ring: &Ring, origin: [f64; 2], scale: f64) -> String {
    let whole = |point: &[f64; 2]| [0, 1].map(|side| (scale * (point[side] - origin[side])).round() as i64);
    let Some(first) = ring.first().map(whole) else { return String::new() };
    let (mut last, mut text) = (first, format!("M{} {}l", first[0], first[1]));
    for next in ring.iter().map(whole) {
        if next != last {
            text += &format!("{} {} ", next[0] - last[0], next[1] - last[1]);
            last = next;
        }
    }
    text.truncate(text.trim_end().len());
    text + "z"
}

/// The Mercator projection. The poles, which it cannot show, are cut off.
fn mercator([longitude, latitude]: [f64; 2]) -> Option<[f64; 2]> {
    let angle = latitude.clamp(-85.0, 85.0).to_radians();
    Some([longitude.to_radians(), -(std::f64::consts::FRAC_PI_4 + angle / 2.0).tan().ln()])
}

/// A conic equal-area projection around a center, between two standard parallels, in degrees.
struct Conic {
    center: [f64; 2],
    parallels: [f64; 2],
    scale: f64,
    shift: [f64; 2],
}

const LOWER_48: Conic = Conic { center: [-96.6, 38.7], parallels: [29.5, 45.5], scale: 1.0, shift: [0.0, 0.0] };
const ALASKA: Conic = Conic { center: [-156.0, 58.5], parallels: [55.0, 65.0], scale: 0.35, shift: [-0.307, 0.201] };
const HAWAII: Conic = Conic { center: [-160.0, 19.9], parallels: [8.0, 18.0], scale: 1.0, shift: [-0.205, 0.212] };

impl Conic {
    fn project(&self, [longitude, latitude]: [f64; 2]) -> [f64; 2] {
        let [one, two] = self.parallels.map(f64::to_radians);
        let n = f64::midpoint(one.sin(), two.sin());
        let c = one.cos().powi(2) + 2.0 * n * one.sin();
        let radius = |latitude: f64| (c - 2.0 * n * latitude.to_radians().sin()).max(0.0).sqrt() / n;
        // The difference of two longitudes on either side of the date line.
        let east = (longitude - self.center[0] + 540.0).rem_euclid(360.0) - 180.0;
        let (own, angle) = (radius(latitude), n * east.to_radians());
        let down = own * angle.cos() - radius(self.center[1]);
        [self.scale * own * angle.sin() + self.shift[0], self.scale * down + self.shift[1]]
    }
}

/// The United States, with Alaska and Hawaii as insets. Territories are not shown.
fn united_states(point: [f64; 2]) -> Option<[f64; 2]> {
    match point {
        [longitude, latitude] if latitude > 50.0 && !(-129.0..170.0).contains(&longitude) => {
            Some(ALASKA.project(point))
        }
        [longitude, latitude] if latitude < 24.0 && longitude < -154.0 => Some(HAWAII.project(point)),
        [longitude, latitude] if (23.5..=50.0).contains(&latitude) && (-130.0..=-65.0).contains(&longitude) => {
            Some(LOWER_48.project(point))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insets_are_below_the_southwest() {
        let place = |point| united_states(point).unwrap();
        let (kansas, los_angeles, boston) = (place([-98.0, 39.0]), place([-118.2, 34.0]), place([-71.0, 42.4]));
        let (anchorage, honolulu) = (place([-149.9, 61.2]), place([-157.9, 21.3]));
        assert!(los_angeles[0] < kansas[0] && kansas[0] < boston[0] && boston[1] < los_angeles[1]);
        assert!(anchorage[1] > los_angeles[1] && honolulu[1] > los_angeles[1]);
        assert!(anchorage[0] < honolulu[0] && honolulu[0] < kansas[0]);
        assert_eq!(united_states([-66.1, 18.4]), None, "Puerto Rico");
        // Aleutian islands beyond the date line are left of the mainland.
        assert!(place([173.0, 52.9])[0] < anchorage[0]);
    }

    #[test]
    fn mercator_keeps_directions() {
        let [x, y] = mercator([10.0, 50.0]).unwrap();
        let [east, north] = mercator([11.0, 51.0]).unwrap();
        assert!(east > x && north < y && mercator([0.0, 90.0]).unwrap()[1].is_finite());
    }

    #[test]
    fn a_path_is_closed_and_skips_points_that_coincide() {
        let ring = vec![[0.0, 0.0], [0.001, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]];
        assert_eq!(path(&ring, [0.0, 0.0], 10.0), "M0 0l10 0 0 10 -10 -10z");
    }
}
