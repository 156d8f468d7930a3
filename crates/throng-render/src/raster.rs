//! A page as pixels, and as PNG.

use crate::colour::Colour;
use crate::font;
use crate::page::{Anchor, Page, Part, Path, Shape};
use tiny_skia::{
    FillRule, FilterQuality, LineCap, LineJoin, Paint, PathBuilder, Pixmap, PixmapPaint, Stroke, Transform,
};

pub(crate) fn draw(page: &Page) -> Vec<u8> {
    let canvas = canvas(page);
    let rgb: Vec<u8> = canvas
        .pixels()
        .iter()
        .flat_map(|pixel| {
            let pixel = pixel.demultiply();
            [pixel.red(), pixel.green(), pixel.blue()]
        })
        .collect();
    encoded(page.width, page.height, png::ColorType::Rgb, &rgb)
}

/// A page's pixels, opaque where its background is.
pub(crate) fn canvas(page: &Page) -> Pixmap {
    let mut canvas = Pixmap::new(page.width, page.height).expect("a page has 160 to 16,384 pixels a side");
    canvas.fill(tiny(page.background));
    page.shapes.iter().for_each(|shape| draw_shape(shape, &mut canvas));
    canvas
}

pub(crate) fn draw_shape(shape: &Shape, canvas: &mut Pixmap) {
    match shape {
        Shape::Area { path, fill } => fill_path(canvas, built(path), *fill),
        Shape::Line { path, colour, width, round } => {
            stroke_path(canvas, built(path), *colour, *width, *round)
        }
        Shape::Disc { centre: [x, y], radius, fill, rim } => {
            let circle = PathBuilder::from_circle(*x, *y, *radius);
            if let Some(fill) = fill {
                fill_path(canvas, circle.clone(), *fill);
            }
            if let Some((colour, width)) = rim {
                stroke_path(canvas, circle, *colour, *width, false);
            }
        }
        Shape::Text { at: [x, y], size, bold, anchor, colour, text } => {
            let shift = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => 0.5,
                Anchor::End => 1.0,
            };
            let strokes = font::strokes(text, x - shift * font::width(text, *size), *y, *size);
            let pen = if *bold { font::BOLD } else { font::REGULAR };
            stroke_path(canvas, built(&strokes), *colour, pen * size / 10.0, true);
        }
        Shape::Image { at, size, columns, rows, rgba, smooth } => {
            let quality = if *smooth { FilterQuality::Bicubic } else { FilterQuality::Nearest };
            if let Some(image) = pixmap(*columns, *rows, rgba) {
                let (sx, sy) = (size[0] / *columns as f32, size[1] / *rows as f32);
                let transform = Transform::from_row(sx, 0.0, 0.0, sy, at[0], at[1]);
                let paint = PixmapPaint { quality, ..PixmapPaint::default() };
                canvas.draw_pixmap(0, 0, image.as_ref(), &paint, transform, None);
            }
        }
    }
}

fn fill_path(canvas: &mut Pixmap, path: Option<tiny_skia::Path>, colour: Colour) {
    if let Some(path) = path {
        canvas.fill_path(&path, &paint(colour), FillRule::EvenOdd, Transform::identity(), None);
    }
}

fn stroke_path(canvas: &mut Pixmap, path: Option<tiny_skia::Path>, colour: Colour, width: f32, round: bool) {
    let Some(path) = path else { return };
    let line_cap = if round { LineCap::Round } else { LineCap::Butt };
    let stroke = Stroke { width, line_cap, line_join: LineJoin::Round, ..Stroke::default() };
    canvas.stroke_path(&path, &paint(colour), &stroke, Transform::identity(), None);
}

fn built(path: &Path) -> Option<tiny_skia::Path> {
    let mut builder = PathBuilder::new();
    for part in &path.parts {
        match *part {
            Part::Start([x, y]) => builder.move_to(x, y),
            Part::Line([x, y]) => builder.line_to(x, y),
            Part::Curve(a, b, c) => builder.cubic_to(a[0], a[1], b[0], b[1], c[0], c[1]),
            Part::Close => builder.close(),
        }
    }
    builder.finish()
}

fn tiny(colour: Colour) -> tiny_skia::Color {
    let [r, g, b] = colour.rgb;
    tiny_skia::Color::from_rgba8(r, g, b, (colour.alpha.clamp(0.0, 1.0) * 255.0).round() as u8)
}

fn paint(colour: Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(tiny(colour));
    paint
}

fn pixmap(columns: u32, rows: u32, rgba: &[u8]) -> Option<Pixmap> {
    let mut pixmap = Pixmap::new(columns, rows)?;
    for (pixel, rgba) in pixmap.pixels_mut().iter_mut().zip(rgba.chunks_exact(4)) {
        *pixel = tiny_skia::ColorU8::from_rgba(rgba[0], rgba[1], rgba[2], rgba[3]).premultiply();
    }
    Some(pixmap)
}

/// RGBA rows as a PNG file.
pub(crate) fn encode(width: u32, height: u32, rgba: &[u8]) -> Vec<u8> {
    encoded(width, height, png::ColorType::Rgba, rgba)
}

fn encoded(width: u32, height: u32, colours: png::ColorType, pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(colours);
    encoder.set_depth(png::BitDepth::Eight);
    // Areas of one colour and thin lines: filters, which are for photographs, make files a quarter larger.
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    // Memory does not run out of space, and the header above is valid.
    if let Ok(mut writer) = encoder.write_header() {
        let _ = writer.write_image_data(pixels);
    }
    file
}
