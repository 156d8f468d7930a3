//! DXF drawings: lines and polylines of the section ENTITIES, from text and from binary files.
//!
//! A file is a row of pairs, a code and a value; the code says what the value is. A crate that knows all of DXF brings
//! forty others, image decoders among them: a minute and a half of building, for three kinds of entities.

use glam::DVec2;
use std::borrow::Cow;

/// A line or a polyline.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entity {
    /// The layer that it lies on.
    pub layer: String,
    /// Its corners.
    pub points: Vec<DVec2>,
    /// Whether the last corner is joined to the first.
    pub closed: bool,
}

/// A code and what it says.
struct Pair<'a> {
    code: u16,
    value: Value<'a>,
}

enum Value<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    /// Of no use here.
    Other,
}

impl Pair<'_> {
    fn text(&self) -> &str {
        if let Value::Text(text) = &self.value { text } else { "" }
    }

    fn number(&self) -> Result<f64, String> {
        let number = match &self.value {
            Value::Number(number) => Some(*number),
            Value::Text(text) => text.parse().ok(),
            Value::Other => None,
        };
        let finite = number.filter(|number| number.is_finite());
        finite.ok_or_else(|| format!("`{}` after the code {} is not a number", self.text(), self.code))
    }
}

/// Reads a drawing.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Entity>, String> {
    match bytes.strip_prefix(b"AutoCAD Binary DXF\r\n\x1a\0") {
        Some(rest) => entities(binary_pairs(rest)),
        None => entities(text_pairs(&String::from_utf8_lossy(bytes))),
    }
}

fn text_pairs(text: &str) -> impl Iterator<Item = Result<Pair<'_>, String>> {
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    std::iter::from_fn(move || {
        let (line, code) = lines.next()?;
        // What stands behind the last pair is nothing but empty lines.
        if code.trim().is_empty() && lines.clone().all(|(_, line)| line.trim().is_empty()) {
            return None;
        }
        let Ok(code) = code.trim().parse::<i16>() else {
            return Some(Err(format!("line {}: `{}` is not a code", line + 1, code.trim())));
        };
        let Some((_, value)) = lines.next() else {
            return Some(Err(format!("line {}: there is no value behind the code", line + 1)));
        };
        // Negative codes are those of applications.
        let code = u16::try_from(code).unwrap_or(u16::MAX);
        Some(Ok(Pair { code, value: Value::Text(value.trim().into()) }))
    })
}

fn binary_pairs(mut rest: &[u8]) -> impl Iterator<Item = Result<Pair<'_>, String>> {
    // Before release 13 codes had one byte. The first is 0, and a text follows.
    let narrow = rest.get(1).is_some_and(|&byte| byte != 0);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let pair = binary_pair(&mut rest, narrow).ok_or_else(|| "it ends in the middle of a value".into());
        if pair.is_err() {
            rest = &[];
        }
        Some(pair)
    })
}

fn binary_pair<'a>(rest: &mut &'a [u8], narrow: bool) -> Option<Pair<'a>> {
    let mut code = if narrow { u16::from(take::<1>(rest)?[0]) } else { u16::from_le_bytes(take(rest)?) };
    if narrow && code == 255 {
        code = u16::from_le_bytes(take(rest)?);
    }
    let value = match code {
        10..=59 | 110..=149 | 210..=239 | 460..=469 | 1010..=1059 => {
            Value::Number(f64::from_le_bytes(take(rest)?))
        }
        60..=79 | 170..=179 | 270..=289 | 370..=389 | 400..=409 | 1060..=1070 => {
            Value::Number(f64::from(i16::from_le_bytes(take(rest)?)))
        }
        90..=99 | 420..=429 | 440..=459 | 1071 => Value::Number(f64::from(i32::from_le_bytes(take(rest)?))),
        160..=169 => take::<8>(rest).map(|_| Value::Other)?,
        290..=299 => take::<1>(rest).map(|_| Value::Other)?,
        310..=319 | 1004 => {
            let length = usize::from(take::<1>(rest)?[0]);
            *rest = rest.get(length..)?;
            Value::Other
        }
        _ => {
            let length = rest.iter().position(|&byte| byte == 0)?;
            let text = String::from_utf8_lossy(&rest[..length]);
            *rest = &rest[length + 1..];
            Value::Text(text)
        }
    };
    Some(Pair { code, value })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*first)
}

/// What the pairs are about.
#[derive(Clone, Copy, PartialEq)]
enum Now {
    /// Between sections, or in one that does not matter.
    Elsewhere,
    /// At the beginning of a section, whose name follows.
    Section,
    /// In the section of entities, at one of no use.
    Entities,
    Line,
    /// With all its corners in one entity.
    LightPolyline,
    /// Its corners are entities of their own.
    Polyline,
    Vertex,
}

fn entities<'a>(pairs: impl Iterator<Item = Result<Pair<'a>, String>>) -> Result<Vec<Entity>, String> {
    let (mut found, mut now, mut is_drawing) = (Vec::new(), Now::Elsewhere, false);
    for pair in pairs {
        let pair = pair?;
        if pair.code == 0 {
            is_drawing = true;
            now = begin(pair.text(), now, &mut found);
        } else if now == Now::Section && pair.code == 2 {
            now = if pair.text() == "ENTITIES" { Now::Entities } else { Now::Elsewhere };
        } else if let Some(entity) = found.last_mut() {
            describe(entity, now, &pair)?;
        }
    }
    if is_drawing { Ok(found) } else { Err("it is no drawing".into()) }
}

