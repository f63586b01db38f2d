//! Speed and memory, as ratios to peers measured in the same run.
//!
//! `cargo bench --bench speed -- FOLDER` takes a folder of record sets (it needs
//! `records/bench/marc21_bib_utf8_6532.mrc`) and prints the rows of `benches/README.md`.
//! Each piece of work runs in a process of its own, whose processor time and peak memory are
//! read from the system; wall time depends on what else the machine does, so the load is
//! printed with it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failed check ends the run, and the run prints what it finds"
)]

use pinakes::catalogue::Graphs;
use pinakes::concordance::Concordances;
use pinakes::decode::{self, Options, Piece};
use pinakes::map::{self, ContentTypes};
use pinakes::record::Format;
use std::fs::File;
use std::io::{BufReader, BufWriter, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// As in the program itself.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const COPIES: usize = 16;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let texts: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match texts.as_slice() {
        ["read-ours", file] => report(read_ours(Path::new(file))),
        ["map-ours", file] => report(map_ours(Path::new(file))),
        ["read-marc", file] => report(read_marc(Path::new(file))),
        ["bulk-load", file, directory] => report(bulk_load(Path::new(file), Path::new(directory))),
        [folder] => run(Path::new(folder), true),
        [folder, "read"] => run(Path::new(folder), false),
        _ => {
            println!("usage: cargo bench --bench speed -- FOLDER [read]");
            println!("FOLDER holds records/bench/marc21_bib_utf8_6532.mrc");
        }
    }
}

fn report(count: u64) {
    println!("{count}");
}

/// Splits and decodes everything, from memory, on one core.
fn read_ours(file: &Path) -> u64 {
    let bytes = std::fs::read(file).unwrap();
    let options = Options::default();
    let mut diagnostics = Vec::new();
    let mut subfields = 0;
    for piece in decode::split(Box::new(Cursor::new(bytes)), Format::Iso2709, "bench") {
        diagnostics.clear();
        if let Piece::Record(payload, _) = piece.unwrap() {
            let record = decode::decode(&payload.bytes, Format::Iso2709, &options, &mut diagnostics).unwrap();
            subfields += record.fields().map(|field| field.subfields().len() as u64).sum::<u64>();
        }
    }
    subfields
}

/// Splits, decodes and maps everything with all rules, from memory, on one core: the statements
/// of the record graphs are made and thrown away.
fn map_ours(file: &Path) -> u64 {
    let bytes = std::fs::read(file).unwrap();
    let graphs = Graphs::new("https://catalogue.example/").unwrap();
    let content_types = ContentTypes::shipped();
    let concordances = Concordances::shipped();
    let options = Options::default();
    let mut diagnostics = Vec::new();
    let mut statements = 0;
    for piece in decode::split(Box::new(Cursor::new(bytes)), Format::Iso2709, "bench") {
        diagnostics.clear();
        let Piece::Record(payload, _) = piece.unwrap() else { continue };
        let record = decode::decode(&payload.bytes, Format::Iso2709, &options, &mut diagnostics).unwrap();
        let id = record.id.clone().unwrap_or_default();
        let context = map::Context {
            graphs: &graphs,
            concordances: &concordances,
            content_types: &content_types,
            source: "bench",
            id: &id,
            default_type: None,
        };
        statements += map::map(&record, &context).triples.len() as u64;
    }
    statements
}

/// The crate `marc` on the same bytes, walking all subfields.
fn read_marc(file: &Path) -> u64 {
    let bytes = std::fs::read(file).unwrap();
    let mut subfields = 0;
    for record in marc::Records::new(Cursor::new(bytes)) {
        for field in record.unwrap().fields() {
            subfields += field.subfields().count() as u64;
        }
    }
    subfields
}

