//! Makes catalogue records with known duplicates and look-alikes.
//!
//! A *work* has a title, creators and a language. It is published as several *instances* that
//! look alike and must not be merged: later editions, reprints elsewhere, translations, volumes,
//! other formats, years of a series, and other works of the same author with half the title. Others come
//! from a *template*: albums of one label and year, tables of a data set, sheets of a map, reports by
//! state, a book on paper, online and on film, volumes under the ISBN of their set.
//! Each instance is catalogued by one to five libraries, each in its own manner and with its own
//! slips. The same seed gives the same records; nothing is kept but the vocabulary.

/// One generated record with its truth.
pub struct Generated {
    pub source: String,
    pub key: String,
    pub features: Vec<(&'static str, String)>,
    /// Records of one instance are duplicates.
    pub instance: u32,
    /// Instances of one family are look-alikes.
    pub family: u32,
}

/// Calls `out` with about `records` records.
pub fn generate(records: usize, seed: u64, out: &mut dyn FnMut(&Generated)) {
    let vocabulary = Vocabulary::new(records);
    let mut random = Random(seed ^ 0x5EED);
    let mut made = 0;
    let (mut instance, mut family) = (0, 0);
    while made < records {
        let books = family_of(&vocabulary, &mut random);
        for book in &books {
            let copies = match random.below(100) {
                0..=44 => 1,
                45..=72 => 2,
                73..=87 => 3,
                88..=95 => 4,
                _ => 5,
            };
            let wrong = books.get(random.below(books.len())).map_or(0, |other| other.isbn);
            for _ in 0..copies {
                let source = SOURCES[random.below(SOURCES.len())];
                let features = catalogue(book, wrong, &vocabulary, &mut random);
                let key = format!("{:08x}", random.next() as u32 ^ made as u32);
                out(&Generated {
                    source: source.into(),
                    key: format!("{key}{made}"),
                    features,
                    instance,
                    family,
                });
                made += 1;
            }
            instance += 1;
        }
        family += 1;
    }
}

const SOURCES: &[&str] = &["bl", "bnf", "dnb", "kb", "loc", "nla", "nlw", "sudoc"];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// A place in a list, the first ones much likelier.
    fn skewed(&mut self, end: usize) -> usize {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((end as f64 + 1.0).powf(unit) - 1.0) as usize % end.max(1)
    }
}

struct Vocabulary {
    words: Vec<String>,
    surnames: Vec<String>,
    forenames: Vec<String>,
    publishers: Vec<String>,
    places: Vec<String>,
}

/// A million records have the words of the first ones.
const ANCHOR: f64 = 1e6;
/// How words and names grow with the records there are (Heaps' law; .4 to .6 for natural language).
const HEAPS: f64 = 0.6;

impl Vocabulary {
    /// For so many records: more than a million have more words between them.
    fn new(records: usize) -> Self {
        let growth = (records as f64 / ANCHOR).max(1.0).powf(HEAPS);
        let grown = |count: f64| (count * growth) as usize;
        let mut random = Random(42);
        let syllables = [
            "ba", "con", "der", "el", "fa", "gra", "hi", "in", "jo", "kan", "lo", "mer", "na", "or", "per",
            "qua", "ri", "sta", "ter", "un", "va", "wil", "xe", "yo", "zen", "ti", "on", "al", "ment", "is",
            "ra", "so", "ple", "chi", "dro", "tho",
        ];
        let mut word = |least: usize, most: usize| -> String {
            let count = least + random.below(most - least + 1);
            (0..count).map(|_| syllables[random.below(syllables.len())]).collect()
        };
        let mut list = |count: usize, least: usize, most: usize| -> Vec<String> {
            let mut list: Vec<String> = (0..count).map(|_| word(least, most)).collect();
            list.sort_unstable();
            list.dedup();
            list
        };
        let mut words = list(grown(30_000.0), 2, 4);
        let mut surnames = list(grown(12_000.0), 2, 3);
        let forenames = list(300, 2, 3);
        let publishers = list(700, 2, 3);
        let places = list(150, 2, 3);
        // Sorted lists would make frequent words look alike.
        let mut random = Random(43);
        for list in [&mut words, &mut surnames] {
            for at in (1..list.len()).rev() {
                list.swap(at, random.below(at + 1));
            }
        }
        Self { words, surnames, forenames, publishers, places }
    }
}

