//! The depth distribution as a picture: one panel with a linear scale, one with a logarithmic scale.

use std::path::Path;

use crate::{
    Error,
    report::{
        counted,
        scene::{ACCENT, Anchor, Colour, Font, INK, Point, RAISED, Scene, SceneShape, TEXT},
        thousands,
    },
    search::Outcome,
};

/// Width and height of the chart in SVG pixels: labels are readable at a width of 830 pixels, which is the page width
/// of most sites.
const SIZE: (u32, u32) = (880, 420);

/// Maximum number of depths of a growth curve whose points have room for their counts.
const MOST_LABELLED: usize = 16;

/// Minimum number of states in the largest level for which the logarithmic panel has room for a note.
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
    /// Returns the format for the extension of a file name, in upper or lower case.
    ///
    /// # Errors
    /// [`Error::Report`] if the extension is neither `.svg` nor `.png`.
    pub fn of(path: impl AsRef<Path>) -> Result<ChartFormat, Error> {
        let path = path.as_ref();
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        match ending.to_str() {
            Some("svg") => Ok(ChartFormat::Svg),
            Some("png") => Ok(ChartFormat::Png),
            _ => Err(Error::Report(format!(
                "'{}' is not a plot file: the name of a plot file must end in .svg or .png",
                path.display()
            ))),
        }
    }
}

/// A picture of a depth distribution.
///
/// ```
/// use tilewave::report::Chart;
/// let chart = Chart::new("2x2".into(), &[1, 2, 2, 2, 2, 2, 1], true);
/// assert_eq!(chart.title(), "2x2: 12 states, God's number 6");
/// assert!(chart.svg().contains("12 states, God's number 6"));
/// ```
#[derive(Clone, Debug)]
pub struct Chart {
    name: String,
    counts: Vec<u64>,
    complete: bool,
}

impl Chart {
    /// Returns the chart of a distribution; `name` begins its title, and `complete` tells whether the last depth is the
    /// diameter.
    pub fn new(name: String, counts: &[u64], complete: bool) -> Chart {
        Chart { name, counts: counts.to_vec(), complete }
    }

    /// Returns the chart of an outcome.
    pub fn of(outcome: &Outcome) -> Chart {
        let complete = outcome.complete && outcome.begins_at_goal();
        Chart::new(crate::report::text::searched(outcome), &outcome.counts, complete)
    }

    /// Returns the title, for example `3x4: 239,500,800 states, God's number 53`.
    pub fn title(&self) -> String {
        crate::report::title(&self.name, &self.counts, self.complete)
    }

    /// Returns the picture as SVG.
    pub fn svg(&self) -> String {
        self.scene().svg()
    }

    /// Returns the picture as PNG.
    ///
    /// # Errors
    /// [`Error::Report`] if the pixels cannot be encoded.
    pub fn png(&self) -> Result<Vec<u8>, Error> {
        self.scene().png().map_err(|e| {
            Error::Report(format!("cannot draw the plot: {e}; write it as .svg instead"))
        })
    }

    /// Returns the picture in the given format.
    ///
    /// # Errors
    /// [`Error::Report`] if the pixels of a PNG cannot be encoded.
    pub fn bytes(&self, format: ChartFormat) -> Result<Vec<u8>, Error> {
        match format {
            ChartFormat::Svg => Ok(self.svg().into_bytes()),
            ChartFormat::Png => self.png(),
        }
    }

    fn largest(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(1)
    }

    fn mean(&self) -> f64 {
        let total: u64 = self.counts.iter().sum();
        let shares = self.counts.iter().map(|&c| c as f64 / total as f64);
        shares.enumerate().map(|(depth, share)| depth as f64 * share).sum()
    }

    fn scene(&self) -> Scene {
        let (width, height) = SIZE;
        let middle = f64::from(width) / 2.0;
        let title = SceneShape::Text((middle, 30.0), Anchor::Middle, Font::Title, self.title());
        let mut shapes = vec![(TEXT, title)];
        if self.complete {
            let half = middle - MARGIN;
            shapes.extend(self.linear((MARGIN, half)));
            shapes.extend(self.logarithmic((middle, half)));
        } else {
            // Levels that only grow: bars would show only the last ones.
            shapes.extend(self.logarithmic((MARGIN, f64::from(width) - 2.0 * MARGIN)));
        }
        Scene { width, height, shapes }
    }

