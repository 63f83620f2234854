"""Kohorte: share the cohort, not the patients.

    import kohorte as ko
    plan = ko.Plan.from_yaml("plan.yaml")
    release = ko.anonymize(frame, plan)

The public names are listed once, in `__init__.pyi`. Each is loaded when it is first used, so that the command starts
quickly.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
