"""Pages as readers see them."""

import re
from html import unescape


def words(page: str) -> str:
    """What a reader sees, without the style."""
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text)).replace("\u00a0", " "))
