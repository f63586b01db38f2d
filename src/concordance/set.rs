//! A set of rule files, code lists and queries, ready to run.
//!
//! Nothing is read before it is needed: the rules of a model when its first record is mapped,
//! queries with the first RDF record, a code list when a code is looked up. Only
//! [`files`](Concordances::files) reads everything, to tell all that is wrong.

use super::codes::CodeList;
use super::example;
use super::file::RuleFile;
use super::problem::{Lines, Problem};
use super::program::Rule;
use super::query::Query;
use super::reading::{self, ReadRules};
use super::run::{Outcome, RecordNames, Rules, Table, View, run, run_parts};
use super::schema::{self, Schema};
use super::side_by_side::side_by_side;
use super::source::{Kind, Origin, SHIPPED, Source};
use crate::diagnostic::{Diagnostic, Severity};
use crate::record::Model;
use spareval::QueryEvaluator;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock};
use xxhash_rust::xxh3::Xxh3;

/// Lists with another form, read by others.
const NOT_CODES: [&str; 2] = ["codes/content-types", "codes/content-type-evidence"];

/// A file that was read.
#[derive(Debug)]
pub struct Loaded {
    pub source: Source,
    /// Its rules as written; none for other kinds.
    pub file: Option<Arc<RuleFile>>,
    pub problems: Vec<Problem>,
}

impl Loaded {
    pub fn diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        let path = format!("mappings/{}", self.source.path);
        let lines = Lines::of(&self.source.text);
        self.problems.iter().map(move |problem| problem.diagnostic(&path, &lines))
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

impl ModelRules {
    fn new(rules: Vec<Rule>) -> Self {
        let table = Table::new(&rules);
        Self { rules, table }
    }
}

/// The files of one model, and what came of them.
#[derive(Default)]
struct Part {
    /// Positions among the sources.
    sources: Vec<usize>,
    read: OnceLock<PartRead>,
    /// For sources with a file in the place of one that holds for all: the name of that one.
    replaced: BTreeMap<String, Vec<String>>,
    /// The rules for such sources.
    own: BTreeMap<String, OnceLock<ModelRules>>,
}

struct PartRead {
    files: Vec<(Arc<RuleFile>, Vec<Problem>)>,
    rules: ModelRules,
}

/// Everything that maps records.
#[derive(Default)]
pub struct Concordances {
    /// In the order of their paths; a loaded file is behind the shipped one of its name.
    sources: Vec<Source>,
    models: BTreeMap<Model, Part>,
    /// Positions of queries among the sources.
    asked: Vec<usize>,
    queries: OnceLock<(Vec<Query>, Vec<Vec<Problem>>)>,
    pub lists: Arc<Vec<CodeList>>,
    schemas: OnceLock<Vec<Schema>>,
    files: OnceLock<Vec<Loaded>>,
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
        Source::shipped()
    }

    /// The files of a folder laid out like `mappings/`.
    pub fn sources_in(folder: &Path) -> io::Result<Vec<Source>> {
        Source::in_folder(folder)
    }

