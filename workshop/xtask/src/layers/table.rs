//! The table of layers, in Markdown.

use anyhow::{Context, Result, bail, ensure};

const HEADER: [&str; 5] = ["layer", "crate", "one line", "rooms", "may use"];

/// One crate in the table.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) layer: u32,
    pub(super) name: String,
    /// Its modules.
    pub(super) rooms: Vec<String>,
    pub(super) may_use: Uses,
}

/// Which crates a crate may use.
#[derive(Debug)]
pub(super) enum Uses {
    /// Every crate of a lower layer.
    All,
    These(Vec<String>),
}

/// The rows of the first table with our header in `text`.
pub(super) fn parse(text: &str) -> Result<Vec<Row>> {
    let mut lines = text.lines().skip_while(|line| cells(line) != HEADER);
    lines
        .next()
        .with_context(|| format!("there is no table with the header `| {} |`", HEADER.join(" | ")))?;
    let rows: Vec<Row> = lines
        .skip(1)
        .take_while(|line| line.trim().starts_with('|'))
        .map(parse_row)
        .collect::<Result<_>>()?;
    ensure!(!rows.is_empty(), "the table has no rows");
    ensure_no_name_twice(&rows)?;
    Ok(rows)
}

fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let inner = line.strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    inner.map_or(Vec::new(), |inner| inner.split('|').map(str::trim).collect())
}

fn parse_row(line: &str) -> Result<Row> {
    let cells = cells(line);
    let &[layer, name, _, rooms, may_use] = cells.as_slice() else {
        bail!("`{line}` does not have {} cells", HEADER.len())
    };
    let row = || -> Result<Row> {
        Ok(Row {
            layer: layer.parse()?,
            name: crate_name(name)?,
            rooms: parse_rooms(rooms),
            may_use: parse_uses(may_use)?,
        })
    };
    row().with_context(|| format!("in row `{line}`"))
}

/// The rooms in `cell`, with commas or semicolons between them; a dash for none.
fn parse_rooms(cell: &str) -> Vec<String> {
    let names = cell.split([',', ';']).map(|name| name.trim().trim_matches('`'));
    names.filter(|name| !name.is_empty() && *name != "–").map(str::to_owned).collect()
}

fn parse_uses(cell: &str) -> Result<Uses> {
    match cell {
        "all" => Ok(Uses::All),
        "–" => Ok(Uses::These(Vec::new())),
        names => names.split(',').map(crate_name).collect::<Result<_>>().map(Uses::These),
    }
}

/// The name in `cell`, which must stand in backticks.
fn crate_name(cell: &str) -> Result<String> {
    let name = cell.trim().strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    let name = name.filter(|name| !name.is_empty() && !name.contains('`'));
    name.map(str::to_owned).with_context(|| format!("{cell:?} is not a crate in backticks"))
}

fn ensure_no_name_twice(rows: &[Row]) -> Result<()> {
    for (index, row) in rows.iter().enumerate() {
        ensure!(
            rows.iter().skip(index + 1).all(|other| other.name != row.name),
            "`{}` is in the table twice",
            row.name
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Uses, parse};

    const HEAD: &str = "# Layers\n\n| layer | crate | one line | rooms | may use |\n|---|---|---|---|---|\n";

    #[test]
    fn a_table_is_found_among_prose() {
        let text = format!(
            "{HEAD}| 0 | `base` | words | url, `time`; disk | – |\n|2|`top`|x, y|–|`base`, `mid`|\n\n| 9 | other |\n"
        );
        let rows = parse(&text).unwrap();
        let names: Vec<_> = rows.iter().map(|row| (row.layer, row.name.as_str())).collect();
        assert_eq!(names, [(0, "base"), (2, "top")]);
        assert_eq!(rows[0].rooms, ["url", "time", "disk"]);
        assert!(rows[1].rooms.is_empty());
        assert!(matches!(&rows[0].may_use, Uses::These(names) if names.is_empty()));
        assert!(matches!(&rows[1].may_use, Uses::These(names) if names == &["base", "mid"]));
    }

    #[test]
    fn all_means_all() {
        let rows = parse(&format!("{HEAD}| 5 | `program` | it | main | all |")).unwrap();
        assert!(matches!(rows[0].may_use, Uses::All));
    }

    #[test]
    fn what_is_no_table_of_layers_is_refused() {
        for text in ["", "# Layers\n", "| layer | crate |\n|---|---|\n| 0 | `base` |\n", HEAD] {
            assert!(parse(text).is_err(), "{text}");
        }
        for row in ["| x | `a` | | | – |", "| 0 | a | | | – |", "| 0 | `a` | | | b |", "| 0 | `a` | – |"]
        {
            assert!(parse(&format!("{HEAD}{row}\n")).is_err(), "{row}");
        }
        assert!(parse(&format!("{HEAD}| 0 | `a` | | | – |\n| 1 | `a` | | | – |\n")).is_err());
    }
}
