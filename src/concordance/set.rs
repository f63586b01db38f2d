//! A set of rule files, code lists and queries: read, checked against each other, ready to run.

use super::codes::CodeList;
use super::compile;
use super::file::{self, RuleFile};
use super::fragment;
use super::program::Rule;
use super::query::Query;
use super::run::Outcome;
use super::run::{RecordNames, Rules, Table, View, run, run_parts};
use super::schema::{self, Schema};
use crate::diagnostic::{Code, Diagnostic, Problem, Severity};
use crate::ontology::{Ontology, Prefixes};
use crate::record::Model;
use rayon::prelude::*;
use spareval::QueryEvaluator;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock};
use std::{fs, io};

/// The files in the binary, by their path under `mappings/`.
const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/mappings.rs"));

/// Lists with another form, read by others.
const NOT_CODES: [&str; 2] = ["codes/content-types", "codes/content-type-evidence"];

/// Where a file comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Shipped,
    /// Loaded into the catalogue by its user; its version, from 1.
    Loaded(usize),
}

/// A file before it is read.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its path under `mappings/`, with its ending: `marc21/20x-24x-titles.toml`.
    pub path: String,
    pub text: String,
    pub origin: Origin,
}

impl Source {
    pub fn new(path: impl Into<String>, text: impl Into<String>, origin: Origin) -> Self {
        Self { path: path.into(), text: text.into(), origin }
    }

    /// The path without its ending: what a file is called everywhere.
    pub fn name(&self) -> &str {
        self.path.rsplit_once('.').map_or(self.path.as_str(), |(name, _)| name)
    }

    pub fn kind(&self) -> Kind {
        match self.path.rsplit_once('.') {
            Some((_, "tsv")) => Kind::Codes,
            Some((_, "rq")) => Kind::Query,
            _ => Kind::Rules,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Rules,
    Codes,
    Query,
}

/// A file that was read.
#[derive(Debug)]
pub struct Loaded {
    pub source: Source,
    /// Its rules as written; none for other kinds.
    pub file: Option<RuleFile>,
    pub problems: Vec<Problem>,
}

impl Loaded {
    pub fn diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        let path = format!("mappings/{}", self.source.path);
        self.problems.iter().map(move |problem| problem.diagnostic(&path, &self.source.text))
    }

    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.code.severity() == Severity::Error)
    }
}

/// The rules for records of one model.
#[derive(Debug, Default)]
pub struct ModelRules {
    pub rules: Vec<Rule>,
    table: Table,
}

/// Everything that maps records.
#[derive(Default)]
pub struct Concordances {
    models: BTreeMap<Model, ModelRules>,
    pub queries: Vec<Query>,
    pub lists: Arc<Vec<CodeList>>,
    pub files: Vec<Loaded>,
    languages: Option<usize>,
    evaluator: OnceLock<QueryEvaluator>,
}

impl Concordances {
    /// The files that come with Pinakes.
    pub fn shipped() -> Arc<Self> {
        static SHIPPED_SET: LazyLock<Arc<Concordances>> =
            LazyLock::new(|| Arc::new(Concordances::new(Concordances::shipped_sources())));
        Arc::clone(&SHIPPED_SET)
    }

    /// The same, not yet read.
    pub fn shipped_sources() -> Vec<Source> {
        SHIPPED.iter().map(|(path, text)| Source::new(*path, *text, Origin::Shipped)).collect()
    }

    /// The files of a folder laid out like `mappings/`.
    pub fn sources_in(folder: &Path) -> io::Result<Vec<Source>> {
        let mut found = Vec::new();
        let mut waiting = vec![folder.to_owned()];
        while let Some(next) = waiting.pop() {
            for entry in fs::read_dir(&next)? {
                let path = entry?.path();
                if path.is_dir() {
                    waiting.push(path);
                } else if path.extension().is_some_and(|e| e == "toml" || e == "tsv" || e == "rq") {
                    let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                    found.push(Source::new(
                        name.replace('\\', "/"),
                        fs::read_to_string(&path)?,
                        Origin::Shipped,
                    ));
                }
            }
        }
        Ok(found)
    }

