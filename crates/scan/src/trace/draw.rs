//! Traces as a figure: a panel for each run, one above the other, a line for each worker.

use super::Trace;
use std::fmt::Write as _;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 16.0;
const PANEL: f64 = 150.0;
const GAP: f64 = 64.0;
const TOP: f64 = 34.0;
/// Colours that can be distinguished without seeing red and green.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// Draws traces, all on the same axes.
#[must_use]
pub fn svg(traces: &[Trace]) -> String {
    let seconds = traces.iter().map(|trace| trace.seconds).fold(0.001, f64::max);
    let highest = traces.iter().flat_map(|trace| &trace.workers).flat_map(|lane| &lane.cpu);
    let percent = (highest.map(|(_, percent)| *percent).fold(100.0, f64::max) / 50.0).ceil() * 50.0;
    #[expect(clippy::cast_precision_loss, reason = "a figure has few panels")]
    let height = TOP + traces.len() as f64 * (PANEL + GAP);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    );
    for (place, trace) in traces.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a figure has few panels")]
        let top = TOP + place as f64 * (PANEL + GAP);
        panel(&mut out, trace, top, (seconds, percent));
    }
    out.push_str("</svg>\n");
    out
}

fn panel(out: &mut String, trace: &Trace, top: f64, (seconds, percent): (f64, f64)) {
    let x = |at: f64| LEFT + at / seconds * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| top + PANEL - (value / percent).clamp(0.0, 1.0) * PANEL;
    let least = trace.workers.iter().map(|lane| trace.busy(lane)).fold(1.0, f64::min);
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{:.1}\" font-weight=\"bold\">{}: {:.1} s, {} documents, workers busy for {:.1} % or more</text>",
        top - 8.0,
        trace.supply,
        trace.seconds,
        trace.documents,
        100.0 * least
    );
    axes(out, top, (seconds, percent), (&x, &y));
    for (number, lane) in trace.workers.iter().enumerate() {
        let colour = COLOURS.iter().cycle().nth(number).unwrap_or(&"black");
        let points = lane.cpu.iter().map(|(at, value)| format!("{:.1},{:.1}", x(*at), y(*value)));
        let points = points.collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            out,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.3\"/>\n\
             <line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\" stroke=\"{colour}\" stroke-dasharray=\"3 3\"/>",
            x(lane.finished),
            top,
            top + PANEL
        );
        let beside = LEFT + 90.0 * f64::from(u32::try_from(number % 8).unwrap_or(0));
        let _ = writeln!(
            out,
            "<text x=\"{beside:.1}\" y=\"{:.1}\" fill=\"{colour}\">worker {number}</text>",
            top + PANEL + 34.0
        );
    }
}

fn axes(
    out: &mut String,
    top: f64,
    (seconds, percent): (f64, f64),
    (x, y): (&impl Fn(f64) -> f64, &impl Fn(f64) -> f64),
) {
    let mut value = 0.0;
    while value <= percent {
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{1:.1}\" y2=\"{1:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{2:.1}\" y=\"{3:.1}\" text-anchor=\"end\">{value} %</text>",
            WIDTH - RIGHT,
            y(value),
            LEFT - 6.0,
            y(value) + 4.0
        );
        value += 50.0;
    }
    let step = step_of(seconds);
    let mut at = 0.0;
    while at <= seconds {
        let _ = writeln!(
            out,
            "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\" stroke=\"#999\"/>\
             <text x=\"{0:.1}\" y=\"{3:.1}\" text-anchor=\"middle\">{4} s</text>",
            x(at),
            top + PANEL,
            top + PANEL + 4.0,
            top + PANEL + 17.0,
            (at * 100.0).round() / 100.0
        );
        at += step;
    }
}

/// A round step that gives some ten marks.
fn step_of(seconds: f64) -> f64 {
    let mut step = 0.01;
    for factor in [2.0, 2.5, 2.0].into_iter().cycle() {
        if seconds / step <= 12.0 {
            break;
        }
        step *= factor;
    }
    step
}
