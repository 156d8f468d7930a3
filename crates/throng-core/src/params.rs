//! Parameters: public structs whose fields carry unit, default and limit, and are checked when set.
//!
//! The [`params!`](crate::params!) macro writes the struct, its defaults and its list of [`Field`]s from one
//! declaration, so that scenario files, `--set`, the JSON schema and the help texts can never disagree.

pub use crate::draw::Draw;

use serde::{Serialize, Serializer};
use std::fmt;

/// A parameter's value as a scenario file or a command line gives it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// Any number; whole-number fields check that it is whole.
    Number(f64),
    /// A distribution that each agent draws its own from.
    Drawn(Draw),
    /// One of some names.
    Word(Word),
}

/// A name that a value may have: short, so that values can be copied. Longer ones are cut, and are no choice of any field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Word {
    bytes: [u8; Word::MOST],
    length: u8,
}

impl Word {
    const MOST: usize = 31;

    /// The bytes of a name.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Word {
        let length = text.floor_char_boundary(Word::MOST);
        let mut bytes = [0; Word::MOST];
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Word { bytes, length: length as u8 }
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => flag.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Drawn(draw) => draw.fmt(f),
            Value::Word(word) => word.as_str().fmt(f),
        }
    }
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Whole,
    /// A real number.
    Real,
    /// A real number, or a distribution that each agent draws its own from.
    Drawn,
    /// One of these names.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// The names that can be chosen from, where it is a choice.
    pub fn choices(self) -> &'static [&'static str] {
        if let Kind::Choice(names) = self { names } else { &[] }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Kind::Flag => serializer.serialize_str("flag"),
            Kind::Whole => serializer.serialize_str("whole"),
            Kind::Real => serializer.serialize_str("real"),
            Kind::Drawn => serializer.serialize_str("drawn"),
            Kind::Choice(names) => names.serialize(serializer),
        }
    }
}

/// The interval that a number must lie in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// Lower end.
    pub low: f64,
    /// Whether the lower end itself is allowed.
    pub low_included: bool,
    /// Upper end, always allowed.
    pub high: f64,
}

impl Limit {
    /// `low` itself is not allowed.
    pub const fn above(low: f64) -> Limit {
        Limit { low, low_included: false, high: f64::MAX }
    }

    /// `low` itself is allowed.
    pub const fn from(low: f64) -> Limit {
        Limit { low, low_included: true, high: f64::MAX }
    }

    /// With an upper end.
    pub const fn up_to(self, high: f64) -> Limit {
        Limit { high, ..self }
    }

    /// Whether a number lies inside. NaN and infinities never do.
    pub fn holds(&self, number: f64) -> bool {
        number.is_finite()
            && number <= self.high
            && (number > self.low || (self.low_included && number == self.low))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = if self.low_included { ">=" } else { ">" };
        write!(f, "{low} {}", self.low)?;
        if self.high < f64::MAX { write!(f, " and <= {}", self.high) } else { Ok(()) }
    }
}

/// One parameter: all that a person or a program has to know before setting it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Field {
    /// Its key in a scenario file.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// SI unit; empty where there is none.
    pub unit: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Its value where it is not set.
    pub default: Value,
    /// What a number must satisfy; flags and choices ignore it.
    pub limit: Limit,
}

/// Why a parameter was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParamError {
    /// No such key.
    #[error("unknown key `{key}` in `params.{block}`; known: {known}")]
    Unknown {
        /// The block it was looked for in.
        block: &'static str,
        /// The key as written.
        key: String,
        /// The keys there are.
        known: String,
    },
    /// A flag where a number belongs, or the other way round.
    #[error("`params.{block}.{key}` = {value} must be {expected}")]
    Kind {
        /// The block.
        block: &'static str,
        /// The key.
        key: &'static str,
        /// The value as written.
        value: Box<Value>,
        /// What it must be.
        expected: Box<str>,
    },
    /// Outside its limits.
    #[error("`params.{block}.{key}` = {value} must be {limit} (default {default})")]
    Limit {
        /// The block.
        block: &'static str,
        /// The key.
        key: &'static str,
        /// The value as written.
        value: Box<Value>,
        /// What it must satisfy.
        limit: Limit,
        /// What it is where it is not set.
        default: Box<Value>,
    },
}

/// A block of parameters, as written under `[params.NAME]`.
pub trait Params: Default + Clone + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// The block's name in a scenario file.
    const BLOCK: &'static str;
    /// What the block belongs to, in a sentence or two.
    const ABOUT: &'static str;

    /// Every field there is.
    fn fields() -> &'static [Field];
    /// The present value of a field.
    fn get(&self, field: &str) -> Option<Value>;
    /// Sets a field that is known to exist, without a look at its limit.
    fn put(&mut self, field: &str, value: Value);

    /// Checks a value and sets the field.
    fn set(&mut self, key: &str, value: Value) -> Result<(), ParamError> {
        check(Self::BLOCK, Self::fields(), key, value)?;
        self.put(key, value);
        Ok(())
    }
}

