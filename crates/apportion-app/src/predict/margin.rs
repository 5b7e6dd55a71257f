//! The margin of `voter` and `rake`: reads the class shares, and refuses unusable ones.

use apportion::text::{Message, Setting};
use apportion::{Classes, PerGroup};
use apportion_bisg::{Bisg, ModelTables, Population};

use super::sources::Tables;
use super::{Model, Request};
use crate::reference::read_shares;
use crate::{Context, Error, Result};

/// Reads the margin. It must have shares that sum to 1, percentages, or whole numbers of people.
pub(super) fn read(request: &Request, classes: &Classes, context: &Context) -> Result<Option<Vec<f64>>> {
    let Some(path) = request.margin_name() else { return Ok(None) };
    let table = request.margin_table.as_ref();
    let (shares, missing) = read_shares(Setting::Margin, path, table, classes, &[])?;
    for class in missing {
        context.warn(format!("{path}: there is no share for {class:?}; 0 is used"));
    }
    let refuse = |problem: String| Err(Error::data(Message::from(Setting::Margin.with(path)) + ": " + problem));
    let shares = match shares {
        PerGroup::Overall(shares) => shares,
        PerGroup::ByGroup(_) => return refuse("it has several rows; give one share per class".into()),
    };
    if shares.iter().any(|share| *share < 0.0) {
        return refuse("a share is negative; correct it".into());
    }
    let sum: f64 = shares.iter().sum();
    // Numbers of people are whole, or large if they are weighted. Other numbers are shares or percentages.
    let are_people = shares.iter().all(|share| share.fract() == 0.0) && sum > 1.0 || sum >= 1000.0;
    let is_about = |whole: f64| (sum - whole).abs() <= 0.005 * whole;
    if !are_people && !is_about(1.0) && !is_about(100.0) {
        return refuse(format!(
            "its shares sum to {sum:.4}; they must sum to 1, or to 100 as percentages, or be whole numbers of people; \
             correct them"
        ));
    }
    Ok(Some(shares))
}

/// Combines the tables with the margin, if there is one.
pub(super) fn model(request: &Request, tables: Tables, margin: Option<Vec<f64>>) -> Result<Bisg> {
    let population = match request.model() {
        Model::Voter => {
            let shares = margin.clone().unwrap_or_default();
            refuse_several_states(&tables)?;
            refuse_empty_classes(&tables, &shares)?;
            Population::Voters { shares, as_published: request.as_published }
        }
        Model::Bisg | Model::Bifsg | Model::Rake | Model::Fbisg => Population::Everybody,
    };
    let middle_names = tables.middle_names;
    let tables = ModelTables {
        surnames: tables.surnames,
        first_names: tables.first_names,
        places: tables.places,
        prior: margin,
    };
    let bisg = Bisg::new(tables, &population)?;
    Ok(match middle_names {
        Some(table) => bisg.with_middle_names(table)?,
        None => bisg,
    })
}

/// Refuses places in several states, because the margin describes one area.
fn refuse_several_states(tables: &Tables) -> Result<()> {
    let Some(table) = tables.places.iter().find(|table| table.states().len() > 1) else { return Ok(()) };
    let problem = format!(
        ": a margin is for one area, but the {} table has {} states; choose the state with ",
        table.level().name(),
        table.states().len()
    );
    let fix = Message::from(Setting::Within) + ", such as " + Setting::Within.with("NC");
    Err(Error::data(Message::from(Setting::Margin) + problem + fix))
}

/// Refuses a class with a share of the voters but without people in the tables.
fn refuse_empty_classes(tables: &Tables, shares: &[f64]) -> Result<()> {
    let mut people = vec![0.0; shares.len()];
    for table in &tables.places {
        people.iter_mut().zip(table.sums()).for_each(|(people, more)| *people += more);
    }
    let is_empty = |class: &usize| shares[*class] > 0.0 && people[*class] == 0.0;
    let Some(class) = (0..shares.len()).find(is_empty) else { return Ok(()) };
    let problem = format!(
        ": {:?} has a share in the margin, but no people in the place tables; leave the class out of the margin, or use \
         tables that have it",
        tables.classes[class]
    );
    Err(Error::data(Message::from(Setting::Margin) + problem))
}
