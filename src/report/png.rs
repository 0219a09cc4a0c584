//! Renders a scene as pixels: shapes by their distance from each pixel, text with a bitmap font, so that no system font
//! is needed.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, RasterizedChar, get_raster};

use crate::report::scene::{Anchor, Colour, Font, Point, RAISED, Scene, SceneShape};

/// PNG pixels per SVG pixel: sharp on high-resolution screens and in print.
const SCALE: f64 = 2.0;

/// Pixels, three bytes each.
struct Canvas {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

/// Returns the scene as PNG.
pub(crate) fn png(scene: &Scene) -> Result<Vec<u8>, png::EncodingError> {
    let (width, height) = (scene.width * SCALE as u32, scene.height * SCALE as u32);
    let mut canvas = Canvas {
        width: width as usize,
        height: height as usize,
        bytes: vec![0xff; width as usize * height as usize * 3],
    };
    for (colour, shape) in &scene.shapes {
        canvas.draw(*colour, shape);
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&canvas.bytes)?;
    Ok(file)
}

impl Canvas {
    fn draw(&mut self, colour: Colour, shape: &SceneShape) {
        let scaled = |(x, y): Point| (x * SCALE, y * SCALE);
        match shape {
            SceneShape::Rectangle(corner, width, height) => {
                let ((left, top), half) =
                    (scaled(*corner), (width * SCALE / 2.0, height * SCALE / 2.0));
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
        let glyphs: Vec<(Glyph, bool)> = glyphs(font, text);
        let length: usize = glyphs.iter().map(|(glyph, _)| glyph.width()).sum();
        let length = length as isize;
        let begin = match anchor {
            Anchor::Start => 0,
            Anchor::Middle | Anchor::Upwards => -length / 2,
            Anchor::End => -length,
        };
        let mut along = begin;
        for (glyph, raised) in glyphs {
            let rows = glyph.raster();
            // The baseline is a fifth of the height above the lower end of a glyph.
            let top = -(glyph.height() as isize * 4 / 5) - if raised { 8 } else { 0 };
            for (down, row) in (top..).zip(rows) {
                for (right, &ink) in (along..).zip(*row) {
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

type Glyph = RasterizedChar;

/// The glyphs of a text, with superscript digits as small ones.
fn glyphs(font: Font, text: &str) -> Vec<(Glyph, bool)> {
    let (weight, height) = match font {
        Font::Label => (FontWeight::Regular, RasterHeight::Size24),
        Font::Heading => (FontWeight::Bold, RasterHeight::Size24),
        Font::Title => (FontWeight::Bold, RasterHeight::Size32),
    };
    let glyph = |c: char| match RAISED.iter().position(|&raised| raised == c) {
        Some(digit) => {
            let digit = char::from(b'0' + digit as u8);
            (get_raster(digit, FontWeight::Regular, RasterHeight::Size16), true)
        }
        None => (get_raster(c, weight, height), false),
    };
    let drawn = text.chars().map(glyph);
    drawn.filter_map(|(glyph, raised)| Some((glyph?, raised))).collect()
}
