"""Columns of towns, streets and four-digit postal codes, by the larger towns of Germany, Austria and Switzerland.

Names that are also those of a state or canton (Wien, Salzburg, Berlin, Hamburg, Bremen, Zürich) say nothing by
themselves, because states may be shown; beside another town they are towns. Names that are also words or family names
(Essen, Halle, Hof, Regen, Wels, Baden) are not in the list.

Four digits can be anything: they are taken for postal codes only if most rows have one of a large town. Round hundreds
are not in that list, because doses and weights are round.
"""

from __future__ import annotations

import re

from kohorte.identifiers.cells import Cells

LIKELY = 0.3
"""So large a share of the rows has a place of the list: our own choice; the list has the larger towns only."""
FEWEST = 2
"""So many different places of the list must occur, one of which is not also a state."""

STATES = """
    wien|vienna|salzburg|berlin|hamburg|bremen|zürich|zurich|bern|luzern|basel|genf|genève|geneva|freiburg|fribourg
    |neuenburg|neuchâtel|schaffhausen|solothurn|st. gallen|zug
"""
AUSTRIA = """
    graz|linz|innsbruck|klagenfurt|villach|dornbirn|wiener neustadt|steyr|feldkirch|bregenz|leonding
    |klosterneuburg|wolfsberg|leoben|krems|krems an der donau|traun|amstetten|kapfenberg|mödling|hallein|kufstein
    |traiskirchen|schwechat|braunau|braunau am inn|stockerau|saalfelden|ansfelden|tulln|hohenems|spittal an der drau
    |telfs|ternitz|perchtoldsdorf|feldkirchen|bludenz|bad ischl|eisenstadt|schwaz|hall in tirol|gmunden|wörgl
    |wals-siezenheim|marchtrenk|st. pölten|sankt pölten|korneuburg|knittelfeld|vöcklabruck|lienz|zwettl|liezen|weiz
    |favoriten|simmering|meidling|hietzing|penzing|ottakring|hernals|währing|döbling|brigittenau|floridsdorf
    |donaustadt|liesing|leopoldstadt|josefstadt|alsergrund|margareten|mariahilf|rudolfsheim-fünfhaus
"""
GERMANY = """
    münchen|munich|köln|cologne|frankfurt|frankfurt am main|stuttgart|düsseldorf|leipzig|dortmund|dresden|hannover
    |nürnberg|nuremberg|duisburg|bochum|wuppertal|bielefeld|bonn|mannheim|karlsruhe|augsburg|wiesbaden
    |mönchengladbach|gelsenkirchen|aachen|braunschweig|chemnitz|kiel|halle (saale)|magdeburg|freiburg im breisgau
    |krefeld|mainz|lübeck|erfurt|oberhausen|rostock|kassel|saarbrücken|potsdam|mülheim an der ruhr|oldenburg
    |ludwigshafen|leverkusen|osnabrück|solingen|heidelberg|darmstadt|herne|neuss|regensburg|paderborn|ingolstadt
    |offenbach|fürth|würzburg|heilbronn|pforzheim|wolfsburg|göttingen|bottrop|reutlingen|koblenz|recklinghausen
    |bremerhaven|bergisch gladbach|erlangen|remscheid|jena|trier|salzgitter|moers|siegen|hildesheim|cottbus|gütersloh
    |kaiserslautern|witten|hanau|schwerin|esslingen|ludwigsburg|iserlohn|tübingen|zwickau|düren|flensburg|gießen
    |ratingen|lünen|villingen-schwenningen|konstanz|norderstedt|worms|neumünster|marl|dessau-roßlau|bamberg|bayreuth
    |viersen|delmenhorst|wilhelmshaven|gladbeck|troisdorf|detmold|arnsberg|lüneburg|celle|kempten|landshut|fulda
    |bocholt|dinslaken|aschaffenburg|lippstadt|brandenburg an der havel|dorsten|kerpen|plauen|neuwied|neubrandenburg
    |grevenbroich|rosenheim|frankfurt (oder)|friedrichshafen|stralsund|greifswald|görlitz|passau|schweinfurt|straubing
"""
SWITZERLAND = """
    lausanne|winterthur|lugano|biel|biel/bienne|thun|köniz|la chaux-de-fonds|vernier|uster|sitten|lancy|emmen|yverdon
    |kriens|rapperswil-jona|dübendorf|montreux|dietikon|frauenfeld|wetzikon|aarau|kreuzlingen|riehen|bellinzona|chur
    |wettingen|davos|olten|wädenswil|locarno
"""
STREET = r"^[\p{L} .-]{3,}(?:straße|strasse|gasse|allee)$"

CODES = (
    r"^(?:1(?:0[1-9]|1[0-9]|2[0-3])0"  # Vienna
    r"|80[12]0|804[1-7]|805[1-5]|40[234]0|502[0368]|60[28]0|90[12]0"  # Graz, Linz, Salzburg, Innsbruck, Klagenfurt
    r"|800[1-8]|803[278]|804[4-9]|805[0-7]|405[1-9]|30(?:0[4-8]|1[0-9]|2[0-7])|120[1-9]|10(?:0[3-7]|1[0-8])"
    r"|840[1-9]|600[3-6]|90(?:0[1-9]|1[0-6]))$"  # Zürich, Basel, Bern, Geneva, Lausanne, Winterthur, Luzern, St. Gallen
)
MOST = 0.5
FEWEST_CODES = 3


def rows_with_codes(cells: Cells) -> int:
    """The number of rows that have a four-digit postal code of a large town, if most rows do; otherwise 0."""
    known = cells.values.str.contains(CODES)
    if int(known.sum()) < FEWEST_CODES:
        return 0
    rows = cells.with_hit(known)
    return rows if rows >= MOST * cells.rows else 0


def _listed(text: str) -> frozenset[str]:
    return frozenset(re.sub(r"\s*\n\s*", "", text).split("|"))


ALSO_STATES = _listed(STATES)
TOWNS = _listed(AUSTRIA) | _listed(GERMANY) | _listed(SWITZERLAND)


def rows_with_towns(cells: Cells) -> int:
    """The number of rows with a town of the list or a street, if the column seems to consist of places; otherwise 0."""
    places = cells.values.str.strip_chars().str.to_lowercase().str.replace(r"^(?:a-|d-|ch-)?[0-9]{4,5} +", "")
    towns = places.is_in(list(TOWNS)) | places.str.contains(STREET)
    known = towns | places.is_in(list(ALSO_STATES))
    if not towns.any() or places.filter(known).n_unique() < FEWEST:
        return 0
    rows = cells.with_hit(known)
    return rows if rows >= LIKELY * cells.rows else 0