/// The statements that an import writes, as N-Quads. Reading them back from the store would
/// take longer than everything else here.
fn write_quads(file: &Path, out: &Path) -> u64 {
    let graphs = Graphs::new("https://catalogue.example/").unwrap();
    let content_types = ContentTypes::shipped();
    let concordances = Concordances::shipped();
    let reader = BufReader::new(File::open(file).unwrap());
    let mut out = BufWriter::with_capacity(1 << 20, File::create(out).unwrap());
    let mut count = 0;
    for piece in decode::split(Box::new(reader), Format::Iso2709, "bench") {
        let Piece::Record(payload, _) = piece.unwrap() else { continue };
        let options = Options::default();
        let record = decode::decode(&payload.bytes, Format::Iso2709, &options, &mut Vec::new()).unwrap();
        let id = record.id.clone().unwrap_or_default();
        let context = map::Context {
            graphs: &graphs,
            concordances: &concordances,
            content_types: &content_types,
            source: "bench",
            id: &id,
            default_type: None,
        };
        let name = graphs.record("bench", &id);
        for triple in map::map(&record, &context).triples {
            writeln!(out, "{triple} {name} .").unwrap();
            count += 1;
        }
    }
    out.flush().unwrap();
    count
}

/// Oxigraph's own loader on the same statements.
fn bulk_load(file: &Path, directory: &Path) -> u64 {
    let store = oxigraph::store::Store::open(directory).unwrap();
    let mut loader = store.bulk_loader();
    let reader = BufReader::with_capacity(1 << 20, File::open(file).unwrap());
    loader.load_from_reader(oxrdfio::RdfFormat::NQuads, reader).unwrap();
    loader.commit().unwrap();
    store.flush().unwrap();
    0
}

fn run(folder: &Path, all: bool) {
    let source = folder.join("records/bench/marc21_bib_utf8_6532.mrc");
    let work = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/work");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work).unwrap();
    let records = work.join("records.mrc");
    let count = multiply(&source, &records);
    let raw = std::fs::metadata(&records).unwrap().len();
    println!("{count} records, {} MB; load average {}", raw / 1_000_000, load());

    let itself = std::env::current_exe().unwrap();
    let itself = itself.to_str().unwrap();
    let file = records.to_str().unwrap();
    println!("\nreading ISO 2709, best of 3, records per CPU second");
    for (name, command) in [
        ("pinakes", vec![itself, "read-ours", file]),
        ("crate marc", vec![itself, "read-marc", file]),
        ("yaz-marcdump -n", vec!["yaz-marcdump", "-n", file]),
    ] {
        let best = (0..3).map(|_| measure(&command)).min_by_key(|taken| taken.cpu).unwrap();
        println!("  {name:<18} {:>9.0}  ({})", count as f64 / best.cpu.as_secs_f64(), best.show());
    }

    println!("\nreading and mapping with all rules, one core, best of 3, records per CPU second");
    let mapped = vec![itself, "map-ours", file];
    let best = (0..3).map(|_| measure(&mapped)).min_by_key(|taken| taken.cpu).unwrap();
    println!("  {:<18} {:>9.0}  ({})", "pinakes", count as f64 / best.cpu.as_secs_f64(), best.show());

    if !all {
        return;
    }

    println!("\nimport end to end");
    let catalogue = work.join("catalogue");
    let home = catalogue.to_str().unwrap();
    let pinakes = env!("CARGO_BIN_EXE_pinakes");
    measure(&[pinakes, "-c", home, "init", "--base", "https://catalogue.example/"]);
    let ours = measure(&[pinakes, "-c", home, "import", "--quiet", "--source", "bench", file]);
    println!(
        "  pinakes import     {:>9.0} records/s wall  ({})",
        count as f64 / ours.wall.as_secs_f64(),
        ours.show()
    );
    let dump = work.join("dump.nq");
    let statements = write_quads(&records, &dump);
    let store = work.join("bulk");
    let theirs = measure(&[itself, "bulk-load", dump.to_str().unwrap(), store.to_str().unwrap()]);
    println!("  oxigraph bulk load {:>9} statements   ({})", statements, theirs.show());
    println!(
        "  ratio              wall {:.2}, CPU {:.2}",
        ours.wall.as_secs_f64() / theirs.wall.as_secs_f64(),
        ours.cpu.as_secs_f64() / theirs.cpu.as_secs_f64()
    );
    let _ = std::fs::remove_dir_all(&store);
    let _ = std::fs::remove_file(&dump);
    let again = measure(&[pinakes, "-c", home, "import", "--quiet", "--source", "bench", file]);
    println!(
        "  the same again     {:>9.0} records/s wall  ({})",
        count as f64 / again.wall.as_secs_f64(),
        again.show()
    );
    let rebuild = measure(&[pinakes, "-c", home, "rebuild", "--quiet"]);
    println!(
        "  rebuild            {:>9.0} records/s wall  ({})",
        count as f64 / rebuild.wall.as_secs_f64(),
        rebuild.show()
    );

    let archive = size(&catalogue.join("archive"));
    let kept = size(&catalogue.join("store"));
    let gzip = gzip_size(&records);
    println!("\ndisk per record");
    println!("  raw {} B, gzip -6 {} B", raw / count, gzip / count);
    println!("  archive {} B", archive / count);
    println!("  store {} B = {} statements of {} B", kept / count, statements / count, kept / statements);
    let _ = std::fs::remove_dir_all(&work);
}