#[derive(Clone)]
struct Person {
    surname: String,
    forename: String,
    middle: Option<char>,
    born: usize,
}

#[derive(Clone)]
struct Book {
    title: String,
    subtitle: Option<String>,
    creators: Vec<Person>,
    year: usize,
    publisher: String,
    place: String,
    pages: usize,
    edition: usize,
    volume: Option<usize>,
    language: &'static str,
    form: &'static str,
    isbn: u64,
    /// What only some have.
    more: More,
}

#[derive(Clone, Default)]
struct More {
    series: Option<(String, usize)>,
    url: Option<String>,
    medium: Option<&'static str>,
    set_isbn: Option<u64>,
    /// Instead of pages; empty for none.
    extent: Option<String>,
    number: Option<u64>,
    coordinates: Option<String>,
    contents: Option<String>,
    /// Nobody but a body made it.
    body: Option<String>,
}

fn words(count: usize, vocabulary: &Vocabulary, random: &mut Random) -> String {
    let mut out = String::new();
    for at in 0..count {
        if at > 0 {
            out.push_str([" ", " ", " of ", " and ", " in "][random.below(5)]);
        }
        out.push_str(&vocabulary.words[random.skewed(vocabulary.words.len())]);
    }
    out
}

fn title(vocabulary: &Vocabulary, random: &mut Random) -> String {
    let long = 2 + random.below(4);
    match random.below(20) {
        0 => format!("Introduction to {}", words(1, vocabulary, random)),
        1 => format!("The history of {}", words(1 + random.below(2), vocabulary, random)),
        2 => words(1, vocabulary, random),
        3 => format!("Handbook of {}", words(2, vocabulary, random)),
        4..=9 => format!("The {}", words(long, vocabulary, random)),
        _ => words(long, vocabulary, random),
    }
}

fn person(vocabulary: &Vocabulary, random: &mut Random) -> Person {
    Person {
        surname: vocabulary.surnames[random.skewed(vocabulary.surnames.len())].clone(),
        forename: vocabulary.forenames[random.skewed(vocabulary.forenames.len())].clone(),
        middle: random.percent(40).then(|| (b'a' + random.below(26) as u8) as char),
        born: 1850 + random.below(130),
    }
}

fn isbn(random: &mut Random) -> u64 {
    9_780_000_000_000 + random.next() % 1_000_000_000 * 10
}

fn moved(book: &Book, vocabulary: &Vocabulary, random: &mut Random) -> Book {
    Book {
        publisher: vocabulary.publishers[random.skewed(vocabulary.publishers.len())].clone(),
        place: vocabulary.places[random.skewed(vocabulary.places.len())].clone(),
        isbn: isbn(random),
        ..book.clone()
    }
}

