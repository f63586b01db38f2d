//! HTML in which nothing but our own markup is markup.
//!
//! Markup is a `&'static str`, so it stands in the program; everything else is text and escaped.

/// A page while it is written.
#[derive(Default)]
pub struct Html(String);

impl Html {
    /// Our own markup.
    pub fn markup(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text, or the value of a quoted attribute. Control characters are left out.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(c),
                c if c.is_control() => {}
                c => self.0.push(c),
            }
        }
        self
    }

    /// Text in a direction of its own, which a title in another script would lend to its
    /// neighbours otherwise.
    pub fn isolated(&mut self, text: &str, language: Option<&str>) -> &mut Self {
        self.markup("<bdi");
        if let Some(language) = language {
            self.markup(" lang=\"").text(language).markup("\"");
        }
        self.markup(">").text(text).markup("</bdi>")
    }

    /// A link within the catalogue.
    pub fn link(&mut self, place: &str, text: &str) -> &mut Self {
        self.markup("<a href=\"").text(place).markup("\">").isolated(text, None).markup("</a>")
    }

    /// A link to somewhere else, which we do not vouch for; text alone if it is no web address.
    pub fn link_out(&mut self, address: &str, text: &str) -> &mut Self {
        if !is_web(address) {
            return self.isolated(text, None);
        }
        self.markup("<a href=\"").text(address).markup("\" rel=\"nofollow noopener ugc\">");
        self.isolated(text, None).markup("</a>")
    }

    pub fn finish(self) -> String {
        self.0
    }
}

/// Only these schemes lead to pages; `javascript:` and `data:` do other things.
fn is_web(address: &str) -> bool {
    let scheme = address.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let mut html = Html::default();
        html.isolated("<script>\"&'\u{0}\u{7f}</script>", Some("en\" onload=\"x"));
        assert_eq!(
            html.finish(),
            "<bdi lang=\"en&quot; onload=&quot;x\">&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;</bdi>"
        );
    }

    #[test]
    fn only_web_addresses_are_links() {
        let linked = |address: &str| {
            let mut html = Html::default();
            html.link_out(address, "x");
            html.finish().contains("<a ")
        };
        assert!(linked("https://a.example/") && linked("HTTP://a.example/"));
        for address in
            ["javascript:alert(1)", "data:text/html,x", "javascript://%0aalert(1)", "urn:x", "//a.example"]
        {
            assert!(!linked(address), "{address}");
        }
    }
}
