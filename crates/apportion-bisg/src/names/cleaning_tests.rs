//! Tests of cleaning: names as files have them, and properties for random texts.

use super::cleaning::{NameChanges, NamePart, clean};
use super::full_name::FullName;
use super::lookup::{NameMatch, Scratch, find};

fn cleaned(text: &str, part: NamePart) -> (String, NameChanges) {
    let (mut buffer, mut words) = (String::new(), String::new());
    let (_, changes) = clean(text, part, &mut buffer, &mut words);
    (words, changes)
}

fn surname(text: &str) -> (String, String) {
    let (words, changes) = cleaned(text, NamePart::Surname);
    (words, changes.describe())
}

#[test]
fn surnames_as_files_have_them() {
    for (text, words, changes) in [
        // Unchanged.
        ("SMITH", "SMITH", ""),
        ("O'Brien", "OBRIEN", ""),
        ("O’Neill", "ONEILL", ""),
        ("D' Angelo", "D ANGELO", ""),
        ("'t Hooft", "T HOOFT", ""),
        ("Smith-Jones", "SMITH-JONES", ""),
        ("de la Cruz", "DE LA CRUZ", ""),
        ("De La O", "DE LA O", ""),
        ("Peña", "PENA", ""),
        ("Nguyễn", "NGUYEN", ""),
        ("DO", "DO", ""),
        ("VI", "VI", ""),
        ("Do Nascimento", "DO NASCIMENTO", ""),
        ("Tran-Do", "TRAN-DO", ""),
        ("Smith-Vi", "SMITH-VI", ""),
        ("Van Do", "VAN DO", ""),
        ("MD", "MD", ""),
        ("JUNIOR", "JUNIOR", ""),
        ("NEE", "NEE", ""),
        ("AKA", "AKA", ""),
        ("Kouassi Aka", "KOUASSI AKA", ""),
        ("Ma", "MA", ""),
        ("Smith Ma", "SMITH MA", ""),
        // Suffixes.
        ("SMITH JR", "SMITH", "suffix dropped"),
        ("Smith, Jr.", "SMITH", "suffix dropped"),
        ("Smith Jr., ", "SMITH", "suffix dropped"),
        ("SMITH SR", "SMITH", "suffix dropped"),
        ("SMITH II", "SMITH", "suffix dropped"),
        ("SMITH III", "SMITH", "suffix dropped"),
        ("SMITH IV", "SMITH", "suffix dropped"),
        ("SMITH V", "SMITH", "suffix dropped"),
        ("SMITH VI", "SMITH", "suffix dropped"),
        ("SMITH VIII", "SMITH", "suffix dropped"),
        ("SMITH 3RD", "SMITH", "suffix dropped"),
        ("Smith, 2nd", "SMITH", "suffix dropped"),
        ("SMITH-JR", "SMITH", "suffix dropped"),
        ("SMITH JNR", "SMITH", "suffix dropped"),
        ("Smith Junior", "SMITH", "suffix dropped"),
        ("VAN JR", "VAN", "suffix dropped"),
        ("DO JR", "DO", "suffix dropped"),
        ("Nguyen Vi", "NGUYEN", "suffix dropped"),
        // Titles and degrees.
        ("SMITH MD", "SMITH", "title dropped"),
        ("Smith, M.D.", "SMITH", "title dropped"),
        ("SMITH DO", "SMITH", "title dropped"),
        ("Smith, D.O.", "SMITH", "title dropped"),
        ("SMITH ESQ", "SMITH", "title dropped"),
        ("Smith, Esq.", "SMITH", "title dropped"),
        ("SMITH PHD", "SMITH", "title dropped"),
        ("Smith, Ph.D.", "SMITH", "title dropped"),
        ("SMITH PH D", "SMITH", "title dropped+initial dropped"),
        ("SMITH DDS", "SMITH", "title dropped"),
        ("SMITH RN", "SMITH", "title dropped"),
        ("SMITH CPA", "SMITH", "title dropped"),
        ("DR SMITH", "SMITH", "title dropped"),
        ("Mrs. Smith", "SMITH", "title dropped"),
        ("Smith Jr MD", "SMITH", "suffix dropped+title dropped"),
        ("Smith, Jr., MD", "SMITH", "suffix dropped+title dropped"),
        ("Mac Do", "MAC DO", ""),
        // Former and other names.
        ("Smith née Jones", "SMITH", "former name dropped"),
        ("SMITH NEE JONES", "SMITH", "former name dropped"),
        ("Smith (née Jones)", "SMITH", "former name dropped"),
        ("née Jones", "JONES", "former name dropped"),
        ("SMITH AKA JONES", "SMITH", "former name dropped"),
        ("SMITH A.K.A. JONES", "SMITH", "former name dropped"),
        ("SMITH A/K/A JONES", "SMITH", "former name dropped"),
        ("SMITH FKA JONES", "SMITH", "former name dropped"),
        ("SMITH F/K/A JONES", "SMITH", "former name dropped"),
        ("SMITH NKA JONES", "JONES", "former name dropped"),
        ("Smith formerly Jones", "SMITH", "former name dropped"),
        // Nicknames.
        ("Smith \"Smitty\"", "SMITH", "nickname dropped"),
        ("Smith “Smitty”", "SMITH", "nickname dropped"),
        ("Smith 'Smitty'", "SMITH", "nickname dropped"),
        ("Smith (Smitty)", "SMITH", "nickname dropped"),
        ("SMITH(JONES)", "SMITH", "nickname dropped"),
        ("(Smith)", "SMITH", ""),
        ("\"Smith\"", "SMITH", ""),
        ("Smith (Jones", "SMITH JONES", ""),
        // Initials and first names.
        ("SMITH J", "SMITH", "initial dropped"),
        ("SMITH J A", "SMITH", "initial dropped"),
        ("Smith, John", "SMITH", "text after comma dropped"),
        ("Smith, John A, Jr.", "SMITH", "suffix dropped+text after comma dropped"),
        (", Garcia", "GARCIA", ""),
        // Not names.
        ("J", "J", ""),
        ("123", "", ""),
        ("王", "", ""),
    ] {
        assert_eq!(surname(text), (words.into(), changes.into()), "{text:?}");
    }
}

