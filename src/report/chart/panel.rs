//! One panel of a chart: frame, grid, ticks, and what is drawn inside.
//!
//! Invariant: a depth runs along the panel, a height from 0 to 1 up it.

use super::scene::{ACCENT, Anchor, Colour, Font, INK, Point, Shape, TEXT};

const GRID: Colour = 0xe4e4e4;
const AXIS: Colour = 0x444444;
/// Upper and lower end of the field in which the figures are drawn.
const FIELD: (f64, f64) = (84.0, 410.0);
/// Width of the panel with its labels.
const WIDTH: f64 = 600.0;
/// Width of a digit, roughly.
const DIGIT: f64 = 7.6;
/// Fewer depths than these do not fill the field.
const FEWEST: usize = 5;

pub(super) struct Panel {
    pub shapes: Vec<(Colour, Shape)>,
    left: f64,
    right: f64,
    depths: f64,
}

impl Panel {
    /// An empty panel for `depths` depths; ticks are heights with their labels.
    pub fn new(left: f64, title: &str, y: &str, depths: usize, ticks: Vec<(f64, String)>) -> Panel {
        let longest = ticks.iter().map(|(_, label)| label.chars().count()).max();
        let mut panel = Panel {
            shapes: Vec::new(),
            left: left + 40.0 + DIGIT * longest.unwrap_or(1) as f64,
            right: left + WIDTH - 16.0,
            depths: depths.max(FEWEST) as f64,
        };
        let (first, last) = (panel.left, panel.right);
        let (top, bottom) = FIELD;
        let middle = (first + last) / 2.0;
        let step = tick_step(panel.depths, 12.0) as usize;
        for depth in (0..panel.depths as usize).step_by(step) {
            let (x, _) = panel.at((depth as f64, 0.0));
            panel.path(GRID, vec![(x, top), (x, bottom)], 1.0);
            panel.path(AXIS, vec![(x, bottom), (x, bottom + 5.0)], 1.0);
            panel.text(
                (x, bottom + 20.0),
                Anchor::Middle,
                Font::Label,
                depth.to_string(),
            );
        }
        for (height, label) in ticks {
            let (_, y) = panel.at((0.0, height));
            panel.path(GRID, vec![(first, y), (last, y)], 1.0);
            panel.path(AXIS, vec![(first - 5.0, y), (first, y)], 1.0);
            panel.text((first - 9.0, y + 4.5), Anchor::End, Font::Label, label);
        }
        panel.text(
            (middle, top - 14.0),
            Anchor::Middle,
            Font::Heading,
            title.into(),
        );
        panel.text(
            (left + 18.0, (top + bottom) / 2.0),
            Anchor::Upwards,
            Font::Label,
            y.into(),
        );
        panel.text(
            (middle, bottom + 44.0),
            Anchor::Middle,
            Font::Label,
            "Depth (moves)".into(),
        );
        panel.path(
            AXIS,
            vec![(first, top), (first, bottom), (last, bottom)],
            1.0,
        );
        panel
    }

    /// A bar over a depth.
    pub fn bar(&mut self, depth: f64, height: f64) {
        let (left, top) = self.at((depth - 0.46, height));
        let (right, bottom) = self.at((depth + 0.46, 0.0));
        let bar = Shape::Rectangle((left, top), right - left, bottom - top);
        self.shapes.push((INK, bar));
    }

    /// A dashed line over the whole height, with a label beside its upper end.
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
        self.shapes.push((
            ACCENT,
            Shape::Text((x, top + 13.0), anchor, Font::Label, label),
        ));
    }

    /// Points joined by lines.
    pub fn curve(&mut self, points: &[Point]) {
        let points: Vec<Point> = points.iter().map(|&point| self.at(point)).collect();
        let discs = points.iter().map(|&at| (INK, Shape::Disc(at, 2.6)));
        self.shapes.extend(discs);
        self.path(INK, points, 1.2);
    }

    /// A note with its middle at a point, and an arrow from it to another to the right.
    pub fn note(&mut self, at: Point, text: String, target: Point) {
        let ((x, y), (tx, ty)) = (self.at(at), self.at(target));
        let half = DIGIT / 2.0 * text.len() as f64;
        let x = x.max(self.left + half + 8.0);
        self.shapes.push((
            ACCENT,
            Shape::Text((x, y), Anchor::Middle, Font::Label, text),
        ));
        // From the end of the note, or from below it where the target lies under it, to just before the point.
        let from = if tx > x + half + 30.0 {
            (x + half + 2.0, y - 2.0)
        } else {
            (x, y + 6.0)
        };
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
        self.shapes.push((colour, Shape::Path(points, width)));
    }

    fn text(&mut self, at: Point, anchor: Anchor, font: Font, text: String) {
        self.shapes
            .push((TEXT, Shape::Text(at, anchor, font, text)));
    }
}

/// The smallest of 1, 2, 5, 10, .. that divides `range` into at most `most` steps.
pub(super) fn tick_step(range: f64, most: f64) -> f64 {
    let decades = (0..20).map(|e| 10f64.powi(e));
    let steps = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|step| step * decade));
    steps
        .into_iter()
        .find(|step| range / step <= most)
        .unwrap_or(range)
}
