//! The elements open around a record and the namespaces they declare.

use super::{Refusal, limits, refuse};
use crate::diagnostic::Code;
use quick_xml::events::BytesStart;
use rustc_hash::FxHashSet;

/// Elements from the outermost in, with what their prefixes mean.
#[derive(Debug, Default)]
pub struct Scope {
    open: Vec<Open>,
    bindings: Vec<Binding>,
    /// Bytes of their prefixes and namespaces.
    size: usize,
    /// The declarations for a record that declares nothing itself; made when first needed.
    inherited: Option<String>,
}

#[derive(Debug)]
struct Open {
    name: String,
    /// What was declared around it, and its size.
    bindings: usize,
    size: usize,
}

/// `prefix` is empty for the default namespace; `namespace` is as written, not unescaped.
#[derive(Debug, Clone)]
struct Binding {
    prefix: String,
    namespace: String,
}

impl Binding {
    fn size(&self) -> usize {
        self.prefix.len() + self.namespace.len()
    }
}

impl Scope {
    /// Enters an element.
    pub fn push(&mut self, tag: &BytesStart<'_>) -> Result<(), Refusal> {
        if self.open.len() >= limits::DEPTH {
            return refuse(Code::XmlLimit, format!("more than {} elements inside each other", limits::DEPTH));
        }
        let declared = declarations(tag)?;
        let name = tag.name().as_ref().to_owned();
        self.open.push(Open { name, bindings: self.bindings.len(), size: self.size });
        if declared.is_empty() {
            return Ok(());
        }
        self.size += declared.iter().map(Binding::size).sum::<usize>();
        self.bindings.extend(declared);
        self.inherited = None;
        if self.bindings.len() > limits::BINDINGS {
            let message = format!("more than {} namespace declarations are in force", limits::BINDINGS);
            return refuse(Code::XmlLimit, message);
        }
        if self.size > limits::SCOPE {
            return refuse(
                Code::XmlLimit,
                format!("the namespace declarations take more than {} bytes", limits::SCOPE),
            );
        }
        Ok(())
    }

    /// Leaves an element and those left open inside it. The answer is what should have been
    /// closed instead, if the tags do not match.
    pub fn pop(&mut self, name: &str) -> Option<String> {
        let innermost = self.open.last().map(|open| open.name.clone());
        if let Some(at) = self.open.iter().rposition(|open| open.name == name)
            && let Some(open) = self.open.get(at)
        {
            if open.bindings < self.bindings.len() {
                self.bindings.truncate(open.bindings);
                self.size = open.size;
                self.inherited = None;
            }
            self.open.truncate(at);
        }
        match innermost {
            Some(innermost) if innermost == name => None,
            Some(innermost) => Some(innermost),
            None => Some(String::new()),
        }
    }

    /// How many elements are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The innermost open element.
    pub fn innermost(&self) -> Option<&str> {
        self.open.last().map(|open| open.name.as_str())
    }

    /// The namespace of a tag that is about to be entered; empty for none.
    pub fn namespace(&self, tag: &BytesStart<'_>) -> Result<String, Refusal> {
        let name = tag.name();
        let prefix = name.prefix().map_or("", |prefix| prefix.into_inner());
        let own = declarations(tag)?;
        Ok(own
            .iter()
            .chain(self.bindings.iter().rev())
            .find(|binding| binding.prefix == prefix)
            .map(|binding| binding.namespace.clone())
            .unwrap_or_default())
    }

    /// The declarations a tag needs to stand alone, each with a blank before it.
    pub fn inherited(&mut self, tag: &BytesStart<'_>) -> Result<String, Refusal> {
        let own = declarations(tag)?;
        if own.is_empty() {
            let inherited = self.inherited.get_or_insert_with(|| write(&self.bindings, &[]));
            return Ok(inherited.clone());
        }
        Ok(write(&self.bindings, &own))
    }
}