/// The instances of one work, and what is easily taken for one.
fn family_of(vocabulary: &Vocabulary, random: &mut Random) -> Vec<Book> {
    let creators = (0..[1, 1, 1, 2, 2, 3][random.below(6)]).map(|_| person(vocabulary, random)).collect();
    let first = Book {
        title: title(vocabulary, random),
        subtitle: random.percent(50).then(|| {
            let count = 2 + random.below(4);
            words(count, vocabulary, random)
        }),
        creators,
        year: 1900 + random.below(122),
        publisher: vocabulary.publishers[random.skewed(vocabulary.publishers.len())].clone(),
        place: vocabulary.places[random.skewed(vocabulary.places.len())].clone(),
        pages: 60 + random.below(700),
        edition: 1,
        volume: None,
        language: ["eng", "eng", "eng", "ger", "fre", "spa"][random.below(6)],
        form: "text",
        isbn: isbn(random),
        more: More::default(),
    };
    if random.percent(12) {
        return template(&first, vocabulary, random);
    }
    let mut books = vec![first.clone()];
    if random.percent(12) {
        // Volumes of one whole.
        books.clear();
        for volume in 1..=2 + random.below(4) {
            let pages = 60 + random.below(700);
            let year = first.year + usize::from(random.percent(40)) * (volume - 1);
            books.push(Book { volume: Some(volume), pages, year, isbn: isbn(random), ..first.clone() });
        }
        return books;
    }
    if random.percent(3) {
        // A series by years.
        books.clear();
        for year in 0..3 + random.below(4) {
            let title = format!("{} {}", first.title, first.year + year);
            books.push(Book {
                title,
                year: first.year + year,
                pages: 60 + random.below(90),
                isbn: isbn(random),
                ..first.clone()
            });
        }
        return books;
    }
    let mut last = first.clone();
    while random.percent(25) && last.edition < 5 {
        last = Book {
            edition: last.edition + 1,
            year: last.year + 1 + random.below(8),
            pages: last.pages + 5 + random.below(80),
            isbn: isbn(random),
            ..last
        };
        books.push(last.clone());
    }
    if random.percent(12) {
        let reprint = moved(&first, vocabulary, random);
        books.push(Book {
            year: first.year + 2 + random.below(30),
            pages: first.pages + random.below(12),
            ..reprint
        });
    }
    if random.percent(10) {
        let translation = moved(&first, vocabulary, random);
        let language = if first.language == "eng" { "ger" } else { "eng" };
        let name = if random.percent(30) { first.title.clone() } else { title(vocabulary, random) };
        let mut creators = first.creators.clone();
        creators.push(person(vocabulary, random));
        books.push(Book {
            title: name,
            language,
            creators,
            year: first.year + random.below(20),
            pages: first.pages + random.below(60),
            ..translation
        });
    }
    if random.percent(6) {
        books.push(Book { form: ["audio", "online"][random.below(2)], isbn: isbn(random), ..first.clone() });
    }
    if random.percent(6) {
        // Another work of the same hand, with half the title.
        let half: Vec<&str> = first.title.split(' ').collect();
        let half = half[..half.len().div_ceil(2)].join(" ");
        let title = format!("{half} {}", words(2, vocabulary, random));
        books.push(Book {
            title,
            subtitle: None,
            year: first.year + random.below(4),
            pages: 60 + random.below(700),
            isbn: isbn(random),
            ..first.clone()
        });
    }
    books
}

