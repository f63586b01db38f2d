"""Another cataloguer's description of the same publication.

It has another number, other fields of its own library, and the differences that meet in shared catalogues:
rules of other years, another punctuation, a shorter or fuller description, and slips of the pen.
"""

import re
import unicodedata

from compose import ENDING, PAGES, isbn_10, isbn_13, pick, redate

# How often another cataloguer leaves a field out, and what else differs: where `benches/resolve/generate.rs`
# has a rate, it is the same here.
LEFT_OUT = {"020": 0.4, "010": 0.5, "100": 0.05, "246": 0.5, "250": 0.08, "300": 0.12, "440": 0.3, "490": 0.3}
LEFT_OUT |= {"700": 0.15, "740": 0.6, "830": 0.4}
NOTE_LEFT_OUT, SUBJECT_LEFT_OUT = 0.7, 0.3
SUBTITLE_LEFT_OUT, PUBLISHER_LEFT_OUT, PLACE_LEFT_OUT = 0.2, 0.08, 0.1
SLIP, OTHER_YEAR, OTHER_EXTENT = 0.06, 0.04, 0.06
EDITIONS = [("2nd ed.", "Second edition."), ("3rd ed.", "Third edition."), ("4th ed.", "Fourth edition."),
            ("1st ed.", "First edition."), ("Rev. ed.", "Revised edition."), (" Aufl.", " Auflage"), ("e éd.", "e édition")]
PUBLISHERS = [("University Press", "Univ. Pr."), ("University", "Univ."), (" and ", " & "), ("Company", "Co."),
              ("Publishing", "Pub."), ("Publishers", "Publ."), ("Editions", "Éd."), ("Éditions", "Éd."), ("Verlag", "Verl."),
              ("Records", "Rec."), ("Press", "Pr.")]
EXTENTS = [(r" p\.", " pages"), (r"\bill\.", "illustrations"), (r" S\.", " Seiten"), (r"\bcol\.", "color"),
           (r"\bv\.", "volumes"), (r"\bfacsims?\.", "facsimiles"), (r" l\.", " leaves")]


def varied(publication, chance):
    fields = []
    for field in publication.fields:
        tag = field[0]
        if chance.random() >= left_out(tag):
            fields.append(VARIATIONS.get(tag, lambda field, _: field)(field, chance))
    if chance.random() < OTHER_YEAR:
        redate(fields, 1)
    if chance.random() < 0.3:
        for field in fields:
            without_isbd(field)
    return fields


def left_out(tag):
    return LEFT_OUT.get(tag) or {"5": NOTE_LEFT_OUT, "6": SUBJECT_LEFT_OUT}.get(tag[0], 0)


def without_isbd(field):
    if field[0] in ("245", "250", "260", "264", "300", "490"):
        for pair in field[2]:
            pair[1] = re.sub(r"(?: [:;/=]|,)$", "", pair[1])


def title(field, chance):
    values = field[2]
    if chance.random() < SUBTITLE_LEFT_OUT:
        values = [pair for pair in values if pair[0] != "b"]
    if chance.random() < 0.12:
        values = [pair for pair in values if pair[0] != "c"]
    values = [pair for pair in values if pair[0] != "h" or chance.random() < 0.5]
    dice = chance.random()
    for pair in values:
        if pair[0] in "abnp":
            pair[1] = rewritten(pair[1], dice, chance)
    return [field[0], field[1], values, None]


def rewritten(text, dice, chance):
    """By one dice, for a cataloguer who writes the title in capitals does so to its end."""
    if dice < 0.03:
        return text.upper()
    if dice < 0.11:
        return text.title()
    if dice < 0.21:
        return without_marks(text)
    if dice < 0.26:
        return text.replace(" and ", " & ").replace(" et ", " & ").replace(" und ", " & ")
    if dice < 0.26 + SLIP:
        return slip(text, chance)
    return text


def without_marks(text):
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def slip(text, chance):
    """Two letters exchanged, or one left out."""
    if len(text) < 12:
        return text
    at = chance.randrange(2, len(text) - 4)
    return text[:at] + (text[at + 1] + text[at] if chance.random() < 0.5 else text[at]) + text[at + 2 :]


