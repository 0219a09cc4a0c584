//! The shapes of a chart, and their rendering as SVG or as pixels.
//!
//! `chart` makes a [`Scene`] and asks it for SVG or for pixels.

use std::fmt::Write;

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster};

// Invariant: coordinates are SVG pixels from the upper left corner; no shape depends on the rendered width of a text,
// which depends on the viewer's fonts.

pub(crate) type Point = (f64, f64);

/// A colour: 0xRRGGBB.
pub(crate) type Colour = u32;

/// Colour of the distribution.
pub(crate) const INK: Colour = 0x2f6690;

/// Colour of highlighted parts.
pub(crate) const ACCENT: Colour = 0xc8553d;

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

    /// Returns the scene as PNG.
    pub fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let [width, height] = [self.width, self.height].map(|pixels| pixels * SCALE as u32);
        let mut canvas = Canvas {
            width: width as usize,
            height: height as usize,
            bytes: vec![0xff; width as usize * height as usize * 3],
        };
        for (colour, shape) in &self.shapes {
            canvas.draw(*colour, shape);
        }
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(&canvas.bytes)?;
        Ok(file)
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
                Anchor::Start => "\"start\"".into(),
                Anchor::Middle => "\"middle\"".into(),
                Anchor::End => "\"end\"".into(),
                Anchor::Upwards => format!("\"middle\" transform=\"rotate(-90 {x:.1} {y:.1})\""),
            };
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            format!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\"{weight} fill=\"#{colour:06x}\" \
                 text-anchor={place}>{text}</text>"
            )
        }
    }
}

// Renders a scene as pixels: shapes by their distance from each pixel, text with a bitmap font, so that no system font
// is needed.

/// PNG pixels per SVG pixel: sharp on high-resolution screens and in print.
const SCALE: f64 = 2.0;

/// Pixels, three bytes each.
struct Canvas {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

impl Canvas {
    fn draw(&mut self, colour: Colour, shape: &SceneShape) {
        let scaled = |(x, y): Point| (x * SCALE, y * SCALE);
        match shape {
            SceneShape::Rectangle(corner, width, height) => {
                let ((left, top), half) = (scaled(*corner), scaled((width / 2.0, height / 2.0)));
                let centre = (left + half.0, top + half.1);
                self.fill(colour, centre, half, |(x, y)| {
                    ((x - centre.0).abs() - half.0).max((y - centre.1).abs() - half.1)
                });
            }
            SceneShape::Disc(centre, radius) => {
                let ((cx, cy), radius) = (scaled(*centre), radius * SCALE);
                self.fill(colour, (cx, cy), (radius, radius), |(x, y)| {
                    (x - cx).hypot(y - cy) - radius
                });
            }
            SceneShape::Path(points, width) => {
                for ends in points.windows(2) {
                    self.line(colour, scaled(ends[0]), scaled(ends[1]), width * SCALE);
                }
            }
            SceneShape::Text(at, anchor, font, text) => {
                self.text(colour, scaled(*at), *anchor, *font, text)
            }
        }
    }

    fn line(&mut self, colour: Colour, a: Point, b: Point, width: f64) {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let centre = ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
        let half = ((dx.abs() + width) / 2.0, (dy.abs() + width) / 2.0);
        self.fill(colour, centre, half, |(x, y)| {
            let along = ((x - a.0) * dx + (y - a.1) * dy) / (dx * dx + dy * dy).max(1e-9);
            let along = along.clamp(0.0, 1.0);
            (x - a.0 - along * dx).hypot(y - a.1 - along * dy) - width / 2.0
        });
    }

    /// Paints all points with a negative distance, antialiased at the border, inside a box around a centre.
    fn fill(
        &mut self,
        colour: Colour,
        centre: Point,
        half: Point,
        distance: impl Fn(Point) -> f64,
    ) {
        let range = |middle: f64, half: f64, end: usize| {
            let clamp = |v: f64| v.clamp(0.0, end as f64) as usize;
            clamp((middle - half - 1.0).floor())..clamp((middle + half + 1.0).ceil())
        };
        for y in range(centre.1, half.1, self.height) {
            for x in range(centre.0, half.0, self.width) {
                let inside = 0.5 - distance((x as f64 + 0.5, y as f64 + 0.5));
                self.blend(colour, (x, y), inside.clamp(0.0, 1.0));
            }
        }
    }

