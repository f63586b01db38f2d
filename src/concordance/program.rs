//! A rule compiled: slots, steps and a template, ready to be run over records.

use super::presence::CodeSet;
use super::selector::{Condition, Selector};
use oxrdf::{NamedNode, Term};
use regex::Regex;
use std::ops::Range;
use std::sync::Arc;

/// A compiled rule.
#[derive(Debug, Clone)]
pub struct Rule {
    pub name: String,
    /// `marc21/20x-24x-titles`
    pub file: Arc<str>,
    pub line: usize,
    /// `marc21/20x-24x-titles#title`
    pub id: String,
    /// Changes whenever the rule or a code list it uses changes.
    pub hash: String,
    /// The rule holds for this source alone.
    pub source: Option<String>,
    pub selector: Selector,
    pub when: Option<Expr>,
    /// `when` needs none of the rule's names, so it is asked before they are made.
    pub when_first: bool,
    pub group: Option<String>,
    pub each: Option<Each>,
    /// Binds and values, each after what it needs.
    pub steps: Vec<Step>,
    /// How many slots the steps fill.
    pub slots: usize,
    pub template: Template,
    pub ignore: Vec<Ignore>,
    /// Names of slots, for reports and the way back.
    pub names: Vec<String>,
    pub reverse: Vec<(String, Expr)>,
}

/// What each solution stands for, when it is not the whole field.
#[derive(Debug, Clone)]
pub enum Each {
    /// One subfield; binds `$code`, `$value`, `$n`.
    Codes(String),
    /// One member of a list; it fills the slot.
    List { slot: usize, list: List },
}

#[derive(Debug, Clone)]
pub enum Step {
    /// One value, or as many as the slot it is made from has.
    Bind {
        slot: usize,
        expr: Expr,
        along: Option<usize>,
        /// Without one of these in the field it is not bound.
        needs: CodeSet,
    },
    Values {
        slot: usize,
        list: List,
        needs: CodeSet,
    },
}

/// An expression that gives several values.
#[derive(Debug, Clone)]
pub enum List {
    Every(Codes, Option<Regex>),
    Chunks {
        code: String,
        size: usize,
    },
    Split {
        code: String,
        separator: String,
    },
    Path(Vec<ElementPath>),
    /// An expression over each member of a list.
    Mapped {
        list: Box<List>,
        expr: Expr,
    },
    /// The expression once for each occurrence of the subfield it names.
    PerSubfield {
        code: String,
        expr: Expr,
    },
    /// One value or none, and the slots it is made from.
    Single(Expr, Vec<usize>),
}

/// What a rule leaves out on purpose.
#[derive(Debug, Clone)]
pub struct Ignore {
    pub what: Ignored,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ignored {
    Everything,
    Subfield(String),
    Positions(Range<usize>),
}

/// Subfield codes named in `:all` and `:every`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Codes {
    /// Every subfield but the control subfields `$0`-`$9`.
    pub all: bool,
    pub codes: String,
    pub without: String,
    /// The same for ASCII.
    ascii: CodeSet,
}

impl Codes {
    pub fn parse(text: &str) -> Self {
        let mut codes = match text.strip_prefix('*') {
            Some(rest) => {
                let without = rest.strip_prefix('-').unwrap_or_default().to_owned();
                Self { all: true, without, ..Self::default() }
            }
            None => Self { codes: text.to_owned(), ..Self::default() },
        };
        let ascii = (0..128u8).filter(|b| codes.has(char::from(*b))).fold(0, |bits, b| bits | 1 << b);
        codes.ascii = CodeSet(ascii);
        codes
    }

    pub fn ascii(&self) -> CodeSet {
        self.ascii
    }

    pub fn contains(&self, code: &str) -> bool {
        if let [byte @ 0..128] = code.as_bytes() {
            return self.ascii.0 >> byte & 1 == 1;
        }
        let mut chars = code.chars();
        let (Some(first), None) = (chars.next(), chars.next()) else { return false };
        self.has(first)
    }

    fn has(&self, code: char) -> bool {
        if self.all {
            !code.is_ascii_digit() && !self.without.contains(code)
        } else {
            self.codes.contains(code)
        }
    }
}

/// A way to descendants: `mods:role/mods:roleTerm[type=code]`, `…/@type`.
#[derive(Debug, Clone)]
pub struct ElementPath {
    pub steps: Vec<(String, Vec<Condition>)>,
    pub attribute: Option<String>,
}

/// A value of another field: `240$a`, `008/35-37`, `100|110$a`.
#[derive(Debug, Clone)]
pub struct FieldPath {
    pub selector: Selector,
}

/// What is bound without a rule's doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    Record,
    Hub,
    Work,
    Instance,
    Item,
    Tag,
    Ind1,
    Ind2,
    Text,
    Outer,
    Code,
    Value,
    Number,
}

impl Given {
    pub const ALL: [(&'static str, Self); 13] = [
        ("record", Self::Record),
        ("hub", Self::Hub),
        ("work", Self::Work),
        ("instance", Self::Instance),
        ("item", Self::Item),
        ("tag", Self::Tag),
        ("ind1", Self::Ind1),
        ("ind2", Self::Ind2),
        ("text", Self::Text),
        ("outer", Self::Outer),
        ("code", Self::Code),
        ("value", Self::Value),
        ("n", Self::Number),
    ];

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, given)| *given)
    }

    /// Whether it names a thing, so that it may be a subject.
    pub fn is_thing(self) -> bool {
        matches!(self, Self::Record | Self::Hub | Self::Work | Self::Instance | Self::Item)
    }
}

