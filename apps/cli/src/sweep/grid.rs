//! The grid: keys with their values, and seeds.

use crate::changes::key_value;
use crate::opening::Text;
use anyhow::{anyhow, bail};
use throng::scenario::{Overrides, Scenario};

/// More runs than this in one sweep are a slip, and their list would fill the memory.
const MOST_RUNS: usize = 1_000_000;

/// A key and the values that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// As written: the name of its column.
    pub key: String,
    /// In the order of the command line.
    pub values: Vec<Value>,
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// As written, for the scenario.
    pub written: String,
    /// As it stands in the file: `orca` for `"orca"`, `10` for `1e1`.
    pub cell: String,
}

impl Value {
    /// Of what stands on a command line.
    pub fn new(written: &str) -> Value {
        // What is not TOML is a word, for `--set` too.
        let cell = match written.parse() {
            Ok(toml::Value::String(text)) => text,
            Ok(toml::Value::Float(number)) => plain(number),
            Ok(value) => value.to_string(),
            Err(_) => written.to_owned(),
        };
        // A line stays a row.
        Value { written: written.to_owned(), cell: cell.replace(['\n', '\r'], " ") }
    }
}

/// A number with all its digits and none more.
pub fn plain(number: f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Reads `KEY=V1,V2,..`.
pub fn axis(text: &str) -> Result<Axis, String> {
    let (key, values) = key_value(text).map_err(|_| "it must be KEY=V1,V2,..")?;
    check_key(&key, "params.orca.time_horizon=2,3")?;
    let values: Vec<Value> = split(&values)?.into_iter().map(Value::new).collect();
    for (index, value) in values.iter().enumerate() {
        if values[..index].iter().any(|other| other.cell == value.cell) {
            return Err(format!("`{}` stands twice among the values; give it once", value.cell));
        }
    }
    Ok(Axis { key, values })
}

/// Makes sure that a key of an option such as `example` is one that can be changed from run to run.
pub fn check_key(key: &str, example: &str) -> Result<(), String> {
    if words(key).iter().any(|word| word.is_empty()) {
        return Err(format!("it must name a key, such as {example}"));
    }
    if words(key) == ["seed"] {
        return Err("seeds are given with --seeds, such as --seeds 1..10".into());
    }
    Ok(())
}

/// A key's steps, as `--set` takes them: `agents[0].count` and `agents.0.count` are one.
pub fn words(key: &str) -> Vec<&str> {
    key.split(['.', '[']).map(|word| word.trim_end_matches(']').trim()).collect()
}

/// Splits at commas that stand in no bracket and in no quotes.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let mut values = Vec::new();
    let mut begin = 0;
    let mut open: Vec<char> = Vec::new();
    let mut quote = None;
    let mut escaped = false;
    for (at, sign) in text.char_indices() {
        match (quote, sign) {
            (Some(_), _) if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(end), _) if sign == end => quote = None,
            (Some(_), _) => {}
            // Inside a word it is an apostrophe.
            (None, '"' | '\'') if !open.is_empty() || text[begin..at].trim().is_empty() => quote = Some(sign),
            (None, '[') => open.push(']'),
            (None, '{') => open.push('}'),
            (None, ']' | '}') if open.pop() != Some(sign) => {
                return Err(format!("there is a `{sign}` that closes nothing; {PUT_IN_QUOTES}"));
            }
            (None, ',') if open.is_empty() => {
                values.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    if let Some(missing) = quote.or(open.pop()) {
        return Err(format!("a `{missing}` is missing at the end; {PUT_IN_QUOTES}"));
    }
    values.push(text[begin..].trim());
    if values.contains(&"") {
        return Err("a value is missing; write \"\" for an empty text".into());
    }
    Ok(values)
}

const PUT_IN_QUOTES: &str = "a text with brackets or quotes in it goes into quotes itself";

/// Seeds, without doubles, in the order of the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Seeds(pub Vec<u64>);

/// Reads `1..10`, which is ten seeds, or `1,2,5`, or both mixed.
pub fn seeds(text: &str) -> Result<Seeds, String> {
    let mut seeds = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        let (first, last) = (seed(first)?, seed(last.strip_prefix('=').unwrap_or(last))?);
        if first > last {
            return Err(format!("`{part}` is empty; write {last}..{first}"));
        }
        if last - first >= MOST_RUNS as u64 {
            return Err(format!("`{part}` is more than {MOST_RUNS} seeds; give fewer"));
        }
        seeds.extend(first..=last);
    }
    let mut sorted = seeds.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("{} stands twice; give it once", pair[0]));
    }
    Ok(Seeds(seeds))
}

fn seed(text: &str) -> Result<u64, String> {
    let text = text.trim();
    text.parse().map_err(|_| format!("`{text}` is no seed; write whole numbers: 1..10 or 1,2,5"))
}

/// All runs of a sweep.
#[derive(Debug)]
pub struct Grid {
    /// The option that names keys.
    pub option: &'static str,
    /// The first changes slowest.
    pub axes: Vec<Axis>,
    /// They change fastest.
    pub seeds: Vec<u64>,
}

