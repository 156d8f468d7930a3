//! A page as SVG.

use crate::colour::Colour;
use crate::page::{Anchor, Page, Part, Path, Shape};
use crate::raster;
use std::fmt::Write;

pub(crate) fn draw(page: &Page) -> String {
    let (width, height) = (page.width, page.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"Inter, Helvetica, Arial, sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        hex(page.background)
    );
    for shape in &page.shapes {
        draw_shape(shape, &mut svg);
        svg.push('\n');
    }
    svg.push_str("</svg>\n");
    svg
}

// Writing to a string cannot fail, so its results are let go.
fn draw_shape(shape: &Shape, svg: &mut String) {
    let _ = match shape {
        Shape::Area { path, fill } => {
            write!(svg, "<path d=\"{}\" fill-rule=\"evenodd\"{}/>", data(path), paint("fill", *fill))
        }
        Shape::Line { path, colour, width, round } => {
            let cap = if *round { " stroke-linecap=\"round\"" } else { "" };
            write!(
                svg,
                "<path d=\"{}\" fill=\"none\"{} stroke-width=\"{width:.2}\" stroke-linejoin=\"round\"{cap}/>",
                data(path),
                paint("stroke", *colour)
            )
        }
        Shape::Disc { centre: [x, y], radius, fill, rim } => {
            let fill = fill.map_or(" fill=\"none\"".to_owned(), |fill| paint("fill", fill));
            let rim = rim.map_or(String::new(), |(colour, width)| {
                format!("{} stroke-width=\"{width:.2}\"", paint("stroke", colour))
            });
            write!(svg, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\"{fill}{rim}/>")
        }
        Shape::Text { at: [x, y], size, bold, anchor, colour, text } => {
            let weight = if *bold { " font-weight=\"600\"" } else { "" };
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let paint = paint("fill", *colour);
            write!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size:.1}\"{weight}{anchor}{paint}>{}</text>",
                escaped(text)
            )
        }
        Shape::Image { at: [x, y], size: [width, height], columns, rows, rgba, smooth } => {
            let rendering = if *smooth { "" } else { " image-rendering=\"pixelated\"" };
            write!(
                svg,
                "<image x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" \
                 preserveAspectRatio=\"none\"{rendering} href=\"data:image/png;base64,{}\"/>",
                base64(&raster::encode(*columns, *rows, rgba))
            )
        }
    };
}

fn hex(colour: Colour) -> String {
    let [r, g, b] = colour.rgb;
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn paint(attribute: &str, colour: Colour) -> String {
    if colour.alpha >= 1.0 {
        format!(" {attribute}=\"{}\"", hex(colour))
    } else {
        format!(" {attribute}=\"{}\" {attribute}-opacity=\"{:.3}\"", hex(colour), colour.alpha)
    }
}

fn data(path: &Path) -> String {
    let mut data = String::with_capacity(path.parts.len() * 16);
    for part in &path.parts {
        let _ = match part {
            Part::Start([x, y]) => write!(data, "M{x:.1} {y:.1}"),
            Part::Line([x, y]) => write!(data, "L{x:.1} {y:.1}"),
            Part::Curve(a, b, c) => {
                write!(data, "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", a[0], a[1], b[0], b[1], c[0], c[1])
            }
            Part::Close => write!(data, "Z"),
        };
    }
    data
}

/// XML knows no control characters, so they go.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars().filter(|letter| !letter.is_control()) {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            other => out.push(other),
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * place)) as usize & 63] as char;
            text.push(if place <= chunk.len() { digit } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_follows_its_standard() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn names_cannot_break_out_of_their_text() {
        assert_eq!(escaped("a<b>&\u{0}c"), "a&lt;b&gt;&amp;c");
    }
}
