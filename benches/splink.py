"""Resolving beside Splink: quality, CPU seconds and memory on the same records, in the same run.

    python benches/splink.py BENCH [--sets DIR] [--records N]... [--textbook]

BENCH is the compiled bench `resolve`. DIR holds the folders `dblp-acm` and `hathi-marc`; N says how many
records to generate. Splink runs on DuckDB, in a process of its own, with two threads. What it costs is
counted as for ours: from texts in memory to groups, at one threshold. No label is used but to score,
except that Splink's settings were chosen after seeing its scores, which favours it.
Needs the package `splink`; `scripts/bench-resolve` sets it up.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

# The first is the one whose cost is counted.
THRESHOLDS = (0.9, 0.5, 0.99, 0.999)
SEED = 7
RANDOM_PAIRS = 2e6
TRAINING_PAIRS = 1e6

# What each set calls its columns. Several names are separated by ` | `.
COLUMNS = {
    "dblp-acm": {"id": "id", "title": "title", "creator": "replace(authors, ', ', ' | ')", "year": "year"},
    "hathi-marc": {
        "id": "id",
        "creator": "concat_ws(' | ', nullif(author, ''), nullif(added_authors, ''))",
        "year": "coalesce(nullif(date_260, ''), year_008)",
        "language": "lang_008",
        "type": "left(leader_type, 1)",
    }
    | {name: name for name in ("title", "publisher", "place", "extent", "edition")},
}
FEATURES = "id title part creator year publisher place extent edition language type isbn".split()

ROMAN = "['i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix', 'x']"
ORDINALS = "['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']"
MACROS = rf"""
    CREATE MACRO plain(text) AS
        trim(regexp_replace(replace(strip_accents(lower(text)), '&', ' and '), '[^a-z0-9]+', ' ', 'g'));
    CREATE MACRO parted(text) AS
        regexp_extract(lower(text), '(?:^|[ .,;:])(?:vols?|volume|v|parts?|pt|bd|band|teil|no)\b[. ]*([0-9]+|[ivx]+)\b', 1);
    CREATE MACRO number(text) AS
        coalesce(TRY_CAST(text AS INTEGER), list_position({ROMAN}, text), list_position({ORDINALS}, text));
    CREATE MACRO surname(name) AS
        CASE WHEN contains(name, ',') THEN plain(split_part(name, ',', 1)) ELSE regexp_extract(plain(name), '[^ ]+$') END;
    CREATE MACRO said(text) AS nullif(trim(text), '');
"""
NORMALIZED = r"""
    WITH texts AS (
        SELECT id, title, language, type, isbn, edition, extent,
            regexp_replace(lower(title), '[.,;:]? *\b(vols?|volume|parts?|bd|band|teil)\b[. ]*([0-9]+|[ivx]+)\b.*$', '') AS whole,
            coalesce(said(parted(part)), said(parted(title))) AS volume,
            list_filter(
                list_transform(string_split(coalesce(creator, ''), ' | '), lambda name: surname(name)), lambda name: name <> ''
            ) AS surnames,
            regexp_replace(
                plain(publisher),
                '\b(press|co|company|verlag|and|the|publishers?|publishing|sons?|inc|ltd|books?|of|university|univ)\b', '', 'g'
            ) AS publisher,
            plain(regexp_extract(place, '^[^,:;]*')) AS place,
            TRY_CAST(said(regexp_extract(year, '[0-9]{{4}}')) AS INTEGER) AS year
        FROM {texts}
    )
    SELECT id AS unique_id,
        said(regexp_replace(plain(whole), '^(the|a|an|der|die|das|le|la|les|el) ', '')) AS title,
        said(regexp_replace(plain(regexp_extract(whole, '^[^:;/]*')), '^(the|a|an|der|die|das|le|la|les|el) ', '')) AS main,
        said(array_to_string(regexp_extract_all(whole, '[0-9]+'), ' ')) AS number,
        number(volume) AS volume,
        surnames[1] AS surname, nullif(surnames, []) AS surnames, year,
        said(regexp_replace(publisher, ' +', ' ', 'g')) AS publisher, said(place) AS place,
        list_max(list_transform(regexp_extract_all(extent, '[0-9]{{1,6}}'), lambda digits: CAST(digits AS INTEGER))) AS pages,
        number(said(regexp_extract(
            lower(edition), '([0-9]+|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)', 1
        ))) AS edition,
        said(language) AS language, said(type) AS type, said(isbn) AS isbn
    FROM texts
