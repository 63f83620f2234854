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
    (6, Form.DIRECT, r"e ?mails?(?: ?address(?:es)?| ?adressen?)?|mails?(?: ?address| ?adresse)?|mailadresse|e post"),
    (15, Form.DIRECT, r"(?:ip(?: ?v ?[46])?|i pv [46])(?: ?addr(?:ess)?(?:es)?| ?adressen?)?|host ?name"),
    (13, Form.DIRECT, r"mac(?: ?addr(?:ess)?| ?adresse)"),
    (
        14,
        Form.DIRECT,
        r"urls?|uris?|web ?(?:site|page|address|seite|adresse)s?|home ?page|internet ?(?:seite|adresse)n?"
        r"|facebook|instagram",
    ),
    (
        12,
        Form.DIRECT,
        rf"(?:licen[cs]e|number) ?plates?{_NUMBER}?|plate{_NUMBER}|(?:auto)?kennzeichen|kfz\w*|vin{_NUMBER}?",
    ),
    (
        12,
        Form.DIRECT,
        rf"vehicles?(?:{_NUMBER}| identif\w*| reg\w*| serial\w*)|fahrgestell\w*|fahrzeug\w*|nummern(?:schild|tafel)",
    ),
    (5, Form.DIRECT, rf"\w*fax\w*{_NUMBER}?"),
    (
        4,
        Form.DIRECT,
        rf"(?:tele|cell|home|work|mobile) ?phones?\w*|phones?\w*|tel|telefon\w*|(?:cell|mobile){_NUMBER}|mobil\w*tel\w*"
        rf"|mobil{_NUMBER}?|mobil(?:nummer|funk\w*)|handy\w*|pager|(?:rueck)?rufnummer|durchwahl|festnetz\w*|fernsprech\w*"
        r"|kontakt ?(?:nr|nummer)|whats ?app",
    ),
    (
        7,
        Form.DIRECT,
        rf"ssns?|social ?security{_NUMBER}?|sv ?nr|vsnr|sv ?nummer|sozialvers\w*{_NUMBER}?|rentenversicherung\w*|rvnr"
        rf"|ahv\w*(?: 13)?{_NUMBER}?|tax(?:payer)?{_NUMBER}|steuer(?:ident\w*|{_NUMBER})|national ?id"
        r"|personalausweis\w*|b ?pk|personenkenn\w*|buergernummer",
    ),
    (
        9,
        Form.DIRECT,
        rf"health ?plan\w*{_NUMBER}?|beneficiary\w*{_NUMBER}?|insurance policy|hicn|mbi|e ?gk|kvnr|ekvk|ehic"
        rf"|e ?card{_NUMBER}?|(?:member|subscriber|insurance|policy|medicare|medicaid){_NUMBER}"
        r"|versicherten\w*|versicherungs ?(?:nr|nummer|schein\w*)|kranken(?:kassen|versicher)\w*"
        r"|(?:mitglieds?|polizzen|policen) ?(?:nr|nummer)",
    ),
    (
        8,
        Form.DIRECT,
        rf"mrns?|medical ?records?{_NUMBER}?|pids?|pat(?:ients?|ienten)?{_NUMBER}|pat(?:ienten)?(?:kennung|schluessel)"
        rf"|(?:fall|aufnahme|case|chart|encounter|hadm|stay|hospital){_NUMBER}|epi?c?mpi|empi|(?<=^)patient(?:in)?s?(?=$)"
        r"|aufnahmezahl|aktenzeichen|(?:\w*akten?|kis|kg|krankenblatt|krankengeschichten?|beleg) ?(?:nr|nummer|zahl)"
        r"|(?:kranken|patienten)?akte|piz",
    ),
    (
        10,
        Form.DIRECT,
        rf"account\w*{_NUMBER}?|acct\w*{_NUMBER}?|konto(?!r)\w*{_NUMBER}?|iban|bic|blz|bankleitzahl|debitor\w*"
        rf"|bank ?(?:account|verbindung|code){_NUMBER}?"
        rf"|credit ?card\w*|kreditkarte\w*|card{_NUMBER}|(?:invoice|billing|rechnungs|kunden|depot){_NUMBER}",
    ),
    (
        11,
        Form.DIRECT,
        rf"(?:drivers? ?)?licen[cs]es?\w*{_NUMBER}?|certificate{_NUMBER}|zertifikats?{_NUMBER}"
        rf"|fuehrerschein\w*|passports?\w*{_NUMBER}?|reisepass\w*|behindertenpass|pass ?(?:nr|nummer)|\w*ausweis\w*"
        rf"|lizenz\w*|(?:zulassungs|urkunden|zeugnis){_NUMBER}|(?:geburts|heirats|sterbe)urkunden?|jagdschein|npi"
        rf"|dea{_NUMBER}|lanr|approbations\w*",
    ),
    (
        13,
        Form.DIRECT,
        rf"devices?\w*{_NUMBER}?|serials?{_NUMBER}?|serial(?:no|number)|serien(?:nr|nummer)|geraete(?:kennung|{_NUMBER})"
        rf"|(?:implant|pacemaker|implantat|(?:herz)?schrittmacher|prothesen|hoergeraete?)(?: ?sn|{_NUMBER})"
        r"|imei|imsi|udi",
    ),
    (
        16,
        Form.DIRECT,
        r"finger ?prints?|fingerabdr\w*|voice ?prints?|stimmabdr\w*|palm ?prints?|handabdr\w*|biometr\w*"
        r"|(?:iris|retina) ?(?:scan|code|image)|stimmproben?|(?:dna|dns|gen) ?(?:profil\w*|finger\w*)|venenmuster",
    ),
    (
        17,
        Form.DIRECT,
        r"photos?\w*|fotos?\w*|\w*fotos?|pass ?bild(?:er)?|selfies?|portraits?|portraet\w*"
        r"|pictures?|lichtbild\w*|gesicht\w*|headshots?|avatar"
        r"|(?:full ?)?face(?: (?:image|scan))?(?=$)|(?:images?|bild)(?: (?:file|path|data|name))?(?=$)",
    ),
    (
        3,
        Form.BIRTH,
        r"dob|yob|birth ?(?:date|day|year)|(?:date|day|year) ?of ?birth|geb(?:urts)? ?(?:dat|datum|tag|jahr)|geboren"
        r"|jahrgang",
    ),
    (2, Form.PLACE, r"birth ?place|place ?of ?birth|geburtsort"),
    (2, Form.ZIP, r"zip ?codes?|zips?|zcta|plz|postleitzahl(?:en)?|postal(?: ?codes?)?|post ?codes?|postleitgebiet"),
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
        r"|coordinates?|koordinaten?|ort|wohnort|wohnsitz|stadt|gemeinde|(?:land)?kreis|bezirk|ortsteil|stadtteil|residence"
        r"|(?:heimat|herkunfts)ort|wohn(?:gemeinde|bezirk|ung)|katastralgemeinde|gemeinde ?kenn\w*|gkz|ags"
        r"|ortschaft|postfach|(?:zaehl)?sprengel|graetzel|stiege|(?:breiten|laengen)grad|what 3 words",
    ),
    (
        3,
        Form.DATE,
        rf"(?:{_EVENTS}) ?(?:dates?|datetime|times?tamp|day|month|week|datum|tag|monat|zeitpunkt|dt)|dates?|datetime"
        r"|time ?stamp|\w*datum|\w*zeitpunkt|zeitstempel|deathtime|admittime|dischtime"
        r"|(?:month|day|week|quarter)(?: of \w+)?(?=$)|monat|tag|woche|kw|quartal|kalenderwoche"
        r"|(?:behandlungs|untersuchungs|todes|sterbe|op|impf)tag|(?:aufnahme|entlass(?:ungs)?)zeit\w*|\w*termin|erstvorstellung"
        r"|(?:verstorben|gestorben|erstdiagnose|diagnose|entlass(?:en|ung)|aufgenommen|aufnahme|operiert|geimpft) am",
    ),
    (3, Form.AGE, r"ages?|age ?(?:group|band|class|bracket|range)s?|patientage"),
    (3, Form.AGE, r"(?:\w*(?:s|en|e))?alter|alters(?:gruppe|klasse)"),
    (
        1,
        Form.DIRECT,
        r"\w*name[ns]?|nameof\w*|initials|initialen|employer|arbeitgeber|next of kin|kontaktperson|ehegatt\w*"
        r"|ehepartner\w*|angehoerige\w*|(?:bezugs|vertrauens)person|notfallkontakt",
    ),
    (
        18,
        Form.DIRECT,
        r"(?:ids?|uid|uuid|guid|identifier|kennung|kennnummer)(?=$)|id (?:nr|no|number|nummer)(?=$)|pseudonym\w*"
        r"|(?:patient|case|user|person|subject|record|member|client|customer|study|sample|row|visit)id|logins?|signature"
        r"|unterschrift|(?:bar|strich|qr) ?code|hash(?:wert)?(?=$)|benutzer\w*"
        r"|(?:lauf(?:ende)?|lfd|probanden|proben|teilnehmer|dienst|start|haeftlings) ?(?:nr|nummer)"
        rf"|(?:personal|mitarbeiter|matrikel|employee){_NUMBER}",
    ),
)
_PATTERNS = tuple((number, form, re.compile(rf"\b(?:{pattern})\b")) for number, form, pattern in _RULES)
_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@lru_cache(maxsize=1 << 16)
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
