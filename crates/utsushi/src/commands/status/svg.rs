//! A small chart writer: time on a logarithmic x axis; counts, logarithmic too, or ratios, linear, on the y axis.
//!
//! Colours are mid tones on no background, so a chart is readable on light and on dark.

use crate::words::grouped;
use node::views::HistogramBar;
use std::fmt::Write as _;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 64.0;
/// Readable on white and on black.
const INK: &str = "#767676";
const BLUE: &str = "#4a86c5";
const ORANGE: &str = "#d9822b";

/// Common lengths of time, in seconds, in the order in which they are labelled.
const TICKS: [(f64, &str); 20] = [
    (1.0, "1 s"),
    (10.0, "10 s"),
    (60.0, "1 min"),
    (600.0, "10 min"),
    (3_600.0, "1 h"),
    (6.0 * 3_600.0, "6 h"),
    (86_400.0, "1 d"),
    (7.0 * 86_400.0, "1 week"),
    (30.0 * 86_400.0, "30 d"),
    (100.0 * 86_400.0, "100 d"),
    (400.0 * 86_400.0, "400 d"),
    (0.125, "⅛ s"),
    (3.0, "3 s"),
    (30.0, "30 s"),
    (180.0, "3 min"),
    (1_800.0, "30 min"),
    (3.0 * 3_600.0, "3 h"),
    (12.0 * 3_600.0, "12 h"),
    (3.0 * 86_400.0, "3 d"),
    (14.0 * 86_400.0, "2 weeks"),
];
/// The minimum distance between two labels.
const TICK_GAP: f64 = 46.0;

/// One chart.
pub(super) struct Chart<'a> {
    pub(super) title: &'a str,
    /// The source of its data.
    pub(super) told: String,
    pub(super) across: &'a str,
    pub(super) up: &'a str,
    /// The lengths of time that the axis always includes, in seconds.
    pub(super) range: (f64, f64),
    pub(super) series: Vec<Series<'a>>,
    /// A marked length of time, and its label.
    pub(super) mark: Option<(&'a str, f64)>,
}