#[test]
fn first_names_as_files_have_them() {
    for (text, words, changes) in [
        ("MARY A", "MARY", "initial dropped"),
        ("Mary V.", "MARY", "initial dropped"),
        ("John Jr", "JOHN", "suffix dropped"),
        ("William \"Bill\"", "WILLIAM", "nickname dropped"),
        ("Robert (Bob) J", "ROBERT", "nickname dropped+initial dropped"),
        ("Mary aka Molly", "MARY", "former name dropped"),
        ("Jung Do", "JUNG DO", ""),
        ("My Vi", "MY VI", ""),
        ("Sha Nee Qua", "SHA NEE QUA", ""),
        ("A J", "A J", ""),
        ("D Andre", "D ANDRE", ""),
        ("Mary-Ann", "MARY-ANN", ""),
        ("Dr. Mary", "MARY", "title dropped"),
        ("José", "JOSE", ""),
    ] {
        let (found, dropped) = cleaned(text, NamePart::Given);
        assert_eq!((found.as_str(), dropped.describe().as_str()), (words, changes), "{text:?}");
    }
}

#[test]
fn whole_names_as_files_have_them() {
    for (text, surname, first, middle, changes) in [
        ("Smith, John", "Smith", "John", "", ""),
        ("SMITH, JOHN A", "SMITH", "JOHN", "A", ""),
        ("SMITH,JOHN ALAN", "SMITH", "JOHN", "ALAN", ""),
        ("Smith, John A, Jr.", "Smith", "John", "A", "suffix dropped"),
        ("Smith, Jr., John A", "Smith", "John", "A", "suffix dropped"),
        ("Smith Jr, John", "Smith Jr", "John", "", ""),
        ("SMITH, JOHN A III", "SMITH", "JOHN", "A", "suffix dropped"),
        ("Smith, Dr. John", "Smith", "John", "", "title dropped"),
        ("Smith, John \"Jack\" A", "Smith", "John", "A", "nickname dropped"),
        ("García López, Juan Carlos", "García López", "Juan", "Carlos", ""),
        ("De La Cruz, Maria", "De La Cruz", "Maria", "", ""),
        ("Smith, John, Raleigh", "Smith", "John", "", "text after comma dropped"),
        ("Do, Minh Van", "Do", "Minh", "Van", ""),
        ("John Smith", "Smith", "John", "", ""),
        ("John A. Smith", "Smith", "John", "A.", ""),
        ("John Smith Jr.", "Smith", "John", "", "suffix dropped"),
        ("John Smith, Jr.", "Smith", "John", "", "suffix dropped"),
        ("John Smith, MD", "Smith", "John", "", "title dropped"),
        ("John Smith, DO", "Smith", "John", "", "title dropped"),
        ("Dr. John Smith", "Smith", "John", "", "title dropped"),
        ("Rev Mary Ann Jones", "Jones", "Mary", "Ann", "title dropped"),
        ("John Smith V", "Smith", "John", "", "suffix dropped"),
        ("John Smith 3rd", "Smith", "John", "", "suffix dropped"),
        ("Maria de la Cruz", "de la Cruz", "Maria", "", ""),
        ("Juan Carlos García López", "López", "Juan", "Carlos García", ""),
        ("Minh Do", "Do", "Minh", "", ""),
        ("Anh Thi Vi", "Vi", "Anh", "Thi", ""),
        ("Van Nguyen", "Nguyen", "Van", "", ""),
        ("Mary Smith-Jones", "Smith-Jones", "Mary", "", ""),
        ("Ronald Mc Donald", "Mc Donald", "Ronald", "", ""),
        ("John O Brien", "Brien", "John", "O", ""),
        ("William \"Bill\" Jones", "Jones", "William", "", "nickname dropped"),
        ("William (Bill) Jones", "Jones", "William", "", "nickname dropped"),
        ("Jane Doe née Roe", "Doe", "Jane", "", "former name dropped"),
        ("Jane Doe a/k/a Jane Roe", "Doe", "Jane", "", "former name dropped"),
        ("SMITH JOHN A", "SMITH", "JOHN", "A", ""),
        ("Smith", "Smith", "", "", ""),
        ("Dr Smith", "Smith", "Dr", "", ""),
        ("", "", "", "", ""),
        ("123 , ,", "", "", "", ""),
    ] {
        let full = FullName::split(text);
        let found = (full.surname.as_str(), full.first_name.as_str(), full.middle_name.as_str());
        assert_eq!(found, (surname, first, middle), "{text:?}");
        assert_eq!(full.changes.describe(), changes, "{text:?}");
    }
}

