//! Pages as readers see them: in chromium, without a window.

use super::support::server::Server;
use super::support::{BASE, Desk, spawn, venv};
use std::process::Stdio;
use tempfile::TempDir;

/// What a browser made of a page.
struct Shown {
    address: String,
    /// The document as it stands after loading, as HTML.
    dom: String,
    /// What the browser logged, the messages of scripts among it.
    log: String,
}

/// Loads a page of ours in a browser that begins anew each time.
#[track_caller]
fn load(desk: &Desk, server: &Server, path: &str) -> Shown {
    show(desk, format!("{}{path}", server.url), &[])
}

#[track_caller]
fn show(desk: &Desk, address: String, options: &[&str]) -> Shown {
    let own = TempDir::new().unwrap();
    let ran = desk
        .command("chromium")
        // As root, as in a container, it runs only without its sandbox; the pages are our own.
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--timeout=30000", "--dump-dom"])
        // No name has an address: a page that needs another host is not whole here.
        .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
        .arg(format!("--user-data-dir={}", own.path().display()))
        .args(options)
        .arg(&address)
        .env("HOME", own.path())
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("chromium does not start: {error}; run scripts/setup test"));
    let [dom, log] = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(ran.status.success() && dom.contains("</html>"), "{address}: {log}");
    Shown { address, dom, log }
}

impl Shown {
    /// The text of the first element of a name, without the markup in it.
    #[track_caller]
    fn text(&self, element: &str) -> String {
        let (_, rest) = self.dom.split_once(&format!("<{element}>")).unwrap_or_else(|| {
            panic!("{} has no {element}:\n{}", self.address, self.dom);
        });
        let inner = rest.split(&format!("</{element}>")).next().unwrap();
        inner.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect()
    }

    /// The tags of a name.
    fn tags(&self, element: &str) -> Vec<&str> {
        let begin = format!("<{element} ");
        self.dom.split(&begin).skip(1).map(|rest| rest.split('>').next().unwrap()).collect()
    }

    #[track_caller]
    fn has(&self, part: &str) {
        assert!(self.dom.contains(part), "{part} is not in {}:\n{}", self.address, self.dom);
    }

    /// What holds for every page.
    #[track_caller]
    fn is_well_made(&self) {
        self.has("<html lang=\"en\">");
        assert!(!self.text("title").is_empty() && !self.text("h1").is_empty());
        assert_eq!(self.dom.matches("<h1>").count(), 1, "{}", self.dom);
        assert_eq!(self.dom.matches("<main>").count(), 1, "{}", self.dom);
        let viewport = |tag: &&str| tag.contains("name=\"viewport\"") && tag.contains("width=device-width");
        assert!(self.tags("meta").iter().any(viewport), "{}", self.dom);
        // Whatever a page loads by itself comes from here, and none of it is a script.
        assert!(!self.dom.contains("<script") && !self.dom.contains("<iframe"), "{}", self.dom);
        let links = self.tags("link");
        assert!(links.iter().any(|tag| tag.contains("rel=\"stylesheet\"")), "{}", self.dom);
        let addresses = links.iter().filter_map(|tag| attribute(tag, "href"));
        let sources = self.dom.split(" src=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for address in addresses.chain(sources) {
            assert!(is_local(address), "{} loads {address}", self.address);
        }
        for trouble in ["Uncaught", "CONSOLE", "net::ERR"] {
            assert!(!self.log.contains(trouble), "{}: {}", self.address, self.log);
        }
    }
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!("{name}=\""))?.1.split('"').next()
}

/// A path of the server that was asked: not the scheme or the host of another.
fn is_local(address: &str) -> bool {
    address.starts_with('/') && !address.starts_with("//")
}

/// Text as a browser writes it in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\u{a0}', "&nbsp;")
}

