//! The section on the counties of North Carolina: fig:maps and fig:maps-appendix.

use apportion_bisg::census::{NC_COUNTIES_TOPOJSON, counties};
use apportion_report::chart::{Grid, chart, full, label, nth, over};
use apportion_report::text::{count, plain, signed};
use apportion_report::{Block, Chart, Geometry, Section, Shapes, Sheet, palette};
use serde_json::{Value, json};

use super::files;
use crate::Reproduction;
use crate::counties::{CountyShares, MAPPED};
use crate::voters::{Made, VoterFile};

/// The maps of bias, and the voters of each.
const FIGURES: [(&str, Made); 3] =
    [("biasmap-NC", Made::Overconfident), ("biasmap-bisg", Made::Calibrated), ("biasmap-raking", Made::CensusPrior)];

/// Returns the outlines of the counties, in the order of [`counties`].
pub(super) fn shapes() -> Option<Shapes> {
    let names: Vec<String> = counties().iter().map(|county| county.name.to_owned()).collect();
    // Both tables are built in.
    Geometry::parse(NC_COUNTIES_TOPOJSON.as_bytes()).ok()?.matched(&names, Some(&["name".to_owned()])).ok()
}

/// Returns the index of a county by its name, or by its FIPS code of five digits.
fn outline(name: &str) -> Option<usize> {
    let name = name.trim().to_lowercase();
    let name = name.strip_suffix(" county").unwrap_or(&name);
    counties().iter().position(|county| county.name.to_lowercase() == name || county.fips == name)
}

/// Returns the index of the outline of each county, or `None` if one has none, so that no code is mistaken for another.
fn outlines(file: &VoterFile) -> Option<Vec<usize>> {
    file.counties.iter().map(|county| outline(&county.name)).collect()
}

pub(super) fn section(own: &Reproduction, shapes: &Shapes) -> Section {
    let files = files(own, FIGURES);
    let population = |id: &'static str, is_public: bool| {
        files.iter().find(|(_, file)| file.is_public == is_public).map(|(_, file)| (id, *file))
    };
    let populations = [population("popmap", false), population("popmap-public", true)];
    let mut blocks = Vec::new();
    for (id, file) in populations.into_iter().flatten() {
        blocks.push(block(file, |outlines| people(id, file, outlines, shapes)));
    }
    for &(id, file) in &files {
        blocks.push(block(file, |outlines| biases(id, file, outlines, shapes)));
    }
    let lead = files.first().map(|(_, file)| lead(file)).unwrap_or_default();
    Section { id: "maps", title: "White voters by county", lead, blocks }
}

fn block(file: &VoterFile, map: impl Fn(&[usize]) -> Chart) -> Block {
    match outlines(file) {
        Some(outlines) => Block::Chart(Box::new(map(&outlines))),
        None => Block::Text(format!(
            "There is no map of the {}: its counties are not named like those of North Carolina.",
            file.words()
        )),
    }
}

/// Compares the mean size of the bias over counties, weighted by voters.
fn lead(file: &VoterFile) -> String {
    let mean = |rule: &str| {
        let index = MAPPED.iter().position(|own| *own == rule).unwrap_or_default();
        let own = file.counties.iter().filter_map(|county| Some((county.voters as f64, county.bias()[index]?)));
        let (sum, voters) =
            own.fold((0.0, 0.0), |(sum, all), (voters, bias)| (sum + voters * bias.abs(), all + voters));
        plain(100.0 * sum / f64::max(voters, 1.0), 1)
    };
    format!(
        "Within counties, the share of white labels differs from the scores by {} points on average with argmax, {} with the \
         threshold, {} with match, {} with Thompson sampling and {} with match by county ({}).",
        mean("argmax"),
        mean("threshold 0.8"),
        mean("match"),
        mean("thompson"),
        mean("match by county"),
        file.words()
    )
}

fn colors(scale: &[(f64, &str)]) -> Vec<Value> {
    scale.iter().map(|(at, color)| json!([at, color])).collect()
}

/// Returns a panel of a map.
fn panel(index: usize, file: &VoterFile, outlines: &[usize], percent: &[Option<f64>], style: &Value) -> Value {
    let own = outlines.iter().zip(&file.counties).zip(percent).filter_map(|((outline, county), own)| {
        let rounded = ((*own)? * 100.0).round() / 100.0;
        Some((*outline, format!("{} ({} voters)", label(&county.name), count(county.voters)), rounded))
    });
    let (mut locations, mut text, mut z) = (Vec::new(), Vec::new(), Vec::new());
    for (outline, name, value) in own {
        locations.push(outline);
        text.push(name);
        z.push(value);
    }
    let trace = json!({
        "type": "choropleth", "geo": nth("geo", index), "geojson": "shapes", "featureidkey": "id", "locations": locations,
        "z": z, "text": text, "showscale": index == 0,
        "marker": { "line": { "width": 0.4, "color": palette::GUIDE } },
    });
    over(trace, style.clone())
}

