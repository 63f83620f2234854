"""FHIR: resources whose people become pseudonyms by rules, and the operations of other pseudonym services.

Resources are plain JSON: a library that knows every element of one version of FHIR would refuse or change others, and
rules must decide about elements that it does not know, too.
"""