/// S0.16: "Every entity has an IRI that dereferences to labels, description, types, links out and
/// its works", for readers.
#[test]
fn s0_16_a_browser_shows_what_is_said_of_an_entity() {
    let desk = Desk::with_sample();
    desk.run("pinakes resolve --quiet").ok();
    let server = Server::start(&desk, &[]);
    for class in ["bf:Work", "bf:Instance", "bf:Person"] {
        let found = server.query(&format!(
            "SELECT ?e (COUNT(*) AS ?n) {{ ?e a {class} ; ?p ?o FILTER(!CONTAINS(STR(?e), \"#\")) }} \
             GROUP BY ?e ORDER BY DESC(?n) ?e LIMIT 1"
        ));
        let iri = found["results"]["bindings"][0]["e"]["value"].as_str().unwrap().to_owned();
        let path = format!("/{}", iri.strip_prefix(BASE).unwrap());
        let page = load(&desk, &server, &path);
        page.is_well_made();
        assert_eq!(page.text("title"), page.text("h1"));
        page.has(class.trim_start_matches("bf:"));
        page.has(&format!("<code>{iri}</code>"));
        for view in ["ttl", "jsonld", "nt", "rdf"] {
            let address = format!("href=\"{path}.{view}\"");
            let is_it = |tag: &&str| tag.contains("rel=\"alternate\"") && tag.contains(&address);
            assert!(page.tags("link").iter().any(is_it), "{view}: {}", page.dom);
        }
        let said = server.query(&format!("SELECT ?p ?v {{ <{iri}> ?p ?v }}"));
        let said = said["results"]["bindings"].as_array().unwrap();
        let (mut texts, mut links) = (0, 0);
        for value in said.iter().map(|row| &row["v"]) {
            let text = value["value"].as_str().unwrap();
            if value["type"] == "literal" {
                page.has(&escaped(text));
                texts += 1;
            } else if let Some(place) =
                // What has no name but within the entity is shown, not linked to.
                text.strip_prefix(BASE).filter(|_| !text.starts_with(&format!("{iri}#")))
            {
                page.has(&format!("href=\"/{place}\""));
                links += 1;
            }
        }
        assert!(texts > 0 && links > 0, "{iri} says nothing: {said:?}");
        // Where a thing has names in several languages, readers see one in theirs.
        assert!(!page.dom.contains(">Buch<") && !page.dom.contains(">livre<"), "{}", page.dom);
        // Roles, carriers and languages are called by their names, not by their codes.
        for code in ["rel:", "lccarrier:", "lclang:", "lccountry:"] {
            assert!(!page.dom.contains(&format!("<bdi>{code}")), "{}", page.dom);
        }
    }
}

#[test]
fn a_browser_shows_the_first_page_and_the_query_form() {
    let desk = Desk::new();
    let server = Server::start(&desk, &[]);
    let home = load(&desk, &server, "/");
    home.is_well_made();
    home.has("href=\"/sparql\"");
    let form = load(&desk, &server, "/sparql");
    form.is_well_made();
    form.has("<form action=\"/sparql\" method=\"get\">");
    form.has("<textarea id=\"query\"");
    form.has("<label for=\"query\">");
    let style = server.get("/style.css", &[]).is(200).text();
    assert!(!style.contains("@import") && !style.contains("url("), "{style}");
}

/// DC.5: "rdflib, SPARQLWrapper, YASGUI and Jena-style clients work unmodified". YASGUI comes with
/// the server of Oxigraph, and asks ours from a page that lies elsewhere.
#[test]
fn dc_5_yasgui_asks_as_it_always_does() {
    let desk = Desk::with_sample();
    desk.run("pinakes resolve --quiet").ok();
    let server = Server::start(&desk, &["--cors", "*"]);
    let yasgui = Yasgui::start(&desk);
    let query = "PREFIX bf: <http://id.loc.gov/ontologies/bibframe/> SELECT (COUNT(*) AS ?instances) { ?i a bf:Instance }";
    desk.write(
        "yasgui.html",
        format!(
            r#"<!DOCTYPE html><html><meta charset="utf-8"><div id="here"></div>
            <script src="{}/yasgui.min.js"></script>
            <script>
              const settings = {{ requestConfig: {{ endpoint: "{}/sparql" }}, populateFromUrl: false, persistenceId: null }};
              const tab = new Yasgui(document.getElementById("here"), settings).getTab();
              tab.setQuery("{query}");
              tab.query().then(() => {{ document.title = "answered"; }}, (error) => {{ document.title = "failed: " + error; }});
            </script></html>"#,
            yasgui.url, server.url
        ),
    );
    let address = format!("file://{}", desk.path("yasgui.html").display());
    // Scripts wait for the answer: their clock runs on while the server works.
    let shown = show(&desk, address, &["--virtual-time-budget=30000"]);
    assert_eq!(shown.text("title"), "answered", "{}\n{}", shown.dom, shown.log);
    let instances = server.count(query);
    assert!(instances > 50, "{instances}");
    shown.has(&format!("\"{instances}\""));
}

/// The server of Oxigraph, for the page that it has of YASGUI.
struct Yasgui {
    process: std::process::Child,
    url: String,
}

impl Yasgui {
    fn start(desk: &Desk) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = desk.command(venv("oxigraph"));
        command.args(["serve", "--location", "rival", "--bind", &free.to_string()]);
        let process = spawn(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let is_up = (0..600).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            std::net::TcpStream::connect(free).is_ok()
        });
        assert!(is_up, "oxigraph does not start");
        Self { process, url: format!("http://{free}") }
    }
}

impl Drop for Yasgui {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
