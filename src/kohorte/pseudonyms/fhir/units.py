"""Units of measurement: whether a text is one, in the codes of UCUM or as laboratories write it.

Source: Schadow, McDonald: The Unified Code for Units of Measure, version 2.1, 2017. Annotations in braces are not
accepted: they are free text.
"""

from __future__ import annotations

import re

_PREFIXES = "Y Z E P T G M k h da d c m u n p f a z y"
_METRIC = """
m s g rad K C cd mol sr Hz N Pa J W A V F Ohm S Wb Cel T H lm lx Bq Gy Sv l L ar t bar u eV pc kat U eq osm cal B Np Ci
R RAD REM mho Bi St P G Oe Mx sb Lmb ph kp m[Hg] m[H2O] [iU] [IU] [cal_th]
"""
_OTHERS = """
% 10* 10^ [pi] deg ' '' min h d a wk mo [pH] [ppth] [ppm] [ppb] [degF] [in_i] [ft_i] [yd_i] [mi_i] [lb_av] [oz_av]
[fl_oz_us] [gal_us] [drp] [CFU] [PFU] [FFU] [arb'U] [HPF] [LPF] [Ch] [diop] [MET] [hp'_X] [hp'_C]
[APL'U] [GPL'U] [MPL'U] [Ehrlich'U] [kn'U] [tb'U] [CCID_50] [TCID_50] [EID_50] [bdsk'U] [ka'U] [knk'U] [mclg'U]
[todd'U] [dye'U] [smgy'U] [Amb'a'1'U] [S] [M] [HP] [IR] [AU] [BAU] [D'ag'U] [Lf] [PNU] [USP'U] [EU] [anti'Xa'U]
[sin_i] [sft_i] [syd_i]
"""
_WRITTEN = """
mmHg cmH2O bpm IU IE kIU kIE mIU mIE µIU uIE KIE MIE PE BE GPT/l Gpt/l Tpt/l Mpt/l Score Punkte points years year months
month weeks week days day hours hour minutes minute seconds second beats/min breaths/min Jahre Jahr Monate Monat Wochen
Woche Tage Tag Stunden Stunde Minuten Minute Sekunden Std Min Sek Stk Stück Tbl Tropfen Schläge/min Atemzüge/min
pH ratio INR dpt Vol% mg% g% Zellen/µl cells/µL Mio/µl Tsd/µl kcal mval mVal
"""
_SPELLED = str.maketrans({"µ": "u", "μ": "u", "²": "2", "³": "3", "°": "deg"})
_PART = re.compile(r"(?P<factor>[0-9]{1,3})|10[*^](?P<power>[+-]?[0-9]{1,2})|(?P<atom>.+?)(?P<exponent>[+-]?[0-9])?")
_ATOMS = frozenset(
    [
        *_METRIC.split(),
        *_OTHERS.split(),
        *(f"{prefix}{atom}" for prefix in _PREFIXES.split() for atom in _METRIC.split()),
    ]
)
_WORDS = frozenset(_WRITTEN.split()) | {"degC", "degF"}
LONGEST = 30


def is_unit(text: str) -> bool:
    """Whether a text is a unit: `mg/dL`, `10*9/L`, `mmHg`, `Jahre`."""
    if len(text) > LONGEST:
        return False
    spelled = text.translate(_SPELLED)
    if text in _WORDS or spelled in _WORDS or text == "1":
        return True
    parts = re.split(r"[./]", spelled.removeprefix("/"))
    return all(_is_part(part) for part in parts)


def _is_part(part: str) -> bool:
    found = _PART.fullmatch(part)
    if found is None:
        return False
    atom = found["atom"]
    return atom is None or atom in _ATOMS or part in _ATOMS or atom in _WORDS
