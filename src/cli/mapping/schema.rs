//! `pinakes mapping schema`

use super::super::{Done, output};
use pinakes::record::Model;
use serde_json::json;

/// Print a JSON Schema for rule files, for editors that complete and check TOML
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pinakes mapping schema > concordance.schema.json

In an editor with a TOML language server, begin a rule file with
  #:schema ./concordance.schema.json")]
pub(super) struct Schema {}

impl Schema {
    pub fn run(self) -> anyhow::Result<Done> {
        output::json(&schema())?;
        Ok(Done::Well)
    }
}

fn schema() -> serde_json::Value {
    let models: Vec<&str> =
        Model::ALL.iter().filter(|model| **model != Model::Rdf).map(|model| model.name()).collect();
    let text = |about: &str| json!({ "type": "string", "description": about });
    let texts = |about: &str| json!({ "type": "object", "description": about, "additionalProperties": { "type": "string" } });
    let expressions = |about: &str| {
        json!({
            "type": "object", "description": about,
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]+$" },
            "additionalProperties": { "type": "string" },
        })
    };
    let example = json!({
        "type": "object",
        "required": ["given", "gives"],
        "additionalProperties": false,
        "properties": {
            "given": text("One field a line: tag, indicators (`#` for blank), subfields"),
            "gives": text("Everything the rule makes of it, as a template"),
            "diagnostics": { "type": "array", "items": { "type": "string" },
                "description": "The codes of what is reported beside it" },
        },
    });
    let rule = json!({
        "type": "object",
        "required": ["name", "field"],
        "anyOf": [{ "required": ["construct"] }, { "required": ["ignore"] }],
        "additionalProperties": false,
        "properties": {
            "name": { "type": "string", "pattern": "^[A-Za-z][A-Za-z0-9-]+$",
                "description": "Unique among the rules of the format; nodes are named after it" },
            "field": text("What the rule fires for: 245, 100|110, 6XX, 700[ind2=2], 008/35-37, record"),
            "when": text("An expression; the rule fires where it is true"),
            "group": text("Cut the field before each of these subfields; `a+` before each run of them"),
            "each": { "description": "One solution for each subfield with one of these codes, or for each member of a list",
                "anyOf": [{ "type": "string" }, expressions("One list") ] },
            "values": expressions("Lists; the triples that name them are repeated on the same nodes"),
            "bind": expressions("Names for expressions"),
            "construct": text("The template: triples of a SPARQL CONSTRUCT"),
            "ignore": texts("Subfields or positions left out on purpose, each with its reason"),
            "reverse": texts("For the way back: what a subfield is made from"),
            "example": { "type": "array", "items": example },
        },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pinakes concordance",
        "type": "object",
        "required": ["concordance", "rule"],
        "additionalProperties": false,
        "properties": {
            "concordance": {
                "type": "object",
                "required": ["format"],
                "additionalProperties": false,
                "properties": {
                    "format": { "enum": models, "description": "The model of the records" },
                    "about": text("One sentence"),
                    "see": text("Where the standard says it"),
                    "source": text("The rules hold for this source alone"),
                },
            },
            "bind": expressions("Names every rule of the file may use"),
            "values": expressions("Lists every rule of the file may use"),
            "rule": { "type": "array", "items": rule },
        },
    })
}