"""


def comparisons(alike):
    """By column. Where look-alikes abound, a frequent publisher is no news: only titles are weighed by frequency."""
    import splink.comparison_level_library as level
    import splink.comparison_library as library

    def levels(column, *between, null=None, frequent=False):
        """Exact first, by how frequent a value is, and then what lies between that and all others."""
        exact = level.ExactMatchLevel(column, term_frequency_adjustments=frequent)
        null = level.CustomLevel(null).configure(is_null_level=True) if null else level.NullLevel(column)
        return library.CustomComparison([null, exact, *between, level.ElseLevel()], output_column_name=column)

    def said_by_one(column):
        missing = level.CustomLevel(f"{column}_l IS NULL OR {column}_r IS NULL", "said by one")
        return levels(column, missing, null=f"{column}_l IS NULL AND {column}_r IS NULL")

    return {
        "title": levels(
            "title",
            level.CustomLevel("main_l = main_r", "main title").configure(tf_adjustment_column="main"),
            level.JaroWinklerLevel("main", 0.95),
            level.JaroWinklerLevel("title", 0.92),
            level.CustomLevel("starts_with(title_l, main_r) OR starts_with(title_r, main_l)", "begins with"),
            level.JaroWinklerLevel("title", 0.8),
            frequent=True,
        ),
        "number": said_by_one("number"),
        "volume": said_by_one("volume"),
        "surname": levels(
            "surname",
            level.JaroWinklerLevel("surname", 0.9),
            level.ArrayIntersectLevel("surnames", 1),
            frequent=not alike,
        ),
        "year": levels("year", level.AbsoluteDifferenceLevel("year", 1), level.AbsoluteDifferenceLevel("year", 5)),
        "publisher": levels(
            "publisher",
            level.JaroWinklerLevel("publisher", 0.88),
            level.CustomLevel("contains(publisher_l, publisher_r) OR contains(publisher_r, publisher_l)", "contained"),
            frequent=not alike,
        ),
        "place": levels("place", frequent=not alike),
        "pages": levels("pages", level.AbsoluteDifferenceLevel("pages", 4), level.PercentageDifferenceLevel("pages", 0.1)),
        "edition": said_by_one("edition"),
        "language": levels("language"),
        "type": levels("type"),
        "isbn": levels("isbn"),
    }


def run_splink(name, out, files, textbook):
    """In a process of its own: prints what it cost, and writes a group for every record and threshold."""
    import duckdb
    import splink

    connection = duckdb.connect()
    connection.execute(f"SET threads = 2; {MACROS}")
    given = COLUMNS.get(name) or {feature: feature for feature in FEATURES}
    columns = ", ".join(f"{given.get(feature, 'NULL::VARCHAR')} AS {feature}" for feature in FEATURES)
    for file in files:
        texts = f"SELECT {columns} FROM read_csv('{file}', all_varchar = true)"
        connection.execute(f"CREATE TABLE {file.stem}_texts AS {texts}")
    before, begun, phases = processor(), time.time(), {}

    def phase(what):
        phases[what] = processor() - before - sum(phases.values())

    tables = [file.stem for file in files]
    for table in tables:
        connection.execute(f"CREATE TABLE {table} AS {NORMALIZED.format(texts=f'{table}_texts')}")
    phase("reading texts")
    alike = name == "generated" and not textbook
    by_column = comparisons(alike)
    counts = ", ".join(f"count({column})" for column in by_column)
    counts = connection.execute(f"SELECT {counts} FROM {tables[0]}").fetchall()[0]
    used = [column for column, count in zip(by_column, counts) if count]

    def rules(*keys):
        """Columns of which a set says nothing fall out of its rules."""
        kept = ([key for key in rule if key in used or key not in by_column] for rule in keys)
        return [splink.block_on(*rule) for rule in kept if rule]

    settings = splink.SettingsCreator(
        link_type="link_only" if len(tables) > 1 else "dedupe_only",
        comparisons=[by_column[column] for column in used],
        blocking_rules_to_generate_predictions=rules(
            ["isbn"],
            ["main", "surname"],
            ["main", "year"],
            ["substr(main, 1, 8)", "surname", "year"],
            ["substr(title, 1, 24)", "pages"],
            ["surname", "year", "pages"],
            ["year", "pages", "publisher"],
        ),
        retain_matching_columns=False,
        max_iterations=40,
    )
    api = splink.DuckDBAPI(connection=connection)
    inputs = [api.register(table, dataset_display_name=table) for table in tables]
    linker = splink.Linker(inputs, settings, log_level="ERROR")
    learn = linker.training
    learn.estimate_probability_two_random_records_match(rules(["title", "surname", "year", "pages"]), recall=0.5)
    learn.estimate_u_using_random_sampling(max_pairs=RANDOM_PAIRS, seed=SEED)
    # What is in a rule is not learned from it, so each column needs a rule without it.
    first = rules(["isbn"]) or rules(["title", "surname", "publisher"])
    for rule in first + rules(["title", "year", "pages"], ["surname", "year", "pages"]):
        learn.estimate_parameters_using_expectation_maximisation(rule, max_pairs=TRAINING_PAIRS)
    if alike:
        # How often others agree is asked among those that share a title, for these are what can be mistaken.
        for rule in rules(["title", "surname"], ["main", "surname"], ["title"], ["main"]):
            learn.estimate_parameters_using_expectation_maximisation(
                rule, max_pairs=TRAINING_PAIRS, fix_m_probabilities=True, fix_u_probabilities=False
            )
    phase("learning")
    pairs = linker.inference.predict(threshold_match_probability=min(THRESHOLDS))
    phase("comparing")
    cost = {}
    for threshold in THRESHOLDS:
        if len(tables) > 1:
            groups = linker.clustering.cluster_using_single_best_links(
                pairs, duplicate_free_datasets=tables, threshold_match_probability=threshold
            )
        else:
            groups = linker.clustering.cluster_pairwise_predictions_at_threshold(
                pairs, threshold_match_probability=threshold
            )
        if not cost:
            phase("grouping")
            cost = {"cpu": processor() - before, "wall": time.time() - begun, "memory": peak(), "phases": phases}
        record = "source_dataset || '/' || unique_id" if len(tables) > 1 else "unique_id"
        connection.execute(f"COPY (SELECT {record}, cluster_id FROM {groups.physical_name}) TO '{out}-{threshold}'")
    print(json.dumps(cost | {"version": f"{splink.__version__}, DuckDB {duckdb.__version__}"}))


def processor():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak():
    """Gigabytes at most so far."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 2**20