fn begin(name: &str, now: Now, found: &mut Vec<Entity>) -> Now {
    if name == "SECTION" || name == "ENDSEC" || matches!(now, Now::Elsewhere | Now::Section) {
        return if name == "SECTION" { Now::Section } else { Now::Elsewhere };
    }
    let next = match name {
        "LINE" => Now::Line,
        "LWPOLYLINE" => Now::LightPolyline,
        "POLYLINE" => Now::Polyline,
        "VERTEX" if matches!(now, Now::Polyline | Now::Vertex) => Now::Vertex,
        _ => return Now::Entities,
    };
    match (next, found.last_mut()) {
        (Now::Vertex, Some(polyline)) => polyline.points.push(DVec2::ZERO),
        (Now::Line, _) => found.push(Entity { points: vec![DVec2::ZERO; 2], ..Entity::default() }),
        _ => found.push(Entity::default()),
    }
    next
}

/// Takes what a pair says of an entity. Coordinates that are left out are 0.
fn describe(entity: &mut Entity, now: Now, pair: &Pair<'_>) -> Result<(), String> {
    let last = entity.points.len().wrapping_sub(1);
    match (now, pair.code) {
        (Now::Line | Now::LightPolyline | Now::Polyline, 8) => pair.text().clone_into(&mut entity.layer),
        (Now::LightPolyline | Now::Polyline, 70) => entity.closed = pair.number()? as i64 & 1 == 1,
        (Now::Line, 10) => entity.points[0].x = pair.number()?,
        (Now::Line, 20) => entity.points[0].y = pair.number()?,
        (Now::Line, 11) => entity.points[1].x = pair.number()?,
        (Now::Line, 21) => entity.points[1].y = pair.number()?,
        (Now::LightPolyline, 10) => entity.points.push(DVec2::new(pair.number()?, 0.0)),
        (Now::Vertex, 10) => entity.points[last].x = pair.number()?,
        (Now::LightPolyline | Now::Vertex, 20) if !entity.points.is_empty() => {
            entity.points[last].y = pair.number()?;
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWING: &str = "999
a comment
0
SECTION
2
BLOCKS
0
LINE
10
7.0
0
ENDSEC
  0
SECTION
  2
ENTITIES
  0
LINE
  8
walls
 10
1.0
 20
2.0
 30
0.0
 11
-3.5e1
 21
4
  0
CIRCLE
 10
9.0
  0
LWPOLYLINE
  8
walkable area
 90
2
 70
129
 10
0.0
 20
1.0
 10
2.0
 20
3.0
  0
POLYLINE
 10
0.0
 70
0
  0
VERTEX
  8
other
 10
5.0
 20
6.0
  0
VERTEX
 20
7.0
  0
SEQEND
  0
VERTEX
 10
8.0
  0
ENDSEC
  0
EOF
";

    fn entity(layer: &str, points: &[(f64, f64)], closed: bool) -> Entity {
        Entity { layer: layer.into(), points: points.iter().map(|&point| point.into()).collect(), closed }
    }

    fn drawn() -> [Entity; 3] {
        [
            entity("walls", &[(1.0, 2.0), (-35.0, 4.0)], false),
            entity("walkable area", &[(0.0, 1.0), (2.0, 3.0)], true),
            entity("", &[(5.0, 6.0), (0.0, 7.0)], false),
        ]
    }

    /// The same in the binary form, with codes of one byte or of two.
    fn binary(narrow: bool) -> Vec<u8> {
        let mut bytes = b"AutoCAD Binary DXF\r\n\x1a\0".to_vec();
        let lines: Vec<&str> = DRAWING.lines().skip(2).collect();
        for pair in lines.chunks(2) {
            let code: u16 = pair[0].trim().parse().unwrap();
            bytes.extend(&code.to_le_bytes()[..if narrow { 1 } else { 2 }]);
            match code {
                10..=59 => bytes.extend(pair[1].parse::<f64>().unwrap().to_le_bytes()),
                70 => bytes.extend(pair[1].parse::<i16>().unwrap().to_le_bytes()),
                90 => bytes.extend(pair[1].parse::<i32>().unwrap().to_le_bytes()),
                _ => bytes.extend(pair[1].bytes().chain([0])),
            }
        }
        bytes
    }

    #[test]
    fn lines_and_polylines_of_the_entities() {
        assert_eq!(parse(DRAWING.as_bytes()).unwrap(), drawn());
        assert_eq!(
            parse(format!("\u{feff}{DRAWING}\n\n").replace('\n', "\r\n").as_bytes()).unwrap(),
            drawn()
        );
        assert_eq!(parse(&binary(true)).unwrap(), drawn());
        assert_eq!(parse(&binary(false)).unwrap(), drawn());
    }

    #[test]
    fn what_is_no_drawing_is_an_error() {
        for (text, complaint) in [
            ("", "no drawing"),
            ("hello\nworld", "line 1: `hello` is not a code"),
            ("0", "no value behind the code"),
            ("0\nSECTION\n2\nENTITIES\n0\nLINE\n10\nfar", "`far` after the code 10 is not a number"),
            ("0\nSECTION\n2\nENTITIES\n0\nLINE\n10\ninf", "`inf` after the code 10 is not a number"),
        ] {
            assert!(parse(text.as_bytes()).unwrap_err().contains(complaint), "{text:?}");
        }
    }

    #[test]
    fn damaged_drawings_do_not_panic() {
        for whole in [DRAWING.as_bytes().to_vec(), binary(true), binary(false)] {
            for length in 0..whole.len() {
                let _ = parse(&whole[..length]);
                let mut changed = whole.clone();
                changed[length] ^= 0x5a;
                let _ = parse(&changed);
            }
        }
    }
}
