//! Well-known text: reads areas and lines, writes areas.

use super::{Drawing, Polygon};
use glam::DVec2;
use std::fmt::Write;

/// Depth of collections inside collections; drawings are not deeper.
const DEEPEST: usize = 32;
const KINDS: &str = "POLYGON, MULTIPOLYGON, LINESTRING, MULTILINESTRING, GEOMETRYCOLLECTION";

/// Reads polygons (areas) and line strings (walls), also inside collections. Heights and measures are ignored.
pub(crate) fn parse(text: &str) -> Result<Drawing, String> {
    let mut reader = Reader { text, at: 0, drawing: Drawing::default() };
    reader.skip_space();
    if reader.text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("SRID=")) {
        reader.at = text.find(';').map_or(text.len(), |end| end + 1);
    }
    reader.geometry(0)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.wrong("the end"));
    }
    Ok(reader.drawing)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    drawing: Drawing,
}

impl<'a> Reader<'a> {
    fn geometry(&mut self, depth: usize) -> Result<(), String> {
        let start = self.at;
        let kind = self.word().to_ascii_uppercase();
        self.dimensions();
        if self.take_word("EMPTY") {
            return Ok(());
        }
        match kind.as_str() {
            "POLYGON" => self.polygon(),
            "MULTIPOLYGON" => self.list(Self::polygon),
            "LINESTRING" | "LINEARRING" => self.line(),
            "MULTILINESTRING" => self.list(Self::line),
            "GEOMETRYCOLLECTION" if depth < DEEPEST => self.list(|reader| reader.geometry(depth + 1)),
            "GEOMETRYCOLLECTION" => Err(format!("collections are nested more than {DEEPEST} deep")),
            _ => {
                self.at = start;
                Err(self.wrong(&format!("one of {KINDS}")))
            }
        }
    }

    fn dimensions(&mut self) {
        ["Z", "M", "ZM"].iter().any(|word| self.take_word(word));
    }

    fn polygon(&mut self) -> Result<(), String> {
        let mut rings = Vec::new();
        self.list(|reader| {
            rings.push(reader.points()?);
            Ok(())
        })?;
        self.drawing.polygons.push(rings);
        Ok(())
    }

    fn line(&mut self) -> Result<(), String> {
        let points = self.points()?;
        self.drawing.lines.push(points);
        Ok(())
    }

    fn points(&mut self) -> Result<Vec<DVec2>, String> {
        let mut points = Vec::new();
        self.list(|reader| {
            points.push(DVec2::new(reader.number()?, reader.number()?));
            while !matches!(reader.peek(), Some(',' | ')') | None) {
                reader.number()?;
            }
            Ok(())
        })?;
        Ok(points)
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.expect('(')?;
        loop {
            item(self)?;
            if self.peek() == Some(',') {
                self.at += 1;
            } else {
                return self.expect(')');
            }
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| c.is_whitespace() || ",()".contains(c)).unwrap_or(rest.len());
        match rest[..end].parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.at += end;
                Ok(number)
            }
            _ => Err(self.wrong("a finite number")),
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.peek() != Some(wanted) {
            return Err(self.wrong(&format!("`{wanted}`")));
        }
        self.at += wanted.len_utf8();
        Ok(())
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.text[self.at..].chars().next()
    }

    fn word(&mut self) -> &'a str {
        self.skip_space();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn take_word(&mut self, wanted: &str) -> bool {
        let start = self.at;
        let found = self.word().eq_ignore_ascii_case(wanted);
        if !found {
            self.at = start;
        }
        found
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn wrong(&self, expected: &str) -> String {
        let rest = &self.text[self.at..];
        let found: String = rest.chars().take(20).collect();
        let found = if found.is_empty() { "nothing".to_owned() } else { format!("`{found}`") };
        format!(
            "WKT needs {expected} at character {}, found {found}",
            self.text[..self.at].chars().count() + 1
        )
    }
}

/// `POLYGON ((...), (...))` for one polygon, else a `MULTIPOLYGON`.
pub(crate) fn write(polygons: &[Polygon]) -> String {
    match polygons {
        [] => "POLYGON EMPTY".into(),
        [polygon] => format!("POLYGON {}", polygon_body(polygon)),
        _ => format!("MULTIPOLYGON ({})", join(polygons, polygon_body)),
    }
}

fn polygon_body(polygon: &Polygon) -> String {
    format!("({})", join(polygon, |ring| ring_body(ring)))
}

fn ring_body(ring: &[DVec2]) -> String {
    let closed: Vec<DVec2> = ring.iter().chain(ring.first()).copied().collect();
    // `Display` for f64 is the shortest text that reads back as the same number.
    format!("({})", join(&closed, |point| format!("{} {}", point.x, point.y)))
}

fn join<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    let mut joined = String::new();
    for (index, item) in items.iter().enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(joined, "{comma}{}", text(item));
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let ring = |x: f64| vec![DVec2::new(x, 0.1), DVec2::new(x + 1e-7, -2e9), DVec2::new(x, 3.0)];
        let two = vec![vec![ring(0.0), ring(0.25)], vec![ring(7.0)]];
        for polygons in [two.clone(), two[..1].to_vec()] {
            let closed = parse(&write(&polygons)).unwrap().polygons;
            let opened: Vec<Polygon> = closed
                .into_iter()
                .map(|polygon| polygon.into_iter().map(|ring| ring[..ring.len() - 1].to_vec()).collect())
                .collect();
            assert_eq!(opened, polygons);
        }
    }

    #[test]
    fn reads_collections_heights_and_lines() {
        let text = "SRID=4326; geometrycollection(POLYGON Z((0 0 1,1 0 1,1 1 1,0 0 1)), \
                    GEOMETRYCOLLECTION(LINESTRING(0 0, 5 5), POLYGON EMPTY))";
        let drawing = parse(text).unwrap();
        assert_eq!((drawing.polygons.len(), drawing.lines.len()), (1, 1));
        assert_eq!(drawing.polygons[0][0].len(), 4);
    }

    #[test]
    fn says_where_it_stumbled() {
        let complaint = |text: &str| parse(text).unwrap_err();
        assert!(complaint("").contains("POLYGON"), "{}", complaint(""));
        assert!(complaint("POINT (1 2)").contains("found `POINT (1 2)`"));
        assert!(
            complaint("POLYGON ((0 0, 1 x))").contains("character 18"),
            "{}",
            complaint("POLYGON ((0 0, 1 x))")
        );
        assert!(complaint("POLYGON ((0 0, 1 inf))").contains("finite"));
        assert!(complaint("POLYGON ((0 0, 1 1)) and").contains("the end"));
        assert!(complaint("POLYGON ((0 0, 1").contains("nothing"));
        assert!(complaint(&"GEOMETRYCOLLECTION(".repeat(100_000)).contains("nested"));
    }
}