fn layout(titles: &[String], shapes: &Shapes) -> Value {
    let columns = titles.len().min(2);
    let grid = Grid { panels: titles.len(), columns, row: 220.0, gap: 30.0, between: 0.02, margins: (36.0, 80.0) };
    let maps = grid.layout(titles, |panel| {
        let domain = json!({ "x": grid.x(panel), "y": grid.y(panel) });
        vec![(nth("geo", panel), over(shapes.view(), json!({ "domain": domain, "visible": false })))]
    });
    over(maps, json!({ "margin": { "l": 8, "r": 8, "t": grid.margins.0, "b": grid.margins.1 } }))
}

/// Returns the map of the true share of white voters.
fn people(id: &str, file: &VoterFile, outlines: &[usize], shapes: &Shapes) -> Chart {
    let percent: Vec<Option<f64>> = file.counties.iter().map(|county| Some(100.0 * county.truth)).collect();
    let style = json!({
        "zmin": 0, "zmax": 100, "colorscale": colors(&palette::SEQUENTIAL), "meta": { "unit": "% white" },
        "colorbar": { "orientation": "h", "thickness": 10, "y": 0, "yanchor": "top", "title": { "text": "% white", "side": "bottom" } },
        "hovertemplate": "%{text}<br>%{z:.1f}% white<extra></extra>",
    });
    let titles = ["truth".to_owned()];
    let data = vec![panel(0, file, outlines, &percent, &style)];
    let title = format!("White voters: {}", file.words());
    let mut chart = chart(id, &title, data, layout(&titles, shapes), population_sheet(file));
    chart.caption = format!("Corresponds to the paper’s fig:{id}: the true share of white voters in each county.");
    let shares = || file.counties.iter().map(|county| county.truth);
    chart.alt = format!(
        "A map of the share of white voters in {} counties, from {}% to {}%.",
        file.counties.len(),
        plain(100.0 * shares().fold(1.0, f64::min), 0),
        plain(100.0 * shares().fold(0.0, f64::max), 0)
    );
    chart
}

fn population_sheet(file: &VoterFile) -> Sheet {
    let mut sheet = Sheet::new(["county", "voters", "truth", "posterior"]);
    for CountyShares { name, voters, truth, posterior, .. } in &file.counties {
        sheet.push([name.clone(), voters.to_string(), full(Some(*truth)), full(Some(*posterior))]);
    }
    sheet
}

/// Returns the bias at the ends of the color scale, in points: the 98th percentile, so that a few small counties do not make
/// all others pale.
fn scale(file: &VoterFile) -> f64 {
    let mut sizes: Vec<f64> = file.counties.iter().flat_map(CountyShares::bias).flatten().map(f64::abs).collect();
    sizes.sort_by(f64::total_cmp);
    let largest = sizes.get(sizes.len() * 98 / 100).copied().unwrap_or_default();
    (100.0 * largest).ceil().max(1.0)
}

/// Returns the maps of the bias of white labels by several rules.
fn biases(id: &str, file: &VoterFile, outlines: &[usize], shapes: &Shapes) -> Chart {
    let most = scale(file);
    let style = json!({
        "zmin": -most, "zmax": most, "colorscale": colors(&palette::DIVERGING),
        "colorbar": { "orientation": "h", "thickness": 10, "y": 0, "yanchor": "top", "title": { "text": "bias, points", "side": "bottom" } },
        "hovertemplate": "%{text}<br>%{z:+.2f} points<extra></extra>",
    });
    let of_rule = |index: usize| {
        let percent: Vec<Option<f64>> =
            file.counties.iter().map(|county| county.bias()[index].map(|own| 100.0 * own)).collect();
        panel(index, file, outlines, &percent, &style)
    };
    let data = (0..MAPPED.len()).map(of_rule).collect();
    let titles = MAPPED.map(str::to_owned);
    let title = format!("Bias of the share of white labels: {}", file.words());
    let mut chart = chart(id, &title, data, layout(&titles, shapes), bias_sheet(file));
    chart.caption = format!(
        "Corresponds to the paper’s fig:{}. The share of white among the labels of a county minus their mean score for \
         white. Purple: too many white labels. Orange: too few. All maps have the same scale, from {} to {} points; larger \
         values have its last color. In small counties, draws of Thompson sampling differ from the scores by chance.",
        id.trim_end_matches("-NC"),
        signed(-most, 0),
        signed(most, 0)
    );
    chart.alt = lead(file);
    chart
}

fn bias_sheet(file: &VoterFile) -> Sheet {
    let shares = MAPPED.iter().flat_map(|rule| [format!("share by {rule}"), format!("bias of {rule}")]);
    let mut sheet = Sheet::new(["county", "voters", "posterior"].map(String::from).into_iter().chain(shares));
    for county in &file.counties {
        let head = [county.name.clone(), county.voters.to_string(), full(Some(county.posterior))];
        let both = county.labels.into_iter().zip(county.bias()).flat_map(|(share, bias)| [full(share), full(bias)]);
        sheet.push(head.into_iter().chain(both));
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counties_are_found_by_name_or_code() {
        for name in ["Durham", " durham", "DURHAM COUNTY", "37063"] {
            assert_eq!(outline(name).map(|index| counties()[index].name), Some("Durham"), "{name}");
        }
        assert_eq!([outline("63"), outline("063"), outline("Queens")], [None; 3], "codes within a state are ambiguous");
        let shapes = shapes().unwrap();
        assert!((0..counties().len()).all(|county| shapes.has(county)) && shapes.unused().is_empty());
    }
}
