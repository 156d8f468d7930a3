//! The JSON Schema of scenario files: the file's own types, with what the catalog knows.

use super::file::ScenarioFile;
use crate::catalog::{self, Stage};
use serde_json::{Map, Value, json};
use throng_core::params::{self, Field, Kind};

/// The JSON Schema of a scenario file, with every model and every parameter there is.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(ScenarioFile).to_value();
    schema["properties"]["format"]["const"] = json!(1);
    let params = params_schema();
    let definitions = &mut schema["$defs"];
    name_models(&mut definitions["PipelineFile"]["properties"]);
    one_of(&mut definitions["PlaceFile"], &["grid", "points", "circle", "polygon"]);
    let goals = ["point", "points", "antipodal", "offset", "random", "polygon", "exit", "exits"];
    one_of(&mut definitions["GoalFile"], &goals);
    let events = ["add_obstacle", "remove_obstacle", "retarget", "close_exit", "open_exit", "release"];
    one_of(&mut definitions["EventFile"], &events);
    one_of(&mut definitions["MeasureFile"], &["line", "area"]);
    one_of(&mut definitions["SourceFile"], &["rate", "times", "arrivals"]);
    one_of(&mut definitions["StageFile"], &["waypoint", "queue", "waiting"]);
    one_of(&mut definitions["WaypointFile"], &["point", "area"]);
    one_of(&mut definitions["LegChoiceFile"], &["share", "shortest_queue", "exits"]);
    for people in ["CohortFile", "SourceFile"] {
        let properties = &mut definitions[people]["properties"];
        properties["microscale"]["enum"] = optional(Stage::Microscale);
        describe(&mut properties["params"], &params);
    }
    describe(&mut schema["properties"]["params"], &params);
    schema
}

fn one_of(table: &mut Value, keys: &[&str]) {
    table["oneOf"] = keys.iter().map(|key| json!({ "required": [key] })).collect();
}

fn name_models(pipeline: &mut Value) {
    pipeline["macroscale"]["enum"] = json!(catalog::names(Stage::Macroscale));
    pipeline["mesoscale"]["items"]["enum"] = json!(catalog::names(Stage::Mesoscale));
    pipeline["microscale"]["enum"] = json!(catalog::names(Stage::Microscale));
    pipeline["motion"]["enum"] = json!(catalog::names(Stage::Motion));
}

/// A stage's models, or null.
fn optional(stage: Stage) -> Value {
    let mut names: Vec<Value> = catalog::names(stage).into_iter().map(Value::from).collect();
    names.push(Value::Null);
    names.into()
}

fn describe(property: &mut Value, params: &Value) {
    let description = property["description"].take();
    *property = params.clone();
    property["description"] = description;
}

fn params_schema() -> Value {
    let blocks: Map<String, Value> =
        catalog::blocks().iter().map(|block| (block.name.to_owned(), block_schema(block))).collect();
    json!({ "type": "object", "properties": blocks, "additionalProperties": false })
}

fn block_schema(block: &catalog::Block) -> Value {
    let fields: Map<String, Value> =
        block.fields.iter().map(|field| (field.name.to_owned(), field_schema(field))).collect();
    json!({
        "type": "object",
        "description": block.about.trim(),
        "properties": fields,
        "additionalProperties": false,
    })
}

fn field_schema(field: &Field) -> Value {
    let unit = if field.unit.is_empty() { String::new() } else { format!(" Unit: {}.", field.unit) };
    let mut schema = json!({ "description": format!("{}{unit}", field.doc), "default": field.default });
    let mut number = json!({ "type": if field.kind == Kind::Whole { "integer" } else { "number" } });
    limit_schema(&mut number, field.limit);
    match field.kind {
        Kind::Flag => schema["type"] = json!("boolean"),
        Kind::Choice(names) => schema["enum"] = json!(names),
        Kind::Drawn => schema["anyOf"] = json!([number, { "$ref": "#/$defs/Distribution" }]),
        Kind::Whole | Kind::Real => {
            schema
                .as_object_mut()
                .into_iter()
                .zip(number.as_object_mut())
                .for_each(|(all, more)| all.append(more));
        }
    }
    schema
}

fn limit_schema(schema: &mut Value, limit: params::Limit) {
    let low = if limit.low_included { "minimum" } else { "exclusiveMinimum" };
    if limit.low > f64::MIN {
        schema[low] = json!(limit.low);
    }
    if limit.high < f64::MAX {
        schema["maximum"] = json!(limit.high);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn property<'a>(schema: &'a Value, path: &[&str]) -> &'a Value {
        path.iter().fold(schema, |value, key| &value["properties"][*key])
    }

    #[test]
    fn every_key_has_a_description() {
        let schema = schema();
        let mut tables = vec![("", &schema)];
        let definitions = schema["$defs"].as_object().unwrap();
        tables.extend(definitions.iter().map(|(name, table)| (name.as_str(), table)));
        for (name, table) in tables {
            for (key, property) in table["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].is_string(), "{name}.{key} has no description");
            }
        }
    }

    #[test]
    fn models_and_parameters_come_from_the_catalog() {
        let schema = schema();
        let pipeline = &schema["$defs"]["PipelineFile"];
        assert_eq!(property(pipeline, &["microscale"])["enum"], json!(catalog::names(Stage::Microscale)));
        assert_eq!(property(pipeline, &["motion"])["enum"], json!(catalog::names(Stage::Motion)));
        for block in catalog::blocks() {
            for field in block.fields {
                for table in [&schema, &schema["$defs"]["CohortFile"]] {
                    let property = property(table, &["params", block.name, field.name]);
                    assert_eq!(property["default"], json!(field.default), "{}.{}", block.name, field.name);
                }
            }
        }
        assert_eq!(property(&schema, &["params"])["additionalProperties"], json!(false));
    }

    #[test]
    fn unknown_keys_are_refused_by_the_schema_too() {
        let schema = schema();
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["$defs"]["CohortFile"]["additionalProperties"], json!(false));
        assert_eq!(schema["required"], json!(["format"]));
    }

    #[test]
    fn limits_and_units_are_written_down() {
        let field = Field {
            name: "reach",
            doc: "How far.",
            unit: "m",
            kind: Kind::Whole,
            default: params::Value::Number(3.0),
            limit: params::Limit::above(0.0).up_to(9.0),
        };
        let expected = json!({ "type": "integer", "description": "How far. Unit: m.", "default": 3.0,
            "exclusiveMinimum": 0.0, "maximum": 9.0 });
        assert_eq!(field_schema(&field), expected);
    }
}
