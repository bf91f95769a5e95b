//! Aligned tables of plain text.

use comfy_table::{Cell, ContentArrangement, Table, presets};

/// Lines of cells under a head, each column as wide as its widest cell; nothing is drawn around them.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head.iter().map(Cell::new));
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = table.to_string();
    lines.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["a".into(), "long cell".into()], vec!["longer".into(), String::new()]];
        assert_eq!(table(&["X", "Y"], rows), "X       Y\na       long cell\nlonger\n");
        assert_eq!(table(&["X"], []), "X\n");
    }
}
