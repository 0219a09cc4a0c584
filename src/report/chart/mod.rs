//! The depth distribution as a picture: one panel with a linear scale, one with a logarithmic scale.

use std::path::Path;

use super::{ReportError, thousands};
use crate::bfs::Outcome;

mod panel;
mod png;
mod scene;

use panel::{Panel, tick_step};
use scene::{Anchor, Colour, Font, RAISED, Scene, Shape, TEXT};

/// Width and height of the chart in pixels of the SVG.
const SIZE: (u32, u32) = (1240, 470);
/// Least states in the largest level for which the logarithmic panel has room for a note.
const ROOM_FOR_NOTE: u64 = 1000;
/// The formats that a chart can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartFormat {
    /// Scalable vector graphics.
    Svg,
    /// Pixels.
    Png,
}

impl ChartFormat {
    /// Returns the format that the ending of a file name asks for, in upper or lower case.
    ///
    /// # Errors
    /// [`ReportError::PlotFormat`] when the ending is neither `.svg` nor `.png`.
    pub fn of(path: &Path) -> Result<ChartFormat, ReportError> {
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        match ending.to_str() {
            Some("svg") => Ok(ChartFormat::Svg),
            Some("png") => Ok(ChartFormat::Png),
            _ => Err(ReportError::PlotFormat(path.display().to_string())),
        }
    }
}

/// A picture of a depth distribution.
///
/// ```
/// use tilewave::report::Chart;
/// let chart = Chart::new("2x2".into(), &[1, 2, 2, 2, 2, 2, 1], true);
/// assert_eq!(chart.title(), "2x2: 12 states, diameter 6");
/// assert!(chart.svg().contains("12 states, diameter 6"));
/// ```
#[derive(Clone, Debug)]
pub struct Chart {
    name: String,
    counts: Vec<u64>,
    complete: bool,
}

impl Chart {
    /// Returns the chart of a distribution; `name` begins its title, `complete` tells whether the last
    /// depth is the diameter.
    pub fn new(name: String, counts: &[u64], complete: bool) -> Chart {
        Chart {
            name,
            counts: counts.to_vec(),
            complete,
        }
    }

    /// Returns the chart of an outcome.
    pub fn of(outcome: &Outcome) -> Chart {
        Chart::new(
            outcome.subject.to_string(),
            &outcome.counts,
            outcome.complete,
        )
    }

    /// Returns the title, for example `3x4: 239,500,800 states, diameter 53`.
    pub fn title(&self) -> String {
        super::title(&self.name, &self.counts, self.complete)
    }

    /// Returns the picture as SVG.
    pub fn svg(&self) -> String {
        self.scene().svg()
    }

    /// Returns the picture as PNG.
    ///
    /// # Errors
    /// [`ReportError::Draw`] when the pixels cannot be encoded.
    pub fn png(&self) -> Result<Vec<u8>, ReportError> {
        png::png(&self.scene()).map_err(|e| ReportError::Draw(e.to_string()))
    }

    /// Returns the picture in the given format.
    ///
    /// # Errors
    /// [`ReportError::Draw`] when the pixels of a PNG cannot be encoded.
    pub fn bytes(&self, format: ChartFormat) -> Result<Vec<u8>, ReportError> {
        match format {
            ChartFormat::Svg => Ok(self.svg().into_bytes()),
            ChartFormat::Png => self.png(),
        }
    }

    fn last_depth(&self) -> usize {
        self.counts.len().saturating_sub(1)
    }

    fn largest(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(1)
    }

    fn mean(&self) -> f64 {
        let total: u64 = self.counts.iter().sum();
        let shares = self.counts.iter().map(|&c| c as f64 / total as f64);
        shares
            .enumerate()
            .map(|(depth, share)| depth as f64 * share)
            .sum()
    }

