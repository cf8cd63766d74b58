//! The figures of paper 003, drawn from the schedule: as SVG, and their numbers as CSV.

use super::svg::{Chart, Series};
use crate::node::life::{Bar, Drawn};
use anyhow::Context as _;
use base::Interval;
use std::fs;
use std::path::Path;

/// Writes three figures and their numbers into a directory, which is made if there is none.
pub(super) fn write(drawn: &Drawn, pause: Interval, place: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(place).with_context(|| format!("cannot make the directory `{}`", place.display()))?;
    let files = [
        ("figure-3.csv", counts_csv("pages", &drawn.revisit_intervals)),
        ("figure-3.svg", figure_3(drawn)),
        ("figure-4.csv", ratios_csv(drawn)),
        ("figure-4.svg", figure_4(drawn)),
        ("figure-5.csv", servers_csv(drawn)),
        ("figure-5.svg", figure_5(drawn, pause)),
    ];
    for (name, text) in files {
        let path = place.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}

fn figure_3(drawn: &Drawn) -> String {
    let chart = Chart {
        title: "Figure 3: pages by revisit interval",
        across: "interval until the next visit",
        up: "pages",
        series: vec![Series::bars("pages", &drawn.revisit_intervals)],
        mark: None,
    };
    chart.to_svg()
}

fn figure_4(drawn: &Drawn) -> String {
    let bars = &drawn.revisit_intervals;
    let points = bars.iter().zip(&drawn.change_ratios).filter(|(bar, _)| bar.count > 0);
    let points =
        points.map(|(bar, (mean, deviation))| ((bar.from * bar.to).sqrt(), *mean, *deviation)).collect();
    let chart = Chart {
        title: "Figure 4: changes seen a visit, by revisit interval",
        across: "interval until the next visit",
        up: "mean and standard deviation",
        series: vec![Series::Points { points }],
        mark: None,
    };
    chart.to_svg()
}

fn figure_5(drawn: &Drawn, pause: Interval) -> String {
    let chart = Chart {
        title: "Figure 5: servers by the interval between requests that keeps their schedule",
        across: "interval between two requests to a server, 1/L",
        up: "servers",
        series: vec![
            Series::bars("asked for", &drawn.server_intervals),
            Series::steps("once overload is resolved", &drawn.server_intervals_resolved),
        ],
        mark: Some(("pause", pause.as_seconds_f64())),
    };
    chart.to_svg()
}

fn counts_csv(what: &str, bars: &[Bar]) -> String {
    let lines = bars.iter().map(|bar| format!("{},{},{}\n", bar.from, bar.to, bar.count));
    format!("from_seconds,to_seconds,{what}\n{}", lines.collect::<String>())
}

fn ratios_csv(drawn: &Drawn) -> String {
    let rows = drawn.revisit_intervals.iter().zip(&drawn.change_ratios);
    let lines = rows.map(|(bar, (mean, deviation))| {
        format!("{},{},{},{mean},{deviation}\n", bar.from, bar.to, bar.count)
    });
    format!(
        "from_seconds,to_seconds,pages,changes_per_visit,standard_deviation\n{}",
        lines.collect::<String>()
    )
}

fn servers_csv(drawn: &Drawn) -> String {
    let rows = drawn.server_intervals.iter().zip(&drawn.server_intervals_resolved);
    let lines =
        rows.map(|(bar, resolved)| format!("{},{},{},{}\n", bar.from, bar.to, bar.count, resolved.count));
    format!("from_seconds,to_seconds,servers,servers_resolved\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn() -> Drawn {
        let bars = |counts: &[u64]| {
            let bar = |(at, count): (u32, &u64)| Bar {
                from: 60.0 * 4_f64.powi(at.cast_signed()),
                to: 240.0 * 4_f64.powi(at.cast_signed()),
                count: *count,
            };
            (0..).zip(counts).map(bar).collect::<Vec<Bar>>()
        };
        Drawn {
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
        write(&drawn(), Interval::from_seconds(10), &folder).unwrap();
        for number in 3..=5 {
            let svg = fs::read_to_string(folder.join(format!("figure-{number}.svg"))).unwrap();
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        }
        let csv = fs::read_to_string(folder.join("figure-3.csv")).unwrap();
        assert_eq!(csv.lines().nth(3), Some("960,3840,1000"));
        let csv = fs::read_to_string(folder.join("figure-5.csv")).unwrap();
        assert_eq!(csv.lines().nth(1), Some("60,240,2,0"));
    }

    #[test]
    fn a_schedule_without_pages_is_drawn_too() {
        let place = tempfile::tempdir().unwrap();
        write(&Drawn::default(), Interval::from_seconds(10), place.path()).unwrap();
        assert!(fs::read_to_string(place.path().join("figure-3.svg")).unwrap().contains("nothing yet"));
    }
}