/// One place of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Point<'a> {
    /// By key.
    pub values: Vec<&'a Value>,
    /// Key of its random draws.
    pub seed: u64,
}

impl Grid {
    /// A grid that does not contradict itself, nor what the command line sets besides.
    pub fn new(axes: Vec<Axis>, seeds: Vec<u64>, set: &Overrides) -> anyhow::Result<Grid> {
        let option = "--over";
        check_keys(option, axes.iter().map(|axis| axis.key.as_str()), set)?;
        let sizes = axes.iter().map(|axis| axis.values.len()).chain([seeds.len()]);
        let runs = sizes.fold(1_usize, usize::saturating_mul);
        if runs > MOST_RUNS {
            bail!("these are more than {MOST_RUNS} runs; give fewer values or seeds, or make several sweeps");
        }
        Ok(Grid { option, axes, seeds })
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.combinations() * self.seeds.len()
    }

    /// How many there are of one seed.
    pub fn combinations(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// The values of a combination.
    pub fn combination(&self, mut index: usize) -> Vec<&Value> {
        let mut values: Vec<&Value> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            values.push(&axis.values[index % axis.values.len()]);
            index /= axis.values.len();
        }
        values.reverse();
        values
    }

    /// A run, counted in grid order.
    pub fn point(&self, run: usize) -> Point<'_> {
        let seeds = self.seeds.len();
        Point { values: self.combination(run / seeds), seed: self.seeds[run % seeds] }
    }

    /// What a run changes in the scenario, beside what all runs do.
    pub fn overrides(&self, point: &Point<'_>, set: &Overrides) -> Overrides {
        let mut overrides = Overrides { seed: Some(point.seed), ..set.clone() };
        let written = point.values.iter().map(|value| value.written.clone());
        overrides.set.extend(self.axes.iter().map(|axis| axis.key.clone()).zip(written));
        overrides
    }

    /// The scenario of a run.
    pub fn scenario(&self, text: &Text, point: &Point<'_>, set: &Overrides) -> anyhow::Result<Scenario> {
        text.scenario(&self.overrides(point, set)).map_err(|error| {
            let values = self.axes.iter().zip(&point.values);
            // The engine knows of no other way to set a key.
            let error = values.fold(error.to_string(), |error, (Axis { key, .. }, value)| {
                let set = format!("{key}={}", value.written);
                error.replace(&format!("--set {set}"), &format!("{} {set}", self.option))
            });
            anyhow!("{error}\nin the run with {}", self.describe(point))
        })
    }

    /// `params.orca.time_horizon=2, seed 7`.
    pub fn describe(&self, point: &Point<'_>) -> String {
        let values = self.axes.iter().zip(&point.values);
        let values = values.map(|(axis, value)| format!("{}={}, ", axis.key, value.written));
        format!("{}seed {}", values.collect::<String>(), point.seed)
    }
}

