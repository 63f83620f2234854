"""The languages of pages: English texts in the source, translations in catalogues beside this module."""

from kohorte.languages.language import ENGLISH, LANGUAGES, Kept, Language, language, preferred, translatable

__all__ = ["ENGLISH", "LANGUAGES", "Kept", "Language", "language", "preferred", "translatable"]
