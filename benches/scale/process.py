"""Runs a command or a server and says what it cost.

CPU is user and system time of the whole process tree, as far as parents waited for their children, which
the kernel adds up. Peak memory is that of the largest single process of the tree, not their sum.
"""

import collections
import http.client
import os
import subprocess
import tempfile
import time
import urllib.parse

Cost = collections.namedtuple("Cost", "cpu wall memory")
# What a command says when it did what was asked, though some data was refused.
WITH_DATA_ERRORS = 1


class Failed(Exception):
    """A command or a request did not do what was asked of it."""


def run(*command, allowed=(0,)):
    """Standard output of a command, and its cost."""
    command = [str(part) for part in command]
    begun = time.time()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        with process.stdout:
            out = process.stdout.read()
        status, cost = reap(process, begun)
        if status not in allowed:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()[-5:]
            raise Failed(f"{command[0]} ended with {status}: {' '.join(said)}")
    return out, cost


def reap(process, begun):
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, Cost(used.ru_utime + used.ru_stime, time.time() - begun, used.ru_maxrss / 1024)


class Server:
    """`pinakes serve` on a free port, asked one request after the other."""

    def __init__(self, command, catalogue):
        self.begun = time.time()
        command = [command, "--quiet", "serve", "--catalogue", catalogue, "--bind", "127.0.0.1:0"]
        command += ["--query-seconds", 60]
        self.process = subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        # The first line says where it listens.
        address = self.process.stdout.readline().rpartition("http://")[2].strip().rstrip("/")
        if not address:
            status, _ = reap(self.process, self.begun)
            raise Failed(f"the server ended with {status} before it listened")
        self.address = address

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        _, self.cost = reap(self.process, self.begun)
        self.process.stdout.close()

    def get(self, path):
        """The body of an answer, and how many milliseconds it took."""
        begun = time.perf_counter()
        connection = http.client.HTTPConnection(self.address, timeout=120)
        try:
            connection.request("GET", path, headers={"Accept": "application/sparql-results+json, */*;q=0.1"})
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise Failed(f"{path[:200]} was answered with {answer.status}: {body[:200]!r}")
        return body, (time.perf_counter() - begun) * 1000

    def query(self, text):
        return self.get("/sparql?" + urllib.parse.urlencode({"query": text}))


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
