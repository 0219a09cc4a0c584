//! The depth distribution as a picture: one panel with a linear scale, one with a logarithmic scale.

use std::path::Path;
use std::sync::Arc;

use kuva::prelude::{
    Figure, Histogram, Layout, LinePlot, Plot, PngBackend, ReferenceLine, ScatterPlot, SvgBackend,
    TextAnnotation, Theme, TickFormat,
};

use super::{ReportError, thousands};
use crate::bfs::Outcome;

/// Colour of the distribution.
const INK: &str = "#2f6690";
/// Colour of what is pointed out in it.
const ACCENT: &str = "#c8553d";
/// Width and height of a panel in pixels of the SVG.
const PANEL: (f64, f64) = (600.0, 420.0);
/// Pixels of the PNG per pixel of the SVG: sharp on dense screens and in print.
const PNG_SCALE: f32 = 2.0;
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
            outcome.size().to_string(),
            &outcome.counts,
            outcome.complete,
        )
    }

    /// Returns the title, for example `3x4: 239,500,800 states, diameter 53`.
    pub fn title(&self) -> String {
        let states = thousands(self.counts.iter().sum());
        let last = self.last_depth();
        let ending = if self.complete {
            format!(", diameter {last}")
        } else {
            format!(" to depth {last}")
        };
        format!("{}: {states} states{ending}", self.name)
    }

    /// Returns the picture as SVG.
    pub fn svg(&self) -> String {
        SvgBackend::default().render_scene(&self.figure().render())
    }

    /// Returns the picture as PNG.
    ///
    /// # Errors
    /// [`ReportError::Draw`] when the pixels cannot be encoded.
    pub fn png(&self) -> Result<Vec<u8>, ReportError> {
        let backend = PngBackend::new().with_scale(PNG_SCALE);
        backend
            .render_scene(&self.figure().render())
            .map_err(ReportError::Draw)
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

    fn figure(&self) -> Figure {
        let ((linear, linear_layout), (log, log_layout)) = (self.linear(), self.logarithmic());
        Figure::new(1, 2)
            .with_title(self.title())
            .with_title_size(20)
            .with_plots(vec![linear, log])
            .with_layouts(vec![linear_layout, log_layout])
            .with_cell_size(PANEL.0, PANEL.1)
            .with_padding(14.0)
            .with_spacing(18.0)
    }

    /// Bars, with the mean depth marked.
    fn linear(&self) -> (Vec<Plot>, Layout) {
        let (unit, label) = match self.largest() {
            10_000_000_000.. => (1e9, "States (billions)"),
            10_000_000.. => (1e6, "States (millions)"),
            _ => (1.0, "States"),
        };
        let edges = (0..=self.counts.len()).map(|d| d as f64 - 0.5).collect();
        let heights: Vec<f64> = self.counts.iter().map(|&c| c as f64 / unit).collect();
        let plots = vec![Histogram::from_bins(edges, heights).with_color(INK).into()];
        // Head room for the label of the mean, up to the next tick.
        let top = self.largest() as f64 / unit * 1.08;
        let step = tick_step(top, 6.0);
        let mean = self.mean();
        let mark = ReferenceLine::vertical(mean)
            .with_color(ACCENT)
            .with_stroke_width(1.3)
            .with_dasharray("5,4")
            .with_label(format!("mean {mean:.2}"));
        let layout = self
            .layout(&plots)
            .with_title("Linear scale")
            .with_y_label(label)
            .with_y_axis_min(0.0)
            .with_y_axis_max((top / step).ceil() * step)
            .with_y_tick_step(step)
            .with_y_tick_format(TickFormat::Custom(Arc::new(
                |v| thousands(v.round() as u64),
            )))
            .with_reference_line(mark);
        (plots, layout)
    }

    /// Points, with the antipodes marked.
    fn logarithmic(&self) -> (Vec<Plot>, Layout) {
        let points = || {
            let nonzero = self.counts.iter().enumerate().filter(|(_, c)| **c > 0);
            nonzero.map(|(depth, &c)| (depth as f64, c as f64))
        };
        let line = LinePlot::new()
            .with_data(points())
            .with_color(INK)
            .with_stroke_width(1.2);
        let dots = ScatterPlot::new()
            .with_data(points())
            .with_color(INK)
            .with_size(2.6);
        let plots = vec![line.into(), dots.into()];
        // Over few decades there are ticks between the powers of ten: plain numbers suit them all.
        let few = self.largest() < 1000;
        let tick = move |v: f64| {
            if few {
                thousands(v.round() as u64)
            } else {
                power_of_ten(v)
            }
        };
        let mut layout = self
            .layout(&plots)
            .with_log_y()
            .with_title("Logarithmic scale")
            .with_y_label("States")
            .with_y_tick_format(TickFormat::Custom(Arc::new(tick)));
        if self.complete && self.largest() >= ROOM_FOR_NOTE {
            layout = layout.with_annotation(self.antipodes_note());
        }
        (plots, layout)
    }

    /// A note in the empty space under the curve, with an arrow to the last point.
    fn antipodes_note(&self) -> TextAnnotation {
        let last = self.last_depth();
        let antipodes = self.counts.last().copied().unwrap_or(0);
        let noun = if antipodes == 1 {
            "antipode"
        } else {
            "antipodes"
        };
        let text = format!("{} {noun} at depth {last}", thousands(antipodes));
        let height = (self.largest() as f64).log10() * 0.25;
        let above = (antipodes as f64).log10() + 0.5;
        TextAnnotation::new(text, 0.62 * last as f64, 10f64.powf(height.max(above)))
            .with_arrow(last as f64, antipodes as f64)
            .with_arrow_padding(5.0)
            .with_font_size(13)
            .with_color(ACCENT)
    }

    /// What both panels share.
    fn layout(&self, plots: &[Plot]) -> Layout {
        let depths = self.counts.len() as f64;
        let theme = Theme {
            grid_color: "#e4e4e4".into(),
            axis_color: "#444444".into(),
            tick_color: "#444444".into(),
            text_color: "#222222".into(),
            ..Theme::light()
        };
        Layout::auto_from_plots(plots)
            .with_theme(theme)
            .with_x_label("Depth (moves)")
            .with_x_tick_step(tick_step(depths, 12.0))
            .with_x_axis_min(-0.7)
            .with_x_axis_max(depths - 0.3)
            .with_title_size(15)
            .with_label_size(14)
            .with_tick_size(12)
            .with_axis_line_width(1.0)
            .with_tick_width(1.0)
            .with_grid_line_width(1.0)
    }
}