const TABLE: [&str; 8] = ["SMITH", "LEE", "FUJII", "NASR", "DANGELO", "NDIAYE", "KIM", "DELAO"];

#[test]
fn attached_suffixes_are_dropped_only_from_listed_names() {
    use NameMatch::*;
    for (text, kind, name, changes) in [
        ("SMITHJR", Cleaned, "SMITH", "suffix dropped"),
        ("Smithjr.", Cleaned, "SMITH", "suffix dropped"),
        ("SMITHIII", Cleaned, "SMITH", "suffix dropped"),
        ("LEEJR", Cleaned, "LEE", "suffix dropped"),
        ("FUJII", Exact, "FUJII", ""),
        ("NASR", Exact, "NASR", ""),
        ("KIMSR", None, "", ""),
        ("QXZQXZJR", None, "", ""),
        ("D Angelo", Cleaned, "DANGELO", ""),
        ("N'Diaye", Cleaned, "NDIAYE", ""),
        ("De La O", Cleaned, "DELAO", ""),
        ("J Smith", Part, "SMITH", "initial dropped"),
        ("SMITH JR", Cleaned, "SMITH", "suffix dropped"),
        ("Smith, John", Cleaned, "SMITH", "text after comma dropped"),
    ] {
        let lookup = |name: &str| TABLE.iter().position(|own| *own == name).map(|row| row as u32);
        let id = find(text, NamePart::Surname, &mut Scratch::default(), lookup);
        let found = if id.kind == None { "" } else { TABLE[id.rows[0] as usize] };
        assert_eq!((id.kind, found, id.changes.describe().as_str()), (kind, name, changes), "{text:?}");
    }
}

/// Pieces of names, which random texts combine.
const PIECES: [&str; 48] = [
    "SMITH", "Peña", "O", "'", "’", "\"", "(", ")", ",", ", ", " ", "  ", "-", ".", "JR", "Sr", "II", "VI", "DO", "MD",
    "PH", "née", "NEE", "AKA", "A/K/A", "FKA", "NKA", "K", "A", "N", "F", "DR", "MRS", "DE", "LA", "MC", "VAN", "3RD",
    "2nd", "王", "😀", "ß", "\u{301}", "\u{2013}", "，", "V", "J", "\u{3000}",
];

#[test]
fn cleaning_any_text_gives_words_that_cleaning_does_not_change() {
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..20_000 {
        let pieces = random(9);
        let mut text = String::new();
        for _ in 0..pieces {
            text.push_str(PIECES[random(PIECES.len())]);
            if random(2) == 0 {
                text.push(' ');
            }
        }
        for part in [NamePart::Surname, NamePart::Given] {
            let (words, _) = cleaned(&text, part);
            let is_word = |word: &str| !word.is_empty() && word.bytes().all(|letter| letter.is_ascii_uppercase());
            assert!(words.is_empty() || words.split([' ', '-']).all(is_word), "{text:?}: {words:?}");
            assert_eq!(cleaned(&words, part), (words.clone(), NameChanges::NONE), "{text:?}");
        }
        let full = FullName::split(&text);
        for part in [&full.surname, &full.first_name, &full.middle_name] {
            assert!(part.chars().all(|letter| text.contains(letter) || letter == ' '), "{text:?}: {part:?}");
        }
    }
}
