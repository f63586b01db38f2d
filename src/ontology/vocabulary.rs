//! The terms that Rust code writes or reads, as constants by prefix.
//!
//! Only these: rules and queries name their terms themselves, and are checked against the
//! term lists. A constant that no vocabulary defines fails the tests of this module.
//!
//! A constant is the term's name in capitals. Where a class and a property differ only in case,
//! the class ends in `_CLASS`: `pin::SOURCE` is `pin:source`, `pin::SOURCE_CLASS` is `pin:Source`.

macro_rules! vocabularies {
    ($($(#[$about:meta])* $prefix:ident = $namespace:literal { $($constant:ident $name:literal)* })*) => {
        $(
            $(#[$about])*
            pub mod $prefix {
                use oxrdf::NamedNodeRef;

                pub const NAMESPACE: &str = $namespace;

                $(
                    #[doc = concat!("`", stringify!($prefix), ":", $name, "`")]
                    pub const $constant: NamedNodeRef<'static> =
                        NamedNodeRef::new_unchecked(concat!($namespace, $name));
                )*
            }
        )*

        #[cfg(test)]
        const ALL: &[(&str, &str, &[oxrdf::NamedNodeRef<'static>])] =
            &[$((stringify!($prefix), $prefix::NAMESPACE, &[$($prefix::$constant),*])),*];
    };
}

vocabularies! {
    /// BIBFRAME 2, the vocabulary of descriptions.
    bf = "http://id.loc.gov/ontologies/bibframe/" {
        AGENT "agent"
        AGENT_CLASS "Agent"
        CONTRIBUTION "contribution"
        CONTRIBUTION_CLASS "Contribution"
        EXPRESSION_OF "expressionOf"
        HAS_EXPRESSION "hasExpression"
        HAS_INSTANCE "hasInstance"
        HAS_ITEM "hasItem"
        HUB "Hub"
        IDENTIFIED_BY "identifiedBy"
        INSTANCE "Instance"
        INSTANCE_OF "instanceOf"
        ITEM "Item"
        ITEM_OF "itemOf"
        MAIN_TITLE "mainTitle"
        ORGANIZATION "Organization"
        PERSON "Person"
        PLACE_CLASS "Place"
        RELATED_TO "relatedTo"
        ROLE "role"
        SUBJECT "subject"
        TITLE "title"
        TITLE_CLASS "Title"
        TOPIC "Topic"
        WORK "Work"
    }

    /// DCAT: where a source is found, by people and by programs.
    dcat = "http://www.w3.org/ns/dcat#" {
        ENDPOINT_URL "endpointURL"
        LANDING_PAGE "landingPage"
    }

    /// DCMI Metadata Terms: the flat shortcuts that generic tools show.
    dcterms = "http://purl.org/dc/terms/" {
        ABSTRACT "abstract"
        CONTRIBUTOR "contributor"
        CREATED "created"
        CREATOR "creator"
        DATE "date"
        DESCRIPTION "description"
        FORMAT "format"
        HAS_PART "hasPart"
        IDENTIFIER "identifier"
        IS_PART_OF "isPartOf"
        IS_REPLACED_BY "isReplacedBy"
        ISSUED "issued"
        LANGUAGE "language"
        LICENSE "license"
        MODIFIED "modified"
        PUBLISHER "publisher"
        RELATION "relation"
        RIGHTS "rights"
        SOURCE "source"
        SUBJECT "subject"
        TITLE "title"
        TYPE "type"
    }

    /// The Web Ontology Language.
    owl = "http://www.w3.org/2002/07/owl#" {
        ANNOTATION_PROPERTY "AnnotationProperty"
        CLASS "Class"
        DATATYPE_PROPERTY "DatatypeProperty"
        DEPRECATED "deprecated"
        OBJECT_PROPERTY "ObjectProperty"
        ONTOLOGY "Ontology"
        SAME_AS "sameAs"
    }

    /// Our own vocabulary, `ontologies/pinakes.ttl`.
    pin = "https://w3id.org/pinakes#" {
        ABOUT "about"
        ACT "act"
        ADDED "added"
        AMOUNT_OF_CONTENT "amountOfContent"
        APPLIED_UP_TO "appliedUpTo"
        HOLDS_RECORDS "holdsRecords"
        ASSIGNED "assigned"
        ASSIGNMENT "assignment"
        ASSIGNMENT_CLASS "Assignment"
        COMPLEXITY_LEVEL "complexityLevel"
        CONCORDANCE_CLASS "Concordance"
        CONTENT_TYPE "contentType"
        CONTENT_TYPE_CLASS "ContentType"
        DECISION "Decision"
        DESCRIBES "describes"
        EDIT "Edit"
        EMOTION "emotion"
        EMOTION_ASSIGNMENT "EmotionAssignment"
        ENABLED "enabled"
        ENTRY "entry"
        EVIDENCE "evidence"
        EXPAND "expand"
        FIELD "field"
        FIELDS "fields"
        FORMAT "format"
        FREE_OF_DUPLICATES "freeOfDuplicates"
        HARVESTING_TECHNIQUE "harvestingTechnique"
        IDENTIFIER "identifier"
        IMPORTANCE "importance"
        INSTANCE_KEY "instanceKey"
        LEVELS "levels"
        LIMIT "limit"
        LISTED_UP_TO "listedUpTo"
        MEMBER "member"
        MERGE "Merge"
        MERGED "Merged"
        MERGE_STATUS "mergeStatus"
        NAME "name"
        ORIGIN "origin"
        MERGE_STATUS_CLASS "MergeStatus"
        METADATA_MODEL "metadataModel"
        PAIR "pair"
        PAIR_CLASS "Pair"
        PREFERENCE "preference"
        PREFERENCE_CLASS "Preference"
        PREFERRED_VALUE "preferredValue"
        PROBABILITY "probability"
        PROPERTY "property"
        QUERY "query"
        REASON "reason"
        RECORD "Record"
        RELEVANCE "relevance"
        REMOVED "removed"
        RULE_HASH "ruleHash"
        RULES "rules"
        RUN "Run"
        SCHEDULE "schedule"
        SCORE "score"
        SEARCH "search"
        SEARCH_CLASS "Search"
        SOURCE "source"
        SOURCE_CLASS "Source"
        SUBJECT_RELEVANCE "subjectRelevance"
        SUBJECT_RELEVANCE_CLASS "SubjectRelevance"
        TOPIC "topic"
        TOPIC_ASSIGNMENT "TopicAssignment"
        TRACE "trace"
        TYPE_OF_CONTENT "typeOfContent"
        UNDOES "undoes"
        UNMAPPED "unmapped"
        UNMAPPED_FIELD "UnmappedField"
        UNMAPPED_ORDER "unmappedOrder"
        UNMAPPED_TAG "unmappedTag"
        UNMAPPED_VALUE "unmappedValue"
        UNMERGED "Unmerged"
        VERSION "version"
        WEIGHT "weight"
        WITHDRAWN "Withdrawn"
        WORK_KEY "workKey"
    }

    /// PROV-O: runs, agents and times.
    prov = "http://www.w3.org/ns/prov#" {
        ACTIVITY "Activity"
        AGENT "Agent"
        ENDED_AT_TIME "endedAtTime"
        ENTITY "Entity"
        GENERATED_AT_TIME "generatedAtTime"
        HAD_PLAN "hadPlan"
        HAD_PRIMARY_SOURCE "hadPrimarySource"
        INVALIDATED_AT_TIME "invalidatedAtTime"
        PLAN "Plan"
        SOFTWARE_AGENT "SoftwareAgent"
        STARTED_AT_TIME "startedAtTime"
        USED "used"
        WAS_ASSOCIATED_WITH "wasAssociatedWith"
        WAS_ATTRIBUTED_TO "wasAttributedTo"
        WAS_DERIVED_FROM "wasDerivedFrom"
        WAS_GENERATED_BY "wasGeneratedBy"
        WAS_INVALIDATED_BY "wasInvalidatedBy"
        WAS_REVISION_OF "wasRevisionOf"
    }

    /// RDF itself.
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#" {
        LANG_STRING "langString"
        PROPERTY "Property"
        TYPE "type"
        VALUE "value"
    }

    /// RDF Schema.
    rdfs = "http://www.w3.org/2000/01/rdf-schema#" {
        CLASS "Class"
        COMMENT "comment"
        DATATYPE "Datatype"
        DOMAIN "domain"
        IS_DEFINED_BY "isDefinedBy"
        LABEL "label"
        RANGE "range"
        SEE_ALSO "seeAlso"
        SUB_CLASS_OF "subClassOf"
        SUB_PROPERTY_OF "subPropertyOf"
    }

    /// SPARQL 1.1 Service Description.
    sd = "http://www.w3.org/ns/sparql-service-description#" {
        BASIC_FEDERATED_QUERY "BasicFederatedQuery"
        DATASET "Dataset"
        DEFAULT_DATASET "defaultDataset"
        DEFAULT_GRAPH "defaultGraph"
        ENDPOINT "endpoint"
        FEATURE "feature"
        GRAPH_CLASS "Graph"
        INPUT_FORMAT "inputFormat"
        RESULT_FORMAT "resultFormat"
        SERVICE "Service"
        SPARQL11_QUERY "SPARQL11Query"
        SPARQL11_UPDATE "SPARQL11Update"
        SUPPORTED_LANGUAGE "supportedLanguage"
    }

    /// SKOS: concepts and matches.
    skos = "http://www.w3.org/2004/02/skos/core#" {
        ALT_LABEL "altLabel"
        BROADER "broader"
        CLOSE_MATCH "closeMatch"
        CONCEPT "Concept"
        CONCEPT_SCHEME "ConceptScheme"
        EXACT_MATCH "exactMatch"
        HIDDEN_LABEL "hiddenLabel"
        IN_SCHEME "inScheme"
        NARROWER "narrower"
        NOTATION "notation"
        NOTE "note"
        PREF_LABEL "prefLabel"
        RELATED "related"
    }

    /// VoID: what a dataset holds and where it is asked.
    void = "http://rdfs.org/ns/void#" {
        DATASET "Dataset"
        DATA_DUMP "dataDump"
        ENTITIES "entities"
        FEATURE "feature"
        SPARQL_ENDPOINT "sparqlEndpoint"
        TRIPLES "triples"
        URI_SPACE "uriSpace"
        VOCABULARY "vocabulary"
    }

    /// XML Schema datatypes.
    xsd = "http://www.w3.org/2001/XMLSchema#" {
        ANY_URI "anyURI"
        BOOLEAN "boolean"
        DATE "date"
        DATE_TIME "dateTime"
        DECIMAL "decimal"
        DOUBLE "double"
        G_YEAR "gYear"
        G_YEAR_MONTH "gYearMonth"
        INTEGER "integer"
        STRING "string"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::{Lookup, Ontology};

    #[test]
    fn every_constant_is_a_defined_term() {
        for iri in ALL.iter().flat_map(|(_, _, constants)| *constants) {
            let lookup = Ontology::shipped().lookup(iri.as_str());
            assert!(matches!(lookup, Lookup::Defined(_)), "{iri}: {lookup:?}");
        }
    }

    #[test]
    fn the_modules_are_called_as_the_prefix_table_calls_them() {
        for (prefix, namespace, _) in ALL {
            assert_eq!(Ontology::shipped().prefixes().namespace(prefix), Some(*namespace));
        }
    }

    /// A term of ours that neither Rust nor a rule writes is a promise nobody keeps.
    #[test]
    fn each_of_our_own_terms_is_written_by_rust_or_by_a_rule() {
        let (_, _, constants) = ALL.iter().find(|(prefix, ..)| *prefix == "pin").expect("our own");
        let written: Vec<&str> = constants.iter().map(|iri| &iri.as_str()[pin::NAMESPACE.len()..]).collect();
        let mut rules = String::new();
        for source in crate::ontology::tests::files_below("mappings") {
            rules.push_str(&std::fs::read_to_string(source).expect("readable"));
        }
        let orphans: Vec<&str> = Ontology::shipped()
            .terms("pin")
            .map(|(name, _)| name)
            .filter(|name| {
                let in_rules = rules.match_indices(&format!("pin:{name}")).any(|(at, found)| {
                    let next = rules[at + found.len()..].chars().next();
                    next.is_none_or(|c| !c.is_alphanumeric())
                });
                !written.contains(name) && !in_rules
            })
            .collect();
        assert_eq!(orphans, [""; 0]);
    }
}
