//! Tests of tables as people write them.

use std::fs;

use super::*;

/// Reads a file with this name and content, without setting the kind of its keys.
fn read_as(name: &str, text: &str) -> Result<KeyedFile> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    KeyedFile::read(path.to_str().unwrap(), None, &KeyedOptions::default())
}

fn read(text: &str) -> KeyedFile {
    read_as("table.csv", text).unwrap()
}

/// Returns the error for a file that must be refused, without its path.
fn refused(text: &str) -> String {
    let problem = read_as("table.csv", text).unwrap_err().to_string();
    problem.split_once("table.csv: ").unwrap().1.to_owned()
}

fn codes(file: &KeyedFile) -> (Level, Vec<u64>) {
    match &file.table.keys {
        TableKeys::Codes(level, codes) => (*level, codes.clone()),
        TableKeys::Texts(texts) => panic!("{texts:?}"),
    }
}

#[test]
fn thousands_separators_are_not_decimal_commas() {
    let values = |text: &str| read(text).table.values;
    assert_eq!(
        values("county_fips,n_white,n_black\n37063,\"101,718\",\"95,000\"\n37183,856,12\n"),
        [101_718.0, 95_000.0, 856.0, 12.0]
    );
    // The other numbers of the table determine the meaning of commas.
    assert_eq!(
        values("county_fips;n_white;n_black\n37063;101,718;1,095,000\n37183;856;12\n"),
        [101_718.0, 1_095_000.0, 856.0, 12.0]
    );
    assert_eq!(values("surname;p_white;p_black\nA;0,25;0,75\n"), [0.25, 0.75]);
    assert_eq!(values("surname;pctwhite;pctblack\nA;12,345;87,655\nB;99,5;0,5\n"), [0.12345, 0.87655, 0.995, 0.005]);
    assert_eq!(values("county_fips\tn_white\tn_black\n37063\t101 718\t95'000\n"), [101_718.0, 95_000.0]);
    let counted = read("surname,count,p_white,p_black\nSMITH,\"2,442,977\",0.7,0.3\nLEE,\"693,023\",0.4,0.6\n");
    assert_eq!(counted.table.counts, Some(vec![2_442_977.0, 693_023.0]));
    // Unused columns may contain any text.
    assert_eq!(values("county_fips,total,n_white,n_black\n37063,many,1,2\n"), [1.0, 2.0]);
    let problem = refused("surname,count,p_white,p_black\nSMITH,many,0.7,0.3\n");
    assert_eq!(problem, "row 1, column \"count\": \"many\" is not a number; correct it");
    let ways = "write thousands without commas, and decimals with a point";
    assert_eq!(
        refused("county_fips;n_white;n_black\n37063;12;13\n37183;101,718;95\n"),
        format!("row 2, column \"n_white\": it is ambiguous: 101718 or 101.718; {ways}")
    );
    assert_eq!(
        refused("county_fips;n_white;n_black\n37063;12,5;13\n37183;101,718;1,234,567\n"),
        format!("row 2, column \"n_white\": it is ambiguous: 101718 or 101.718; {ways}")
    );
}

#[test]
fn the_separator_is_detected() {
    let file = read("county_fips|n_white|n_black\n37063|1|2\n");
    assert_eq!(codes(&file), (Level::County, vec![37063]));
    assert!(file.format_note.unwrap().to_string().starts_with("values are separated by bars: "));
    assert_eq!(read("county_fips,n_white,n_black\n37063,1,2\n").format_note, None);
}

#[test]
fn codes_are_found_in_one_column_or_several() {
    for (text, level, code) in [
        ("GEOID,state,n_white,n_black\n37063000101,NC,1,2\n", Level::Tract, 37_063_000_101),
        ("geoid20,n_white,n_black\n370630001011,1,2\n", Level::BlockGroup, 370_630_001_011),
        ("GEO_ID,NAME,n_white,n_black\n8600000US27701,ZCTA5 27701,1,2\n", Level::Zcta, 27701),
        ("GEO_ID,NAME,n_white,n_black\n0500000US37063,Durham,1,2\n", Level::County, 37063),
        ("fips,n_white,n_black\n37063000101,1,2\n", Level::Tract, 37_063_000_101),
        ("statefp,countyfp,n_white,n_black\n37,063,1,2\n", Level::County, 37063),
        ("state,county,tract,n_white,n_black\n37,063,000101,1,2\n", Level::Tract, 37_063_000_101),
        ("state,county,tract,block group,n_white,n_black\n37,063,000101,1,1,2\n", Level::BlockGroup, 370_630_001_011),
        ("state,county,tract,n_white,n_black\nNC,Durham,37063000101,1,2\n", Level::Tract, 37_063_000_101),
        ("State Name,n_white,n_black\nNorth Carolina,1,2\n", Level::State, 37),
    ] {
        assert_eq!(codes(&read(text)), (level, vec![code]), "{text}");
    }
    // One invalid code is an error in its row, and does not change the kind of places.
    assert_eq!(
        refused("county_fips,state,n_white,n_black\n37063,NC,1,2\nDurham,NC,1,2\n"),
        "row 2, column \"county_fips\": it is not a county code; correct it, or leave out the row"
    );
}

