//! Figures 7 to 9 of paper 001 as SVG, drawn from the existing results.

use crate::compare::number;
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A line in a figure: its name and its points.
type Lines = BTreeMap<String, Vec<(f64, f64)>>;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 180.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
const COLOURS: [&str; 12] = [
    "#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#16a085", "#7f8c8d", "#2c3e50", "#e84393",
    "#6d4c41", "#00acc1", "#9e9d24",
];

/// A figure with logarithmic axes.
struct Figure<'a> {
    title: String,
    horizontal: &'a str,
    vertical: &'a str,
    is_horizontal_logarithmic: bool,
    lines: Lines,
}

/// Draws what can be drawn; returns the files that were written.
pub(crate) fn draw(results: &[Value], directory: &Path) -> Result<Vec<PathBuf>> {
    let Some(records) = results
        .iter()
        .filter(|result| is_plain(result))
        .map(|result| number(result, "records"))
        .reduce(f64::max)
    else {
        return Ok(Vec::new());
    };
    let counted = format!("N = {records:.0}");
    let mut drawn = Vec::new();
    for (name, periods) in [("figure-7a", 9_600.0), ("figure-7b", 576_000.0)] {
        let lines = by_buffer(results, records, |result| {
            number(result, "periods") == periods
                && result["system"] != "satl-naive"
                && result["system"] != "satl-strict"
        });
        let title = format!("Time for one record by buffer size, T = {periods:.0}, {counted}");
        drawn.extend(write(directory, name, &buffers(title, lines))?);
    }
    let lines = by_buffer(results, records, |result| {
        number(result, "periods") == 576_000.0
            && (result["system"] == "satl" || result["system"] == "satl-naive")
    });
    let title = format!("Shared and fixed buffers, T = 576000, {counted}");
    // One variant alone is not a comparison.
    if lines.keys().any(|name| name.starts_with("satl-naive")) {
        drawn.extend(write(directory, "figure-8", &buffers(title, lines))?);
    }
    let lines = traces(results, records);
    let title = format!("Time for each minute, Peaked, T = 576000, 32 MiB, {counted}");
    let (horizontal, vertical) = ("minute", "seconds");
    let figure = Figure { title, horizontal, vertical, is_horizontal_logarithmic: false, lines };
    drawn.extend(write(directory, "figure-9", &figure)?);
    Ok(drawn)
}

fn buffers(title: String, lines: Lines) -> Figure<'static> {
    let (horizontal, vertical) = ("buffers, MiB", "microseconds a record");
    Figure { title, horizontal, vertical, is_horizontal_logarithmic: true, lines }
}

/// A result of the matrix: commits of 10,000, no limit.
fn is_plain(result: &Value) -> bool {
    result["commit_records"] == 10_000
        && result["cell"][6].is_null()
        && !result["system"].as_str().unwrap_or("bare").starts_with("bare")
}

fn by_buffer(results: &[Value], records: f64, is_wanted: impl Fn(&Value) -> bool) -> Lines {
    let mut lines = Lines::new();
    for result in results.iter().filter(|result| is_plain(result) && number(result, "records") == records) {
        if is_wanted(result) {
            let name = |field: &str| result[field].as_str().unwrap_or("?").to_owned();
            let line = lines.entry(format!("{}, {}", name("system"), name("dataset"))).or_default();
            let point = (
                number(result, "buffer_bytes") / 1_048_576.0,
                1e6 / number(result, "records_per_second").max(1e-9),
            );
            line.retain(|(buffer, _)| *buffer != point.0);
            line.push(point);
        }
    }
    // A single point is not a line.
    lines.retain(|_, points| points.len() > 1);
    lines.values_mut().for_each(|points| points.sort_by(|one, other| one.0.total_cmp(&other.0)));
    lines
}

fn traces(results: &[Value], records: f64) -> Lines {
    let of = |result: &Value| -> Option<(String, Vec<(f64, f64)>)> {
        let seconds = result["seconds_each"].as_array().filter(|_| number(result, "records") == records)?;
        let points = seconds
            .iter()
            .enumerate()
            .filter_map(|(minute, value)| Some((minute as f64 + 1.0, value.as_f64()?)));
        Some((result["trace"].as_str()?.to_owned(), points.collect()))
    };
    results.iter().filter_map(of).collect()
}

fn write(directory: &Path, name: &str, figure: &Figure<'_>) -> Result<Option<PathBuf>> {
    if figure.lines.is_empty() {
        return Ok(None);
    }
    let path = directory.join(format!("{name}.svg"));
    std::fs::create_dir_all(directory)?;
    std::fs::write(&path, figure.svg()).with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(Some(path))
}

