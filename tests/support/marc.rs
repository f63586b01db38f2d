//! MARC 21 records in ISO 2709, written here and not by the code under test.

/// One record: 001, a title, and whatever else is given as tag and text of `$a`.
pub fn record(id: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    record_with_status('n', id, fields)
}

/// A notice that a record was deleted (leader/05 = d).
pub fn deleted(id: &str) -> Vec<u8> {
    record_with_status('d', id, &[])
}

fn record_with_status(status: char, id: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut directory = String::new();
    let mut data = String::new();
    let mut add = |tag: &str, content: String| {
        directory.push_str(&format!("{tag}{:04}{:05}", content.len(), data.len()));
        data.push_str(&content);
    };
    add("001", format!("{id}\u{1E}"));
    for (tag, text) in fields {
        add(tag, format!("  \u{1F}a{text}\u{1E}"));
    }
    let base = 24 + directory.len() + 1;
    let length = base + data.len() + 1;
    format!("{length:05}{status}am a22{base:05} a 4500{directory}\u{1E}{data}\u{1D}").into_bytes()
}

/// A book with this title.
pub fn book(id: &str, title: &str) -> Vec<u8> {
    record(id, &[("245", title)])
}

/// Many records, the same every time: numbered ids, some variety in what they say.
/// `edition` changes what every third record says.
pub fn many(numbers: std::ops::Range<usize>, edition: usize) -> Vec<u8> {
    let mut file = Vec::new();
    for number in numbers {
        let edition = if number % 3 == 0 { edition } else { 0 };
        let title = format!("The book of the number {number}, edition {edition}");
        let author = format!("Author {}", number % 97);
        let subject = format!("Numbers -- {}", number % 13);
        let note = format!("A note on {number} in {} words", number % 7);
        file.extend(record(
            &format!("n{number:06}"),
            &[("100", &author), ("245", &title), ("500", &note), ("520", &note), ("650", &subject)],
        ));
    }
    file
}