/// What a child process took.
struct Taken {
    wall: Duration,
    cpu: Duration,
    peak: u64,
}

impl Taken {
    fn show(&self) -> String {
        format!(
            "{:.2} s wall, {:.2} s CPU, {} MB",
            self.wall.as_secs_f64(),
            self.cpu.as_secs_f64(),
            self.peak
        )
    }
}

fn measure(command: &[&str]) -> Taken {
    let before = children_cpu();
    let started = Instant::now();
    let mut child = Command::new(command[0]).args(&command[1..]).stdout(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    let status = loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = mark.and_then(|value| value.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) / 1024);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{command:?} ended with {status}");
    Taken { wall: started.elapsed(), cpu: children_cpu() - before, peak }
}

/// User and system time of the children waited for so far; ticks are hundredths of a second.
fn children_cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u64 = fields[13..15].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_owned()
}

/// The file many times over, each record with an identifier of its own in 001.
fn multiply(source: &Path, target: &Path) -> u64 {
    let bytes = std::fs::read(source).unwrap();
    let mut out = BufWriter::new(File::create(target).unwrap());
    let mut count = 0;
    for copy in 0..COPIES {
        for record in bytes.split_inclusive(|byte| *byte == 0x1D) {
            out.write_all(&with_identifier(record, copy, count)).unwrap();
            count += 1;
        }
    }
    out.flush().unwrap();
    count
}

/// Puts a 001 of our own in front of the other fields and drops the old one.
fn with_identifier(record: &[u8], copy: usize, number: u64) -> Vec<u8> {
    let digits = |range: std::ops::Range<usize>| -> usize {
        std::str::from_utf8(&record[range]).unwrap().parse().unwrap()
    };
    let base = digits(12..17);
    let mut fields = vec![(b"001".to_vec(), format!("b{number:07}-{copy:02}\x1e").into_bytes())];
    for entry in record[24..base - 1].chunks(12) {
        let text = |range: std::ops::Range<usize>| -> usize {
            std::str::from_utf8(&entry[range]).unwrap().parse().unwrap()
        };
        let (length, start) = (text(3..7), text(7..12));
        if &entry[..3] != b"001" {
            fields.push((entry[..3].to_vec(), record[base + start..base + start + length].to_vec()));
        }
    }
    let mut directory = Vec::new();
    let mut data = Vec::new();
    for (tag, value) in fields {
        directory.extend_from_slice(&tag);
        directory.extend_from_slice(format!("{:04}{:05}", value.len(), data.len()).as_bytes());
        data.extend_from_slice(&value);
    }
    directory.push(0x1E);
    data.push(0x1D);
    let base = 24 + directory.len();
    let mut out = format!("{:05}", base + data.len()).into_bytes();
    out.extend_from_slice(&record[5..12]);
    out.extend_from_slice(format!("{base:05}").as_bytes());
    out.extend_from_slice(&record[17..24]);
    out.extend_from_slice(&directory);
    out.extend_from_slice(&data);
    out
}

fn size(directory: &Path) -> u64 {
    let mut total = 0;
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let metadata = entry.metadata().unwrap();
        total += if metadata.is_dir() { size(&entry.path()) } else { metadata.len() };
    }
    total
}

fn gzip_size(file: &Path) -> u64 {
    let mut encoder = flate2::read::GzEncoder::new(File::open(file).unwrap(), flate2::Compression::new(6));
    let mut total = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = encoder.read(&mut buffer).unwrap();
        if read == 0 {
            return total;
        }
        total += read as u64;
    }
}
