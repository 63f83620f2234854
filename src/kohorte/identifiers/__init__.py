"""Detection of identifiers: columns that look like one of the 18 classes of HIPAA Safe Harbor."""

from kohorte.identifiers.alone import identify_alone
from kohorte.identifiers.cells import CellTable, cell_tables
from kohorte.identifiers.classes import CLASSES, Form
from kohorte.identifiers.common_names import rows_with_names
from kohorte.identifiers.common_places import rows_with_codes, rows_with_towns
from kohorte.identifiers.detection import EMBEDDED, MOSTLY, Cells, Suspicion, form_by_name, suspects, suspects_in

__all__ = [
    "CLASSES",
    "EMBEDDED",
    "MOSTLY",
    "CellTable",
    "Cells",
    "Form",
    "Suspicion",
    "cell_tables",
    "form_by_name",
    "identify_alone",
    "rows_with_codes",
    "rows_with_names",
    "rows_with_towns",
    "suspects",
    "suspects_in",
]
