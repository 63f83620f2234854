"""Record linkage: are two descriptions of a person about the same person?"""
