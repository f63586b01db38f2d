"""Compares a feed with what feedparser reads: `feed.py FOLDER`, with feed.xml and meant.json."""

import json
import pathlib
import re
import sys

import feedparser

folder = pathlib.Path(sys.argv[1])
meant = json.loads((folder / "meant.json").read_text())
parsed = feedparser.parse((folder / "feed.xml").read_bytes())
assert not parsed.bozo, parsed.bozo_exception
assert parsed.version == "atom10"
feed = parsed.feed
links = {link.rel: link.href for link in feed.links}
assert sorted(links) == ["alternate", "next", "self"], links
assert links["next"].endswith("page=2&q=x")
assert feed.title == "New <entries> & more" or feed.title == "New &lt;entries&gt; &amp; more", feed.title


def plain(text):
    """As XML holds it: U+FFFD for what it forbids, white space as blanks."""
    text = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", text or "")
    return re.sub(r"\s+", " ", text).strip()


assert len(parsed.entries) == len(meant)
for item, entry in zip(meant, parsed.entries):
    assert entry.id == item["id"]
    assert entry.link == item["link"], (entry.link, item)
    assert entry.updated == item["updated"] and entry.published == item["published"]
    assert plain(entry.title) == plain(item["title"]), (entry.title, item)
    assert [plain(one.get("name")) for one in entry.get("authors", [])] == [plain(name) for name in item["authors"]], (entry, item)
    assert plain(entry.get("summary", "")) == plain(item["summary"]), (entry, item)
    tags = [[plain(tag.term), plain(tag.label)] for tag in entry.get("tags", [])]
    expected = [[plain(term), plain(label)] for term, label in item["categories"]]
    assert [tag for tag in tags if tag in expected] == tags and len(tags) == len({tuple(one) for one in expected}), (tags, item)
print(f"{len(parsed.entries)} entries")
