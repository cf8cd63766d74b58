//! A small writer of charts: time across, on a logarithmic axis; counts up, logarithmic too, or ratios, linear.
//!
//! Colours are mid tones on no background, so a chart is readable on light and on dark.

use crate::node::life::Bar;
use std::fmt::Write as _;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 60.0;
const INK: &str = "#888";
const BLUE: &str = "#4a86c5";
const ORANGE: &str = "#d9822b";

/// Lengths of time that people know, in seconds.
const TICKS: [(f64, &str); 20] = [
    (0.125, "⅛ s"),
    (1.0, "1 s"),
    (3.0, "3 s"),
    (10.0, "10 s"),
    (30.0, "30 s"),
    (60.0, "1 min"),
    (180.0, "3 min"),
    (600.0, "10 min"),
    (1_800.0, "30 min"),
    (3_600.0, "1 h"),
    (3.0 * 3_600.0, "3 h"),
    (6.0 * 3_600.0, "6 h"),
    (12.0 * 3_600.0, "12 h"),
    (86_400.0, "1 d"),
    (3.0 * 86_400.0, "3 d"),
    (7.0 * 86_400.0, "1 w"),
    (14.0 * 86_400.0, "2 w"),
    (30.0 * 86_400.0, "30 d"),
    (100.0 * 86_400.0, "100 d"),
    (400.0 * 86_400.0, "400 d"),
];
/// So far from each other their names stand at least.
const TICK_GAP: f64 = 48.0;

/// One chart.
pub(super) struct Chart<'a> {
    pub(super) title: &'a str,
    pub(super) across: &'a str,
    pub(super) up: &'a str,
    pub(super) series: Vec<Series<'a>>,
    /// A moment that is marked, and what it is.
    pub(super) mark: Option<(&'a str, f64)>,
}

/// What is drawn.
pub(super) enum Series<'a> {
    /// Filled bars.
    Bars { name: &'a str, bars: Vec<Bar> },
    /// Their outline only.
    Steps { name: &'a str, bars: Vec<Bar> },
    /// Ratios with their deviations: where, mean, deviation.
    Points { points: Vec<(f64, f64, f64)> },
}

impl<'a> Series<'a> {
    /// Filled bars of what is not empty.
    pub(super) fn bars(name: &'a str, bars: &[Bar]) -> Self {
        Self::Bars { name, bars: filled(bars) }
    }
    /// Outlines of what is not empty.
    pub(super) fn steps(name: &'a str, bars: &[Bar]) -> Self {
        Self::Steps { name, bars: filled(bars) }
    }

    fn range(&self) -> Option<(f64, f64)> {
        let spans: Vec<(f64, f64)> = match self {
            Self::Bars { bars, .. } | Self::Steps { bars, .. } => {
                bars.iter().map(|bar| (bar.from, bar.to)).collect()
            }
            Self::Points { points } => points.iter().map(|(at, ..)| (at / 2.0, at * 2.0)).collect(),
        };
        spans.into_iter().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }
    fn highest(&self) -> u64 {
        match self {
            Self::Bars { bars, .. } | Self::Steps { bars, .. } => {
                bars.iter().map(|bar| bar.count).max().unwrap_or(0)
            }
            Self::Points { .. } => 0,
        }
    }
}

fn filled(bars: &[Bar]) -> Vec<Bar> {
    bars.iter().copied().filter(|bar| bar.count > 0).collect()
}

impl Chart<'_> {
    /// The chart as SVG.
    pub(super) fn to_svg(&self) -> String {
        let mut svg = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut svg);
        svg
    }

    fn write(&self, svg: &mut String) -> std::fmt::Result {
        writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\" fill=\"{INK}\">"
        )?;
        text(svg, (WIDTH / 2.0, 20.0), "middle", self.title)?;
        let ranges = self.series.iter().filter_map(Series::range);
        let range = ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        match range {
            None => text(svg, (WIDTH / 2.0, HEIGHT / 2.0), "middle", "nothing yet")?,
            Some(range) => self.write_chart(svg, self.with_mark(range))?,
        }
        writeln!(svg, "</svg>")
    }

    fn with_mark(&self, (from, to): (f64, f64)) -> (f64, f64) {
        let mark = self.mark.map(|(_, at)| at).filter(|at| *at > 0.0);
        let (from, to) = mark.map_or((from, to), |at| (from.min(at), to.max(at)));
        (from.max(1e-3), to.max(from.max(1e-3) * 2.0))
    }

    fn write_chart(&self, svg: &mut String, range: (f64, f64)) -> std::fmt::Result {
        let highest = self.series.iter().map(Series::highest).max().unwrap_or(0);
        let plane = Plane { range, highest };
        plane.write_axes(svg, self.across, self.up)?;
        for (place, series) in self.series.iter().enumerate() {
            plane.write_series(svg, series)?;
            if self.series.len() > 1 {
                plane.write_name(svg, series, place)?;
            }
        }
        if let Some((name, at)) = self.mark {
            let x = plane.x(at);
            line(svg, (x, TOP), (x, HEIGHT - BOTTOM), "stroke-dasharray=\"4 3\"")?;
            text(svg, (x + 4.0, TOP + 12.0), "start", name)?;
        }
        Ok(())
    }
}