    /// Bars, with the mean depth marked.
    fn linear(&self, across: (f64, f64)) -> Vec<(Colour, SceneShape)> {
        let (unit, label) = match self.largest() {
            10_000_000_000.. => (1e9, "States (billions)"),
            10_000_000.. => (1e6, "States (millions)"),
            _ => (1.0, "States"),
        };
        // Headroom for the label of the mean, up to the next tick.
        let top = self.largest() as f64 / unit * 1.08;
        let step = tick_step(top, 6.0);
        let top = (top / step).ceil() * step;
        let ticks = (0..=(top / step).round() as u64).map(|i| i as f64 * step);
        let ticks = ticks.map(|at| (at / top, thousands(at.round() as u64)));
        let mut panel =
            Panel::new(across, "Linear scale", label, self.counts.len(), ticks.collect());
        for (depth, &count) in self.counts.iter().enumerate() {
            panel.bar(depth as f64, count as f64 / unit / top);
        }
        let mean = self.mean();
        panel.mark(mean, format!("mean {mean:.2}"));
        panel.shapes
    }

    /// Points, with the antipodes marked; for a search that stopped early, with their counts.
    fn logarithmic(&self, across: (f64, f64)) -> Vec<(Colour, SceneShape)> {
        let ticks = log_ticks(self.largest());
        let top = ticks.last().map_or(10.0, |last| *last as f64).log10();
        let height = |count: f64| count.log10() / top;
        let few = top <= 2.0;
        let labels = ticks
            .iter()
            .map(|&at| (height(at as f64), if few { at.to_string() } else { power_of_ten(at) }));
        let title = "Logarithmic scale";
        let mut panel = Panel::new(across, title, "States", self.counts.len(), labels.collect());
        let nonzero = self.counts.iter().enumerate().filter(|(_, c)| **c > 0);
        let points = nonzero.map(|(depth, &count)| (depth as f64, height(count as f64)));
        panel.curve(&points.collect::<Vec<_>>());
        if self.complete && self.largest() >= ROOM_FOR_NOTE {
            // In the empty space under the curve.
            let last = self.counts.len().saturating_sub(1);
            let antipodes = self.counts.last().copied().unwrap_or(1);
            let text = format!("{} at depth {last}", counted(antipodes, "antipode"));
            let last = (last as f64, height(antipodes as f64));
            panel.note((0.6 * last.0, (last.1 + 0.08).max(0.25)), text, last);
        }
        if !self.complete && self.counts.len() <= MOST_LABELLED {
            for (depth, &count) in self.counts.iter().enumerate().filter(|(_, c)| **c > 0) {
                panel.label((depth as f64, height(count as f64)), thousands(count));
            }
        }
        panel.shapes
    }
}

/// The ticks of a logarithmic scale from 1 to at least `largest`: powers of ten, at most about ten of them; over one or
/// two decades also 2 and 5 times these, so that every label is an integer.
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

/// A power of ten as the label of a tick: 10³.
fn power_of_ten(value: u64) -> String {
    let exponent = value.ilog10().to_string();
    let digits = exponent.bytes().map(|digit| RAISED[usize::from(digit - b'0')]);
    format!("10{}", digits.collect::<String>())
}

// One panel of a chart: frame, grid, ticks, and what is drawn inside.
//
// Invariant: depths run along the panel, and heights go up it from 0 to 1.

const GRID: Colour = 0xe4e4e4;

const AXIS: Colour = 0x444444;

/// Upper and lower edge of the field in which the figures are drawn.
const FIELD: (f64, f64) = (84.0, 360.0);

/// Empty pixels at the left and right edges of the chart.
const MARGIN: f64 = 4.0;

/// Maximum number of depths with a tick.
const DEPTH_TICKS: f64 = 12.0;

/// Approximate width of a digit.
const DIGIT: f64 = 7.6;

/// With fewer depths than this, the field is not filled.
const FEWEST: usize = 5;

pub(crate) struct Panel {
    pub shapes: Vec<(Colour, SceneShape)>,
    left: f64,
    right: f64,
    depths: f64,
}

