"""How much detail each setting of a plan costs: curves over k, over the suppression limit and over epsilon."""

from kohorte.tradeoff.curves import Curve, Setting, Tradeoff, tradeoff
from kohorte.tradeoff.write import write_page

__all__ = ["Curve", "Setting", "Tradeoff", "tradeoff", "write_page"]
