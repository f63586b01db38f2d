//! What the guides to serving, searching and providing show works as it is written there.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use support::remote::Remote;
use support::server::Server;
use support::{CATALOGUE, Desk, project};

/// Where the guides have the server listen.
const ADDRESS: &str = "http://127.0.0.1:7878";
/// Whom they ask, for whom another stands in: no test asks anybody out there.
const ENDPOINT: &str = "https://query.wikidata.org/sparql";

/// A fenced block: what it is written in, and its lines.
struct Block {
    language: String,
    lines: Vec<String>,
}

fn blocks(guide: &str) -> Vec<Block> {
    let text = std::fs::read_to_string(project(guide)).unwrap();
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(language) => {
                inside = !inside;
                if inside {
                    blocks.push(Block { language: language.to_owned(), lines: Vec::new() });
                }
            }
            None if inside => blocks.last_mut().unwrap().lines.push(line.to_owned()),
            None => {}
        }
    }
    assert!(!inside, "{guide} ends inside a block");
    blocks
}

/// The sample, merged, with what the guides take to be there.
fn desk() -> Desk {
    let desk = Desk::with_sample();
    desk.run(&format!("cp -r {} .", project("examples").display())).ok();
    desk.run("pinakes resolve").ok();
    let token = format!(
        "[[token]]\nid = \"3f9c2a10\"\nrole = \"writer\"\ncreated = \"2026-01-01T00:00:00Z\"\nhash = \"{}\"\n",
        "0".repeat(64)
    );
    desk.write(&format!("{CATALOGUE}/tokens.toml"), token);
    desk
}

/// A command and what it prints below it, where the guide shows it.
fn commands(block: &Block) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    for line in &block.lines {
        match (line.strip_prefix("$ "), block.language.as_str()) {
            (Some(command), _) => commands.push((command.to_owned(), Vec::new())),
            (None, "sh") => commands.push((line.clone(), Vec::new())),
            (None, _) => commands.last_mut().unwrap().1.push(line.clone()),
        }
    }
    commands
}

/// Blocks may hold several queries, each with a comment before it.
fn queries(block: &Block) -> Vec<String> {
    let mut queries = vec![String::new()];
    for line in &block.lines {
        if line.starts_with('#') && !queries.last().unwrap().trim().is_empty() {
            queries.push(String::new());
        }
        let query = queries.last_mut().unwrap();
        query.push_str(line);
        query.push('\n');
    }
    queries
}

/// Does what a guide says, in its order; gives how many things that were.
fn follow(guide: &str) -> usize {
    let desk = desk();
    let blocks = blocks(guide);
    let remote = Remote::start();
    for block in blocks.iter().filter(|block| block.language == "toml") {
        let settings = format!("{CATALOGUE}/pinakes.toml");
        let before = String::from_utf8(desk.read(&settings)).unwrap();
        // Its table is there already, with comments for values.
        let table = format!("{}\n", block.lines.first().unwrap());
        assert!(before.contains(&table), "{before}");
        let lines = block.lines.join("\n").replace(
            &format!("\"{ENDPOINT}\""),
            &format!("\"{}\", allow_private = [\"{}\"]", remote.url("/rows"), remote.authority()),
        );
        desk.write(&settings, before.replace(&table, &format!("{lines}\n")));
    }
    let server = Server::start(&desk, &[]);
    let mut done = 0;
    for block in &blocks {
        match block.language.as_str() {
            "sh" | "console" => {
                for (command, shown) in commands(block) {
                    // It runs already.
                    if command.starts_with("pinakes serve") {
                        continue;
                    }
                    let line =
                        command.replace(ADDRESS, &server.url).replace("curl ", "curl --fail --silent ");
                    let said = desk.run(&line).ok().text();
                    for expected in &shown {
                        assert!(said.contains(expected.as_str()), "{guide}: `{command}` says {said}");
                    }
                    done += 1;
                }
            }
            "sparql" => {
                for query in queries(block) {
                    done += 1;
                    let query = query.replace(ENDPOINT, &remote.url("/rows"));
                    let headers = [("Content-Type", "application/sparql-query")];
                    server.ask("POST", "/sparql", &headers, query.as_bytes()).is(200);
                    if query.contains("SERVICE <") {
                        let asked = remote.seen().pop().unwrap();
                        assert!(asked.contains("VALUES"), "{guide} asks for all there is: {asked}");
                    }
                }
            }
            "" => {
                for path in &block.lines {
                    let said = server.get(path, &[]).is(200).text();
                    assert!(!said.contains("<error"), "{guide}: {path} says {said}");
                    done += 1;
                }
            }
            "toml" if block.lines.first().is_some_and(|line| line == "[federation]") => {
                let described = server.get("/sparql", &[("Accept", "text/turtle")]).is(200).text();
                assert!(described.contains("sd:BasicFederatedQuery"), "{guide}: {described}");
                done += 1;
            }
            "toml" => {
                let identify = server.get("/oai?verb=Identify", &[]).is(200).text();
                let values = block.lines.iter().filter_map(|line| line.split('"').nth(1));
                for value in values {
                    assert!(identify.contains(value), "{guide}: {identify}");
                    done += 1;
                }
            }
            // A proxy's settings, and a file that the program writes.
            "nginx" | "json" => {}
            other => panic!("{guide}: nobody knows how to try `{other}`"),
        }
    }
    done
}

#[test]
fn the_guide_to_serving_holds() {
    assert_eq!(follow("docs/serving.md"), 7);
}

#[test]
fn the_guide_to_searching_holds() {
    assert_eq!(follow("docs/searching.md"), 13);
}

#[test]
fn the_guide_to_providing_holds() {
    assert_eq!(follow("docs/providing.md"), 5);
}