/// The smallest of 1, 2, 5, 10, .. that divides `range` into at most `most` steps.
fn tick_step(range: f64, most: f64) -> f64 {
    let decades = (0..20).map(|e| 10f64.powi(e));
    let steps = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|step| step * decade));
    steps
        .into_iter()
        .find(|step| range / step <= most)
        .unwrap_or(range)
}

/// A tick of the logarithmic scale: 10³, and 20 where ticks stand between the powers.
fn power_of_ten(value: f64) -> String {
    let exponent = value.log10().round() as i32;
    if (value / 10f64.powi(exponent) - 1.0).abs() > 1e-6 {
        return thousands(value.round() as u64);
    }
    let raised = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = exponent.to_string();
    let digits = digits
        .chars()
        .filter_map(|c| c.to_digit(10))
        .map(|d| raised[d as usize]);
    format!("10{}", digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_few() {
        assert_eq!(tick_step(7.0, 12.0), 1.0);
        assert_eq!(tick_step(54.0, 12.0), 5.0);
        assert_eq!(tick_step(109.0, 12.0), 10.0);
        assert_eq!(tick_step(23.6, 6.0), 5.0);
    }

    #[test]
    fn powers_of_ten_are_raised() {
        assert_eq!(power_of_ten(1.0), "10⁰");
        assert_eq!(power_of_ten(1e13), "10¹³");
        assert_eq!(power_of_ten(20.0), "20");
    }

    #[test]
    fn the_format_follows_the_ending() {
        assert_eq!(ChartFormat::of(Path::new("a/b.SVG")), Ok(ChartFormat::Svg));
        assert_eq!(ChartFormat::of(Path::new("b.png")), Ok(ChartFormat::Png));
        let refused = ChartFormat::of(Path::new("b.pdf"));
        assert_eq!(refused, Err(ReportError::PlotFormat("b.pdf".into())));
    }

    #[test]
    fn a_limited_search_is_titled_by_its_depth() {
        let chart = Chart::new("4x4".into(), &[1, 2, 4, 10], false);
        assert_eq!(chart.title(), "4x4: 17 states to depth 3");
        assert!(!chart.svg().contains("antipode"));
    }

    #[test]
    fn both_panels_and_the_antipodes_are_drawn() {
        let counts: Vec<u64> = vec![1, 20, 400, 8000, 400, 20, 3];
        let svg = Chart::new("test".into(), &counts, true).svg();
        for text in [
            "Linear scale",
            "Logarithmic scale",
            "3 antipodes at depth 6",
            "mean 3.00",
        ] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
