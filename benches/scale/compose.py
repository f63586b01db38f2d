"""Composes publications: what a first cataloguer says of them.

Publication N of a seed is always the same, whoever asks and in whatever order, so that a duplicate far
behind it and an edition that looks like it can be made without keeping anything in memory.
"""

import random
import re

from vocabulary import CLASSES, LONG_NOTE, SUBJECTS, WORD, YEAR, heading_key, kind_of

# How many people are new, and not authors of an earlier publication.
NEW_AGENTS = 0.45
LOOKALIKES = 0.05
ONE_IN = 5
TRIES = 6
LONGEST_TITLE = 16
FIRST_ISBN, FIRST_ISBN_13, LAST_YEAR = 1968, 2007, 2019
ISBN_GROUPS = {"eng": "0", "fre": "2", "ger": "3", "rus": "5", "por": "972", "spa": "84", "ita": "88"}
AND = {"eng": " and ", "fre": " et ", "ger": " und ", "spa": " y ", "ita": " e ", "por": " e "}
PAGES = re.compile(r"\d{2,4}(?= ?(?:p\b|pages|S\.|s\.|leaves|l\.|с\.))")
ARTICLE = re.compile(r"(The|An?|Les?|La|L'|Der|Die|Das|Ein|El|Los|Las|Il|Os?)(?: |(?<='))")
ENDING = re.compile(r"[ :;/,=.]*$")
MASK = 2**64 - 1


def mix(*numbers):
    """A number that looks random and depends on all of these."""
    state = 0x9E3779B97F4A7C15
    for number in numbers:
        state = (state ^ number) * 0xBF58476D1CE4E5B9 & MASK
        state ^= state >> 29
    state = state * 0x94D049BB133111EB & MASK
    return state ^ state >> 32


def is_duplicate(record):
    """Every fifth record describes what an earlier one describes."""
    return record % ONE_IN == ONE_IN - 1


def original(record):
    """This record, or the one before, so that it is no duplicate."""
    return record - is_duplicate(record)


class Agent:
    def __init__(self, name, born, died):
        self.name = name
        self.dates = f"{born}-{died or ''}"

    def direct(self):
        surname, _, forename = self.name.partition(", ")
        return f"{forename} {surname}".strip()


class Publication:
    """What is said of it, and what cataloguers know besides."""

    def __init__(self, number, template):
        self.number, self.template = number, template
        self.year, self.isbn = template.year, ""
        self.fields, self.agents = [], []

    def field(self, tag):
        return next((field for field in self.fields if field[0] == tag), None)


class Composer:
    def __init__(self, vocabulary, seed):
        self.templates, self.seed = vocabulary.templates, seed

    def template(self, number):
        return self.templates[mix(self.seed, number, 1) % len(self.templates)]

    def publication(self, number):
        """One publication in twenty looks like an earlier one and is another."""
        chance = random.Random(mix(self.seed, number, 2))
        if number and chance.random() < LOOKALIKES:
            return look_alike(self.publication(original(chance.randrange(number))), number, chance)
        return self.fresh(number, chance)

    def fresh(self, number, chance):
        template = self.template(number)
        made = Publication(number, template)
        made.year = min(LAST_YEAR, template.year + int(chance.triangular(-8, 8)))
        if made.year != template.year and any(tag == "020" for tag, _, _ in template.described):
            made.year = max(made.year, FIRST_ISBN)
        made.isbn = isbn(number, template.language)
        made.agents = self.agents(number, template)
        made.title = title(template.shelf, chance)
        agents = iter(made.agents)
        for tag, indicators, subfields in template.described:
            agent = next(agents, None) if tag in ("100", "700") else None
            make = MAKERS.get(tag) or (note if tag[0] == "5" else heading)
            values = make(made, tag, indicators, subfields, agent, chance)
            if tag == "245":
                indicators = indicators[0] + str(nonfiling(made.title))
            if values:
                made.fields.append([tag, indicators, values, agent])
        return made

    def agents(self, number, template):
        tags = [tag for tag, _, _ in template.described if tag in ("100", "700")]
        return [self.agent(number, slot) for slot in range(len(tags))]

    def agent(self, number, slot):
        """New, or whoever an earlier publication names: so a few write much and most write little."""
        template = self.template(number)
        state = mix(self.seed, number, slot, 3)
        if number and state % 1000 >= NEW_AGENTS * 1000:
            for attempt in range(TRIES):
                earlier = mix(state, attempt) % number
                other = self.template(earlier)
                if other.shelf is template.shelf and abs(other.year - template.year) < 30:
                    return self.agent(earlier, 0)
        return self.new_agent(template, random.Random(state))

    def new_agent(self, template, chance):
        shelf = template.shelf
        surname, forename = chance.choice(shelf.surnames), chance.choice(shelf.forenames)
        born = template.year - chance.randint(25, 70)
        died = born + chance.randint(50, 95)
        return Agent(f"{surname}, {forename}", born, died if died < LAST_YEAR and chance.random() < 0.8 else None)


