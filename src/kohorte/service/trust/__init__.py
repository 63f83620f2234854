"""The patient list and the pseudonyms as parts of a service: permissions and audit entries around `kohorte.trust`.

Keys, lists and the chained logs that prove what was done are in the folders of the parts. The database of the service
gets neither identity data nor PIDs nor pseudonyms; its audit log records operations and counts.
"""