/// Things that one form was filled in for: they have most in common, and are not one.
fn template(first: &Book, vocabulary: &Vocabulary, random: &mut Random) -> Vec<Book> {
    let count = 3 + random.below(6);
    let whole = words(3, vocabulary, random);
    let host = vocabulary.words[random.below(vocabulary.words.len())].clone();
    let body = format!("{} Institute", words(2, vocabulary, random));
    let numbers = 1 + random.below(90);
    let kind = random.below(6);
    let leader = person(vocabulary, random);
    let make = |at: usize, random: &mut Random| -> Book {
        let fresh = Book { isbn: isbn(random), subtitle: None, edition: 1, ..first.clone() };
        let own = words(1 + random.below(2), vocabulary, random);
        match kind {
            // Albums of a series: one player is on all of them.
            0 => Book {
                title: own,
                creators: vec![person(vocabulary, random), leader.clone()],
                form: "music",
                isbn: 0,
                more: More {
                    series: Some((format!("{whole} series"), numbers + at)),
                    medium: Some("s"),
                    extent: Some("1 sound disc : digital, stereo".into()),
                    number: Some(random.next() % 1_000_000),
                    contents: Some(words(9, vocabulary, random).replace(' ', " -- ")),
                    ..More::default()
                },
                ..fresh
            },
            // Tables of a data set: the end of a long title tells.
            1 => Book {
                title: format!(
                    "{} from the {whole} database : date type: year; country: {}; table: {whole} by {own}; variable: {}",
                    first.title,
                    first.place,
                    words(2, vocabulary, random)
                ),
                isbn: 0,
                form: "online",
                more: More {
                    url: Some(format!("https://{host}.example/content?param={:x}", random.next())),
                    medium: Some("c"),
                    extent: Some(String::new()),
                    body: Some(body.clone()),
                    ..More::default()
                },
                ..fresh
            },
            // Sheets of a map.
            2 => Book {
                title: format!("{} 1:50 000 : {own}", first.title),
                isbn: 0,
                form: "map",
                more: More {
                    series: Some((format!("{whole} map"), numbers + at)),
                    extent: Some("1 map : col. ; 50 x 60 cm".into()),
                    coordinates: Some(format!("E {}°30--E {}°00", 5 + at, 6 + at)),
                    body: Some(body.clone()),
                    ..More::default()
                },
                ..fresh
            },
            // Reports by state, year by year.
            3 => Book {
                title: format!("{} {} : {own}", first.title, first.year),
                pages: 40 + random.below(200),
                more: More { body: Some(body.clone()), ..More::default() },
                ..fresh
            },
            // One text on paper, online and on film.
            4 => Book {
                subtitle: first.subtitle.clone(),
                form: ["text", "online", "text"][at % 3],
                more: More { medium: Some(["n", "c", "h"][at % 3]), ..More::default() },
                isbn: if at.is_multiple_of(3) { first.isbn } else { 0 },
                ..fresh
            },
            // Volumes with titles of their own under the ISBN of the set.
            _ => Book {
                title: own,
                pages: 60 + random.below(700),
                more: More {
                    series: Some((first.title.clone(), at + 1)),
                    set_isbn: Some(first.isbn),
                    ..More::default()
                },
                ..fresh
            },
        }
    };
    let count = if kind == 4 { 2 + random.below(2) } else { count };
    (0..count).map(|at| make(at, random)).collect()
}

/// One library's record of a book.
fn catalogue(
    book: &Book,
    wrong: u64,
    vocabulary: &Vocabulary,
    random: &mut Random,
) -> Vec<(&'static str, String)> {
    let mut features = Vec::new();
    let mut title = book.title.clone();
    if title.starts_with("The ") && random.percent(10) {
        title = title[4..].to_owned();
    }
    if random.percent(6) {
        title = slip(&title, random);
    }
    if random.percent(30)
        && let Some(first) = title.chars().next()
    {
        title = format!("{}{}", first.to_uppercase(), title.get(first.len_utf8()..).unwrap_or_default());
    }
    if let Some(subtitle) = &book.subtitle
        && !random.percent(20)
    {
        title = format!("{title} : {subtitle}");
    }
    if let Some(volume) = book.volume
        && !random.percent(3)
    {
        let roman = ["0", "I", "II", "III", "IV", "V", "VI"][volume.min(6)];
        match random.below(4) {
            0 => title = format!("{title}. Vol. {volume}"),
            1 => title = format!("{title}. Part {roman}"),
            2 => features.push(("part", format!("v. {volume}"))),
            _ => features.push(("part", format!("Bd. {roman}"))),
        }
    }
    features.push(("title", title));
    if let Some(body) = &book.more.body {
        features.push(("creator", body.clone()));
    } else if !random.percent(5) {
        let kept = if random.percent(15) { 1 } else { book.creators.len() };
        for creator in book.creators.iter().take(kept) {
            features.push(("creator", name(creator, random)));
        }
    }
    if !random.percent(4) {
        let year = book.year + usize::from(random.percent(4));
        features.push((
            "year",
            match random.below(6) {
                0 => format!("c{year}"),
                1 => format!("[{year}]"),
                _ => year.to_string(),
            },
        ));
    }
    if !random.percent(8) {
        let publisher = &book.publisher;
        features.push((
            "publisher",
            match random.below(8) {
                0 => format!("{publisher} Press"),
                1 => format!("{publisher} & Co."),
                2 => format!("Verlag {publisher}"),
                3 => slip(publisher, random),
                _ => publisher.clone(),
            },
        ));
    }
    if !random.percent(10) {
        let place = &book.place;
        features.push((
            "place",
            if random.percent(15) {
                format!("{place}, {}", vocabulary.places[random.below(9)])
            } else {
                place.clone()
            },
        ));
    }
    if let Some(extent) = &book.more.extent {
        features.push(("extent", extent.clone()));
    } else if !random.percent(12) && book.form != "audio" {
        let pages = if random.percent(6) { book.pages + 1 + random.below(4) } else { book.pages };
        features.push((
            "extent",
            if random.percent(40) { format!("xii, {pages} p. ;") } else { format!("{pages} pages") },
        ));
    }
    let said = if book.edition == 1 { random.percent(25) } else { !random.percent(8) };
    if said {
        let number = book.edition;
        let word = ["zero", "First", "Second", "Third", "Fourth", "Fifth"][number.min(5)];
        let ending = ["th", "st", "nd", "rd", "th", "th"][number.min(5)];
        features.push((
            "edition",
            match random.below(4) {
                0 => format!("{number}. Aufl."),
                1 => format!("{word} edition"),
                2 => format!("{number}{ending} ed., rev."),
                _ => format!("{number}{ending} ed."),
            },
        ));
    }
    if !random.percent(10) {
        features.push(("language", book.language.into()));
    }
    if !random.percent(5) {
        features.push(("type", book.form.into()));
    }
    if !random.percent(40) && book.isbn > 0 {
        let isbn = if random.percent(1) && wrong > 0 { wrong } else { book.isbn };
        features.push(("isbn", isbn.to_string()));
    }
    further(book, random, &mut features);
    features
}