/// The namespaces a tag declares, within the limits. What is no attribute is left to the
/// parser of the record to complain about.
fn declarations(tag: &BytesStart<'_>) -> Result<Vec<Binding>, Refusal> {
    let mut declared = Vec::new();
    if !tag.attributes_raw().contains("xmlns") {
        return Ok(declared);
    }
    for attribute in tag.attributes().with_checks(false).flatten() {
        let key = attribute.key.as_ref();
        let prefix = match key.strip_prefix("xmlns") {
            Some("") => "",
            Some(rest) => match rest.strip_prefix(':') {
                Some(prefix) => prefix,
                None => continue,
            },
            None => continue,
        };
        if declared.len() == limits::DECLARATIONS {
            return refuse(
                Code::XmlLimit,
                format!("an element has more than {} namespace declarations", limits::DECLARATIONS),
            );
        }
        declared.push(Binding { prefix: prefix.to_owned(), namespace: attribute.value.into_owned() });
    }
    Ok(declared)
}

fn write(bindings: &[Binding], own: &[Binding]) -> String {
    // From the innermost out, each prefix means what it was said to mean last.
    let mut said: FxHashSet<&str> = own.iter().map(|binding| binding.prefix.as_str()).collect();
    let mut inherited: Vec<&Binding> =
        bindings.iter().rev().filter(|binding| said.insert(&binding.prefix)).collect();
    // An empty namespace takes the default back, which needs no words at the outermost tag.
    inherited.retain(|binding| !binding.namespace.is_empty());
    let mut out = String::new();
    for binding in inherited.into_iter().rev() {
        out.push_str(" xmlns");
        if !binding.prefix.is_empty() {
            out.push(':');
            out.push_str(&binding.prefix);
        }
        // An attribute value never holds both quotes: one of them was its own.
        let quote = if binding.namespace.contains('"') { '\'' } else { '"' };
        out.push('=');
        out.push(quote);
        out.push_str(&binding.namespace);
        out.push(quote);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(content: &str) -> BytesStart<'_> {
        let name = content.find(' ').unwrap_or(content.len());
        BytesStart::from_content(content, name)
    }

    #[test]
    fn a_record_inherits_what_it_does_not_declare() {
        let mut scope = Scope::default();
        scope.push(&tag("a xmlns=\"urn:a\" xmlns:x='urn:x'")).unwrap();
        scope.push(&tag("b xmlns:x=\"urn:y\"")).unwrap();
        assert_eq!(scope.inherited(&tag("r")).unwrap(), " xmlns=\"urn:a\" xmlns:x=\"urn:y\"");
        assert_eq!(scope.inherited(&tag("r xmlns=\"urn:r\"")).unwrap(), " xmlns:x=\"urn:y\"");
        assert_eq!(scope.namespace(&tag("x:r")).unwrap(), "urn:y");
        assert_eq!(scope.pop("b"), None);
        assert_eq!(scope.inherited(&tag("r")).unwrap(), " xmlns=\"urn:a\" xmlns:x=\"urn:x\"");
    }

    #[test]
    fn closing_an_outer_element_closes_what_is_inside() {
        let mut scope = Scope::default();
        scope.push(&tag("a")).unwrap();
        scope.push(&tag("b")).unwrap();
        assert_eq!(scope.pop("a"), Some("b".to_owned()));
        assert_eq!(scope.innermost(), None);
    }

    #[test]
    fn a_scope_too_large_to_repeat_is_refused() {
        let long = format!("a xmlns:x=\"{}\"", "u".repeat(limits::SCOPE));
        assert!(Scope::default().push(&tag(&long)).is_err());
        // Declarations of nothing have no size, and are work for every tag all the same.
        let empty = format!("a{}", " xmlns=''".repeat(limits::DECLARATIONS));
        let mut scope = Scope::default();
        let deepest = (0..limits::DEPTH).take_while(|_| scope.push(&tag(&empty)).is_ok()).count();
        assert_eq!(deepest, limits::BINDINGS / limits::DECLARATIONS);
    }
}
