//! Geometry of a run as files hold it: the WKT that JuPedSim writes and PedPy reads.

/// A ring or polyline.
pub type Ring = Vec<[f64; 2]>;

/// What a WKT text holds, flattened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// Polygons: an outer ring, then its holes. Rings do not repeat their first point.
    pub polygons: Vec<Vec<Ring>>,
    /// Open lines.
    pub lines: Vec<Ring>,
}

/// How deep collections may nest; a file that goes deeper is broken or malicious.
const MAX_DEPTH: usize = 16;

impl Geometry {
    /// Reads POLYGON, MULTIPOLYGON, LINESTRING, MULTILINESTRING and GEOMETRYCOLLECTION; a third coordinate is dropped.
    pub fn parse(wkt: &str) -> Result<Geometry, String> {
        let mut parser = Parser { text: wkt.as_bytes(), at: 0, out: Geometry::default() };
        parser.geometry(0)?;
        match parser.peek() {
            None => Ok(parser.out),
            Some(_) => Err(parser.complaint("the end")),
        }
    }

    /// Every corner.
    pub fn points(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        self.polygons.iter().flatten().chain(&self.lines).flatten().copied()
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    out: Geometry,
}

impl Parser<'_> {
    fn geometry(&mut self, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("collections nest deeper than {MAX_DEPTH}"));
        }
        let kind = self.word();
        // `POLYGON Z ((...))` names its dimensions before the coordinates.
        let mut next = self.peek_word();
        if matches!(next.as_str(), "Z" | "M" | "ZM") {
            self.word();
            next = self.peek_word();
        }
        if next == "EMPTY" {
            self.word();
            return Ok(());
        }
        match kind.as_str() {
            "POLYGON" => self.polygon(),
            "MULTIPOLYGON" => self.list(Self::polygon),
            "LINESTRING" | "LINEARRING" => self.line(),
            "MULTILINESTRING" => self.list(Self::line),
            "GEOMETRYCOLLECTION" => self.list(|parser| parser.geometry(depth + 1)),
            _ => Err(format!(
                "`{kind}` is not a geometry that bounds walking; known: POLYGON, MULTIPOLYGON, LINESTRING, \
                 MULTILINESTRING, GEOMETRYCOLLECTION"
            )),
        }
    }

    fn polygon(&mut self) -> Result<(), String> {
        let mut rings = Vec::new();
        self.list(|parser| {
            let mut ring = parser.points()?;
            if ring.len() > 1 && ring.first() == ring.last() {
                ring.pop();
            }
            rings.push(ring);
            Ok(())
        })?;
        self.out.polygons.push(rings);
        Ok(())
    }

    fn line(&mut self) -> Result<(), String> {
        let points = self.points()?;
        self.out.lines.push(points);
        Ok(())
    }

    fn points(&mut self) -> Result<Ring, String> {
        let mut points = Vec::new();
        self.list(|parser| {
            let point = [parser.number()?, parser.number()?];
            while parser.peek().is_some_and(|byte| byte != b',' && byte != b')') {
                parser.number()?;
            }
            points.push(point);
            Ok(())
        })?;
        Ok(points)
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.expect(b'(')?;
        loop {
            item(self)?;
            if self.peek() == Some(b',') {
                self.at += 1;
            } else {
                return self.expect(b')');
            }
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        self.peek();
        let start = self.at;
        while self.text.get(self.at).is_some_and(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b)) {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[start..self.at])
            .ok()
            .and_then(|text| text.parse().ok())
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| {
                self.at = start;
                self.complaint("a number")
            })
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.peek() != Some(byte) {
            return Err(self.complaint(&format!("`{}`", byte as char)));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self) -> String {
        self.peek();
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_alphabetic) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[start..self.at]).to_ascii_uppercase()
    }

    fn peek_word(&mut self) -> String {
        let at = self.at;
        let word = self.word();
        self.at = at;
        word
    }

    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn complaint(&self, wanted: &str) -> String {
        let rest = String::from_utf8_lossy(&self.text[self.at.min(self.text.len())..]);
        let found: String = rest.chars().take(12).collect();
        format!("WKT, character {}: expected {wanted}, found `{found}`", self.at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_flatten_and_heights_are_dropped() {
        let wkt = "geometrycollection(POLYGON Z ((0 0 9, 1 0 9, 1 1 9, 0 0 9)), LINESTRING (0 0, 5e-1 1), POLYGON EMPTY)";
        let geometry = Geometry::parse(wkt).unwrap();
        assert_eq!(geometry.polygons, [vec![vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]]]);
        assert_eq!(geometry.lines, [vec![[0.0, 0.0], [0.5, 1.0]]]);
    }

    #[test]
    fn broken_text_says_where() {
        assert_eq!(
            Geometry::parse("POLYGON ((0 0, 1 x))").unwrap_err(),
            "WKT, character 18: expected a number, found `x))`"
        );
        assert!(Geometry::parse("POINT (1 2)").unwrap_err().contains("`POINT`"));
        assert!(Geometry::parse(&"GEOMETRYCOLLECTION(".repeat(50_000)).is_err());
        assert!(Geometry::parse("POLYGON ((0 0, 1 1").is_err());
    }
}