    /// Reads and compiles; what is wrong stays with its file, and the rest works.
    pub fn new(mut sources: Vec<Source>) -> Self {
        // A loaded file takes the place of a shipped one with its name.
        sources.sort_by(|a, b| a.path.cmp(&b.path).then_with(|| rank(&a.origin).cmp(&rank(&b.origin))));
        sources.dedup_by(|later, earlier| {
            let same = later.path == earlier.path;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        let ontology = Ontology::shipped();
        let mut set = Self::default();
        let (codes, rest): (Vec<Source>, Vec<Source>) =
            sources.into_iter().partition(|source| source.kind() == Kind::Codes);
        let mut schemas = Vec::new();
        let mut lists = Vec::new();
        for source in codes {
            let mut problems = Vec::new();
            if let Some(name) = source.name().strip_prefix("fields/") {
                schemas.extend(Schema::read(name, &source.text));
            } else if !NOT_CODES.contains(&source.name()) && !source.name().starts_with("reverse/") {
                let name = source.name().strip_prefix("codes/").unwrap_or(source.name()).to_owned();
                lists.push(CodeList::read(&name, &source.text, Prefixes::shipped(), &mut problems));
            }
            set.files.push(Loaded { source, file: None, problems });
        }
        set.lists = Arc::new(lists);
        set.languages = set.lists.iter().position(|list| list.name == "languages");
        let mut rules: BTreeMap<Model, Vec<Rule>> = BTreeMap::new();
        // Parsing SPARQL is nearly all the work, and files do not depend on each other.
        let read: Vec<(Loaded, Vec<Rule>, Option<Query>)> =
            rest.into_par_iter().map(|source| read_file(source, &set.lists, &schemas, ontology)).collect();
        for (loaded, compiled, query) in read {
            if let Some(model) = loaded.file.as_ref().and_then(|file| file.model) {
                rules.entry(model).or_default().extend(compiled);
            }
            set.queries.extend(query);
            set.files.push(loaded);
        }
        schema::check_across(&mut set.files);
        set.models = rules
            .into_iter()
            .map(|(model, rules)| {
                let table = Table::new(&rules);
                (model, ModelRules { rules, table })
            })
            .collect();
        set
    }

    pub fn has_errors(&self) -> bool {
        self.files.iter().any(Loaded::has_errors)
    }

    /// The rules of a model.
    pub fn rules(&self, model: Model) -> &[Rule] {
        self.models.get(&model).map_or(&[], |rules| rules.rules.as_slice())
    }

    /// All rules, by model.
    pub fn models(&self) -> impl Iterator<Item = (Model, &[Rule])> {
        self.models.iter().map(|(model, rules)| (*model, rules.rules.as_slice()))
    }

    /// Runs the rules of the record's model.
    pub fn run<'a>(&'a self, view: &'a View<'a>, names: &'a RecordNames<'a>, source: &'a str) -> Outcome {
        static NONE: LazyLock<ModelRules> = LazyLock::new(ModelRules::default);
        let model = self.models.get(&view.model).unwrap_or(&NONE);
        let rules = Rules {
            rules: &model.rules,
            table: &model.table,
            lists: &self.lists,
            languages: self.languages,
            source,
        };
        run(&rules, view, names)
    }

    /// Runs the rules over the leader alone, or over the fields alone: for the way back, which
    /// tries fields one by one.
    pub fn run_parts<'a>(
        &'a self,
        view: &'a View<'a>,
        names: &'a RecordNames<'a>,
        source: &'a str,
        leader: bool,
        fields: bool,
    ) -> Outcome {
        static NONE: LazyLock<ModelRules> = LazyLock::new(ModelRules::default);
        let model = self.models.get(&view.model).unwrap_or(&NONE);
        let rules = Rules {
            rules: &model.rules,
            table: &model.table,
            lists: &self.lists,
            languages: self.languages,
            source,
        };
        run_parts(&rules, view, names, leader, false, fields)
    }

    /// The text of a file that is neither rules nor codes, by its path under `mappings/`; the
    /// shipped one where the set has none.
    pub fn text_of(&self, path: &str) -> String {
        let own =
            self.files.iter().find(|file| file.source.path == path).map(|file| file.source.text.clone());
        let shipped = || SHIPPED.iter().find(|(known, _)| *known == path).map(|(_, text)| (*text).to_owned());
        own.or_else(shipped).unwrap_or_default()
    }

