"""Screens of the trustee: the patient list with its grey zone, and the domains of pseudonyms."""