/// Options are applied one after the other, those that name `keys` last. None may wipe out what another wrote.
pub fn check_keys<'a>(
    option: &str,
    keys: impl Iterator<Item = &'a str>,
    set: &'a Overrides,
) -> anyhow::Result<()> {
    let mut taken: Vec<(String, Vec<&str>)> = Vec::new();
    let named = [
        ("macroscale", "pipeline.macroscale", set.macroscale.is_some()),
        ("mesoscale", "pipeline.mesoscale", set.mesoscale.is_some()),
        ("microscale", "pipeline.microscale", set.microscale.is_some()),
        ("motion", "pipeline.motion", set.motion.is_some()),
        ("until", "until", set.until.is_some()),
    ];
    let given = named.into_iter().filter(|(.., given)| *given);
    taken.extend(given.map(|(option, key, _)| (format!("--{option}"), words(key))));
    taken.extend(set.set.iter().map(|(key, _)| (format!("--set {key}"), words(key))));
    for key in keys {
        let path = words(key);
        if let Some((other, _)) = taken.iter().find(|(_, other)| other.starts_with(&path)) {
            bail!(
                "`{other}` would be without effect, because `{option} {key}` sets it too; leave one of them out"
            );
        }
        taken.push((format!("{option} {key}"), path));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<String> {
        axis(text).unwrap().values.into_iter().map(|value| value.cell).collect()
    }

    #[test]
    fn values_are_split_at_outer_commas_only() {
        assert_eq!(split("5, 10").unwrap(), ["5", "10"]);
        assert_eq!(split(r#"[],["density"],["a","b"]"#).unwrap(), ["[]", r#"["density"]"#, r#"["a","b"]"#]);
        assert_eq!(split("{a=[1,2],b='}'},{}").unwrap(), ["{a=[1,2],b='}'}", "{}"]);
        assert_eq!(split(r#""a,b",'c,"d'"#).unwrap(), [r#""a,b""#, r#"'c,"d'"#]);
        assert_eq!(split(r#""say \"a,b\"",c"#).unwrap(), [r#""say \"a,b\"""#, "c"]);
        assert_eq!(split(r"'back\',c").unwrap(), [r"'back\'", "c"]);
        assert_eq!(split("it's,that's").unwrap(), ["it's", "that's"]);
    }

    #[test]
    fn what_cannot_be_split_is_refused() {
        for (text, part) in [
            ("", "a value is missing"),
            ("1,,2", "a value is missing"),
            ("1,", "a value is missing"),
            ("[1,2", "a `]` is missing"),
            ("{a=[1}", "a `}` that closes nothing"),
            ("1]", "a `]` that closes nothing"),
            ("\"a,b", "a `\"` is missing"),
        ] {
            let error = split(text).unwrap_err();
            assert!(error.starts_with(part) || error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_value_reads_in_the_file_as_a_person_would_write_it() {
        assert_eq!(cells("k=orca,\"hrvo\",'vo'"), ["orca", "hrvo", "vo"]);
        assert_eq!(cells("k=5,2.50,1e1,1e-7,true"), ["5", "2.5", "10", "1e-7", "true"]);
        assert_eq!(cells("k=[ ],[ \"density\" ],{ uniform = [0.2, 0.3] }")[..2], ["[]", "[\"density\"]"]);
    }

    #[test]
    fn axes_that_make_no_sense() {
        assert!(axis("k").unwrap_err().contains("KEY=V1,V2"));
        assert!(axis("=1,2").unwrap_err().contains("must name a key"));
        assert!(axis("a..b=1").unwrap_err().contains("must name a key"));
        assert!(axis("seed=1,2").unwrap_err().contains("--seeds"));
        assert!(axis("k=10,1e1").unwrap_err().contains("`10` stands twice"));
    }

    #[test]
    fn seeds_are_ranges_with_both_ends_or_lists() {
        assert_eq!(seeds("1..10").unwrap().0, (1..=10).collect::<Vec<_>>());
        assert_eq!(seeds("1..=3").unwrap().0, [1, 2, 3]);
        assert_eq!(seeds("5, 1,2").unwrap().0, [5, 1, 2]);
        assert_eq!(seeds("7,1..3").unwrap().0, [7, 1, 2, 3]);
        assert_eq!(seeds("18446744073709551615").unwrap().0, [u64::MAX]);
        for (text, part) in [
            ("10..1", "write 1..10"),
            ("1,1", "1 stands twice"),
            ("-1", "`-1` is no seed"),
            ("", "`` is no seed"),
            ("1..", "`` is no seed"),
            ("0..18446744073709551615", "give fewer"),
        ] {
            assert!(seeds(text).unwrap_err().contains(part), "{text}");
        }
    }

    fn grid(over: &[&str], seeds: &[u64], set: &Overrides) -> anyhow::Result<Grid> {
        let axes = over.iter().map(|text| axis(text).unwrap()).collect();
        Grid::new(axes, seeds.to_vec(), set)
    }

    #[test]
    fn the_first_key_changes_slowest_and_seeds_fastest() {
        let grid = grid(&["a=1,2", "b=x,y,z"], &[8, 9], &Overrides::default()).unwrap();
        let runs: Vec<String> = (0..grid.len()).map(|run| grid.describe(&grid.point(run))).collect();
        assert_eq!(runs.len(), 12);
        assert_eq!(runs[..3], ["a=1, b=x, seed 8", "a=1, b=x, seed 9", "a=1, b=y, seed 8"]);
        assert_eq!(runs[6], "a=2, b=x, seed 8");
        assert_eq!(runs[11], "a=2, b=z, seed 9");
    }

    #[test]
    fn no_option_wipes_out_another() {
        let set = |key: &str| Overrides { set: vec![(key.into(), "1".into())], ..Overrides::default() };
        let refused = |over: &[&str], set: &Overrides| grid(over, &[1], set).unwrap_err().to_string();
        assert!(refused(&["a.b=1", "a=2"], &Overrides::default()).starts_with("`--over a.b` would be"));
        assert!(
            refused(&["agents[0].count=1", "agents.0.count=2"], &Overrides::default()).contains("leave one")
        );
        assert!(refused(&["a=1"], &set("a.b")).starts_with("`--set a.b` would be"));
        let model = Overrides { microscale: Some("orca".into()), ..Overrides::default() };
        assert!(refused(&["pipeline.microscale=vo"], &model).starts_with("`--microscale` would be"));
        // The other way round the narrower one is applied last, and both count.
        assert!(grid(&["a=2", "a.b=1"], &[1], &set("a.c.d")).is_err());
        assert!(grid(&["a=2", "a.b=1"], &[1], &Overrides::default()).is_ok());
        assert!(grid(&["a.b=1"], &[1], &set("a")).is_ok());
    }

    #[test]
    fn a_grid_has_an_end() {
        let many = format!("a={}", (0..2000).map(|number| number.to_string()).collect::<Vec<_>>().join(","));
        let error = grid(&[&many], &(0..1000).collect::<Vec<_>>(), &Overrides::default()).unwrap_err();
        assert!(error.to_string().contains("more than 1000000 runs"), "{error}");
    }
}