/// What is drawn.
pub(super) enum Series<'a> {
    /// Filled bars of counts.
    Bars { name: &'a str, bars: Vec<HistogramBar> },
    /// Their outline only.
    Steps { name: &'a str, bars: Vec<HistogramBar> },
    /// Filled bars of ratios; a bar's count is the denominator.
    Ratios { name: &'a str, bars: Vec<(HistogramBar, f64)> },
    /// Ratios with their deviations: position, mean, deviation.
    Points { name: &'a str, points: Vec<(f64, f64, f64)> },
}

impl<'a> Series<'a> {
    /// Filled bars of non-empty bins.
    pub(super) fn bars(name: &'a str, bars: &[HistogramBar]) -> Self {
        Self::Bars { name, bars: filled(bars) }
    }
    /// Outlines of non-empty bins.
    pub(super) fn steps(name: &'a str, bars: &[HistogramBar]) -> Self {
        Self::Steps { name, bars: filled(bars) }
    }

    fn range(&self) -> Option<(f64, f64)> {
        let spans: Vec<(f64, f64)> = match self {
            Self::Bars { bars, .. } | Self::Steps { bars, .. } => {
                bars.iter().map(|bar| (bar.from, bar.to)).collect()
            }
            Self::Ratios { bars, .. } => bars.iter().map(|(bar, _)| (bar.from, bar.to)).collect(),
            Self::Points { points, .. } => points.iter().map(|(at, ..)| (*at, *at)).collect(),
        };
        spans.into_iter().reduce(union)
    }
    fn highest(&self) -> u64 {
        match self {
            Self::Bars { bars, .. } | Self::Steps { bars, .. } => {
                bars.iter().map(|bar| bar.count).max().unwrap_or(0)
            }
            Self::Ratios { .. } | Self::Points { .. } => 0,
        }
    }
    fn name(&self) -> (&'a str, &'static str) {
        match self {
            Self::Bars { name, .. } | Self::Ratios { name, .. } => (name, BLUE),
            Self::Steps { name, .. } | Self::Points { name, .. } => (name, ORANGE),
        }
    }
}

fn filled(bars: &[HistogramBar]) -> Vec<HistogramBar> {
    bars.iter().copied().filter(|bar| bar.count > 0).collect()
}
fn union(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.min(other.0), one.1.max(other.1))
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
             role=\"img\" font-family=\"sans-serif\" font-size=\"12\" fill=\"{INK}\">"
        )?;
        writeln!(svg, "<title>{}</title>", self.title)?;
        writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"24\" font-size=\"16\" font-weight=\"bold\">{}</text>",
            self.title
        )?;
        text(svg, (LEFT, 44.0), "start", &self.told)?;
        let ranges = self.series.iter().filter_map(Series::range);
        match ranges.reduce(union) {
            None => text(svg, (WIDTH / 2.0, HEIGHT / 2.0), "middle", "nothing yet")?,
            Some(range) => self.write_chart(svg, self.widened(range))?,
        }
        writeln!(svg, "</svg>")
    }

    fn widened(&self, range: (f64, f64)) -> (f64, f64) {
        let mark = self.mark.filter(|(_, at)| *at > 0.0).map_or(self.range, |(_, at)| (at, at));
        let (from, to) = union(union(range, self.range), mark);
        (from.max(1e-3), to.max(from.max(1e-3) * 2.0))
    }

    fn write_chart(&self, svg: &mut String, range: (f64, f64)) -> std::fmt::Result {
        let highest = self.series.iter().map(Series::highest).max().unwrap_or(0);
        let plane = Plane { range, highest };
        plane.write_axes(svg, self.across, self.up)?;
        let mut left = LEFT;
        for series in &self.series {
            plane.write_series(svg, series)?;
            if self.series.len() > 1 {
                left = write_name(svg, series, left)?;
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

/// Writes the label of a series above the chart, and returns the position of the next label.
fn write_name(svg: &mut String, series: &Series<'_>, x: f64) -> Result<f64, std::fmt::Error> {
    let ((name, colour), y) = (series.name(), TOP - 28.0);
    writeln!(svg, "<rect x=\"{x:.1}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>")?;
    text(svg, (x + 16.0, y + 9.0), "start", name)?;
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    Ok(x + 40.0 + name.chars().count() as f64 * 6.2)
}

/// The position of a value in the chart.
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
    /// Counts start at a half, so that one is visible.
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
        for (y, name) in self.ticks_up() {
            line(svg, (LEFT - 5.0, y), (right, y), "stroke-opacity=\"0.25\"")?;
            text(svg, (LEFT - 8.0, y + 4.0), "end", &name)?;
        }
        line(svg, (LEFT, bottom), (right, bottom), "")?;
        line(svg, (LEFT, TOP), (LEFT, bottom), "")?;
        let mut named: Vec<f64> = Vec::new();
        for (at, name) in TICKS.iter().filter(|(at, _)| (self.range.0..=self.range.1).contains(at)) {
            let x = self.x(*at);
            if named.iter().any(|other| (x - other).abs() < TICK_GAP) {
                continue;
            }
            named.push(x);
            line(svg, (x, bottom), (x, bottom + 5.0), "")?;
            text(svg, (x, bottom + 19.0), "middle", name)?;
        }
        text(svg, (f64::midpoint(LEFT, right), HEIGHT - 16.0), "middle", across)?;
        let (x, y) = (18.0, f64::midpoint(TOP, bottom));
        writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" transform=\"rotate(-90 {x} {y})\">{up}</text>"
        )
    }
    fn ticks_up(&self) -> Vec<(f64, String)> {
        if self.highest == 0 {
            return (0..=4).map(|n| (self.y(f64::from(n) / 4.0), format!("{} %", n * 25))).collect();
        }
        let powers = std::iter::successors(Some(1_u64), |count| count.checked_mul(10));
        let powers = powers.take_while(|count| *count <= self.highest);
        powers.map(|count| (self.y_of_count(count), grouped(count))).collect()
    }

    fn write_series(&self, svg: &mut String, series: &Series<'_>) -> std::fmt::Result {
        let bottom = HEIGHT - BOTTOM;
        match series {
            Series::Bars { bars, .. } => bars.iter().try_for_each(|bar| {
                let y = self.y_of_count(bar.count);
                self.write_bar(svg, bar, y, &grouped(bar.count))?;
                self.write_count(svg, bar, y - 3.0, INK)
            }),
            Series::Ratios { bars, .. } => bars.iter().try_for_each(|(bar, ratio)| {
                let told = format!("{:.1} % of {}", ratio * 100.0, grouped(bar.count));
                self.write_bar(svg, bar, self.y(*ratio), &told)?;
                // At its foot, clear of the deviations.
                let is_high = bottom - self.y(*ratio) > 14.0;
                self.write_count(svg, bar, bottom - 4.0, if is_high { "#fff" } else { INK })
            }),
            Series::Steps { bars, .. } => bars.iter().try_for_each(|bar| {
                let (x, y, to) = (self.x(bar.from), self.y_of_count(bar.count), self.x(bar.to));
                let points = format!("{x:.1},{bottom} {x:.1},{y:.1} {to:.1},{y:.1} {to:.1},{bottom}");
                writeln!(svg, "<polyline points=\"{points}\" fill=\"none\" stroke=\"{ORANGE}\" stroke-width=\"2\"/>")
            }),
            Series::Points { points, .. } => points.iter().try_for_each(|(at, mean, deviation)| {
                let (x, y) = (self.x(*at), self.y(*mean));
                let (low, high) = (self.y(mean - deviation), self.y(mean + deviation));
                writeln!(svg, "<path d=\"M{x:.1} {low:.1}V{high:.1}\" stroke=\"{ORANGE}\" stroke-width=\"1.5\"/>")?;
                writeln!(
                    svg,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{ORANGE}\"><title>{mean:.3} ± {deviation:.3}</title></circle>"
                )
            }),
        }
    }

    /// A bar with its tooltip.
    fn write_bar(&self, svg: &mut String, bar: &HistogramBar, y: f64, told: &str) -> std::fmt::Result {
        let (x, to) = (self.x(bar.from), self.x(bar.to));
        let (width, height) = ((to - x - 1.0).max(1.0), HEIGHT - BOTTOM - y);
        writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{BLUE}\">\
             <title>{} to {}: {told}</title></rect>",
            span(bar.from),
            span(bar.to),
        )
    }
    fn write_count(&self, svg: &mut String, bar: &HistogramBar, y: f64, colour: &str) -> std::fmt::Result {
        let (x, count) = (f64::midpoint(self.x(bar.from), self.x(bar.to)), compact(bar.count));
        writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"9\" fill=\"{colour}\">{count}</text>"
        )
    }
}

