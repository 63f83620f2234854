"""What the columns of a house contain: what a text must be so that it is known to name nobody."""

from kohorte.exchange.contents.known import CONTENTS, WORDS, YEAR, Content, content_of, limited_shape
from kohorte.exchange.contents.labels import is_made_of_known

__all__ = ["CONTENTS", "WORDS", "YEAR", "Content", "content_of", "is_made_of_known", "limited_shape"]
