//! Writes the cells of tables that may have one cell per line.

/// Writes cells as rows of a Markdown table. In a table of two columns, a first cell on a line of
/// its own moves to the line of the second, so that `| Status` and `| Draft` give one field.
#[derive(Default)]
pub(super) struct CellWriter {
    is_paired: bool,
    first: Option<String>,
}

impl CellWriter {
    /// Starts a table. `is_paired` is true if it has two columns.
    pub(super) fn new(is_paired: bool) -> CellWriter {
        CellWriter { is_paired, first: None }
    }

    /// Writes the cells of one line.
    pub(super) fn push_cells(&mut self, cells: &[String], out: &mut String) {
        let first = self.first.take();
        if let (None, true, [cell]) = (&first, self.is_paired, cells) {
            self.first = Some(cell.clone());
            return;
        }
        for cell in first.iter().chain(cells) {
            out.push_str("| ");
            out.push_str(cell.trim());
            out.push(' ');
        }
        out.push('|');
    }

    /// Writes a cell that is still held back, at the end of a row or of the table.
    pub(super) fn flush(&mut self, out: &mut String) {
        if let Some(first) = self.first.take() {
            out.push_str("| ");
            out.push_str(first.trim());
            out.push_str(" |");
        }
    }
}