/// Where on the paper a value is.
struct Plane {
    range: (f64, f64),
    /// The highest count; 0 for a chart of ratios.
    highest: u64,
}

impl Plane {
    fn x(&self, seconds: f64) -> f64 {
        let (from, to) = (self.range.0.ln(), self.range.1.ln());
        let part = (seconds.max(1e-6).ln() - from) / (to - from);
        LEFT + part.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }
    /// Counts from a half, so that one can be seen.
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    fn y_of_count(&self, count: u64) -> f64 {
        let part = (count as f64 * 2.0).max(1.0).log10() / (self.highest.max(5) as f64 * 2.0).log10();
        self.y(part)
    }
    fn y(&self, part: f64) -> f64 {
        HEIGHT - BOTTOM - part.clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM)
    }

    fn write_axes(&self, svg: &mut String, across: &str, up: &str) -> std::fmt::Result {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        line(svg, (LEFT, bottom), (right, bottom), "")?;
        line(svg, (LEFT, TOP), (LEFT, bottom), "")?;
        let mut last = f64::MIN;
        for (at, name) in TICKS.iter().filter(|(at, _)| (self.range.0..=self.range.1).contains(at)) {
            let x = self.x(*at);
            if x - last < TICK_GAP {
                continue;
            }
            last = x;
            line(svg, (x, bottom), (x, bottom + 5.0), "")?;
            text(svg, (x, bottom + 18.0), "middle", name)?;
        }
        for (y, name) in self.ticks_up() {
            line(svg, (LEFT - 5.0, y), (LEFT, y), "")?;
            text(svg, (LEFT - 8.0, y + 4.0), "end", &name)?;
        }
        text(svg, (f64::midpoint(LEFT, right), HEIGHT - 14.0), "middle", across)?;
        text(svg, (LEFT - 50.0, TOP - 10.0), "start", up)
    }
    fn ticks_up(&self) -> Vec<(f64, String)> {
        if self.highest == 0 {
            return (0..=4)
                .map(|n| (self.y(f64::from(n) / 4.0), format!("{}", f64::from(n) / 4.0)))
                .collect();
        }
        let powers = std::iter::successors(Some(1_u64), |count| count.checked_mul(10));
        let powers = powers.take_while(|count| *count <= self.highest);
        powers.map(|count| (self.y_of_count(count), crate::words::grouped(count))).collect()
    }

    fn write_series(&self, svg: &mut String, series: &Series<'_>) -> std::fmt::Result {
        let bottom = HEIGHT - BOTTOM;
        match series {
            Series::Bars { bars, .. } => bars.iter().try_for_each(|bar| {
                let (x, y, to) = (self.x(bar.from), self.y_of_count(bar.count), self.x(bar.to));
                let (width, height) = ((to - x - 1.0).max(1.0), bottom - y);
                writeln!(svg, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{BLUE}\"/>")
            }),
            Series::Steps { bars, .. } => bars.iter().try_for_each(|bar| {
                let (x, y, to) = (self.x(bar.from), self.y_of_count(bar.count), self.x(bar.to));
                let points = format!("{x:.1},{bottom} {x:.1},{y:.1} {to:.1},{y:.1} {to:.1},{bottom}");
                writeln!(svg, "<polyline points=\"{points}\" fill=\"none\" stroke=\"{ORANGE}\" stroke-width=\"2\"/>")
            }),
            Series::Points { points } => points.iter().try_for_each(|(at, mean, deviation)| {
                let (x, y) = (self.x(*at), self.y(*mean));
                let (low, high) = (self.y(mean - deviation), self.y(mean + deviation));
                line(svg, (x, low), (x, high), "")?;
                writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{BLUE}\"/>")
            }),
        }
    }
    fn write_name(&self, svg: &mut String, series: &Series<'_>, place: usize) -> std::fmt::Result {
        let (name, colour) = match series {
            Series::Bars { name, .. } => (name, BLUE),
            Series::Steps { name, .. } => (name, ORANGE),
            Series::Points { .. } => return Ok(()),
        };
        let (x, y) = (if place == 0 { LEFT } else { WIDTH - RIGHT - 170.0 }, HEIGHT - 23.0);
        writeln!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>")?;
        text(svg, (x + 16.0, y + 9.0), "start", name)
    }
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), more: &str) -> std::fmt::Result {
    let ((x1, y1), (x2, y2)) = (from, to);
    writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{INK}\" {more}/>"
    )
}

/// Text of our own, which needs no escapes.
fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, what: &str) -> std::fmt::Result {
    writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{what}</text>")
}
