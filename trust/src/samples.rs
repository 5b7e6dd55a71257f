//! The valid files that the corpora start from. `trials samples` writes them.

use std::io::{Cursor, Write};
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use arrow_array::RecordBatch;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array, Int64Array, ListArray,
    StringArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::Schema;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::draw::Draw;
use crate::mutate::{gzip, zstandard};
use crate::parquet_file::ParquetFile;
use crate::targets::bundle;

/// A file of a corpus: its path relative to `corpus`, and its content.
pub type Sample = (&'static str, Vec<u8>);

type Failure = Box<dyn std::error::Error>;

/// Returns all samples.
///
/// # Errors
/// If a library cannot write a sample.
pub fn all() -> Result<Vec<Sample>, Failure> {
    let mut all = text();
    all.extend(parquet()?);
    all.extend(arrow()?);
    all.extend(workbooks()?);
    all.extend(others());
    all.extend(shapes()?);
    all.extend(bytes());
    Ok(all)
}

const TABLE: &str = "id,county,note,p_white,p_black,p_other\n\
    1,Wake,\"a, b\",0.6,0.3,0.1\n2,Wake,,0.5,0.25,0.25\n3,Durham,\"say \"\"so\"\"\",0.1,0.8,0.1\n\
    4,Orange,\"two\nlines\",0.3,0.3,0.4\n5,Durham,é,0.9,0.05,0.05\n6,Wake,x,0.34,0.33,0.33\n";

fn text() -> Vec<Sample> {
    let table = || TABLE.as_bytes().to_vec();
    let wide: Vec<u8> = TABLE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin: Vec<u8> = TABLE.chars().map(|letter| letter as u8).collect();
    let tabs = "id\tpred_whi\tpred_bla\tpred_his\tpred_asi\tpred_oth\n1\t0.2\t0.2\t0.2\t0.2\t0.2\n2\t1\t0\t0\t0\t0\n";
    let percents = "surname;pctwhite;pctblack;pctapi;pctaian;pct2prace;pcthispanic\nSMITH;70.9;23.1;0.5;0.89;2.19;2.4\nLEE;36;16;42;1;3;2\n";
    let many: String = (0..60).map(|row| format!("{row},{}\n", ["0.25,0.75", "0.5,0.5", "1,0"][row % 3])).collect();
    vec![
        ("text/valid-quoted.csv", table()),
        ("text/valid-crlf.csv", TABLE.replace('\n', "\r\n").into_bytes()),
        ("text/valid-mark.csv", ["\u{feff}".as_bytes(), TABLE.as_bytes()].concat()),
        ("text/valid-utf16.csv", [&[0xff, 0xfe][..], &wide].concat()),
        ("text/latin1.csv", latin),
        ("text/valid-wru.tsv", tabs.into()),
        ("text/valid-semicolons.csv", percents.into()),
        ("text/valid-many-rows.csv", format!("id,p_a,p_b\n{many}").into_bytes()),
        ("text/valid-packed.csv.gz", gzip(TABLE.as_bytes())),
        ("text/valid-two-members.csv.gz", [gzip(&table()[..50]), gzip(&table()[50..])].concat()),
        ("text/valid-packed.csv.zst", zstandard(TABLE.as_bytes())),
        ("text/header-only.csv", b"id,p_a,p_b\n".to_vec()),
        ("text/ragged.csv", b"id,p_a,p_b\n1,0.5,0.5\n2,0.5\n3,0.5,0.5\n".to_vec()),
        ("text/no-end-of-quote.csv", b"id,p_a,p_b\n1,\"0.5,0.5\n".to_vec()),
    ]
}

/// Returns rows with all relevant column types, and with missing values.
fn batch(rows: usize, seed: u64) -> Result<RecordBatch, Failure> {
    let mut draw = Draw::from_seed(seed);
    let scores: Vec<[f64; 2]> = (0..rows).map(|_| draw.unit()).map(|score| [score, 1.0 - score]).collect();
    let words = ["Wake", "Durham", "", "Orange", "é", "a rather longer name of a county"];
    let county: Vec<Option<&str>> =
        (0..rows).map(|_| Some(*draw.pick(&words)).filter(|word| !word.is_empty())).collect();
    let lists = (0..rows).map(|row| (row % 3 > 0).then(|| (0..row as i32 % 4).map(Some).collect::<Vec<_>>()));
    let columns: [(&str, ArrayRef); 9] = [
        ("id", Arc::new(Int64Array::from_iter_values((0..rows).map(|row| row as i64 * 7 - 3)))),
        ("county", Arc::new(StringArray::from(county.clone()))),
        ("coded", Arc::new(county.into_iter().collect::<DictionaryArray<Int32Type>>())),
        ("voted", Arc::new((0..rows).map(|row| (row % 5 > 0).then_some(row % 2 == 0)).collect::<BooleanArray>())),
        ("born", Arc::new(Date32Array::from_iter_values((0..rows).map(|row| row as i32 * 100)))),
        ("weight", Arc::new(Float32Array::from_iter_values((0..rows).map(|row| row as f32 / 8.0)))),
        ("list", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))),
        ("p_a", Arc::new(Float64Array::from_iter_values(scores.iter().map(|own| own[0])))),
        ("p_b", Arc::new(Float64Array::from_iter_values(scores.iter().map(|own| own[1])))),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(columns.map(|(name, values)| (name, values, true)))?)
}

