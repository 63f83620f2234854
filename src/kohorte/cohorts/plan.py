"""The plan and the hierarchies for the cohort, as texts of files."""

from __future__ import annotations

from importlib.resources import files

_TREES = ("diagnosis", "occupation", "blood_group")
_MORE_TREES = ("marital_status", "insurance", "ward")

_ATTRIBUTES = """\
# How to anonymize the synthetic cohort. A plan is one file; everything after a '#' is a comment.
# File names are relative to this file.

kohorte: 1                   # version of this format

# Every column of the table needs a role (Rolle); a column that is not named here is an error.
#   identifying        (direkt identifizierend)   identifies a person by itself: removed from the release
#   quasi-identifying  (Quasi-Identifikator)      others may know it, and together such columns identify
#                                                 a person: generalized along its hierarchy
#   sensitive          (sensibles Merkmal)        nobody shall learn it about a person: kept as it is
#   insensitive        (unkritisch)               kept as it is
attributes:
  ssn:
    role: identifying        # social security number (Versicherungsnummer)
  name:
    role: identifying
  zip:                       # postal code (Postleitzahl): 04109, 0410*, 041**, ... *
    role: quasi-identifying
    hierarchy: {redaction: {order: right_to_left}}
  birth_date:                # day, month, year, decade, *
    role: quasi-identifying
    hierarchy: {dates: {format: "%Y-%m-%d", levels: [month, year, decade]}}
  sex:                       # the value or nothing
    role: quasi-identifying
    hierarchy: {ordering: {values: [female, male, diverse], fanouts: []}}
  occupation:                # occupation (Beruf), group, sector, *
    role: quasi-identifying
    hierarchy: {tree: occupation.yaml}
  admission_date:            # day of admission (Aufnahmedatum), month, quarter, year, *
    role: quasi-identifying
    hierarchy: {dates: {format: "%Y-%m-%d", levels: [month, quarter, year]}}
  diagnosis:                 # ICD-10-GM code; its hierarchy (block, chapter) defines which codes are similar
    role: sensitive
    hierarchy: {tree: diagnosis.yaml}
  blood_group:               # outsiders rarely know it; if they may in your case, make it quasi-identifying
    role: insensitive        # with   hierarchy: {tree: blood_group.yaml}
"""

_MORE_ATTRIBUTES = """\
  marital_status:            # marital status (Familienstand), with or without a partner, *
    role: quasi-identifying
    hierarchy: {tree: marital_status.yaml}
  insurance:                 # who pays (Kostenträger), statutory or not, *
    role: quasi-identifying
    hierarchy: {tree: insurance.yaml}
  ward:                      # ward (Station), department, *: every visitor knows it
    role: quasi-identifying
    hierarchy: {tree: ward.yaml}
  height_cm:                 # height (Körpergröße) in steps of 5, 10, 20 cm, *; 220 and more is refused
    role: quasi-identifying
    hierarchy: {intervals: {lower: 0, upper: 220, widths: [5, 10, 20], integer: true}}
  weight_kg:                 # changes too often to be known to outsiders
    role: insensitive
"""

_REST = """\

# Whom a row is about. In the cohort everybody has one row. If patients have several rows, name the column that says
# whom a row is about, as in   person: patient_id   and all models count people instead of rows.
person: none                        # every row is another person

# What the release must guarantee (Datenschutzmodelle). It must satisfy every model of the list.
models:
  - {model: k-anonymity, k: 5}      # every record looks like at least 4 others
  # It does not protect a group in which all have the same diagnosis; the certificate says so.

# Rare records may be suppressed (unterdrückt), at most this fraction of all:
suppression_limit: 0.05

metric: {metric: loss}              # measure of lost information, 0 to 1; the release has as little loss as possible
search: {algorithm: optimal}        # finds the best of all solutions
missing: category                   # an empty cell (fehlender Wert) counts as a separate value
output: {order: shuffled}           # the order of the records must not identify anyone
"""


def plan_text(*, wide: bool = False) -> str:
    """A commented plan (YAML) for the cohort: five quasi-identifying attributes, nine if wide."""
    return _ATTRIBUTES + (_MORE_ATTRIBUTES if wide else "") + _REST


def hierarchy_files(*, wide: bool = False) -> dict[str, str]:
    """The category trees that the plan names: file name and text (YAML)."""
    names = [f"{tree}.yaml" for tree in (*_TREES, *(_MORE_TREES if wide else ()))]
    return {name: files(__package__).joinpath(name).read_text(encoding="utf-8") for name in names}
