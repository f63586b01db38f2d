"""Serving beside `oxigraph serve`: rate, waiting times and limits, over the same statements.

    python benches/serve.py TARGET [--entries 100000] [--seconds 10] [--rounds 3] [--search]

TARGET is the folder with the `pinakes` to measure. Made-up entries of ten statements each are loaded
into a store for each server; the servers then take turns, so that whatever else the machine does
hits both. Rates and waiting times come from wrk: 32 connections, each asking for all properties of an
entry at random. `--search` measures faceted search and suggestions instead, over as many entries.
Needs the packages `oxigraph` and wrk; `scripts/bench-serve` sets them up.
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

BASE = "https://catalogue.example/"
PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "bf": "http://id.loc.gov/ontologies/bibframe/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "pin": "https://w3id.org/pinakes#",
}
# Each with each: hours of work, in little memory.
HEAVY = (
    "SELECT (COUNT(*) AS ?n) { ?a <http://www.w3.org/2000/01/rdf-schema#label> ?x . "
    "?b <http://purl.org/dc/elements/1.1/creator> ?y FILTER(STRLEN(?x) + STRLEN(?y) = 1000) }"
)
ONE_PATTERN = "?property ?value"
THREE_PATTERNS = (
    "<http://www.w3.org/2000/01/rdf-schema#label> ?label ; "
    "<http://purl.org/dc/elements/1.1/creator> ?creator ; <http://purl.org/dc/elements/1.1/date> ?date"
)
LIMIT = 5
CONNECTIONS = 32
SLOW_CLIENTS = 1000
LANGUAGES = "eng ger fre spa ita rus lat jpn pol por".split()
SYLLABLES = "ba co di fe gu ha li mo nu pe ra si ta vo wa zu ber lan mon rei sol tur ven wil".split()


def words(count, rng):
    """As many different words, of two to four syllables."""
    found = set()
    while len(found) < count:
        found.add("".join(rng.choices(SYLLABLES, k=rng.randint(2, 4))))
    return sorted(found)


def rare(items, rng):
    """One of many, the first ones more often, as with words and names in real catalogues."""
    return items[int(len(items) * rng.random() ** 3)]


def write_entries(path, entries):
    rng = random.Random(7)
    vocabulary, names = words(30_000, rng), words(40_000, rng)
    subjects = [f"{rare(vocabulary, rng)} {rare(vocabulary, rng)}" for _ in range(5_000)]
    kinds = ["book", "film", "map", "score", "article", "thesis"]

    def iri(prefix, name):
        return f"<{PREFIXES[prefix]}{name}>"

    with open(path, "w", encoding="ascii") as out:
        for number in range(entries):
            entry = f"<{BASE}instance/{number:016x}>"
            title = " ".join(rare(vocabulary, rng) for _ in range(rng.randint(2, 6)))
            said = [
                (iri("rdf", "type"), iri("bf", "Instance")),
                (iri("pin", "member"), f"<{BASE}record/made/{number}>"),
                (iri("rdfs", "label"), f'"{title}"'),
                (iri("dc", "creator"), f'"{rare(names, rng)}, {rare(names, rng)}"'),
                (iri("dc", "subject"), f'"{rare(subjects, rng)}"'),
                (iri("dc", "subject"), f'"{rare(subjects, rng)}"'),
                (iri("dc", "date"), f'"{1850 + int(175 * rng.random() ** 0.5)}"'),
                (iri("dc", "language"), f'"{rare(LANGUAGES, rng)}"'),
                (iri("pin", "contentType"), f"<{BASE}type/{rare(kinds, rng)}>"),
                (iri("pin", "isbn"), f'"978{number:010}"'),
            ]
            out.writelines(f"{entry} {predicate} {value} .\n" for predicate, value in said)
    return vocabulary, subjects


def quietly(*command):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    def __init__(self, name, command, path, port):
        self.name, self.path, self.port = name, path, port
        self.process = subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.time() + 60
        while True:
            try:
                self.query("ASK {}")
                return
            except OSError:
                if time.time() > deadline:
                    raise
                time.sleep(0.05)

    def query(self, text, timeout=120):
        """Status and body of an answer."""
        asked = f"{self.path}?" + urllib.parse.urlencode({"query": text})
        return self.get(asked, timeout)

    def get(self, path, timeout=120):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", path, headers={"Accept": "application/sparql-results+json, */*;q=0.1"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def memory(self):
        """Megabytes that the server and its children have for themselves."""
        total = 0
        for process in [self.process.pid, *children(self.process.pid)]:
            with contextlib.suppress(OSError):
                fields = pathlib.Path(f"/proc/{process}/statm").read_text().split()
                total += (int(fields[1]) - int(fields[2])) * 4096
        return total // 2**20

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def children(parent):
    try:
        tasks = pathlib.Path(f"/proc/{parent}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


class Bench:
    def __init__(self, arguments, folder):
        self.pinakes = pathlib.Path(arguments.target).resolve() / "pinakes"
        self.oxigraph = pathlib.Path(sys.executable).parent / "oxigraph"
        self.entries, self.seconds, self.rounds = arguments.entries, arguments.seconds, arguments.rounds
        self.folder = folder
        self.statements = folder / "entries.nt"

    def prepare(self, rival=True):
        written = write_entries(self.statements, self.entries)
        quietly(self.pinakes, "init", self.folder / "ours", "--base", BASE)
        # The stores are of one format, and their loading is not what is measured.
        quietly(self.oxigraph, "load", "--location", self.folder / "ours/store", "--file", self.statements)
        if rival:
            quietly(self.oxigraph, "load", "--location", self.folder / "rival", "--file", self.statements)
        return written

    def ours(self):
        port = free_port()
        command = [self.pinakes, "serve", "--catalogue", self.folder / "ours", "--bind", f"127.0.0.1:{port}"]
        return Server("pinakes serve", [*command, "--query-seconds", LIMIT], "/sparql", port)

    def rival(self, limited=True):
        port = free_port()
        command = [self.oxigraph, "serve", "--location", self.folder / "rival", "--bind", f"127.0.0.1:{port}"]
        return Server("oxigraph serve", command + ["--timeout-s", LIMIT] * limited, "/query", port)

    def wrk(self, server, pattern, seconds=None):
        """Requests a second, and the 99th percentile of waiting in milliseconds."""
        script = self.folder / f"{server.port}.lua"
        around = f"SELECT * {{ <{BASE}instance/", f"> {pattern} }}"
        # In Lua's patterns a percent sign stands for itself when there are two.
        query = "%016x".join(urllib.parse.quote(part).replace("%", "%%") for part in around)
        script.write_text(
            f"math.randomseed({server.port})\n"
            'wrk.headers["Accept"] = "application/sparql-results+json"\n'
            f"request = function() return wrk.format('GET', string.format('{server.path}?query={query}',"
            f" math.random(0, {self.entries - 1}))) end\n"
            "done = function(summary, latency, requests)\n"
            "  local failed = summary.errors.connect + summary.errors.status + summary.errors.read + summary.errors.timeout\n"
            "  io.write(string.format('%f %f %d', summary.requests / summary.duration * 1e6,"
            " latency:percentile(99) / 1000, failed))\nend\n"
        )
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds or self.seconds}s", "--timeout", "10s", "-s", script]
        ran = subprocess.run(
            [str(part) for part in [*command, f"http://127.0.0.1:{server.port}"]],
            check=True, capture_output=True, text=True,
        )
        rate, p99, failed = ran.stdout.splitlines()[-1].split()
        if int(failed):
            sys.exit(f"{server.name}: {failed} requests failed, so its rate says nothing")
        return float(rate), float(p99)

    def rates(self, pattern=ONE_PATTERN, beside=0):
        """In turns, each time with a new server: what one began must not burden the next."""
        figures = {}
        for _ in range(self.rounds):
            # With its limit of time the rival fails under load; without, it is at its best.
            for start in (lambda: self.rival(limited=False), self.ours):
                server = start()
                try:
                    self.wrk(server, pattern, seconds=2)
                    with heavy_queries(server, beside):
                        figures.setdefault(server.name, []).append(self.wrk(server, pattern))
                finally:
                    server.stop()
        for name, rounds in figures.items():
            rates, waits = zip(*rounds)
            print(
                f"  {name:16} {statistics.median(rates):>8,.0f} requests/s   p99 {statistics.median(waits):7.1f} ms"
                f"   ({', '.join(f'{rate:,.0f}/{wait:.0f}' for rate, wait in rounds)})", flush=True,
            )
        rival, ours = (statistics.median(rate for rate, _ in rounds) for rounds in figures.values())
        print(f"  ratio            {ours / rival:8.2f}", flush=True)


@contextlib.contextmanager
def heavy_queries(server, count):
    """Keeps so many heavy queries going."""
    over = threading.Event()

    def go_on():
        while not over.is_set():
            try:
                server.query(HEAVY)
            except (OSError, http.client.HTTPException):
                pass
            # Who is told to come back comes back.
            over.wait(0.2)

    threads = [threading.Thread(target=go_on, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    if count:
        time.sleep(1)
    yield
    # What still waits for an answer gets none: the server stops.
    over.set()


def limits(server):
    """What happens to a query that takes too long, alone and with three others."""
    for count in (1, 4):
        before, answers = server.memory(), []

        def ask():
            begun = time.time()
            try:
                status = server.query(HEAVY, timeout=60)[0]
            except OSError as error:
                status = type(error).__name__
            answers.append((time.time() - begun, status))

        threads = [threading.Thread(target=ask) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(1)
        shown = ", ".join(f"{took:.1f} s: {status}" for took, status in sorted(answers, key=str))
        print(f"  {server.name:16} {shown}; memory {before} MB before, {server.memory()} MB after", flush=True)


def slow_clients(server):
    """How long others wait while many connections send a byte now and then."""
    connections = []
    for _ in range(SLOW_CLIENTS):
        try:
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=2)
            connection.sendall(f"GET {server.path}?query=ASK%7B%7D HTTP/1.1\r\nHost: x\r\nX-".encode())
            connections.append(connection)
        except OSError:
            break
    waits = []
    for _ in range(10):
        begun = time.time()
        try:
            status = server.query("ASK {}", timeout=90)[0]
        except OSError as error:
            status = type(error).__name__
        waits.append((time.time() - begun, status))
        if waits[-1][0] > 30:
            break
    for connection in connections:
        connection.close()
    worst = max(waits)
    print(f"  {server.name:16} longest of {len(waits)} waits {worst[0]:.2f} s ({worst[1]})", flush=True)


def large_body(server):
    """A query of 100 MB, posted."""
    begun, peak = time.time(), 0
    body = b"SELECT * { " + b"?s ?p ?o . " * (100 * 2**20 // 11) + b"}"
    result, before = [], server.memory()

    def post():
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
        try:
            connection.request("POST", server.path, body, {"Content-Type": "application/sparql-query"})
        except OSError:
            pass
        try:
            result.append(connection.getresponse().status)
        except (OSError, http.client.HTTPException) as error:
            result.append(type(error).__name__)
        connection.close()

    thread = threading.Thread(target=post)
    thread.start()
    while thread.is_alive():
        peak = max(peak, server.memory() - before)
        thread.join(0.05)
    print(f"  {server.name:16} {result[0]} after {time.time() - begun:.1f} s, {peak} MB more", flush=True)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def search(bench):
    print(f"Search over {bench.entries:,} entries", flush=True)
    begun = time.time()
    vocabulary, subjects = bench.prepare(rival=False)
    print(f"  made and loaded in {time.time() - begun:.0f} s", flush=True)
    begun = time.time()
    quietly(bench.pinakes, "index", "rebuild", "--catalogue", bench.folder / "ours")
    print(f"  indexed in {time.time() - begun:.0f} s", flush=True)
    rng = random.Random(11)
    facets = "&facets=type,language,decade,subject,creator"
    kinds = {
        "search, one word": lambda: "/api/search?q=" + rare(vocabulary, rng) + facets,
        "search, two words": lambda: f"/api/search?q={rare(vocabulary, rng)}+{rare(vocabulary, rng)}{facets}",
        "search, a word and a language": lambda: f"/api/search?q={rare(vocabulary, rng)}&language=eng{facets}",
        "everything": lambda: "/api/search?q=" + facets,
        "a language": lambda: f"/api/search?q=&language={rng.choice(LANGUAGES)}{facets}",
        "most years": lambda: f"/api/search?q=&year={rng.randint(1850, 1950)}..{rng.randint(1990, 2025)}{facets}",
        "all but a word": lambda: f"/api/search?q=-{rare(vocabulary, rng)}{facets}",
        "suggest, one letter": lambda: "/api/suggest?q=" + rng.choice("bcdfghlmnprstvwz"),
        "suggest, three letters": lambda: "/api/suggest?q=" + rare(vocabulary, rng)[:3],
    }
    server = bench.ours()
    try:
        for kind, make in kinds.items():
            waits, found = [], 0
            for number in range(220):
                begun = time.time()
                status, body = server.get(make())
                assert status == 200, (status, body[:500])
                if number >= 20:
                    waits.append((time.time() - begun) * 1000)
                    answer = json.loads(body)
                    found += answer.get("total", 0) if isinstance(answer, dict) else 0
            print(
                f"  {kind:30} p50 {percentile(waits, 0.5):6.0f} ms   p95 {percentile(waits, 0.95):6.0f} ms"
                f"   found {found // len(waits):,}", flush=True,
            )
    finally:
        server.stop()


def compare(bench):
    begun = time.time()
    bench.prepare()
    print(f"{bench.entries * 10:,} statements, in {time.time() - begun:.0f} s; load average {os.getloadavg()[0]:.1f}", flush=True)
    for start in (bench.rival, bench.ours):
        server = start()
        status, body = server.query(f"SELECT * {{ <{BASE}instance/{7:016x}> ?property ?value }}")
        found = len(json.loads(body)["results"]["bindings"])
        server.stop()
        assert (status, found) == (200, 10), (server.name, status, found)
    print(f"Simple SELECT, {CONNECTIONS} connections", flush=True)
    bench.rates()
    print("A SELECT of three patterns, for which ours asks a worker", flush=True)
    bench.rates(pattern=THREE_PATTERNS)
    print(f"The same beside 4 heavy queries, limit {LIMIT} s", flush=True)
    bench.rates(beside=4)
    for what, measure in [
        (f"A heavy query alone, and four at once, limit {LIMIT} s", limits),
        (f"{SLOW_CLIENTS} slow clients", slow_clients),
        ("A query of 100 MB", large_body),
    ]:
        print(what, flush=True)
        for start in (bench.rival, bench.ours):
            server = start()
            try:
                measure(server)
            finally:
                server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--search", action="store_true")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pinakes-bench-"))
    try:
        bench = Bench(arguments, folder)
        (search if arguments.search else compare)(bench)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