def pick(items, chance):
    return items[int(chance.random() * len(items))]


def title(shelf, chance, phrases=None):
    """A beginning and one to three continuations, some words exchanged for others that fit."""
    words = list(pick(shelf.heads, chance))
    for _ in range(phrases or 1 + int(chance.random() ** 2 * 3)):
        words += pick(shelf.tails, chance)
    for at, word in enumerate(words):
        if chance.random() < 0.3 and WORD.fullmatch(word):
            words[at] = pick(shelf.alike.get(kind_of(word)) or [word], chance)
    del words[LONGEST_TITLE:]
    while len(words) > 2 and words[-1].lower() in shelf.joints:
        words.pop()
    text = ENDING.sub("", " ".join(words))
    return text[:1].upper() + text[1:]


def nonfiling(text):
    """How many letters of the title are an article, for the second indicator."""
    article = ARTICLE.match(text)
    return len(article[0]) if article else 0


def isbn(number, language):
    """Nine digits that no other publication has; the check digit comes with the form."""
    group = ISBN_GROUPS.get(language, "0")
    width = 9 - len(group)
    return group + str(number * 1_234_577 % 10**width).zfill(width)


def isbn_10(nine):
    check = -sum((10 - at) * int(digit) for at, digit in enumerate(nine)) % 11
    return nine + "0123456789X"[check]


def isbn_13(nine):
    twelve = "978" + nine
    check = -sum(int(digit) * (3 if at % 2 else 1) for at, digit in enumerate(twelve)) % 10
    return twelve + str(check)


def issn(number):
    seven = f"{number * 1_234_577 % 10**7:07d}"
    check = -sum((8 - at) * int(digit) for at, digit in enumerate(seven)) % 11
    return f"{seven[:4]}-{seven[4:]}{'0123456789X'[check]}"


def renumbered(text, number):
    """The same text with other digits, those of one publication; where it has hardly any, they are added."""

    def digits(width):
        return str((number + 1) * 7_654_321 % 10**width).zfill(width)

    replaced, count = re.subn(r"\d{3,}", lambda found: digits(max(7, len(found[0]))), text)
    return replaced if count else f"{text} {digits(7)}"


def ended(text, pattern):
    """A text with the punctuation at the end that the pattern has."""
    return ENDING.sub("", text) + ENDING.search(pattern)[0]


def shifted(text, made):
    """Years as much later as the publication is later than its template."""
    return YEAR.sub(lambda found: str(min(LAST_YEAR, int(found[0]) + made.year - made.template.year)), text)


# How fields are made: of the publication, a tag, indicators and subfields of the template, an agent.


def fixed(made, tag, indicators, subfields, agent, chance):
    text = subfields[0][1]
    return [["", text[:7] + shifted(text[7:15], made) + text[15:]]]


def as_it_is(made, tag, indicators, subfields, agent, chance):
    return [list(pair) for pair in subfields]


def main_title(made, tag, indicators, subfields, agent, chance):
    shelf, values = made.template.shelf, []
    for code, text in subfields:
        if code == "a":
            text = ended(made.title, text)
        elif code == "b":
            subtitle = title(shelf, chance, 1)
            text = ended(subtitle[:1].lower() + subtitle[1:], text)
        elif code == "c":
            text = ended(responsibility(made, chance), text)
        values.append([code, text])
    return values


def responsibility(made, chance):
    names = [agent.direct() for agent in made.agents[:3]]
    if not names:
        shelf = made.template.shelf
        names = [f"{pick(shelf.forenames, chance)} {pick(shelf.surnames, chance)}"]
    told = AND.get(made.template.language, ", ").join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return pick(made.template.shelf.credits, chance) + told + (" ... [et al.]" if len(made.agents) > 3 else "")


def other_title(made, tag, indicators, subfields, agent, chance):
    values = []
    for code, text in subfields:
        if code in "abpt":
            text = ended(title(made.template.shelf, chance, 1), text)
        elif code == "x":
            text = issn(made.number * 2 + 1)
        elif code == "w":
            text = renumbered(text, made.number)
        values.append([code, text])
    return values


