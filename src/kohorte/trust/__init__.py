"""What the pseudonym service and the patient list share: keys, a chained log, a database, sealed values, PIDs.

The two rooms above do not import each other, because two houses run them. Modules here are imported one by one: they
need the libraries of the extra `pseudonyms` (`libraries.refuse_missing_libraries`).
"""