    fn blend(&mut self, colour: Colour, (x, y): (usize, usize), share: f64) {
        if x >= self.width || y >= self.height || share <= 0.0 {
            return;
        }
        let pixel = &mut self.bytes[(y * self.width + x) * 3..][..3];
        for (byte, ink) in pixel.iter_mut().zip(&colour.to_be_bytes()[1..]) {
            *byte = (f64::from(*byte) * (1.0 - share) + f64::from(*ink) * share).round() as u8;
        }
    }

    fn text(&mut self, colour: Colour, at: Point, anchor: Anchor, font: Font, text: &str) {
        let glyphs = glyphs(font, text);
        let length = glyphs.iter().map(Glyph::width).sum::<usize>() as isize;
        let mut along = match anchor {
            Anchor::Start => 0,
            Anchor::Middle | Anchor::Upwards => -length / 2,
            Anchor::End => -length,
        };
        for glyph in glyphs {
            // The baseline is a fifth of the height above the lower end of a glyph.
            let top = -(glyph.rows.len() as isize * 4 / 5) - if glyph.raised { 8 } else { 0 };
            for (down, row) in (top..).zip(&glyph.rows) {
                for (right, &ink) in (along..).zip(row) {
                    let (dx, dy) = match anchor {
                        Anchor::Upwards => (down, -right),
                        _ => (right, down),
                    };
                    let pixel = (at.0 as isize + dx, at.1 as isize + dy);
                    if let (Ok(x), Ok(y)) = (usize::try_from(pixel.0), usize::try_from(pixel.1)) {
                        self.blend(colour, (x, y), f64::from(ink) / 255.0);
                    }
                }
            }
            along += glyph.width() as isize;
        }
    }
}

/// A character: its rows of pixels, and whether it is a superscript digit.
struct Glyph {
    rows: Vec<Vec<u8>>,
    raised: bool,
}

impl Glyph {
    fn width(&self) -> usize {
        self.rows[0].len()
    }

    /// Returns two thirds of a character: three pixels in a row or a column become two.
    fn small(rows: &[&[u8]]) -> Glyph {
        let of = |i: usize| [(i * 3 / 2, 2 - i % 2), (i * 3 / 2 + 1, 1 + i % 2)];
        let ink = |x: usize, y: usize| {
            let four = of(y).into_iter().flat_map(|y| of(x).map(|x| (x, y)));
            let all: usize = four.map(|(x, y)| usize::from(rows[y.0][x.0]) * x.1 * y.1).sum();
            (all / 9) as u8
        };
        let row = |y: usize| (0..rows[0].len() * 2 / 3).map(|x| ink(x, y)).collect();
        Glyph { rows: (0..rows.len() * 2 / 3).map(row).collect(), raised: true }
    }
}

/// The glyphs of a text, with superscript digits as small ones.
fn glyphs(font: Font, text: &str) -> Vec<Glyph> {
    let (weight, height) = match font {
        Font::Label => (FontWeight::Regular, RasterHeight::Size24),
        Font::Heading => (FontWeight::Bold, RasterHeight::Size24),
        Font::Title => (FontWeight::Bold, RasterHeight::Size32),
    };
    let glyph = |c: char| match RAISED.iter().position(|&raised| raised == c) {
        Some(digit) => {
            let digit = char::from(b'0' + digit as u8);
            let digit = get_raster(digit, FontWeight::Regular, RasterHeight::Size24)?;
            Some(Glyph::small(digit.raster()))
        }
        None => {
            let rows = get_raster(c, weight, height)?.raster().iter().map(|row| row.to_vec());
            Some(Glyph { rows: rows.collect(), raised: false })
        }
    };
    text.chars().filter_map(glyph).collect()
}