class Truth:
    """Which records are one, and which instances look alike."""

    def __init__(self):
        self.group, self.families, self.labels = {}, collections.defaultdict(set), []

    @classmethod
    def of_generated(cls, table):
        truth = cls()
        for row in rows(table):
            truth.group[row["id"]] = row["instance"]
            truth.families[row["family"]].add(row["instance"])
        return truth

    @classmethod
    def of_dblp_acm(cls, folder):
        truth = cls()
        for source in ("dblp", "acm"):
            names = (f"{source}/{row['id']}" for row in rows(folder / f"{source}.csv"))
            truth.group.update((name, name) for name in names)
        for row in rows(folder / "matches.csv"):
            truth.group[f"acm/{row['id_acm']}"] = f"dblp/{row['id_dblp']}"
        return truth

    @classmethod
    def of_hathi_marc(cls, folder):
        truth = cls()
        truth.group = {row["id"]: row["cluster"] for row in rows(folder / "clusters.csv")}
        truth.labels = [(row["id1"], row["id2"], row["label"] == "1") for row in rows(folder / "labels.csv")]
        return truth

    def score(self, found):
        """As `crates/resolve/src/evaluate.rs` and `benches/resolve/main.rs` count."""
        sizes = collections.Counter(self.group.values())
        found_sizes = collections.Counter(found[record] for record in self.group)
        both = collections.Counter((found[record], group) for record, group in self.group.items())

        def two(counter):
            return sum(count * (count - 1) // 2 for count in counter.values())

        exact = sum(found_sizes[one] == count == sizes[other] for (one, other), count in both.items())
        told = f"pairs {quality(two(both), two(found_sizes), two(sizes))}"
        told += f"  clusters {quality(exact, len(found_sizes), len(sizes))}"
        if self.labels:
            said = [(found[one] == found[other], label) for one, other, label in self.labels]
            right = sum(same and label for same, label in said)
            told += f"  labelled {quality(right, sum(same for same, _ in said), sum(label for _, label in said))}"
        if self.families:
            alike = sum(len(family) for family in self.families.values() if len(family) > 1)
            told += f"  look-alikes merged {100 * (len(both) - len(found_sizes)) / alike:.2f} %"
        return told


def rows(file):
    with open(file, encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def quality(right, proposed, true):
    precision, recall = right / max(proposed, 1), right / max(true, 1)
    return f"P {precision:.3f} R {recall:.3f} F1 {2 * precision * recall / max(precision + recall, 1e-9):.3f}"


def measure(command):
    """What a process prints, and the CPU seconds it took from beginning to end."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed")
    return printed, used.ru_utime + used.ru_stime


def show(who, cpu, wall, memory, whole):
    wall, memory = f"{wall:7.1f} s" if wall else "", f"{memory:5.2f} GB" if memory else ""
    print(f"  {who:28} {cpu:7.2f} s CPU {wall} {memory}   (whole process {whole:.1f} s CPU)", flush=True)


def rival(name, files, truth, folder, textbook):
    """Runs Splink and tells; gives its CPU seconds."""
    # Isolated, or this file would be what `import splink` finds.
    command = [sys.executable, "-I", __file__, "--run", name, folder / "groups", *files]
    printed, whole = measure(command + ["--textbook"] * textbook)
    cost = json.loads(printed)
    show(f"Splink {cost['version']}", cost["cpu"], cost["wall"], cost["memory"], whole)
    print("    " + ", ".join(f"{what} {cpu:.1f}" for what, cpu in cost["phases"].items()))
    for threshold in sorted(THRESHOLDS):
        with open(folder / f"groups-{threshold}", encoding="utf-8", newline="") as lines:
            found = dict(list(csv.reader(lines))[1:])
        print(f"    at {threshold:<5} {truth.score(found)}", flush=True)
    return cost["cpu"]


def ours_told(lines):
    """Our bench's lines, shortened to the figures of the others."""
    number = r"([0-9.]+)"
    for line in lines:
        three = re.search(rf"precision: {number}, recall: {number}, f1: {number}", line)
        told = line.split("Quality")[0].strip()
        if three:
            told += " P {:.3f} R {:.3f} F1 {:.3f}".format(*map(float, three.groups()))
        print(f"    {told}", flush=True)


def generated(bench, records, folder, textbook):
    table = folder / "generated.csv"
    with open(table, "w") as out:
        subprocess.run([bench, "csv", str(records)], check=True, stdout=out)
    truth = Truth.of_generated(table)
    print(f"{len(truth.group):,} generated records; load {os.getloadavg()[0]:.1f}", flush=True)
    theirs = rival("generated", [table], truth, folder, textbook)
    printed, whole = measure([bench, records])
    first, *rest = printed.splitlines()
    cpu, wall, memory = re.search(r"([0-9.]+) CPU s, ([0-9.]+) s, VmHWM:\s+(\d+)", first).groups()
    show("Pinakes", float(cpu), float(wall), int(memory) / 2**20, whole)
    ours_told(rest)
    print(f"  Splink : Pinakes {theirs / float(cpu):.1f} times the CPU time; load {os.getloadavg()[0]:.1f}\n", flush=True)


def sets(bench, data, folder, textbook):
    printed, _ = measure([bench, "sets", data])
    ours = {}
    for line in printed.splitlines():
        if not line.startswith(" "):
            name = line.split(":")[0]
        ours.setdefault(name, []).append(line)
    dblp, hathi = data / "dblp-acm", data / "hathi-marc"
    for title, name, files, truth in [
        ("DBLP-ACM", "dblp-acm", [dblp / "dblp.csv", dblp / "acm.csv"], Truth.of_dblp_acm(dblp)),
        ("HathiTrust MARC", "hathi-marc", [hathi / "records.csv"], Truth.of_hathi_marc(hathi)),
    ]:
        print(f"{title}, {len(truth.group):,} records; load {os.getloadavg()[0]:.1f}", flush=True)
        theirs = rival(name, files, truth, folder, textbook)
        first, *rest = ours.pop(title)
        cpu = float(re.search(r"([0-9.]+) CPU s", first)[1])
        print(f"  {'Pinakes':28} {cpu:7.2f} s CPU")
        ours_told(line.strip() for line in rest)
        print(f"  Splink : Pinakes {theirs / cpu:.1f} times the CPU time\n", flush=True)
    print("Pinakes alone")
    ours_told(line.strip() for lines in ours.values() for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("bench", nargs="?", type=pathlib.Path, help="the compiled bench `resolve`")
    add("--sets", type=pathlib.Path, metavar="DIR", help="score the public sets in this folder")
    add("--records", type=int, action="append", metavar="N", help="generate so many; may be repeated [default: 100000]")
    add("--textbook", action="store_true", help="learn Splink's u from random pairs alone, whatever looks alike")
    add("--run", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        name, out, *files = arguments.run
        return run_splink(name, out, [pathlib.Path(file) for file in files], arguments.textbook)
    if not arguments.bench:
        parser.error("which bench?")
    bench, textbook = arguments.bench.resolve(), arguments.textbook
    with tempfile.TemporaryDirectory() as folder:
        if arguments.sets:
            sets(bench, arguments.sets.resolve(), pathlib.Path(folder), textbook)
        for records in arguments.records or ([] if arguments.sets else [100_000]):
            generated(bench, records, pathlib.Path(folder), textbook)


main()