/// Returns the columns that CSV also supports.
fn plain_batch(rows: usize, seed: u64) -> Result<RecordBatch, Failure> {
    Ok(batch(rows, seed)?.project(&[0, 1, 3, 4, 5, 7, 8])?)
}

fn parquet() -> Result<Vec<Sample>, Failure> {
    let base = || WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None);
    let write = |properties: WriterPropertiesBuilder, batch: &RecordBatch| -> Result<Vec<u8>, Failure> {
        // The Arrow schema would be larger than everything else.
        let options = ::parquet::arrow::arrow_writer::ArrowWriterOptions::new().with_properties(properties.build());
        let mut writer =
            ArrowWriter::try_new_with_options(Vec::new(), batch.schema(), options.with_skip_arrow_metadata(true))?;
        writer.write(batch)?;
        Ok(writer.into_inner()?)
    };
    let encoded = |encoding: Encoding| base().set_dictionary_enabled(false).set_encoding(encoding);
    let texts = plain_batch(40, 3)?.project(&[1, 5, 6])?;
    let numbers = plain_batch(40, 4)?.project(&[0, 3, 5, 6])?;
    let doubles = plain_batch(40, 5)?.project(&[4, 5, 6])?;
    let checked = ParquetFile::parse(&write(base(), &plain_batch(30, 6)?)?).ok_or("no Parquet file")?;
    Ok(vec![
        ("parquet/valid-all-types.parquet", write(base(), &batch(24, 1)?)?),
        ("parquet/valid-groups.parquet", write(base().set_max_row_group_row_count(Some(16)), &plain_batch(60, 2)?)?),
        ("parquet/valid-pages.parquet", {
            let pages = base().set_data_page_row_count_limit(10).set_write_batch_size(5).set_dictionary_enabled(false);
            write(pages, &plain_batch(40, 7)?)?
        }),
        (
            "parquet/valid-version-2.parquet",
            write(base().set_writer_version(WriterVersion::PARQUET_2_0), &plain_batch(40, 8)?)?,
        ),
        ("parquet/valid-zstd.parquet", {
            write(base().set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?)), &plain_batch(40, 9)?)?
        }),
        ("parquet/valid-snappy.parquet", write(base().set_compression(Compression::SNAPPY), &plain_batch(40, 10)?)?),
        (
            "parquet/valid-delta-text.parquet",
            write(
                base().set_dictionary_enabled(false).set_column_encoding("county".into(), Encoding::DELTA_BYTE_ARRAY),
                &texts,
            )?,
        ),
        (
            "parquet/valid-delta-length.parquet",
            write(
                base()
                    .set_dictionary_enabled(false)
                    .set_column_encoding("county".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY),
                &texts,
            )?,
        ),
        (
            "parquet/valid-delta-numbers.parquet",
            write(
                base().set_dictionary_enabled(false).set_column_encoding("id".into(), Encoding::DELTA_BINARY_PACKED),
                &numbers,
            )?,
        ),
        ("parquet/valid-split-bytes.parquet", write(encoded(Encoding::BYTE_STREAM_SPLIT), &doubles)?),
        ("parquet/valid-statistics.parquet", {
            write(WriterProperties::builder().set_statistics_enabled(EnabledStatistics::Page), &plain_batch(30, 11)?)?
        }),
        ("parquet/valid-checksums.parquet", checked.with_checksums().write()),
        ("parquet/valid-no-rows.parquet", write(base(), &plain_batch(0, 12)?)?),
    ])
}