/// A count in at most four characters.
#[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
fn compact(count: u64) -> String {
    let of = |unit: f64, name: &str| {
        let number = count as f64 / unit;
        if number < 9.95 { format!("{number:.1}{name}") } else { format!("{number:.0}{name}") }
    };
    match count {
        0..=999 => count.to_string(),
        1_000..=999_499 => of(1e3, "k"),
        999_500..=999_499_999 => of(1e6, "M"),
        _ => of(1e9, "G"),
    }
}

/// A length of time in the largest unit that is not above it.
fn span(seconds: f64) -> String {
    let units = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (0.0, "s")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((0.0, "s"));
    let number = if unit > 0.0 { seconds / unit } else { seconds };
    if number < 10.0 { format!("{number:.1} {name}") } else { format!("{number:.0} {name}") }
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), more: &str) -> std::fmt::Result {
    let ((x1, y1), (x2, y2)) = (from, to);
    writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{INK}\" {more}/>"
    )
}

/// Our own text, which needs no escapes.
fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, what: &str) -> std::fmt::Result {
    writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{what}</text>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_spans_are_short() {
        for (count, expected) in
            [(0, "0"), (999, "999"), (1_000, "1.0k"), (9_960, "10k"), (999_499, "999k"), (999_500, "1.0M")]
        {
            assert_eq!(compact(count), expected);
        }
        assert_eq!(compact(12_345_678_901), "12G");
        for (seconds, expected) in
            [(0.125, "0.1 s"), (60.0, "1.0 min"), (5_091.0, "1.4 h"), (34_560_000.0, "400 d")]
        {
            assert_eq!(span(seconds), expected);
        }
    }
}