    fn scene(&self) -> Scene {
        let (width, height) = SIZE;
        let middle = f64::from(width) / 2.0;
        let title = Shape::Text((middle, 30.0), Anchor::Middle, Font::Title, self.title());
        let mut shapes = vec![(TEXT, title)];
        shapes.extend(self.linear(12.0));
        shapes.extend(self.logarithmic(middle + 8.0));
        Scene {
            width,
            height,
            shapes,
        }
    }

    /// Bars, with the mean depth marked.
    fn linear(&self, left: f64) -> Vec<(Colour, Shape)> {
        let (unit, label) = match self.largest() {
            10_000_000_000.. => (1e9, "States (billions)"),
            10_000_000.. => (1e6, "States (millions)"),
            _ => (1.0, "States"),
        };
        // Head room for the label of the mean, up to the next tick.
        let top = self.largest() as f64 / unit * 1.08;
        let step = tick_step(top, 6.0);
        let top = (top / step).ceil() * step;
        let ticks = (0..=(top / step).round() as u64).map(|i| i as f64 * step);
        let ticks = ticks.map(|at| (at / top, thousands(at.round() as u64)));
        let mut panel = Panel::new(
            left,
            "Linear scale",
            label,
            self.counts.len(),
            ticks.collect(),
        );
        for (depth, &count) in self.counts.iter().enumerate() {
            panel.bar(depth as f64, count as f64 / unit / top);
        }
        let mean = self.mean();
        panel.mark(mean, format!("mean {mean:.2}"));
        panel.shapes
    }

    /// Points, with the antipodes marked.
    fn logarithmic(&self, left: f64) -> Vec<(Colour, Shape)> {
        let ticks = log_ticks(self.largest());
        let top = ticks.last().map_or(10.0, |last| *last as f64).log10();
        let height = |count: f64| count.log10() / top;
        let few = top <= 2.0;
        let labels = ticks.iter().map(|&at| {
            (
                height(at as f64),
                if few {
                    at.to_string()
                } else {
                    power_of_ten(at)
                },
            )
        });
        let title = "Logarithmic scale";
        let mut panel = Panel::new(left, title, "States", self.counts.len(), labels.collect());
        let nonzero = self.counts.iter().enumerate().filter(|(_, c)| **c > 0);
        let points = nonzero.map(|(depth, &count)| (depth as f64, height(count as f64)));
        panel.curve(&points.collect::<Vec<_>>());
        if self.complete && self.largest() >= ROOM_FOR_NOTE {
            // In the empty space under the curve.
            let (last, antipodes) = (self.last_depth(), self.counts.last().copied().unwrap_or(1));
            let noun = if antipodes == 1 {
                "antipode"
            } else {
                "antipodes"
            };
            let text = format!("{} {noun} at depth {last}", thousands(antipodes));
            let last = (last as f64, height(antipodes as f64));
            panel.note((0.6 * last.0, (last.1 + 0.08).max(0.25)), text, last);
        }
        panel.shapes
    }
}

/// The ticks of a logarithmic scale from 1 to at least `largest`: powers of ten, at most about ten of
/// them; over one or two decades 2 and 5 between them as well, so that every label is a whole number.
fn log_ticks(largest: u64) -> Vec<u64> {
    let decades = (1..=19).find(|&e| 10u64.pow(e) >= largest).unwrap_or(19);
    if decades <= 2 {
        let steps = (0..decades).flat_map(|e| [1, 2, 5].map(|step| step * 10u64.pow(e)));
        return steps.chain([10u64.pow(decades)]).collect();
    }
    let step = decades.div_ceil(10);
    let last = decades.next_multiple_of(step).min(19);
    let powers = (0..=last).step_by(step as usize);
    powers.map(|e| 10u64.pow(e)).collect()
}

/// A power of ten as a tick: 10³.
fn power_of_ten(value: u64) -> String {
    let exponent = value.ilog10().to_string();
    let digits = exponent
        .bytes()
        .map(|digit| RAISED[usize::from(digit - b'0')]);
    format!("10{}", digits.collect::<String>())
}

#[cfg(test)]
#[path = "../../../tests/unit/chart.rs"]
mod tests;