#[test]
fn the_subject_is_recognized() {
    for (text, subject) in [
        ("surname,n_white,n_black\nA,1,2\n", Subject::Surnames),
        ("Last Name,state,n_white,n_black\nA,NC,1,2\n", Subject::Surnames),
        ("name,rank,pctwhite,pctblack\nSMITH,1,70,30\n", Subject::Surnames),
        ("first_name,n_white,n_black\nA,1,2\n", Subject::FirstNames),
        ("GEOID,name,n_white,n_black\n37063,Durham,1,2\n", Subject::Places),
        ("name,county_fips,n_white,n_black\nDurham,37063,1,2\n", Subject::Places),
        ("precinct,n_white,n_black\nA 1,1,2\n", Subject::Places),
    ] {
        assert_eq!(read(text).subject, subject, "{text}");
    }
}

#[test]
fn unused_columns_are_reported() {
    let file = read("surname,rank,count,p_white,p_black,p_martian,note\nA,1,10,0.5,0.5,0.1,x\nB,2,10,0.5,0.5,,2\n");
    assert_eq!(file.unused, ["rank", "p_martian"]);
}

#[test]
fn census_class_names_are_known() {
    let header = "GEO_ID,White,Black or African American,American Indian and Alaska Native,Asian,\
                  Native Hawaiian and Other Pacific Islander,Some other race,Two or more races,Hispanic or Latino";
    let file = read(&format!("{header}\n0500000US37063,10,20,30,40,50,60,70,80\n"));
    assert_eq!(file.table.classes.len(), 8);
    assert_eq!(file.table.classes[4], "native_hawaiian_and_other_pacific_islander");
    assert!(file.unused.is_empty());
}

#[test]
fn rounded_shares_are_shares() {
    let sums = |text: &str| {
        let table = read(text).table;
        let sums = table.values.chunks_exact(table.classes.len()).map(|row| row.iter().sum::<f64>());
        (table.numbers, sums.map(|sum| (sum * 1e9).round() / 1e9).collect::<Vec<f64>>())
    };
    // Thirty correct rows, and one whose sum is too small because of rounding.
    let mut text = "surname,white,black,asian,hispanic,aian,other\n".to_owned();
    text.extend((0..30).map(|row| format!("N{row},0.5,0.1,0.1,0.1,0.1,0.1\n")));
    let (numbers, found) = sums(&(text + "SHORT,0.16,0.16,0.16,0.16,0.16,0.17\n"));
    assert_eq!((numbers, found[30]), (Numbers::Shares, 1.0));
    let (numbers, found) = sums("surname,white,black\nA,0.5,0.42\nB,0.3,0.75\nC,0.91,0.1\n");
    assert_eq!((numbers, found), (Numbers::Shares, vec![1.0; 3]));
    for header in ["white_pct,black_pct", "pctwhite,pctblack", "percent_white,percent_black", "White %,Black %"] {
        let (numbers, found) = sums(&format!("surname,{header}\nA,50,46\nB,30,74\n"));
        assert_eq!((numbers, found), (Numbers::Shares, vec![1.0; 2]), "{header}");
    }
    assert_eq!(sums("surname,white,black\nA,50,46\nB,30,74\n").0, Numbers::People);
    // With few places, rows of P(key | class) also sum to about 1.
    assert_eq!(sums("place,white,black\nA,0.45,0.5\nB,0.55,0.5\n").0, Numbers::KeyGivenClass);
    // One wrong row among many exact ones is an error in that row.
    let mut text = "surname,white,black\n".to_owned();
    text.extend((0..30).map(|row| format!("N{row},0.4567,0.5433\n")));
    let problem = refused(&(text + "OFF,0.5,0.45\n"));
    assert!(problem.starts_with("row 31: its classes sum to 0.95"), "{problem}");
}

#[test]
fn duplicate_keys_name_both_rows() {
    assert_eq!(
        refused("county_fips,year,n_white,n_black\n37063,2019,1,2\n37183,2019,1,2\n37063,2020,1,2\n"),
        "rows 1 and 3 are the same place, 37063; keep one of them, or add them up; it has a column of years: keep one year"
    );
    assert_eq!(
        refused("surname,n_white,n_black\nSMITH,1,2\nSMITH ,3,4\n"),
        "rows 1 and 2 are the same name, SMITH; keep one of them"
    );
    // A row without people is ignored.
    assert_eq!(read("county_fips,n_white,n_black\n37063,1,2\n37063,0,0\n").table.rows(), 2);
}

#[test]
fn people_are_counted_by_key() {
    let table = read("county_fips,n_white,n_black\n1001,1,2\n37063,3,4\n").table;
    assert_eq!((table.people(), table.key_of(0)), (Some(vec![3.0, 7.0]), "01001".to_owned()));
    let table = read("surname,white,black\nA,0.5,0.5\n").table;
    assert_eq!((table.people(), table.key_of(0)), (None, "A".to_owned()));
}
