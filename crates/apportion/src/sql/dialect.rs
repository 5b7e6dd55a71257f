//! What differs between SQL dialects: quotes, numbers, types, and a hash of an ID.

use super::Dialect;

impl Dialect {
    /// Quotes a name.
    pub(super) fn name(self, name: &str) -> String {
        match self {
            Dialect::DuckDb | Dialect::PostgreSql | Dialect::Snowflake => format!("\"{}\"", name.replace('"', "\"\"")),
            // SQLite silently treats an unknown name in double quotes as text.
            Dialect::Sqlite | Dialect::Spark => format!("`{}`", name.replace('`', "``")),
            Dialect::BigQuery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
        }
    }

    /// Quotes a text.
    pub(super) fn text(self, text: &str) -> String {
        let text = match self {
            Dialect::DuckDb | Dialect::PostgreSql | Dialect::Sqlite => text.replace('\'', "''"),
            Dialect::BigQuery | Dialect::Snowflake | Dialect::Spark => {
                text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\r', "\\r")
            }
        };
        format!("'{text}'")
    }

    /// Returns a double-precision number in as few digits as necessary.
    pub(super) fn number(self, value: f64) -> String {
        // With an exponent it is a double in DuckDB, BigQuery and SQLite. Other dialects need a cast.
        match self {
            Dialect::DuckDb | Dialect::BigQuery | Dialect::Sqlite => format!("{value:e}"),
            Dialect::PostgreSql => format!("{value:e}::float8"),
            Dialect::Snowflake => format!("{value:e}::FLOAT"),
            Dialect::Spark => format!("{value:e}D"),
        }
    }

    /// Returns the type of text of any length.
    pub(super) fn text_type(self) -> &'static str {
        match self {
            Dialect::DuckDb | Dialect::Snowflake => "VARCHAR",
            Dialect::PostgreSql | Dialect::Sqlite => "TEXT",
            Dialect::BigQuery | Dialect::Spark => "STRING",
        }
    }

    /// Returns the type of whole numbers of 64 bits.
    pub(super) fn whole_type(self) -> &'static str {
        match self {
            Dialect::BigQuery => "INT64",
            Dialect::DuckDb | Dialect::PostgreSql | Dialect::Sqlite | Dialect::Snowflake | Dialect::Spark => "BIGINT",
        }
    }

    /// Returns the function that rounds doubles. Spark's ROUND is exact for decimals, and therefore slow.
    pub(super) fn round(self) -> &'static str {
        if self == Dialect::Spark { "RINT" } else { "ROUND" }
    }

    /// Returns a number from 0 to 1 that depends on the text of an ID and on a salt, and is otherwise like a random number.
    /// The salt has no quotes.
    pub(super) fn lot(self, id: &str, salt: &str) -> String {
        let id = format!("COALESCE(CAST({id} AS {}), '')", self.text_type());
        // 40 bits of the MD5 hash.
        let digits = |hash: &str| format!("SUBSTR({hash}({id} || ':{salt}'), 1, 10)");
        let number = match self {
            Dialect::DuckDb => format!("CAST('0x' || {} AS BIGINT)", digits("MD5")),
            Dialect::PostgreSql => format!("('x' || {})::bit(40)::bigint", digits("MD5")),
            Dialect::BigQuery => {
                format!("CAST('0x' || SUBSTR(TO_HEX(MD5({id} || ':{salt}')), 1, 10) AS INT64)")
            }
            Dialect::Snowflake => format!("TO_NUMBER({}, 'XXXXXXXXXX')", digits("MD5")),
            Dialect::Spark => format!("CAST(CONV({}, 16, 10) AS DOUBLE)", digits("MD5")),
            Dialect::Sqlite => return sqlite_lot(&id, salt),
        };
        format!("{number} / {}", self.number(2f64.powi(40)))
    }
}

/// SQLite has no hash function: the characters are combined one after the other by squares modulo the prime 2^31 − 1, which
/// stay within its integers.
fn sqlite_lot(id: &str, salt: &str) -> String {
    let prime = (1u64 << 31) - 1;
    let text = format!("('{salt}:' || {id} || ':')");
    let mixed = format!("((apportion_hash + 7919 * UNICODE(SUBSTR({text}, apportion_place + 1, 1))) % {prime})");
    format!(
        "(WITH RECURSIVE apportion_hashes (apportion_place, apportion_hash) AS (SELECT 0, 1234567 UNION ALL \
         SELECT apportion_place + 1, {mixed} * {mixed} % {prime} FROM apportion_hashes WHERE apportion_place < \
         LENGTH({text})) SELECT apportion_hash FROM apportion_hashes ORDER BY apportion_place DESC LIMIT 1) / {prime}.0"
    )
}
