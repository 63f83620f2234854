"""The patient list: one PID per person, by record linkage on identity data.

Modules here are imported one by one: they need the libraries of the extra `patients`.
"""
