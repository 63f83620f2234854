"""Detection of identifiers: columns that look like one of the 18 classes of HIPAA Safe Harbor."""

from kohorte.identifiers.cells import CellTable, cell_tables
from kohorte.identifiers.classes import CLASSES, Form
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
    "suspects",
    "suspects_in",
]