fn arrow() -> Result<Vec<Sample>, Failure> {
    let compressed = |kind: CompressionType| IpcWriteOptions::default().try_with_compression(Some(kind));
    let file = |batches: &[RecordBatch], options: IpcWriteOptions| -> Result<Vec<u8>, Failure> {
        let schema: Arc<Schema> = batches[0].schema();
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()?;
        Ok(writer.into_inner()?)
    };
    let stream = |batches: &[RecordBatch]| -> Result<Vec<u8>, Failure> {
        let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema())?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()?;
        Ok(writer.into_inner()?)
    };
    let two = || -> Result<[RecordBatch; 2], Failure> { Ok([plain_batch(12, 20)?, plain_batch(5, 21)?]) };
    Ok(vec![
        ("arrow/valid-all-types.arrow", file(&[batch(10, 22)?], IpcWriteOptions::default())?),
        ("arrow/valid-two-batches.arrow", file(&two()?, IpcWriteOptions::default())?),
        ("arrow/valid-zstd.arrow", file(&two()?, compressed(CompressionType::ZSTD)?)?),
        ("arrow/valid-lz4.arrow", file(&two()?, compressed(CompressionType::LZ4_FRAME)?)?),
        ("arrow/valid-stream.arrows", stream(&two()?)?),
        ("arrow/valid-all-types.arrows", stream(&[batch(10, 23)?])?),
    ])
}