/// An expression of SPARQL over a field.
#[derive(Debug, Clone)]
pub enum Expr {
    Text(String),
    Iri(String),
    Tagged(String, String),
    Typed(String, String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Slot(usize),
    Subfield(String),
    /// An attribute of an element, by its local name.
    Attribute(String),
    Given(Given),
    Or(Box<Self>, Box<Self>),
    And(Box<Self>, Box<Self>),
    Not(Box<Self>),
    Compare(Compare, Box<Self>, Box<Self>),
    In(Box<Self>, Vec<Self>),
    Arithmetic(Arithmetic, Box<Self>, Box<Self>),
    Negate(Box<Self>),
    Bound(Box<Self>),
    If(Box<Self>, Box<Self>, Box<Self>),
    Coalesce(Vec<Self>),
    Regex(Box<Self>, Regex),
    Replace(Box<Self>, Regex, String),
    /// SPARQL's own functions and our functions of texts.
    Call(Function, Vec<Self>),
    All(Codes, String),
    Pick(Codes, Regex),
    Value(FieldPath, Option<String>),
    Has(FieldPath),
    At(Range<usize>),
    Code {
        list: usize,
        column: usize,
        code: Box<Self>,
    },
    Node {
        name: String,
        of_record: bool,
    },
    RecordIri(Box<Self>),
    Material,
    /// The member of the list at hand.
    Member,
    /// Never bound.
    Nothing,
    First(Box<List>),
    /// All descendants, joined.
    Joined(Box<List>, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

macro_rules! functions {
    ($($variant:ident $name:literal $least:literal $most:literal;)*) => {
        /// Functions of values alone.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Function { $($variant,)* }

        impl Function {
            /// Name, and how many arguments at least and at most.
            pub const ALL: &'static [(&'static str, Self, usize, usize)] =
                &[$(($name, Self::$variant, $least, $most),)*];
        }
    };
}

functions! {
    Str "STR" 1 1;
    Lang "LANG" 1 1;
    Datatype "DATATYPE" 1 1;
    Iri "IRI" 1 1;
    Abs "ABS" 1 1;
    Ceil "CEIL" 1 1;
    Floor "FLOOR" 1 1;
    Round "ROUND" 1 1;
    Concat "CONCAT" 0 99;
    SubStr "SUBSTR" 2 3;
    StrLen "STRLEN" 1 1;
    UCase "UCASE" 1 1;
    LCase "LCASE" 1 1;
    EncodeForUri "ENCODE_FOR_URI" 1 1;
    Contains "CONTAINS" 2 2;
    StrStarts "STRSTARTS" 2 2;
    StrEnds "STRENDS" 2 2;
    StrBefore "STRBEFORE" 2 2;
    StrAfter "STRAFTER" 2 2;
    StrLang "STRLANG" 2 2;
    StrDt "STRDT" 2 2;
    IsIri "ISIRI" 1 1;
    IsLiteral "ISLITERAL" 1 1;
    IsNumeric "ISNUMERIC" 1 1;
    Integer "xsd:integer" 1 1;
    XsdString "xsd:string" 1 1;
    Isbd ":isbd" 1 1;
    Join ":join" 1 99;
    Isbn ":isbn" 1 1;
    Issn ":issn" 1 1;
    Lccn ":lccn" 1 1;
    Oclc ":oclc" 1 1;
    Doi ":doi" 1 1;
    Orcid ":orcid" 1 1;
    Isni ":isni" 1 1;
    Year ":year" 1 1;
    Edtf ":edtf" 1 3;
    EdtfUnimarc ":edtfunimarc" 3 3;
    Nonfiling ":nonfiling" 2 2;
    SortKey ":sortkey" 1 1;
    Nonsorting ":nonsorting" 1 1;
    Sorting ":sorting" 1 1;
    Direct ":direct" 1 1;
    Inverted ":inverted" 1 1;
    Language ":language" 1 1;
    Tagged ":tagged" 2 2;
    CheckedIri ":iri" 1 1;
    WorkKey ":workkey" 1 2;
    InstanceKey ":instancekey" 2 4;
    StripMark ":stripmark" 1 1;
    Mark ":mark" 1 1;
}

/// What a rule makes.
#[derive(Debug, Clone, Default)]
pub struct Template {
    pub nodes: Vec<Node>,
    /// Nodes in an order in which every node comes after those it links to.
    pub inner_first: Vec<usize>,
    pub triples: Vec<TripleTemplate>,
}

/// A node the template makes.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// The slot that names it, for `:node(…)`; otherwise its content does.
    pub slot: Option<usize>,
    /// Its triples.
    pub triples: Vec<usize>,
    /// Whether any of them depends on a variable, directly or through another node.
    pub varies: bool,
    /// The triples that link to it.
    pub parents: Vec<usize>,
    /// What its name is made from: its triples, written out.
    pub content: Vec<Content>,
}

/// A part of what a node's name is made from.
#[derive(Debug, Clone)]
pub enum Content {
    /// What is the same in every record, with the marks that keep parts apart.
    Constant(String),
    /// The values of a slot.
    Slot(usize),
    Node(usize),
    /// A triple whose predicate varies: without one it is left out.
    Varying {
        predicate: usize,
        rest: Vec<Self>,
    },
}

#[derive(Debug, Clone)]
pub struct TripleTemplate {
    pub subject: Place,
    pub predicate: Predicate,
    pub object: Place,
}

#[derive(Debug, Clone)]
pub enum Place {
    Given(Given),
    Slot(usize),
    Node(usize),
    Constant(Term),
}

#[derive(Debug, Clone)]
pub enum Predicate {
    Constant(NamedNode),
    Slot(usize),
}
