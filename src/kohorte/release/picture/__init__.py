"""Pictures of a solution space: a page with tooltips, or an image without any script."""

from kohorte.release.picture.page import to_html
from kohorte.release.picture.sheet import to_svg
from kohorte.release.picture.write import refuse_picture, write_picture

__all__ = ["refuse_picture", "to_html", "to_svg", "write_picture"]
