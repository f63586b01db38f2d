"""What real records are made of, taken apart so that new ones can be put together.

Words that follow each other in titles, names, imprints, headings and notes are kept by language and by
whether a record is of text or of music, for a title made of both would fool nobody. The records themselves
stay as templates: which fields and subfields they have, not what these say.
"""

import collections
import re

import marc

# What a cataloguing system adds for its own library: another library's record has its own.
FRAME = re.compile("00[35]|035|039|040|042|049|59.|85[2-5]|8[67].|9..")
CLASSES = {"050", "055", "060", "082", "090", "092", "099"}
SUBJECTS = re.compile("6..")
MUSIC = "cdij"
# With fewer records, a language has too few words to make titles of.
FEWEST = 30
JOINTS = 25
LONG_NOTE = 60
YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20[01]\d)(?!\d)")
CLAUSE = re.compile(r"(?<=[.;,])\s+")
WORD = re.compile(r"[^\W\d_]{5,}")


class Template:
    """The shape of a record: its leader, its fields, and what is known of it."""

    def __init__(self, record):
        self.leader = record.leader
        self.form = "music" if record.leader[6] in MUSIC else "text"
        fixed = next((subfields[0][1] for tag, _, subfields, _ in record.fields if tag == "008"), "")
        self.language = fixed[35:38] if len(fixed) == 40 else ""
        said = YEAR.search(fixed[7:11])
        self.year = int(said[0]) if said else 0
        self.topic = ""
        self.frame, self.described = [], []
        for field in record.fields:
            tag, indicators, subfields, _ = field
            if tag == "001":
                continue
            if tag == "050" and subfields:
                self.topic = re.match("[A-Z]*", subfields[0][1])[0][:2]
            if FRAME.fullmatch(tag):
                self.frame.append((tag, indicators, [(code, numbered(text, tag)) for code, text in subfields]))
            else:
                self.described.append((tag, indicators, [tuple(pair) for pair in subfields]))

    def is_usable(self):
        titles = [[code for code, _ in subfields] for tag, _, subfields in self.described if tag == "245"]
        return self.year > 0 and self.language.strip() and len(titles) == 1 and "a" in titles[0]


def numbered(text, tag):
    """A text as a format, and how many digits go where: numbers of others would be copies."""
    if tag == "035" and not re.search(r"\d{3}", text):
        text += "000"
    if tag == "005" or not re.search(r"\d{3}", text):
        return text, ()
    widths = []

    def place(digits):
        if tag != "035" and YEAR.fullmatch(digits[0]):
            return digits[0]
        # A number of a system must be of one record, however many records there are.
        widths.append(max(len(digits[0]), 8) if tag == "035" else len(digits[0]))
        return "%0" + str(widths[-1]) + "d"

    return re.sub(r"\d{3,}", place, text.replace("%", "%%")), tuple(widths)


class Shelf:
    """The words of one language, in texts or in music."""

    def __init__(self):
        self.titles, self.heads, self.tails = [], [], []
        self.surnames, self.forenames, self.credits = [], [], []
        self.imprints, self.short_notes = [], collections.defaultdict(list)
        self.values, self.clauses = collections.defaultdict(list), collections.defaultdict(list)
        self.alike = collections.defaultdict(list)

    def take(self, template):
        for tag, indicators, subfields in template.described:
            if tag == "245":
                self.take_title(subfields)
            elif tag in ("100", "700") and indicators[0] == "1":
                self.take_name(subfields[0][1] if subfields else "")
            elif tag in ("260", "264"):
                self.take_imprint(subfields)
            elif tag[0] == "5":
                self.take_notes(tag, subfields)
            for code, text in subfields:
                self.values[heading_key(tag, indicators, template.topic), code].append(text)
                self.values[heading_key(tag, indicators, ""), code].append(text)

    def take_title(self, subfields):
        for code, text in subfields:
            if code in "ab" and len(text) > 6:
                self.titles.append(strip(text).split())
            elif code == "c":
                credit = re.match(r"(?:[a-zà-ÿ.]+ ){0,4}(?=[A-ZÀ-Þ])", text)
                self.credits.append(credit[0] if credit else "")

    def take_name(self, name):
        surname, comma, forename = strip(name).partition(", ")
        if comma and re.fullmatch(r"[^\W\d_][\w' -]+", surname) and re.fullmatch(r"[^\W\d_][\w'. -]*", forename):
            self.surnames.append(surname)
            self.forenames.append(forename.rstrip(" ,"))

    def take_imprint(self, subfields):
        imprint = [list(pair) for pair in subfields if pair[0] in "ab"]
        if [code for code, _ in imprint] in (["a", "b"], ["a", "a", "b"]):
            self.imprints.append(imprint)

    def take_notes(self, tag, subfields):
        for code, text in subfields:
            if len(text) < LONG_NOTE:
                self.short_notes[tag, code].append(text)
                continue
            pieces = text.split(" -- ") if tag == "505" else CLAUSE.split(text)
            self.clauses[tag, code].extend(piece for piece in pieces if 8 < len(piece) < 160)

    def finish(self):
        """Splits titles where a preposition or an article begins another phrase."""
        words = collections.Counter(word for title in self.titles for word in title if word.islower() and len(word) < 5)
        self.joints = {word for word, count in words.most_common(JOINTS) if count * 60 > len(self.titles)}
        for title in self.titles:
            phrases = split_at(title, self.joints)
            self.heads.append(phrases[0])
            self.tails.extend(phrase for phrase in phrases[1:] if phrase[0] in self.joints)
            for word in title:
                if WORD.fullmatch(word):
                    self.alike[kind_of(word)].append(word)

    def is_rich(self):
        return len(self.heads) >= FEWEST and min(map(len, (self.tails, self.surnames, self.imprints))) >= FEWEST // 2


def split_at(words, joints):
    phrases = [[]]
    for word in words:
        if word in joints and phrases[-1] and phrases[-1][-1] not in joints:
            phrases.append([])
        phrases[-1].append(word)
    # What ends with a preposition ends in the middle.
    while phrases[-1] and phrases[-1][-1].lower() in joints and len(phrases) > 1:
        phrases.pop()
    return phrases


def kind_of(word):
    """Words with one ending often do one work in a sentence, so that one can stand for another."""
    return word[0].isupper(), word[-3:]


def strip(text):
    return re.sub(r'[][<>"“”]', "", text).strip().rstrip(" :;/,=.").strip()


def heading_key(tag, indicators, topic):
    """Headings are of one list, and those of one class of knowledge go together."""
    return (tag, indicators[1:], topic) if SUBJECTS.fullmatch(tag) else (tag, "", "")


class Vocabulary:
    def __init__(self, path):
        templates = [template for template in map(Template, marc.read(path)) if template.is_usable()]
        shelves = collections.defaultdict(Shelf)
        for template in templates:
            # What has no words in any language is titled in that of the catalogue.
            template.language = template.language.replace("zxx", "eng")
            for form in (template.form, "all"):
                shelves[template.language, form].take(template)
        for shelf in shelves.values():
            shelf.titles = [title for title in shelf.titles if title]
            shelf.finish()
        self.templates = []
        for template in templates:
            candidates = (shelves[template.language, form] for form in (template.form, "all"))
            shelf = next((candidate for candidate in candidates if candidate.is_rich()), None)
            if shelf:
                template.shelf = shelf
                self.templates.append(template)
