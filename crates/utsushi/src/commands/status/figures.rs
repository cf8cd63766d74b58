//! The figures of paper 003: as SVG, and their numbers as JSON and CSV.
//!
//! Figures 3 and 5 show the state of the schedule. Figure 4 shows two things over one axis: of visits after an interval,
//! how many found a change, counted in the archive; and, as the paper draws it, of pages with that revisit interval, how
//! many versions per visit, by mean and deviation.

use super::svg::{Chart, Series};
use super::visits::Seen;
use crate::words::{count_of, grouped};
use anyhow::Context as _;
use base::Interval;
use node::views::{FiguresView, HistogramBar};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The data of the figures.
pub(super) struct Numbers {
    pub(super) drawn: FiguresView,
    /// Visits by the interval before them, in the bins of the revisit intervals.
    pub(super) visits: Vec<Seen>,
    pub(super) pause: Interval,
}

/// The axis of revisit intervals: from a minute to 400 days, whatever the data.
const REVISITS: (f64, f64) = (60.0, 400.0 * 86_400.0);
/// That of server intervals.
const SERVERS: (f64, f64) = (1.0, 86_400.0);
const TITLES: [&str; 3] = [
    "Figure 3: pages by revisit interval",
    "Figure 4: changes seen, by interval",
    "Figure 5: servers by the interval between requests that keeps their schedule",
];

/// Writes three figures and their numbers into a directory, which is created if it does not exist.
pub(super) fn write(numbers: &Numbers, place: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(place)
        .with_context(|| format!("cannot create the directory `{}`", place.display()))?;
    let svgs = [numbers.figure_3(), numbers.figure_4(), numbers.figure_5()];
    let tables = [numbers.table_3(), numbers.table_4(), numbers.table_5()];
    for (number, ((svg, table), title)) in (3..).zip(svgs.into_iter().zip(tables).zip(TITLES)) {
        let json = table.to_json(number, title, numbers.pause);
        for (form, text) in [("svg", svg), ("csv", table.to_csv()), ("json", format!("{json:#}\n"))] {
            let path = place.join(format!("figure-{number}.{form}"));
            fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
        }
    }
    Ok(())
}

impl Numbers {
    fn figure_3(&self) -> String {
        let bars = &self.drawn.revisit_intervals;
        let chart = Chart {
            title: TITLES[0],
            told: format!("{} visited more than once", count_of(sum(bars), "page")),
            across: "interval until the next visit",
            up: "pages",
            range: REVISITS,
            series: vec![Series::bars("pages", bars)],
            mark: None,
        };
        chart.to_svg()
    }

    fn figure_4(&self) -> String {
        let bars = &self.drawn.revisit_intervals;
        let seen = bars.iter().zip(&self.visits).filter(|(_, seen)| seen.visits > 0);
        let ratios =
            seen.map(|(bar, seen)| (HistogramBar { count: seen.visits, ..*bar }, seen.ratio())).collect();
        let means = bars.iter().zip(&self.drawn.change_ratios).filter(|(bar, _)| bar.count > 0);
        let points =
            means.map(|(bar, (mean, deviation))| ((bar.from * bar.to).sqrt(), *mean, *deviation)).collect();
        let visits: u64 = self.visits.iter().map(|seen| seen.visits).sum();
        let changed: u64 = self.visits.iter().map(|seen| seen.changed).sum();
        let (visits, changed) = (count_of(visits, "repeated visit"), grouped(changed));
        let chart = Chart {
            title: TITLES[1],
            told: format!("{visits}, {changed} with other content than before; in a bar: its visits"),
            across: "interval before the visit; of pages: until the next visit",
            up: "changes per visit",
            range: REVISITS,
            series: vec![
                Series::Ratios { name: "visits with a change", bars: ratios },
                Series::Points { name: "pages: versions a visit, mean and deviation", points },
            ],
            mark: None,
        };
        chart.to_svg()
    }

    fn figure_5(&self) -> String {
        let bars = &self.drawn.server_intervals;
        let chart = Chart {
            title: TITLES[2],
            told: format!("{} with pages in the schedule", count_of(sum(bars), "server")),
            across: "interval between two requests to a server, 1/L",
            up: "servers",
            range: SERVERS,
            series: vec![
                Series::bars("asked for", bars),
                Series::steps("once overload is resolved", &self.drawn.server_intervals_resolved),
            ],
            mark: Some(("pause", self.pause.as_seconds_f64())),
        };
        chart.to_svg()
    }

