//! The values of a figure as CSV.

use crate::text_table::TextTable;
use document::shown::escaped;

/// A table as CSV with a line of headings (RFC 4180, with line feeds). Control characters are shown
/// as escapes, as in the page.
pub(crate) fn of(table: &TextTable) -> String {
    let mut csv = String::new();
    for row in std::iter::once(&table.columns).chain(&table.rows) {
        let cells: Vec<String> = row.iter().map(|text| cell(text)).collect();
        csv.push_str(&cells.join(","));
        csv.push('\n');
    }
    csv
}

fn cell(text: &str) -> String {
    let text = escaped(text);
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}

/// A value with nine significant digits, which removes the errors of conversions between units
/// (`0.1 + 0.2`) and no measured digit. Empty for not-a-number; `inf` for infinity.
pub(crate) fn value(value: f64) -> String {
    if value.is_nan() {
        return String::new();
    }
    let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value);
    // No negative zero.
    (rounded + 0.0).to_string()
}

/// [`value`] of a value that may be missing.
pub(crate) fn optional(number: Option<f64>) -> String {
    number.map_or_else(String::new, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_all_digits_that_were_measured() {
        let values = [0.1 + 0.2, 998.400_000_000_000_1, -0.0, f64::NAN, f64::INFINITY, 1e-6];
        assert_eq!(values.map(value), ["0.3", "998.4", "0", "", "inf", "0.000001"]);
    }

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        let columns = vec!["a,b".to_owned(), "say \"x\"".to_owned(), "line\nbreak".to_owned()];
        let table = TextTable { columns, ..TextTable::default() };
        assert_eq!(of(&table), "\"a,b\",\"say \"\"x\"\"\",line\\nbreak\n");
    }
}