impl Figure<'_> {
    fn svg(&self) -> String {
        let points = || self.lines.values().flatten();
        let across =
            Axis::over(points().map(|point| point.0), self.is_horizontal_logarithmic, (LEFT, WIDTH - RIGHT));
        let up = Axis::over(points().map(|point| point.1), true, (HEIGHT - BOTTOM, TOP));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <text x=\"{LEFT}\" y=\"22\" font-size=\"13\">{}</text>\n",
            self.title
        );
        self.draw_axes(&mut svg, &across, &up);
        for (place, (name, line)) in self.lines.iter().enumerate() {
            let colour = COLOURS[place % COLOURS.len()];
            let path: Vec<String> =
                line.iter().map(|(x, y)| format!("{:.1},{:.1}", across.at(*x), up.at(*y))).collect();
            let dashes = if place >= COLOURS.len() { " stroke-dasharray=\"5 3\"" } else { "" };
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"{dashes}/>",
                path.join(" ")
            );
            let y = TOP + 10.0 + 15.0 * place as f64;
            let x = WIDTH - RIGHT + 12.0;
            let _ = writeln!(
                svg,
                "<line x1=\"{x}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\
                 <text x=\"{}\" y=\"{}\">{name}</text>",
                x + 16.0,
                x + 20.0,
                y + 4.0
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
    fn draw_axes(&self, svg: &mut String, across: &Axis, up: &Axis) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tick in across.ticks() {
            let x = across.at(tick);
            let _ = writeln!(
                svg,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>",
                bottom + 15.0
            );
        }
        for tick in up.ticks() {
            let y = up.at(tick);
            let _ = writeln!(
                svg,
                "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>",
                LEFT - 6.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text x=\"16\" y=\"{}\" transform=\"rotate(-90 16 {})\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(LEFT, right),
            HEIGHT - 14.0,
            self.horizontal,
            HEIGHT / 2.0,
            HEIGHT / 2.0,
            self.vertical
        );
    }
}

/// Maps values to positions on the page.
struct Axis {
    from: f64,
    to: f64,
    is_logarithmic: bool,
    ends: (f64, f64),
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, is_logarithmic: bool, ends: (f64, f64)) -> Self {
        let (low, high) =
            values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let (from, to) = if is_logarithmic {
            (10_f64.powf(low.max(1e-9).log10().floor()), 10_f64.powf(high.max(1e-9).log10().ceil()))
        } else {
            (0.0, high)
        };
        Self { from, to: if to > from { to } else { from * 10.0 + 1.0 }, is_logarithmic, ends }
    }
    fn at(&self, value: f64) -> f64 {
        let share = if self.is_logarithmic {
            (value.max(1e-12) / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.ends.0 + share * (self.ends.1 - self.ends.0)
    }
    fn ticks(&self) -> Vec<f64> {
        if !self.is_logarithmic {
            let step = 10_f64.powf((self.to / 5.0).log10().floor()).max(1.0) * 2.0;
            return (0..=10).map(|tick| f64::from(tick) * step).filter(|tick| *tick <= self.to).collect();
        }
        let decades = (self.to / self.from).log10().round();
        (0..=20)
            .map(f64::from)
            .filter(|tick| *tick <= decades)
            .map(|tick| round(self.from * 10_f64.powf(tick)))
            .collect()
    }
}

/// Without the noise of the last digits.
fn round(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result(system: &str, mebibytes: u64, rate: f64) -> Value {
        json!({
            "cell": [system, "peaked", 576_000, mebibytes << 20, 1_000, 10_000, null], "system": system,
            "dataset": "peaked", "periods": 576_000, "buffer_bytes": mebibytes << 20, "records": 1_000,
            "records_per_second": rate, "commit_records": 10_000,
        })
    }

    #[test]
    fn a_figure_shows_every_line_that_has_points() {
        let directory = std::env::temp_dir().join(format!("figures-{}", std::process::id()));
        let results = [
            result("satl", 1, 1e6),
            result("satl", 32, 2e6),
            result("lmdb", 1, 2e3),
            result("lmdb", 32, 4e3),
        ];
        let drawn = draw(&results, &directory).expect("figures are drawn");
        assert_eq!(drawn, [directory.join("figure-7b.svg")]);
        let svg = std::fs::read_to_string(&drawn[0]).expect("it was written");
        std::fs::remove_dir_all(&directory).expect("it was made");
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains("satl, peaked") && svg.contains("lmdb, peaked") && svg.contains("N = 1000"));
    }

    #[test]
    fn nothing_is_drawn_from_nothing() {
        assert!(draw(&[], Path::new("/nowhere")).expect("nothing to write").is_empty());
    }
}