    fn table_3(&self) -> Table {
        let row = |bar: &HistogramBar| row(bar, [bar.count.into()]);
        Table { columns: &["pages"], rows: self.drawn.revisit_intervals.iter().map(row).collect() }
    }
    fn table_4(&self) -> Table {
        let bars = self.drawn.revisit_intervals.iter().zip(&self.drawn.change_ratios);
        let visits = self.visits.iter().copied().chain(std::iter::repeat(Seen::default()));
        let rows = bars.zip(visits).map(|((bar, (mean, deviation)), seen)| {
            let visits: [Value; 3] = [seen.visits.into(), seen.changed.into(), seen.ratio().into()];
            let pages: [Value; 3] = [bar.count.into(), (*mean).into(), (*deviation).into()];
            row(bar, visits.into_iter().chain(pages))
        });
        let columns = &[
            "visits",
            "visits_changed",
            "changed_ratio",
            "pages",
            "versions_per_visit",
            "standard_deviation",
        ];
        Table { columns, rows: rows.collect() }
    }
    fn table_5(&self) -> Table {
        let bars = self.drawn.server_intervals.iter().zip(&self.drawn.server_intervals_resolved);
        let rows = bars.map(|(bar, resolved)| row(bar, [bar.count.into(), resolved.count.into()]));
        Table { columns: &["servers", "servers_resolved"], rows: rows.collect() }
    }
}

fn sum(bars: &[HistogramBar]) -> u64 {
    bars.iter().map(|bar| bar.count).sum()
}

/// The numbers of a figure: lower and upper bound, then the columns.
struct Table {
    columns: &'static [&'static str],
    rows: Vec<Vec<Value>>,
}

const EDGES: [&str; 2] = ["from_seconds", "to_seconds"];

fn row(bar: &HistogramBar, columns: impl IntoIterator<Item = Value>) -> Vec<Value> {
    [bar.from.into(), bar.to.into()].into_iter().chain(columns).collect()
}

impl Table {
    fn columns(&self) -> impl Iterator<Item = &'static str> {
        EDGES.into_iter().chain(self.columns.iter().copied())
    }
    fn to_csv(&self) -> String {
        let head = self.columns().collect::<Vec<_>>().join(",");
        let cell = |value: &Value| value.as_f64().unwrap_or_default().to_string();
        let line = |row: &Vec<Value>| row.iter().map(cell).collect::<Vec<_>>().join(",");
        std::iter::once(head).chain(self.rows.iter().map(line)).map(|line| line + "\n").collect()
    }
    fn to_json(&self, figure: u32, title: &str, pause: Interval) -> Value {
        let object = |row: &Vec<Value>| {
            let pairs = self.columns().map(ToOwned::to_owned).zip(row.iter().cloned());
            Value::Object(pairs.collect())
        };
        let bins: Vec<Value> = self.rows.iter().map(object).collect();
        json!({ "figure": figure, "title": title, "pause_seconds": pause.as_seconds_f64(), "bins": bins })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(drawn: FiguresView, visits: &[(u64, u64)]) -> Numbers {
        let visits =
            visits.iter().map(|(visits, changed)| Seen { visits: *visits, changed: *changed }).collect();
        Numbers { drawn, visits, pause: Interval::from_seconds(10) }
    }

    fn drawn() -> FiguresView {
        let bars = |counts: &[u64]| {
            let bar = |(at, count): (u32, &u64)| HistogramBar {
                from: 60.0 * 4_f64.powi(at.cast_signed()),
                to: 240.0 * 4_f64.powi(at.cast_signed()),
                count: *count,
            };
            (0..).zip(counts).map(bar).collect::<Vec<HistogramBar>>()
        };
        FiguresView {
            revisit_intervals: bars(&[0, 3, 1_000, 7]),
            change_ratios: vec![(0.0, 0.0), (0.5, 0.2), (0.1, 0.3), (0.9, 0.05)],
            server_intervals: bars(&[2, 0, 40]),
            server_intervals_resolved: bars(&[0, 2, 40]),
        }
    }

    #[test]
    fn figures_are_drawn_and_their_numbers_written() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("some/figures");
        write(&numbers(drawn(), &[(0, 0), (8, 4), (10, 1), (0, 0)]), &folder).unwrap();
        for number in 3..=5 {
            let svg = fs::read_to_string(folder.join(format!("figure-{number}.svg"))).unwrap();
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        }
        let csv = fs::read_to_string(folder.join("figure-3.csv")).unwrap();
        assert_eq!(csv.lines().nth(3), Some("960,3840,1000"));
        let csv = fs::read_to_string(folder.join("figure-4.csv")).unwrap();
        assert_eq!(csv.lines().nth(2), Some("240,960,8,4,0.5,3,0.5,0.2"));
        let csv = fs::read_to_string(folder.join("figure-5.csv")).unwrap();
        assert_eq!(csv.lines().nth(1), Some("60,240,2,0"));
        let json = fs::read_to_string(folder.join("figure-4.json")).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["figure"], &json["bins"][2]["changed_ratio"]), (&4.into(), &0.1.into()));
    }

    #[test]
    fn a_schedule_without_pages_is_drawn_too() {
        let place = tempfile::tempdir().unwrap();
        write(&numbers(FiguresView::default(), &[]), place.path()).unwrap();
        assert!(fs::read_to_string(place.path().join("figure-3.svg")).unwrap().contains("nothing yet"));
    }
}