def name(field, chance):
    tag, indicators, values, agent = field
    codes = [code for code, _ in values]
    if "d" in codes and chance.random() < 0.35:
        values = [pair for pair in values if pair[0] != "d"]
        values[0][1] = values[0][1].rstrip(", ")
    elif "d" not in codes and agent and chance.random() < 0.3:
        end = codes.index("a") + 1 if "a" in codes else 0
        values[end - 1][1] = ENDING.sub("", values[end - 1][1]) + ","
        values.insert(end, ["d", agent.dates])
    if agent and chance.random() < 0.12:
        surname, _, forename = agent.name.partition(", ")
        initials = " ".join(word[:1] + "." for word in re.split(r"[ .-]+", forename) if word)
        for pair in values:
            if pair[0] == "a":
                pair[1] = f"{surname}, {initials}" + ("," if pair[1].endswith(",") else "")
    values = [pair for pair in values if pair[0] not in "e4" or chance.random() < 0.7]
    return [tag, indicators, values, agent]


def book_number(field, chance):
    for pair in field[2]:
        digits = re.match(r"(?:978)?(\d{9})[\dX]", pair[1]) if pair[0] == "a" else None
        if digits:
            pair[1] = (isbn_13 if chance.random() < 0.5 else isbn_10)(digits[1])
    return field


def edition(field, chance):
    swap = chance.random() < 0.5
    for pair in field[2]:
        for short, long in EDITIONS if swap else []:
            pair[1] = pair[1].replace(short, long)
    return field


def imprint(field, chance):
    tag, indicators, values, agent = field
    places = [pair for pair in values if pair[0] == "a"]
    if len(places) > 1 and chance.random() < 0.5:
        values = [pair for pair in values if pair is not places[1]]
    if chance.random() < PUBLISHER_LEFT_OUT:
        values = [pair for pair in values if pair[0] != "b"]
    if chance.random() < PLACE_LEFT_OUT:
        values = [pair for pair in values if pair[0] != "a"]
    shorten = chance.random() < 0.35
    for pair in values:
        if pair[0] == "a" and chance.random() < 0.2:
            pair[1] = re.sub(r", [A-Z][^:;]*", "", pair[1])
        elif pair[0] == "b" and shorten:
            for long, short in PUBLISHERS:
                pair[1] = pair[1].replace(long, short)
        elif pair[0] == "c":
            pair[1] = year(pair[1], chance)
    if tag == "260" and chance.random() < 0.15:
        tag, indicators = "264", " 1"
    return [tag, indicators, values, agent]


def year(text, chance):
    found = re.search(r"\d{4}", text)
    if not found or chance.random() < 0.5 or re.search(r"\d{4}.*\d{4}", text):
        return text
    return pick(["{}", "[{}]", "c{}", "{}.", "[{}?]", "©{}"], chance).format(found[0])


def extent(field, chance):
    spelled_out = chance.random() < 0.4
    values = [pair for pair in field[2] if pair[0] in "ae" or chance.random() < 0.85]
    for pair in values:
        for short, long in EXTENTS if spelled_out else []:
            pair[1] = re.sub(short, long, pair[1])
        if pair[0] == "c" and chance.random() < 0.3:
            pair[1] = pair[1].replace(" cm.", "cm")
        if pair[0] == "a" and chance.random() < 0.15:
            pair[1] = re.sub(r"^[ivxlc]+, ", "", pair[1])
        if pair[0] == "a" and chance.random() < OTHER_EXTENT:
            pair[1] = PAGES.sub(lambda found: str(int(found[0]) + chance.randint(1, 4)), pair[1], count=1)
    return [field[0], field[1], values or field[2], None]


def series(field, chance):
    values = [pair for pair in field[2] if pair[0] != "x" or chance.random() < 0.5]
    if field[0] == "440" and chance.random() < 0.5:
        return ["490", "0 ", values, None]
    return [field[0], field[1], values, None]


VARIATIONS = {
    "020": book_number, "100": name, "245": title, "250": edition, "260": imprint, "264": imprint,
    "300": extent, "440": series, "490": series, "700": name,
}
