"""Detection of identifiers: columns that look like one of the 18 classes of HIPAA Safe Harbor."""

from kohorte.identifiers.classes import CLASSES, Form
from kohorte.identifiers.detection import EMBEDDED, MOSTLY, Cells, Suspicion, form_by_name, suspects

__all__ = ["CLASSES", "EMBEDDED", "MOSTLY", "Cells", "Form", "Suspicion", "form_by_name", "suspects"]