impl Panel {
    /// An empty panel for `depths` depths, with a left edge and a width in pixels; ticks are heights with their labels.
    pub fn new(
        (left, width): (f64, f64),
        title: &str,
        y: &str,
        depths: usize,
        ticks: Vec<(f64, String)>,
    ) -> Panel {
        let longest = ticks.iter().map(|(_, label)| label.chars().count()).max();
        let mut panel = Panel {
            shapes: Vec::new(),
            left: left + 36.0 + DIGIT * longest.unwrap_or(1) as f64,
            right: left + width - 14.0,
            depths: depths.max(FEWEST) as f64,
        };
        let (first, last) = (panel.left, panel.right);
        let (top, bottom) = FIELD;
        let middle = (first + last) / 2.0;
        let step = tick_step(panel.depths, DEPTH_TICKS) as usize;
        for depth in (0..panel.depths as usize).step_by(step) {
            let (x, _) = panel.at((depth as f64, 0.0));
            panel.path(GRID, vec![(x, top), (x, bottom)], 1.0);
            panel.path(AXIS, vec![(x, bottom), (x, bottom + 5.0)], 1.0);
            panel.text((x, bottom + 20.0), Anchor::Middle, Font::Label, depth.to_string());
        }
        for (height, label) in ticks {
            let (_, y) = panel.at((0.0, height));
            panel.path(GRID, vec![(first, y), (last, y)], 1.0);
            panel.path(AXIS, vec![(first - 5.0, y), (first, y)], 1.0);
            panel.text((first - 9.0, y + 4.5), Anchor::End, Font::Label, label);
        }
        panel.text((middle, top - 14.0), Anchor::Middle, Font::Heading, title.into());
        panel.text((left + 18.0, (top + bottom) / 2.0), Anchor::Upwards, Font::Label, y.into());
        panel.text((middle, bottom + 44.0), Anchor::Middle, Font::Label, "Depth (moves)".into());
        panel.path(AXIS, vec![(first, top), (first, bottom), (last, bottom)], 1.0);
        panel
    }

    /// A bar at a depth.
    pub fn bar(&mut self, depth: f64, height: f64) {
        let (left, top) = self.at((depth - 0.46, height));
        let (right, bottom) = self.at((depth + 0.46, 0.0));
        let bar = SceneShape::Rectangle((left, top), right - left, bottom - top);
        self.shapes.push((INK, bar));
    }

    /// A dashed line over the full height, with a label next to its upper end.
    pub fn mark(&mut self, depth: f64, label: String) {
        let (x, _) = self.at((depth, 0.0));
        let (top, bottom) = FIELD;
        let mut y = top;
        while y < bottom {
            self.path(ACCENT, vec![(x, y), (x, (y + 5.0).min(bottom))], 1.4);
            y += 9.0;
        }
        let (x, anchor) = if x < (self.left + self.right) / 2.0 {
            (x + 7.0, Anchor::Start)
        } else {
            (x - 7.0, Anchor::End)
        };
        self.shapes.push((ACCENT, SceneShape::Text((x, top + 13.0), anchor, Font::Label, label)));
    }

    /// Points joined by lines.
    pub fn curve(&mut self, points: &[Point]) {
        let points: Vec<Point> = points.iter().map(|&point| self.at(point)).collect();
        let discs = points.iter().map(|&at| (INK, SceneShape::Disc(at, 2.6)));
        self.shapes.extend(discs);
        self.path(INK, points, 1.2);
    }

    /// A label to the upper left of a point, where a growing curve leaves room.
    pub fn label(&mut self, at: Point, text: String) {
        let (x, y) = self.at(at);
        self.text((x - 4.0, y - 7.0), Anchor::End, Font::Label, text);
    }

    /// A note centred at a point, with an arrow to a target on its right.
    pub fn note(&mut self, at: Point, text: String, target: Point) {
        let ((x, y), (tx, ty)) = (self.at(at), self.at(target));
        let half = DIGIT / 2.0 * text.len() as f64;
        let x = x.max(self.left + half + 8.0);
        self.shapes.push((ACCENT, SceneShape::Text((x, y), Anchor::Middle, Font::Label, text)));
        // From the end of the note, or from its lower side if the target is below it, to just before the point.
        let from = if tx > x + half + 30.0 { (x + half + 2.0, y - 2.0) } else { (x, y + 6.0) };
        let length = (tx - from.0).hypot(ty - from.1).max(1.0);
        let (dx, dy) = ((tx - from.0) / length, (ty - from.1) / length);
        let tip = (tx - 6.0 * dx, ty - 6.0 * dy);
        let side = |turn: f64| {
            let (back_x, back_y) = (tip.0 - 8.0 * dx, tip.1 - 8.0 * dy);
            (back_x - 4.0 * turn * dy, back_y + 4.0 * turn * dx)
        };
        self.path(ACCENT, vec![from, tip], 1.2);
        self.path(ACCENT, vec![side(1.0), tip, side(-1.0)], 1.2);
    }

    /// The pixel of a depth and a height.
    fn at(&self, (depth, height): Point) -> Point {
        let (top, bottom) = FIELD;
        let along = (depth + 0.7) / (self.depths + 0.4);
        let x = self.left + along * (self.right - self.left);
        (x, bottom - height * (bottom - top))
    }