/// Returns workbooks: one with inline text, and one with shared strings, dates and two sheets.
fn workbooks() -> Result<Vec<Sample>, Failure> {
    let inline = |cell: &str, text: &str| format!(r#"<c r="{cell}" t="inlineStr"><is><t>{text}</t></is></c>"#);
    let shared = |cell: &str, index: usize| format!(r#"<c r="{cell}" t="s"><v>{index}</v></c>"#);
    let number = |cell: &str, style: usize, value: &str| format!(r#"<c r="{cell}" s="{style}"><v>{value}</v></c>"#);
    let row = |row: usize, a: &str, b: &str| {
        inline(&format!("A{row}"), "x") + &number(&format!("B{row}"), 0, a) + &number(&format!("C{row}"), 0, b)
    };
    let header = inline("A1", "id") + &inline("B1", "p_a") + &inline("C1", "p_b");
    let plain = sheet(&[header, row(2, "0.5", "0.5"), row(3, "0.25", "0.75"), row(5, "1", "0")]);
    let dated = sheet(&[
        ["A1", "B1", "C1", "D1"].iter().enumerate().map(|(index, cell)| shared(cell, index)).collect(),
        shared("A2", 4) + &number("B2", 1, "29372") + &number("C2", 0, "0.6") + &number("D2", 0, "0.4"),
        number("A3", 0, "27713") + &number("C3", 0, "0.125") + &number("D3", 0, "0.875"),
    ]);
    let notes = sheet(&[inline("A1", "note"), inline("A2", "by hand")]);
    let strings = ["id", "born", "p_a", "p_b", "Muñoz"].map(|text| format!("<si><t>{text}</t></si>")).concat();
    let formats = r#"<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>"#;
    let extra = [
        ("xl/sharedStrings.xml", format!(r#"<sst xmlns="{SPREADSHEET}">{strings}</sst>"#)),
        ("xl/styles.xml", format!(r#"<styleSheet xmlns="{SPREADSHEET}">{formats}</styleSheet>"#)),
    ];
    Ok(vec![
        ("workbook/valid-inline.xlsx", workbook(&[plain], &[], CompressionMethod::Stored)?),
        ("workbook/valid-two-sheets.xlsx", workbook(&[dated, notes], &extra, CompressionMethod::Deflated)?),
    ])
}

const SPREADSHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";

fn sheet(rows: &[String]) -> String {
    let rows = rows.iter().map(|row| format!("<row>{row}</row>")).collect::<String>();
    format!(r#"<worksheet xmlns="{SPREADSHEET}"><sheetData>{rows}</sheetData></worksheet>"#)
}

/// Writes a workbook with these sheets and other parts.
fn workbook(sheets: &[String], extra: &[(&str, String)], method: CompressionMethod) -> Result<Vec<u8>, Failure> {
    let (mut list, mut links) = (String::new(), String::new());
    let mut parts: Vec<(String, String)> = Vec::new();
    for (index, text) in sheets.iter().enumerate() {
        let number = index + 1;
        list += &format!(r#"<sheet name="Sheet {number}" sheetId="{number}" r:id="r{number}"/>"#);
        let target = format!("worksheets/sheet{number}.xml");
        links += &format!(r#"<Relationship Id="r{number}" Type="{OFFICE}/worksheet" Target="{target}"/>"#);
        parts.push((format!("xl/{target}"), text.clone()));
    }
    let book = format!(r#"<workbook xmlns="{SPREADSHEET}" xmlns:r="{OFFICE}"><sheets>{list}</sheets></workbook>"#);
    parts.push(("xl/workbook.xml".into(), book));
    let root = format!(r#"<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>"#);
    parts.push(("_rels/.rels".into(), format!(r#"<Relationships xmlns="{PACKAGE}">{root}</Relationships>"#)));
    let links = format!(r#"<Relationships xmlns="{PACKAGE}">{links}</Relationships>"#);
    parts.push(("xl/_rels/workbook.xml.rels".into(), links));
    parts.extend(extra.iter().map(|(name, text)| ((*name).to_owned(), text.clone())));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(name, SimpleFileOptions::default().compression_method(method))?;
        writer.write_all(text.as_bytes())?;
    }
    Ok(writer.finish()?.into_inner())
}

/// Returns decisions, references, outlines, names and columns.
fn others() -> Vec<Sample> {
    let texts: [(&'static str, &str); 24] = [
        ("decision/valid-argmax.json", r#"{"version":2,"classes":["a","b"],"seed":0,"rule":"argmax"}"#),
        ("decision/valid-thompson.json", r#"{"version":2,"classes":["a","b","c"],"seed":7,"rule":"thompson"}"#),
        ("decision/valid-top-k.json", r#"{"version":2,"classes":["a","b","c"],"seed":7,"rule":{"top-k":{"k":2}}}"#),
        (
            "decision/valid-threshold.json",
            r#"{"version":2,"classes":["a","b"],"seed":0,"rule":{"threshold":{"at":[0.75,0.5]}}}"#,
        ),
        (
            "decision/valid-prices.json",
            r#"{"version":2,"classes":["a","b"],"seed":3,"rule":{"prices":[{"prices":[-0.25,0.125],"ties":[[0.5,null]]}]},"fit_info":{"scores":["p_a","p_b"],"people":10,"tied":1,"expected_shares":"posterior"}}"#,
        ),
        (
            "decision/valid-groups.json",
            r#"{"version":2,"classes":["a","b"],"seed":3,"rule":{"prices":[{"group":"x / 1","prices":[0.0,0.25,0.1]},{"group":"y","prices":[null,0.0,0.5]}]},"fit_info":{"scores":["p_a","p_b"],"groups":["g"],"people":10,"tied":1,"expected_shares":{"offset-from-posterior":[0.1,-0.1]}}}"#,
        ),
        (
            "decision/valid-svm.json",
            r#"{"version":2,"classes":["a","b"],"seed":0,"rule":{"learned":{"learner":"svm","planes":[{"weights":[1.5,-0.5],"intercept":0.25},null]}}}"#,
        ),
        (
            "decision/valid-forest.json",
            r#"{"version":2,"classes":["a","b"],"seed":0,"rule":{"learned":{"learner":"forest","trees":[[[0,0.5,2],1,0],[1]]}}}"#,
        ),
        ("reference/valid-shares.csv", "class,share\nwhite,0.5\nblack,0.3\nother,0.2\n"),
        (
            "reference/shares-by-group.csv",
            "county,class,share\nWake,white,0.5\nWake,black,0.3\nWake,other,0.2\nDurham,white,0.2\nDurham,black,0.6\nDurham,other,0.2\n",
        ),
        ("reference/valid-wide.csv", "county,white,black,other\nWake,0.5,0.3,0.2\nDurham,0.2,0.6,0.2\n"),
        (
            "reference/valid-surnames.csv",
            "name,count,pctwhite,pctblack,pctapi,pctaian,pct2prace,pcthispanic\nSMITH,2442977,70.9,23.11,0.5,0.89,2.19,2.4\nGARCIA,1166120,5.38,0.45,1.41,0.47,0.26,92.03\nALL OTHER NAMES,100,(S),8.5,7.9,0.9,(S),13.0\n",
        ),
        (
            "reference/valid-counties.csv",
            "GEOID,NAME,pop_white,pop_black,pop_hispanic,pop_asian,pop_other\n37183,Wake,\"604,121\",195000,110000,80000,20000\n37063,Durham,140000,110000,45000,15000,8000\n",
        ),
        (
            "reference/valid-spread.csv",
            "first_name,white,black,hispanic,asian,other\nJOHN,0.6,0.5,0.2,0.4,0.5\nMARY,0.4,0.5,0.8,0.6,0.5\n",
        ),
        (
            "geometry/valid-polygons.geojson",
            r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"NAME":"Wake","GEOID":"37183"},"geometry":{"type":"Polygon","coordinates":[[[-78.9,35.5],[-78.2,35.5],[-78.2,36.1],[-78.9,36.1],[-78.9,35.5]],[[-78.6,35.7],[-78.5,35.7],[-78.5,35.8],[-78.6,35.7]]]}},{"type":"Feature","id":1,"properties":{"NAME":"Durham","n":1},"geometry":{"type":"MultiPolygon","coordinates":[[[[-79,35.9],[-78.8,35.9],[-78.8,36.2],[-79,35.9]]]]}}]}"#,
        ),
        (
            "geometry/valid-collection.geojson",
            r#"{"type":"Feature","properties":{"name":"a / b"},"geometry":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]]]}]}}"#,
        ),
        (
            "geometry/valid-topology.topojson",
            r#"{"type":"Topology","transform":{"scale":[0.1,0.1],"translate":[-80,35]},"arcs":[[[0,0],[10,0],[0,10]],[[10,10],[-10,0],[0,-10]],[[10,10],[5,-5],[-5,-5]]],"objects":{"counties":{"type":"GeometryCollection","geometries":[{"type":"Polygon","id":"37183","properties":{"name":"Wake"},"arcs":[[0,1]]},{"type":"MultiPolygon","id":1,"arcs":[[[2,-1]]]}]},"state":{"type":"Polygon","arcs":[[0,1]]}}}"#,
        ),
        (
            "names/valid-people.txt",
            "SMITH\nsmith\nPeña\nO'Brien\nMc Donald Jr.\nDe la Cruz\nGarcia-Smith\nVan Buren-Smith\nLe Blanc Jones\nUnknown\nN/A\nX\n王\nAll Other Names\nSmith, John\n",
        ),
        (
            "names/odd-letters.txt",
            "ſmith\nŁukaszewicz\nẞ\nA\u{301}\n\u{200d}\nﬁ\nǅ\nİ\nß-ß\nDE DE DE\n-,-\nO\nMC\nST ST\n",
        ),
        ("columns/valid-own.txt", "id\np_white\np_black\np_other\n"),
        ("columns/valid-wru.txt", "surname\npred.whi\npred.bla\npred.his\npred.asi\npred.oth\n"),
        (
            "columns/valid-prefix.txt",
            "bisg_white\nbisg_black\nbisg_nh_aapi\ncounty_fips\nGEOID\n37183\n0500000US37063\n",
        ),
        ("columns/several.txt", "vf_white\nvf_black\nvf_other\nx_white\nx_black\nx_other\ny_white\ny_black\ny_other\n"),
        ("columns/odd.txt", "P.A\nİ_white\np_\n p_x \np_é\n*\nx_*\npct\npctwhite\nwhite_pct\n"),
    ];
    texts.into_iter().map(|(name, text)| (name, text.as_bytes().to_vec())).collect()
}

/// Returns a Shapefile of two areas.
fn shapes() -> Result<Vec<Sample>, Failure> {
    use ::shapefile::dbase::{FieldValue, Record, TableWriterBuilder};
    use ::shapefile::{Point, Polygon, PolygonRing, ShapeWriter, Writer};

    let (mut shp, mut shx, mut dbf) = (Cursor::new(Vec::new()), Cursor::new(Vec::new()), Cursor::new(Vec::new()));
    {
        let table = TableWriterBuilder::new().add_character_field("NAME".try_into().map_err(|_| "no field")?, 12);
        let mut writer = Writer::new(ShapeWriter::with_shx(&mut shp, &mut shx), table.build_with_dest(&mut dbf));
        for (name, x) in [("Wake", -78.9), ("Durham", -79.9)] {
            let ring = [(x, 35.0), (x, 36.0), (x + 1.0, 36.0), (x + 1.0, 35.0), (x, 35.0)];
            let points = ring.map(|(x, y)| Point::new(x, y)).to_vec();
            let mut record = Record::default();
            record.insert("NAME".into(), FieldValue::Character(Some(name.into())));
            writer.write_shape_and_record(&Polygon::new(PolygonRing::Outer(points)), &record)?;
        }
    }
    let (shp, dbf, shx) = (shp.into_inner(), dbf.into_inner(), shx.into_inner());
    Ok(vec![("geometry/valid-areas.shapefile", bundle([&shp, &dbf, &shx]))])
}

/// Returns bytes for the targets that draw from them.
fn bytes() -> Vec<Sample> {
    let some = |seed: u64, length: usize| -> Vec<u8> {
        let mut draw = Draw::from_seed(seed);
        (0..length).map(|_| draw.below(256) as u8).collect()
    };
    vec![
        ("sql/names-1.bytes", some(1, 60)),
        ("sql/names-2.bytes", some(2, 60)),
        ("sql/names-3.bytes", some(3, 60)),
        ("sql/names-4.bytes", some(4, 60)),
        ("solver/problem-1.bytes", some(11, 160)),
        ("solver/problem-2.bytes", some(12, 160)),
        ("solver/problem-3.bytes", some(13, 160)),
        ("solver/problem-4.bytes", some(14, 160)),
        ("solver/problem-5.bytes", some(15, 160)),
        ("solver/problem-6.bytes", some(16, 160)),
    ]
}