def person(made, tag, indicators, subfields, agent, chance):
    values = []
    for code, text in subfields:
        if code == "a":
            values.append([code, ended(agent.name, text)])
        elif code == "d":
            values.append([code, ended(agent.dates, text)])
        elif code == "t":
            values.append([code, ended(title(made.template.shelf, chance, 1), text)])
        elif code in "e4i6":
            values.append([code, text])
    return values


def imprint(made, tag, indicators, subfields, agent, chance):
    values = [list(pair) for pair in pick(made.template.shelf.imprints, chance)]
    if not any(code in "ab" for code, _ in subfields):
        values = []
    return values + [[code, shifted(text, made)] for code, text in subfields if code not in "ab6"]


def extent(made, tag, indicators, subfields, agent, chance):
    values = []
    for code, text in subfields:
        if code == "a":
            text = PAGES.sub(lambda found: str(int(int(found[0]) * chance.uniform(0.6, 1.6)) + 9), text, count=1)
        elif code in "bc":
            text = pick(made.template.shelf.values["300", "", "", code] or [text], chance)
        values.append([code, text])
    return values


def book_number(made, tag, indicators, subfields, agent, chance):
    values = []
    for code, text in subfields:
        if code in "az":
            said = re.match(r"[0-9Xx-]*", text)[0]
            number = (isbn_13 if made.year >= FIRST_ISBN_13 or len(said) > 12 else isbn_10)(made.isbn)
            text = number + text[len(said) :] if code == "a" or len(subfields) == 1 else isbn_10(made.isbn)
        values.append([code, text])
    return values


def serial_number(made, tag, indicators, subfields, agent, chance):
    return [[code, issn(made.number) if code in "almyz" else text] for code, text in subfields]


def control_number(made, tag, indicators, subfields, agent, chance):
    """Eight digits: the year and a number in it; after a million, with a letter before them."""
    million, rest = divmod(made.number, 10**6)
    prefix = f"{'abcdefghijklmnopqrstuvwxyz'[million - 1 :][:1] if million else '':3}"
    number = f"{prefix}{made.year % 100:02d}{rest * 7_919 % 10**6:06d}"
    return [[code, number if code == "a" else text] for code, text in subfields if code in "ab"]


def foreign_number(made, tag, indicators, subfields, agent, chance):
    return [[code, renumbered(text, made.number) if code in "ayz" else text] for code, text in subfields]


def recording(made, tag, indicators, subfields, agent, chance):
    return [[code, renumbered(text, made.number) if code == "c" else text] for code, text in subfields]


def class_mark(made, tag, indicators, subfields, agent, chance):
    entry = made.agents[0].name if made.agents else made.title
    cutter = f"{'.' if tag == '050' else ''}{entry[:1].upper()}{mix(made.number, 5) % 990 + 10} {made.year}"
    return [[code, cutter if code == "b" else text] for code, text in subfields]


def note(made, tag, indicators, subfields, agent, chance):
    shelf, values = made.template.shelf, []
    for code, text in subfields:
        clauses = shelf.clauses.get((tag, code))
        if len(text) >= LONG_NOTE and clauses and len(clauses) > 3:
            text = long_note(clauses, len(text), " -- " if tag == "505" else " ", chance)
        elif len(text) < LONG_NOTE and len(code) and shelf.short_notes.get((tag, code)):
            text = pick(shelf.short_notes[tag, code], chance)
        values.append([code, text])
    return values


def long_note(clauses, length, between, chance):
    taken, size = [], 0
    while size < length:
        taken.append(pick(clauses, chance))
        size += len(taken[-1]) + len(between)
    return between.join(taken)


def link(made, tag, indicators, subfields, agent, chance):
    def address(text):
        return f"{'/'.join(text.split('/')[:3])}/{made.number:x}"

    return [[code, address(text) if code == "u" else text] for code, text in subfields]


def heading(made, tag, indicators, subfields, agent, chance):
    """Each part is what a real record says in this place: of the same class of knowledge, where it has one."""
    values, shelf = [], made.template.shelf
    topic = made.template.topic if SUBJECTS.fullmatch(tag) and chance.random() < 0.7 else ""
    key = heading_key(tag, indicators, topic)
    for code, text in subfields:
        if code in "029w6":
            values.append([code, text])
        else:
            values.append([code, ended(pick(shelf.values.get((*key, code)) or [text], chance), text)])
    return values


