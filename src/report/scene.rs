//! The shapes of a chart, and their rendering as SVG.
//!
//! Invariant: coordinates are SVG pixels from the upper left corner; no shape depends on the rendered width of a text,
//! which depends on the viewer's fonts.

use std::fmt::Write;

/// A point.
pub(crate) type Point = (f64, f64);

/// A colour: 0xRRGGBB.
pub(crate) type Colour = u32;

/// Colour of the distribution.
pub(crate) const INK: Colour = 0x2f6690;

/// Colour of highlighted parts.
pub(crate) const ACCENT: Colour = 0xc8553d;

/// Colour of text.
pub(crate) const TEXT: Colour = 0x222222;

/// Superscript digits, from 0 to 9.
pub(crate) const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// The position of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// Begins at the point.
    Start,
    /// Is centred at the point.
    Middle,
    /// Ends at the point.
    End,
    /// Runs upwards, centred at the point.
    Upwards,
}

/// A shape with one colour.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SceneShape {
    /// A filled rectangle: a corner, width and height.
    Rectangle(Point, f64, f64),
    /// A filled circle: its centre and radius.
    Disc(Point, f64),
    /// Lines from point to point, with this width.
    Path(Vec<Point>, f64),
    /// A text with the left end, middle or right end of its baseline at a point.
    Text(Point, Anchor, Font, String),
}

/// The fonts of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Font {
    /// Ticks, labels and notes.
    Label,
    /// Titles of panels.
    Heading,
    /// The title of the chart.
    Title,
}

impl Font {
    /// The height, and whether it is bold.
    fn style(self) -> (u32, bool) {
        match self {
            Font::Label => (13, false),
            Font::Heading => (13, true),
            Font::Title => (18, true),
        }
    }
}

/// Shapes on a white background; later ones cover earlier ones.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// Width in SVG pixels.
    pub width: u32,
    /// Height in SVG pixels.
    pub height: u32,
    /// The shapes with their colours.
    pub shapes: Vec<(Colour, SceneShape)>,
}

impl Scene {
    /// Returns the scene as SVG.
    pub fn svg(&self) -> String {
        let (width, height) = (self.width, self.height);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" \
             font-family=\"DejaVu Sans, Verdana, Liberation Sans, Arial, sans-serif\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        for (colour, shape) in &self.shapes {
            // Writing to a string does not fail.
            let _ = writeln!(svg, "{}", element(*colour, shape));
        }
        svg + "</svg>\n"
    }
}

fn element(colour: Colour, shape: &SceneShape) -> String {
    match shape {
        SceneShape::Rectangle((x, y), width, height) => format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"#{colour:06x}\"/>"
        ),
        SceneShape::Disc((x, y), radius) => {
            format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"#{colour:06x}\"/>")
        }
        SceneShape::Path(points, width) => {
            let points = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
            format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"#{colour:06x}\" stroke-width=\"{width}\"/>",
                points.collect::<Vec<_>>().join(" ")
            )
        }
        SceneShape::Text((x, y), anchor, font, text) => {
            let (size, bold) = font.style();
            let weight = if bold { " font-weight=\"bold\"" } else { "" };
            let place = match anchor {
                Anchor::Start => "start\"".into(),
                Anchor::Middle => "middle\"".into(),
                Anchor::End => "end\"".into(),
                Anchor::Upwards => format!("middle\" transform=\"rotate(-90 {x:.1} {y:.1})\""),
            };
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            format!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\"{weight} fill=\"#{colour:06x}\" \
                 text-anchor={quote}{place}>{text}</text>",
                quote = '"'
            )
        }
    }
}