/// Checks a value against the field it is meant for.
pub fn check(block: &'static str, fields: &[Field], key: &str, value: Value) -> Result<(), ParamError> {
    let Some(field) = fields.iter().find(|field| field.name == key) else {
        let known = fields.iter().map(|field| field.name).collect::<Vec<_>>().join(", ");
        return Err(ParamError::Unknown { block, key: key.into(), known });
    };
    let wrong = |expected: &str| {
        Err(ParamError::Kind { block, key: field.name, value: Box::new(value), expected: expected.into() })
    };
    match (field.kind, value) {
        (Kind::Flag, Value::Flag(_)) => Ok(()),
        (Kind::Flag, _) => wrong("true or false"),
        (Kind::Choice(names), Value::Word(word)) if names.contains(&word.as_str()) => Ok(()),
        (Kind::Choice(names), _) => wrong(&format!("one of: {}", names.join(", "))),
        (_, Value::Flag(_) | Value::Word(_)) => wrong("a number"),
        (Kind::Whole, Value::Number(n)) if n.fract() != 0.0 => wrong("a whole number"),
        (Kind::Drawn, Value::Drawn(draw))
            if [draw.low(), draw.high()].iter().all(|&end| field.limit.holds(end)) =>
        {
            Ok(())
        }
        (Kind::Whole | Kind::Real, Value::Drawn(_)) => wrong("a number; only some parameters can be drawn"),
        (_, Value::Number(n)) if field.limit.holds(n) => Ok(()),
        _ => Err(ParamError::Limit {
            block,
            key: field.name,
            value: Box::new(value),
            limit: field.limit,
            default: Box::new(field.default),
        }),
    }
}

/// A Rust type that can stand in a parameter field.
pub trait FieldType: Copy {
    /// What a scenario file writes for it.
    const KIND: Kind;
    /// From a checked value.
    fn from_value(value: Value) -> Self;
    /// To a value.
    fn to_value(self) -> Value;
}

impl FieldType for bool {
    const KIND: Kind = Kind::Flag;
    fn from_value(value: Value) -> bool {
        matches!(value, Value::Flag(true))
    }
    fn to_value(self) -> Value {
        Value::Flag(self)
    }
}

impl FieldType for f32 {
    const KIND: Kind = Kind::Real;
    fn from_value(value: Value) -> f32 {
        if let Value::Number(number) = value { number as f32 } else { f32::NAN }
    }
    fn to_value(self) -> Value {
        // Through text, so that 0.1_f32 is shown as 0.1 and not as 0.10000000149.
        Value::Number(self.to_string().parse().unwrap_or(f64::from(self)))
    }
}

impl FieldType for Draw {
    const KIND: Kind = Kind::Drawn;
    fn from_value(value: Value) -> Draw {
        match value {
            Value::Drawn(draw) => draw,
            Value::Number(number) => Draw::Fixed(number),
            Value::Flag(_) | Value::Word(_) => Draw::Fixed(f64::NAN),
        }
    }
    fn to_value(self) -> Value {
        if let Draw::Fixed(number) = self { Value::Number(number) } else { Value::Drawn(self) }
    }
}

impl FieldType for usize {
    const KIND: Kind = Kind::Whole;
    fn from_value(value: Value) -> usize {
        if let Value::Number(number) = value { number as usize } else { 0 }
    }
    fn to_value(self) -> Value {
        Value::Number(self as f64)
    }
}

/// Declares a parameter that is one of some names: an enum whose first variant is the default.
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl $crate::params::FieldType for $name {
            const KIND: $crate::params::Kind = $crate::params::Kind::Choice(&[$($word),+]);

            fn from_value(value: $crate::params::Value) -> $name {
                const ALL: &[$name] = &[$($name::$variant),+];
                let names = <$name as $crate::params::FieldType>::KIND.choices();
                let $crate::params::Value::Word(word) = value else { return ALL[0] };
                names.iter().position(|name| *name == word.as_str()).map_or(ALL[0], |index| ALL[index])
            }

            fn to_value(self) -> $crate::params::Value {
                let names = <$name as $crate::params::FieldType>::KIND.choices();
                $crate::params::Value::Word(names[self as usize].into())
            }
        }
    };
}

/// Declares a parameter block: the struct, its defaults, its fields and their checks.
///
/// ```
/// throng_core::params! {
///     /// A model that waits.
///     pub struct Wait("wait") {
///         /// How long it waits.
///         duration: f32 = 3.0, "s", Limit::above(0.0);
///         /// Whether it waits at all.
///         on: bool = true, "", Limit::from(0.0);
///     }
/// }
/// use throng_core::params::{Params, Value};
/// let mut wait = Wait::default();
/// assert!(wait.set("duration", Value::Number(-1.0)).is_err());
/// assert!(wait.set("duration", Value::Number(2.0)).is_ok());
/// assert_eq!(wait.duration, 2.0);
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident($block:literal) {
            $( $(#[doc = $doc:literal])+ $field:ident : $kind:ty = $default:expr, $unit:literal, $limit:expr; )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                #[doc = concat!(" Unit: `", $unit, "`. Default: `", stringify!($default), "`. Limit: `", stringify!($limit), "`.")]
                pub $field: $kind,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default ),* }
            }
        }

        impl $crate::params::Params for $name {
            const BLOCK: &'static str = $block;
            const ABOUT: &'static str = concat!($($about),+);

            fn fields() -> &'static [$crate::params::Field] {
                use $crate::params::{Field, FieldType, Limit};
                static FIELDS: std::sync::LazyLock<Vec<Field>> = std::sync::LazyLock::new(|| vec![$(
                    Field {
                        name: stringify!($field),
                        doc: concat!($($doc),+).trim_ascii(),
                        unit: $unit,
                        kind: <$kind as FieldType>::KIND,
                        default: <$kind as FieldType>::to_value($default),
                        limit: $limit,
                    }
                ),*]);
                &FIELDS
            }

            fn get(&self, field: &str) -> Option<$crate::params::Value> {
                use $crate::params::FieldType;
                match field {
                    $( stringify!($field) => Some(self.$field.to_value()), )*
                    _ => None,
                }
            }

            fn put(&mut self, field: &str, value: $crate::params::Value) {
                match field {
                    $( stringify!($field) => self.$field = $crate::params::FieldType::from_value(value), )*
                    _ => {}
                }
            }
        }
    };
}
