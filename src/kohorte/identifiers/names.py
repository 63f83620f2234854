"""Identifiers by the name of a column: patterns in English and German for the classes of identifiers.

A name is first split into words, so that `patientName`, `PATIENT_NAME` and `patient name` are the same, and `filename`
is not a name. Each rule removes the words that it matches: the address in `email_address` is not a street.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kohorte.identifiers.classes import Form

_NUMBER = r"(?: ?(?:ids?|nr|no|num|number|numbers|nummer|code|key))"
_THINGS = (
    "file|datei|drug|medication|medicine|product|produkt|brand|trade|generic|handels|wirkstoff|medikamenten|test|lab"
    "|procedure|study|studien|protocol|table|column|variable|field|unit|code|class|type|diagnosis|disease|category"
)
_EVENTS = (
    "birth|death|admission|admit|discharge|visit|start|end|onset|diagnosis|surgery|service|entry|exit|event|sample"
    "|treatment|operation|consent|enrol+ment|geburts|todes|sterbe|aufnahme|entlassungs?|besuchs|diagnose|operations"
)

_RULES: tuple[tuple[int | None, Form, str], ...] = (
    (None, Form.DIRECT, rf"(?:{_THINGS}) ?names?"),  # names of things; removed first
    (6, Form.DIRECT, r"e ?mails?(?: ?address(?:es)?| ?adressen?)?|mails?(?: ?address| ?adresse)?|mailadresse"),
    (15, Form.DIRECT, r"ip(?: ?v ?[46])?(?: ?addr(?:ess)?(?:es)?| ?adressen?)?|host ?name"),
    (13, Form.DIRECT, r"mac(?: ?addr(?:ess)?| ?adresse)"),
    (14, Form.DIRECT, r"urls?|uris?|web ?(?:site|page|address|seite)s?|home ?page"),
    (12, Form.DIRECT, rf"(?:licen[cs]e|number) ?plates?{_NUMBER}?|plate{_NUMBER}|kennzeichen|kfz\w*|vin{_NUMBER}?"),
    (
        12,
        Form.DIRECT,
        rf"vehicles?(?:{_NUMBER}| identif\w*| reg\w*| serial\w*)|fahrgestell\w*|fahrzeug\w*|nummernschild",
    ),
    (5, Form.DIRECT, rf"\w*fax\w*{_NUMBER}?"),
    (
        4,
        Form.DIRECT,
        rf"(?:tele|cell|home|work|mobile) ?phones?\w*|phones?\w*|tel|telefon\w*|(?:cell|mobile){_NUMBER}|mobil\w*tel\w*"
        rf"|mobil{_NUMBER}?|mobilnummer|handy\w*|pager|rufnummer|durchwahl",
    ),
    (
        7,
        Form.DIRECT,
        rf"ssns?|social ?security{_NUMBER}?|svnr|sv ?nummer|sozialversicherung\w*|rentenversicherung\w*|rvnr"
        rf"|ahv{_NUMBER}?|tax(?:payer)?{_NUMBER}|steuer{_NUMBER}|national ?id|personalausweis\w*",
    ),
    (
        9,
        Form.DIRECT,
        rf"health ?plan\w*{_NUMBER}?|beneficiary\w*{_NUMBER}?|insurance policy|hicn|mbi|egk|kvnr"
        rf"|(?:member|subscriber|insurance|policy|medicare|medicaid){_NUMBER}"
        r"|versicherten\w*|versicherungs ?(?:nr|nummer)|kranken(?:kassen|versicher)\w*",
    ),
    (
        8,
        Form.DIRECT,
        rf"mrns?|medical ?records?{_NUMBER}?|pids?|pat(?:ients?|ienten)?{_NUMBER}|pat(?:ienten)?(?:kennung|schluessel)"
        rf"|(?:fall|aufnahme|case|chart|encounter|hadm|stay|hospital){_NUMBER}|epi?c?mpi|empi|(?<=^)patient(?:in)?s?(?=$)",
    ),
    (
        10,
        Form.DIRECT,
        rf"account\w*{_NUMBER}?|acct\w*{_NUMBER}?|konto(?!r)\w*{_NUMBER}?|iban|bic|blz"
        rf"|bank ?(?:account|verbindung|code){_NUMBER}?"
        rf"|credit ?card\w*|kreditkarte\w*|card{_NUMBER}|(?:invoice|billing|rechnungs){_NUMBER}",
    ),
    (
        11,
        Form.DIRECT,
        rf"(?:drivers? ?)?licen[cs]es?\w*{_NUMBER}?|certificate{_NUMBER}|zertifikats?{_NUMBER}"
        rf"|fuehrerschein\w*|passports?\w*{_NUMBER}?|reisepass\w*|ausweis\w*|npi|dea{_NUMBER}|lanr|approbations\w*",
    ),
    (
        13,
        Form.DIRECT,
        rf"devices?\w*{_NUMBER}?|serials?{_NUMBER}?|serial(?:no|number)|serien(?:nr|nummer)|geraete{_NUMBER}|(?:implant|pacemaker){_NUMBER}"
        r"|imei|imsi|udi",
    ),
    (
        16,
        Form.DIRECT,
        r"finger ?prints?|fingerabdr\w*|voice ?prints?|stimmabdr\w*|palm ?prints?|handabdr\w*|biometr\w*"
        r"|(?:iris|retina) ?(?:scan|code|image)",
    ),
    (
        17,
        Form.DIRECT,
        r"photos?\w*|fotos?\w*|selfies?|portraits?|pictures?|lichtbild\w*|gesicht\w*|headshots?|avatar"
        r"|(?:full ?)?face(?: (?:image|scan))?(?=$)|(?:images?|bild)(?: (?:file|path|data|name))?(?=$)",
    ),
    (
        3,
        Form.BIRTH,
        r"dob|yob|birth ?(?:date|day|year)|(?:date|day|year) ?of ?birth|geb(?:urts)? ?(?:datum|tag|jahr)|geboren",
    ),
    (2, Form.PLACE, r"birth ?place|place ?of ?birth|geburtsort"),
    (2, Form.ZIP, r"zip ?codes?|zips?|zcta|plz|postleitzahl(?:en)?|postal(?: ?codes?)?|post ?codes?"),
    (
        2,
        Form.DIRECT,
        r"streets?|\w*strasse|str|\w*address(?:es)?|addr|\w*adressen?|anschrift"
        r"|house ?(?:no|nr|number)|hausnr|hausnummer",
    ),
    (
        2,
        Form.PLACE,
        r"city|cities|town|village|municipality|county|counties|district|precinct|parish|borough|suburb|neighbou?rhood"
        r"|census ?(?:tract|block)|tract|block ?group|geo ?codes?|geohash|fips|gps|lat|lon|lng|latitude|longitude"
        r"|coordinates?|koordinaten?|ort|wohnort|wohnsitz|stadt|gemeinde|(?:land)?kreis|bezirk|ortsteil|stadtteil|residence",
    ),
    (
        3,
        Form.DATE,
        rf"(?:{_EVENTS}) ?(?:dates?|datetime|times?tamp|day|month|week|datum|tag|monat|zeitpunkt|dt)|dates?|datetime"
        r"|time ?stamp|\w*datum|\w*zeitpunkt|zeitstempel|deathtime|admittime|dischtime"
        r"|(?:month|day|week|quarter)(?: of \w+)?(?=$)|monat|tag|woche|kw|quartal|kalenderwoche",
    ),
    (3, Form.AGE, r"ages?|age ?(?:group|band|class|bracket|range)s?|patientage"),
    (3, Form.AGE, r"(?:\w*(?:s|en|e))?alter|alters(?:gruppe|klasse)"),
    (1, Form.DIRECT, r"\w*name[ns]?|nameof\w*|initials|initialen|employer|arbeitgeber|next of kin|kontaktperson"),
    (
        18,
        Form.DIRECT,
        r"(?:ids?|uid|uuid|guid|identifier|kennung|kennnummer)(?=$)|id (?:nr|no|number|nummer)(?=$)|pseudonym\w*"
        r"|(?:patient|case|user|person|subject|record|member|client|customer|study|sample|row|visit)id|logins?|signature"
        r"|unterschrift|bar ?code"
        rf"|(?:personal|mitarbeiter|matrikel|employee){_NUMBER}",
    ),
)
_PATTERNS = tuple((number, form, re.compile(rf"\b(?:{pattern})\b")) for number, form, pattern in _RULES)
_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def words_of(name: str) -> str:
    """The words of a column's name, in lower case and separated by blanks: `patientID2` is `patient id 2`."""
    apart = re.sub(r"([a-zäöüß])([A-ZÄÖÜ])", r"\1 \2", name)
    apart = re.sub(r"([A-ZÄÖÜ]+)([A-ZÄÖÜ][a-zäöüß])", r"\1 \2", apart)
    apart = re.sub(r"([A-Za-zäöüß])([0-9])", r"\1 \2", apart).lower().translate(_LETTERS)
    return " ".join(re.findall(r"[a-z]+|[0-9]+", apart))


@lru_cache(maxsize=1 << 16)
def told_by_name(name: str) -> tuple[tuple[int, Form], ...]:
    """The classes that the name of a column suggests; each name is looked at once, as tables may have many columns."""
    words = words_of(name)
    found: list[tuple[int, Form]] = []
    for number, form, pattern in _PATTERNS:
        rest = " ".join(pattern.sub(" ", words).split())
        if rest == words:
            continue
        words = rest
        if number is not None and (number, form) not in found:
            found.append((number, form))
    return tuple(found)