/// What only some books have, and not every library says.
fn further(book: &Book, random: &mut Random, features: &mut Vec<(&'static str, String)>) {
    let more = &book.more;
    if let Some((series, number)) = &more.series
        && !random.percent(10)
    {
        features.push((
            "series",
            match random.below(4) {
                0 => format!("{series} ; v. {number}"),
                1 => format!("{series} ; {number}"),
                2 => format!("{series}, no. {number}"),
                _ => format!("{series} ; vol. {number}"),
            },
        ));
    }
    let mut add = |feature: &'static str, value: Option<String>, missing: usize| {
        if let Some(value) = value.filter(|_| !random.percent(missing)) {
            features.push((feature, value));
        }
    };
    add("url", more.url.clone().map(|url| url.replacen("https://", "", 1).replacen('/', " ; ", 1)), 5);
    add("medium", more.medium.map(str::to_owned), 1);
    add("isbn", more.set_isbn.map(|isbn| isbn.to_string()), 30);
    add("publisher-number", more.number.map(|number| format!("cd{number}")), 40);
    add("coordinates", more.coordinates.clone(), 30);
    add("contents", more.contents.clone(), 30);
}

fn name(person: &Person, random: &mut Random) -> String {
    let given = match (random.percent(25), person.middle) {
        (true, Some(middle)) => format!("{}. {middle}.", &person.forename[..1]),
        (true, None) => format!("{}.", &person.forename[..1]),
        (false, Some(middle)) if !random.percent(30) => format!("{} {middle}.", person.forename),
        (false, _) => person.forename.clone(),
    };
    let surname = if random.percent(2) { slip(&person.surname, random) } else { person.surname.clone() };
    match random.below(10) {
        0..=2 => format!("{given} {surname}"),
        3..=4 => format!("{surname}, {given}, {}-", person.born),
        _ => format!("{surname}, {given}"),
    }
}

/// One letter too many, too few, wrong, or exchanged with its neighbour.
fn slip(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if bytes.len() < 4 || !text.is_ascii() {
        return text.to_owned();
    }
    let at = 1 + random.below(bytes.len() - 2);
    let letter = b'a' + random.below(26) as u8;
    match random.below(4) {
        0 => bytes.insert(at, letter),
        1 => {
            bytes.remove(at);
        }
        2 => bytes[at] = letter,
        _ => bytes.swap(at, at - 1),
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