    fn path(&mut self, colour: Colour, points: Vec<Point>, width: f64) {
        self.shapes.push((colour, SceneShape::Path(points, width)));
    }

    fn text(&mut self, at: Point, anchor: Anchor, font: Font, text: String) {
        self.shapes.push((TEXT, SceneShape::Text(at, anchor, font, text)));
    }
}

/// The smallest of 1, 2, 5, 10, .. that divides `range` into at most `most` steps.
pub(crate) fn tick_step(range: f64, most: f64) -> f64 {
    let decades = (0..20).map(|e| 10f64.powi(e));
    let steps = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|step| step * decade));
    steps.into_iter().find(|step| range / step <= most).unwrap_or(range)
}

#[cfg(test)]
mod tests {
    //! Tests of internals of the chart.

    use super::*;
    use crate::report::scene::{ACCENT, INK};

    #[test]
    fn steps_are_round_and_few() {
        assert_eq!(tick_step(7.0, 12.0), 1.0);
        assert_eq!(tick_step(54.0, 12.0), 5.0);
        assert_eq!(tick_step(109.0, 12.0), 10.0);
        assert_eq!(tick_step(23.6, 6.0), 5.0);
    }

    #[test]
    fn powers_of_ten_are_raised() {
        assert_eq!(power_of_ten(1), "10⁰");
        assert_eq!(power_of_ten(10_000_000_000_000), "10¹³");
    }

    #[test]
    fn no_two_ticks_of_a_logarithmic_scale_read_the_same() {
        assert_eq!(log_ticks(1), [1, 2, 5, 10]);
        assert_eq!(log_ticks(40), [1, 2, 5, 10, 20, 50, 100]);
        assert_eq!(log_ticks(1001), [1, 10, 100, 1000, 10_000]);
        assert_eq!(log_ticks(u64::MAX).len(), 10);
        for largest in [0, 1, 2, 9, 10, 11, 4_000, 20_000_000, 10_000_000_000_000] {
            let ticks = log_ticks(largest);
            assert!(ticks.is_sorted_by(|a, b| a < b) && ticks.len() <= 11);
            assert!(*ticks.last().unwrap() >= largest);
        }
    }

    #[test]
    fn the_plot_of_one_level_has_whole_ticks() {
        let svg = Chart::new("1x1".into(), &[1], true).svg();
        let texts = svg.lines().filter(|line| line.contains("text-anchor=\"end\""));
        let texts = texts.filter_map(|line| line.split(['<', '>']).nth(2));
        // Linear, then logarithmic.
        assert_eq!(texts.collect::<Vec<_>>(), ["0", "1", "2", "1", "2", "5", "10"]);
    }

    #[test]
    fn pixels_show_the_distribution() {
        let png = Chart::new("test".into(), &[1, 20, 400, 8000, 3], true).png().unwrap();
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (2 * SIZE.0, 2 * SIZE.1));
        let inked = |colour: Colour| {
            let [_, rgb @ ..] = colour.to_be_bytes();
            pixels.chunks(3).filter(|pixel| **pixel == rgb).count()
        };
        // The highest bar alone is a few hundred pixels wide and high; text and marks are thin.
        assert!(inked(INK) > 50_000, "{}", inked(INK));
        assert!(inked(ACCENT) > 200 && inked(TEXT) > 200);
    }

    #[test]
    fn the_format_follows_the_ending() {
        assert_eq!(ChartFormat::of("a/b.SVG").unwrap(), ChartFormat::Svg);
        assert_eq!(ChartFormat::of("b.png").unwrap(), ChartFormat::Png);
        let refused = ChartFormat::of("b.pdf").unwrap_err().to_string();
        assert_eq!(
            refused,
            "'b.pdf' is not a plot file: the name of a plot file must end in .svg \
                             or .png"
        );
    }

    #[test]
    fn a_limited_search_is_titled_by_its_depth() {
        let chart = Chart::new("4x4".into(), &[1, 2, 4, 10], false);
        assert_eq!(chart.title(), "4x4: 17 states to depth 3");
        let svg = chart.svg();
        assert!(!svg.contains("antipode") && !svg.contains("Linear scale"));
        assert_eq!(svg.matches(">10<").count(), 2, "the count at its point, and a tick");
    }

    #[test]
    fn both_panels_and_the_antipodes_are_drawn() {
        let counts: Vec<u64> = vec![1, 20, 400, 8000, 400, 20, 3];
        let svg = Chart::new("test".into(), &counts, true).svg();
        for text in ["Linear scale", "Logarithmic scale", "3 antipodes at depth 6", "mean 3.00"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
