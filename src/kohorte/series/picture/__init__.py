"""A series as one page: information, regions and the distance to the target over time."""

from kohorte.series.picture.page import to_html
from kohorte.series.picture.write import write_page

__all__ = ["to_html", "write_page"]
