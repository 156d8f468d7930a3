//! `throng list`.

use crate::output::{show, table};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::process::ExitCode;
use throng::builtin;
use throng::catalog::{self, Block, Entry, Stage};
use throng::params::{Field, Kind};

/// List what there is: models with their parameters, scenarios, papers
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to list [default: all]
    #[arg(value_enum)]
    what: Option<What>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum What {
    /// Models by stage, with parameters, units, defaults and limits
    Models,
    /// Scenarios that come with throng
    Scenarios,
    /// Where the models come from
    Papers,
}

const STAGES: [(Stage, &str); 4] = [
    (Stage::Macroscale, "MACROSCALE: where to?"),
    (Stage::Mesoscale, "MESOSCALE: among whom?"),
    (Stage::Microscale, "MICROSCALE: which velocity now?"),
    (Stage::Motion, "MOTION: how bodies move"),
];

/// Prints the lists.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let text = match (args.what, args.json) {
        (Some(what), true) => format!("{:#}\n", what.as_json()),
        (None, true) => {
            let all = What::value_variants().iter().map(|what| (what.title().to_lowercase(), what.as_json()));
            format!("{:#}\n", Value::Object(all.collect()))
        }
        (Some(what), false) => what.as_text(),
        (None, false) => {
            let parts =
                What::value_variants().iter().map(|what| format!("{}\n\n{}", what.title(), what.as_text()));
            parts.collect::<Vec<_>>().join("\n")
        }
    };
    show(&text)?;
    Ok(ExitCode::SUCCESS)
}

impl What {
    fn title(self) -> &'static str {
        match self {
            What::Models => "MODELS",
            What::Scenarios => "SCENARIOS",
            What::Papers => "PAPERS",
        }
    }

    fn as_text(self) -> String {
        match self {
            What::Models => models(),
            What::Scenarios => scenarios(),
            What::Papers => papers(),
        }
    }

    fn as_json(self) -> Value {
        match self {
            What::Models => catalog::entries().iter().map(model_json).collect(),
            What::Scenarios => builtin::all()
                .iter()
                .map(|b| json!({ "name": b.name, "folder": b.folder, "about": b.about }))
                .collect(),
            What::Papers => papers_and_models()
                .into_iter()
                .map(|(paper, models)| json!({ "paper": paper, "models": models }))
                .collect(),
        }
    }
}

fn models() -> String {
    let stage = |(stage, title): (Stage, &str)| {
        let entries: Vec<Entry> =
            catalog::entries().into_iter().filter(|entry| entry.stage == stage).collect();
        let models: String = entries.iter().map(model).collect();
        (!entries.is_empty()).then(|| format!("{title}\n\n{models}"))
    };
    let stages: String = STAGES.into_iter().filter_map(stage).collect();
    let shared: String =
        shared_blocks().map(|block| described(block.name, block.about, block.fields)).collect();
    let shared = if shared.is_empty() { shared } else { format!("SHARED BY ALL\n\n{shared}") };
    format!(
        "{stages}{shared}Set a parameter with --set params.MODEL.NAME=VALUE or under [params.MODEL] in a scenario.\n"
    )
}

fn model(entry: &Entry) -> String {
    described(entry.name, entry.about, block(entry.name).map_or(&[], |block| block.fields))
}

fn described(name: &str, about: &str, fields: &[Field]) -> String {
    let rows: Vec<[String; 4]> = fields
        .iter()
        .map(|field| [field.name.into(), default(field), limit(field), field.doc.into()])
        .collect();
    format!("  {name}: {about}\n{}\n", table(6, &rows))
}

fn default(field: &Field) -> String {
    format!("{} {}", field.default, field.unit).trim_end().to_owned()
}

fn limit(field: &Field) -> String {
    match field.kind {
        Kind::Flag => "true or false".into(),
        Kind::Choice(names) => names.join(", "),
        Kind::Whole | Kind::Real | Kind::Drawn => field.limit.to_string(),
    }
}

fn block(name: &str) -> Option<Block> {
    catalog::blocks().into_iter().find(|block| block.name == name)
}

/// Blocks that belong to no single model.
fn shared_blocks() -> impl Iterator<Item = Block> {
    let entries = catalog::entries();
    catalog::blocks().into_iter().filter(move |block| !entries.iter().any(|entry| entry.name == block.name))
}

fn scenarios() -> String {
    let row = |b: &builtin::Builtin| [b.name.to_owned(), b.folder.to_owned(), b.about.to_owned()];
    table(0, &builtin::all().iter().map(row).collect::<Vec<_>>())
}

fn papers() -> String {
    let paper = |(paper, models): (&str, Vec<&str>)| format!("{paper}\n  {}\n", models.join(", "));
    papers_and_models().into_iter().map(paper).collect()
}

/// Papers in the order of the catalog, each with its models.
fn papers_and_models() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut papers: Vec<(&str, Vec<&str>)> = Vec::new();
    for entry in catalog::entries().iter().filter(|entry| !entry.paper.is_empty()) {
        match papers.iter_mut().find(|(paper, _)| *paper == entry.paper) {
            Some((_, models)) => models.push(entry.name),
            None => papers.push((entry.paper, vec![entry.name])),
        }
    }
    papers
}

fn model_json(entry: &Entry) -> Value {
    let fields = block(entry.name).map_or(&[][..], |block| block.fields);
    let params: Vec<Value> = fields.iter().map(field_json).collect();
    json!({ "name": entry.name, "stage": entry.stage, "about": entry.about, "paper": entry.paper, "params": params })
}

fn field_json(field: &Field) -> Value {
    let number = !matches!(field.kind, Kind::Flag | Kind::Choice(_));
    let bound = |bound: f64| (number && bound.abs() < f64::MAX).then_some(bound);
    json!({
        "name": field.name, "about": field.doc, "unit": field.unit, "kind": field.kind, "default": field.default,
        "min": bound(field.limit.low), "min_included": field.limit.low_included, "max": bound(field.limit.high),
    })
}