    /// Runs one rule alone, for its examples.
    pub fn run_one<'a>(&'a self, rule: &'a Rule, view: &'a View<'a>, names: &'a RecordNames<'a>) -> Outcome {
        let table = Table::new(std::slice::from_ref(rule));
        let source = rule.source.as_deref().unwrap_or_default();
        // The table lives as long as this call, and so does everything that is made with it.
        let rules = Rules {
            rules: std::slice::from_ref(rule),
            table: &table,
            lists: &self.lists,
            languages: self.languages,
            source,
        };
        run(&rules, view, names)
    }

    /// What runs the queries: SPARQL with our functions of texts and code lists.
    pub fn evaluator(&self) -> &QueryEvaluator {
        self.evaluator.get_or_init(|| super::query_functions(&self.lists))
    }

    /// The rules compiled from a file.
    pub fn rules_of<'a>(&'a self, file: &'a str) -> impl Iterator<Item = &'a Rule> {
        self.models.values().flat_map(|rules| &rules.rules).filter(move |rule| &*rule.file == file)
    }
}

/// Reads and compiles one file.
fn read_file(
    source: Source,
    lists: &[CodeList],
    schemas: &[Schema],
    ontology: &Ontology,
) -> (Loaded, Vec<Rule>, Option<Query>) {
    let mut problems = Vec::new();
    if source.kind() == Kind::Query {
        let query = read_query(&source, ontology, &mut problems);
        return (Loaded { source, file: None, problems }, Vec::new(), query);
    }
    let read = file::read(&source.text, &mut problems);
    let compiled = compile::compile(source.name(), &read, lists, ontology, &mut problems);
    let schema = schemas.iter().find(|schema| Some(schema.model) == read.model);
    schema::check(&read, schema, &mut problems);
    (Loaded { source, file: Some(read), problems }, compiled, None)
}

fn rank(origin: &Origin) -> usize {
    match origin {
        Origin::Shipped => 0,
        Origin::Loaded(version) => *version,
    }
}

/// Reads a `.rq` file.
fn read_query(source: &Source, ontology: &Ontology, problems: &mut Vec<Problem>) -> Option<Query> {
    use sha2::{Digest, Sha256};
    if source.text.len() > file::LARGEST / 8 {
        problems.push(Problem::new(Code::RuleLimit, 0..1, "the query is larger than 128 KiB"));
        return None;
    }
    let whole = file::Text::whole(&source.text);
    if !fragment::within_limits(&whole, problems) {
        return None;
    }
    super::template::check_terms(&whole, ontology, problems);
    match fragment::parser().parse_query(&source.text) {
        Ok(query @ spargebra::Query::Construct { .. }) => {
            let hash: String = Sha256::digest(source.text.as_bytes())
                .iter()
                .take(8)
                .map(|byte| format!("{byte:02x}"))
                .collect();
            Query::new(source.name(), &source.text, hash, query)
        }
        Ok(_) => {
            let message = "a concordance for RDF is a CONSTRUCT query";
            problems.push(Problem::new(Code::TemplateSyntax, 0..1, message));
            None
        }
        Err(error) => {
            let message = error.to_string();
            // `error at LINE:COLUMN: …`
            let mut numbers = message.split("error at ").nth(1).unwrap_or_default().split(':');
            let mut number =
                || numbers.next().and_then(|text| text.trim().parse::<usize>().ok()).unwrap_or(1);
            let (line, column) = (number(), number());
            let start: usize = source.text.split_inclusive('\n').take(line - 1).map(str::len).sum();
            let rest = source.text.get(start..).unwrap_or_default();
            let offset = rest.char_indices().nth(column.saturating_sub(1)).map_or(0, |(at, _)| at);
            let at = start + offset;
            problems.push(Problem::new(
                Code::TemplateSyntax,
                at..at + 1,
                "the query does not parse near here",
            ));
            None
        }
    }
}

/// What a user's file is called: by its place below a folder `mappings`, else by the format it
/// names and its own name.
pub fn path_of(file: &Path, text: &str) -> String {
    let parts: Vec<String> =
        file.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let name = parts.last().cloned().unwrap_or_default();
    if let Some(at) = parts.iter().rposition(|part| part == "mappings")
        && at + 2 < parts.len()
    {
        return parts.get(at + 1..).unwrap_or_default().join("/");
    }
    match file.extension().and_then(|ending| ending.to_str()) {
        Some("tsv") => format!("codes/{name}"),
        Some("rq") => format!("rdf/{name}"),
        _ => match file::read(text, &mut Vec::new()).model {
            Some(model) => format!("{model}/{name}"),
            None => name,
        },
    }
}