# Numbers of agencies, publishers and governments: one publication each, or resolving would distrust them.
NUMBERS = ["013", "015", "016", "017", "019", "024", "027", "028", "030", "032", "036", "037", "074", "086", "088"]
MAKERS = {
    "006": as_it_is, "007": as_it_is, "008": fixed, "010": control_number, "020": book_number,
    "022": serial_number, "034": as_it_is, "041": as_it_is, "043": as_it_is, "100": person, "130": other_title, "240": other_title, "245": main_title,
    "246": other_title, "260": imprint, "262": recording, "264": imprint, "300": extent, "336": as_it_is, "337": as_it_is,
    "338": as_it_is, "700": person, "730": other_title, "740": other_title, "780": other_title,
    "785": other_title, "856": link,
} | dict.fromkeys(CLASSES, class_mark) | dict.fromkeys(NUMBERS, foreign_number)


# What looks like another publication and is none of its descriptions.


# What a publication has for itself, however much it looks like another one.
OWN = (book_number, serial_number, control_number, foreign_number, recording, link)


def look_alike(other, number, chance):
    other.number = number
    other.isbn = isbn(number, other.template.language)
    differ = pick([other_edition, other_volume, similar_title, reprint], chance)
    differ(other, chance)
    for field in other.fields:
        tag, indicators, values, agent = field
        make = MAKERS.get(tag)
        if make in OWN or tag[0] == "5":
            field[2] = (make or note)(other, tag, indicators, values, agent, chance)
    if differ is not reprint:
        repaginate(other, chance)
    return other


def repaginate(made, chance):
    field = made.field("300")
    for pair in field[2] if field else []:
        if pair[0] == "a":
            pair[1] = PAGES.sub(lambda found: str(int(found[0]) + chance.randint(7, 120)), pair[1], count=1)


def put(made, field):
    """Puts a field where its tag belongs."""
    at = next((at for at, known in enumerate(made.fields) if known[0] > field[0]), len(made.fields))
    made.fields.insert(at, field)


def other_edition(made, chance):
    republish(made, chance.randint(2, 9))
    made.fields = [field for field in made.fields if field[0] != "250"]
    number = chance.randint(2, 5)
    edition = {"ger": f"{number}. Aufl.", "fre": f"{number}e éd.", "spa": f"{number}a ed.", "ita": f"{number}. ed."}
    english = f"{number}{['nd', 'rd', 'th', 'th'][number - 2]} ed."
    put(made, ["250", "  ", [["a", edition.get(made.template.language, english)]], None])


def republish(made, later):
    redate(made.fields, later)
    made.year += later


def redate(fields, later):
    """Says a later year, in the imprint and in the fixed field."""

    def postponed(text):
        return YEAR.sub(lambda found: str(int(found[0]) + later), text)

    for tag, _, values, _ in fields:
        if tag == "008":
            values[0][1] = values[0][1][:7] + postponed(values[0][1][7:11]) + values[0][1][11:]
        elif tag in ("260", "264"):
            for pair in values:
                pair[1] = postponed(pair[1]) if pair[0] == "c" else pair[1]


def reprint(made, chance):
    """As long as the first, from another publisher in a later year."""
    republish(made, chance.randint(2, 30))
    field = made.field("260") or made.field("264")
    if field and any(code == "b" for code, _ in field[2]):
        dates = [pair for pair in field[2] if pair[0] not in "ab"]
        field[2] = [list(pair) for pair in pick(made.template.shelf.imprints, chance)] + dates


def other_volume(made, chance):
    values = made.field("245")[2]
    values[:] = [pair for pair in values if pair[0] not in "np"]
    # Volumes appear together or in the course of years.
    republish(made, chance.choice([0, 0, 1, 2]))
    number = chance.randint(2, 12)
    word = {"ger": "Bd.", "rus": "t."}.get(made.template.language, "Vol.")
    first = next((at for at, pair in enumerate(values) if pair[0] == "a"), 0)
    after = ENDING.search(values[first][1])[0]
    values[first][1] = ended(values[first][1], ".")
    values.insert(first + 1, ["n", f"{word} {number}{after}"])


def similar_title(made, chance):
    """The same author, and a title that begins alike."""
    shelf = made.template.shelf
    for pair in made.field("245")[2]:
        if pair[0] == "a":
            words = ENDING.sub("", pair[1]).split()
            kept = words[: max(1, len(words) // 2)]
            made.title = " ".join(kept + pick(shelf.tails, chance))
            pair[1] = ended(made.title, pair[1])