    /// Takes files in. What is wrong with them stays with them, and the rest works.
    pub fn new(mut sources: Vec<Source>) -> Self {
        sources.sort_by(|a, b| a.path.cmp(&b.path).then_with(|| rank(&a.origin).cmp(&rank(&b.origin))));
        // A loaded file takes the place of a shipped one with its name, unless it is for one
        // source: the others keep the shipped one.
        sources.dedup_by(|later, earlier| {
            let limited = later.origin != earlier.origin
                && later.kind() == Kind::Rules
                && later.path == earlier.path
                && later.head().source.is_some();
            let same = later.path == earlier.path && !limited;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        let mut set = Self::default();
        let mut lists = Vec::new();
        let mut limited: Vec<(Model, String, String)> = Vec::new();
        for (index, source) in sources.iter().enumerate() {
            match source.kind() {
                Kind::Codes => lists.extend(code_list(source)),
                Kind::Query => set.asked.push(index),
                Kind::Rules => {
                    let head = source.head();
                    let Some(model) = head.model else { continue };
                    set.models.entry(model).or_default().sources.push(index);
                    if let Some(of) = head.source {
                        let name = source.name();
                        let bare = name.strip_suffix(&format!("@{of}")).unwrap_or(name).to_owned();
                        limited.push((model, of, bare));
                    }
                }
            }
        }
        for (model, of, bare) in limited {
            let Some(part) = set.models.get_mut(&model) else { continue };
            let replaces = part
                .sources
                .iter()
                .filter_map(|index| sources.get(*index))
                .any(|other| other.name() == bare && other.head().source.is_none());
            if replaces {
                part.own.insert(of.clone(), OnceLock::new());
                part.replaced.entry(of).or_default().push(bare);
            }
        }
        set.languages = lists.iter().position(|list: &CodeList| list.name == "languages");
        set.lists = Arc::new(lists);
        set.sources = sources;
        set
    }

    /// All files, read and checked against each other.
    pub fn files(&self) -> &[Loaded] {
        self.files.get_or_init(|| {
            let mut found: BTreeMap<usize, (Option<Arc<RuleFile>>, Vec<Problem>)> = BTreeMap::new();
            for (model, part) in &self.models {
                let read = self.read_part(part);
                for (index, (file, problems)) in part.sources.iter().zip(&read.files) {
                    let mut problems = problems.clone();
                    example::check_readable(*model, file, &mut problems);
                    found.insert(*index, (Some(Arc::clone(file)), problems));
                }
            }
            for (index, problems) in self.asked.iter().zip(&self.read_queries().1) {
                found.insert(*index, (None, problems.clone()));
            }
            let mut files: Vec<Loaded> = self
                .sources
                .iter()
                .enumerate()
                .map(|(index, source)| {
                    let (file, problems) = found.remove(&index).unwrap_or_else(|| match source.kind() {
                        Kind::Codes => {
                            (None, code_list(source).map_or_else(Vec::new, |list| list.problems()))
                        }
                        // Without a model there is nothing to compile, and the reason is told.
                        _ => {
                            let (file, problems) = reading::unplaced(&source.text);
                            (Some(Arc::new(file)), problems)
                        }
                    });
                    Loaded { source: source.clone(), file, problems }
                })
                .collect();
            files.sort_by_key(|loaded| loaded.source.kind() != Kind::Codes);
            schema::check_across(&mut files);
            files
        })
    }

    pub fn has_errors(&self) -> bool {
        self.files().iter().any(Loaded::has_errors)
    }

    /// The rules of a model. A source with files of its own may have others:
    /// [`rules_for`](Self::rules_for).
    pub fn rules(&self, model: Model) -> &[Rule] {
        self.models.get(&model).map_or(&[], |part| self.read_part(part).rules.rules.as_slice())
    }

    /// The rules that [`run`](Self::run) uses for the records of a source; what it says of rules
    /// by number means these.
    pub fn rules_for(&self, model: Model, source: &str) -> &[Rule] {
        self.model_rules(model, source).rules.as_slice()
    }

    /// All rules, by model.
    pub fn models(&self) -> impl Iterator<Item = (Model, &[Rule])> {
        self.models.iter().map(move |(model, part)| (*model, self.read_part(part).rules.rules.as_slice()))
    }

    /// The queries over RDF records.
    pub fn queries(&self) -> &[Query] {
        &self.read_queries().0
    }

    /// The sources for which a rule does not hold, since they have a file in the place of its own.
    pub fn excepted<'a>(&'a self, model: Model, rule: &'a Rule) -> impl Iterator<Item = &'a str> {
        let replaced = self.models.get(&model).map(|part| &part.replaced);
        replaced.into_iter().flatten().filter_map(move |(source, names)| {
            let is = rule.source.is_none() && names.iter().any(|name| **name == *rule.file);
            is.then_some(source.as_str())
        })
    }

    /// Changes whenever a file that may change what comes of the model's records does. Nothing
    /// is read for it but the texts.
    pub fn fingerprint(&self, model: Model) -> String {
        let mut hasher = Xxh3::new();
        let of_model = match model {
            Model::Rdf => self.asked.as_slice(),
            _ => self.models.get(&model).map_or(&[][..], |part| part.sources.as_slice()),
        };
        for source in of_model.iter().filter_map(|index| self.sources.get(*index)) {
            hasher.update(source.path.as_bytes());
            hasher.update(&(source.text.len() as u64).to_le_bytes());
            hasher.update(source.text.as_bytes());
        }
        for list in self.lists.iter() {
            hasher.update(list.name.as_bytes());
            hasher.update(&list.hash().to_le_bytes());
        }
        format!("{:032x}", hasher.digest128())
    }

    /// Runs the rules of the record's model.
    pub fn run<'a>(&'a self, view: &'a View<'a>, names: &'a RecordNames<'a>, source: &'a str) -> Outcome {
        run(&self.ready(view.model, source), view, names)
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
        run_parts(&self.ready(view.model, source), view, names, leader, false, fields)
    }

    /// The text of a file that is neither rules nor codes, by its path under `mappings/`; the
    /// shipped one where the set has none.
    pub fn text_of(&self, path: &str) -> String {
        let own =
            self.sources.iter().find(|source| source.path == path).map(|source| source.text.to_string());
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
        let has = move |part: &&Part| {
            part.sources.iter().any(|index| self.sources.get(*index).is_some_and(|s| s.name() == file))
        };
        let parts = self.models.values().filter(has);
        parts.flat_map(move |part| &self.read_part(part).rules.rules).filter(move |rule| &*rule.file == file)
    }

    fn ready<'a>(&'a self, model: Model, source: &'a str) -> Rules<'a> {
        let of_model = self.model_rules(model, source);
        Rules {
            rules: &of_model.rules,
            table: &of_model.table,
            lists: &self.lists,
            languages: self.languages,
            source,
        }
    }

    fn model_rules(&self, model: Model, source: &str) -> &ModelRules {
        static NONE: LazyLock<ModelRules> = LazyLock::new(ModelRules::default);
        let Some(part) = self.models.get(&model) else { return &NONE };
        let all = &self.read_part(part).rules;
        let (Some(own), Some(replaced)) = (part.own.get(source), part.replaced.get(source)) else {
            return all;
        };
        own.get_or_init(|| {
            let is_replaced =
                |rule: &&Rule| rule.source.is_none() && replaced.iter().any(|name| **name == *rule.file);
            ModelRules::new(all.rules.iter().filter(|rule| !is_replaced(rule)).cloned().collect())
        })
    }

    fn read_part<'a>(&'a self, part: &'a Part) -> &'a PartRead {
        part.read.get_or_init(|| {
            // Parsing SPARQL is nearly all the work, and files do not depend on each other.
            let read = side_by_side(&part.sources, |index| {
                let source = self.sources.get(*index);
                source.map(|source| reading::rules(source, &self.lists, self.schemas())).unwrap_or_default()
            });
            let mut files = Vec::with_capacity(read.len());
            let mut rules = Vec::new();
            for ReadRules { file, compiled, problems } in read {
                files.push((Arc::new(file), problems));
                rules.extend(compiled);
            }
            PartRead { files, rules: ModelRules::new(rules) }
        })
    }

    fn read_queries(&self) -> &(Vec<Query>, Vec<Vec<Problem>>) {
        self.queries.get_or_init(|| {
            let read = side_by_side(&self.asked, |index| {
                let source = self.sources.get(*index);
                source.map(|source| reading::query(source, &self.lists)).unwrap_or_default()
            });
            let (queries, problems): (Vec<Option<Query>>, Vec<Vec<Problem>>) = read.into_iter().unzip();
            (queries.into_iter().flatten().collect(), problems)
        })
    }

    fn schemas(&self) -> &[Schema] {
        self.schemas.get_or_init(|| {
            let named = |source: &Source| {
                let name = source.name().strip_prefix("fields/")?;
                Schema::read(name, &source.text)
            };
            self.sources.iter().filter(|source| source.kind() == Kind::Codes).filter_map(named).collect()
        })
    }
}

/// The code list in a file, where it is one.
fn code_list(source: &Source) -> Option<CodeList> {
    let name = source.name();
    let other = name.starts_with("fields/") || name.starts_with("reverse/") || NOT_CODES.contains(&name);
    (!other).then(|| CodeList::new(name.strip_prefix("codes/").unwrap_or(name), source.text.clone()))
}

fn rank(origin: &Origin) -> usize {
    match origin {
        Origin::Shipped => 0,
        Origin::Loaded(version) => *version,
    }
}
