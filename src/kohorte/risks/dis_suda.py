"""DIS-SUDA: how likely a match with a unique row is right, from the sampling fraction and the special uniques."""

from __future__ import annotations

import numpy as np

from kohorte.kernels.arrays import Counts, Floats


def intrusion_score(sizes: Counts, fraction: float) -> float | None:
    """The probability that a person who fits one row of the table only is that row's (DIS); None without unique rows.

    Definition
        With U unique rows, P rows that look like one other, and the share f of the population that the table is:
        U f / (U f + P (1 - f)). Imagine that a row is taken out of the table and put back with probability f: a match
        with a single row is right for a unique row that was put back, wrong for one of a pair that was not.
        Where no row has a double nothing speaks against a match, and it is 1.
    Source
        Skinner and Elliot, A Measure of Disclosure Risk for Microdata, Journal of the Royal Statistical Society B
        64(4), 2002.
    """
    uniques, paired = int((sizes == 1).sum()), 2 * int((sizes == 2).sum())
    if not uniques:
        return None
    return uniques * fraction / (uniques * fraction + paired * (1 - fraction))


def dis_suda(scores: Floats, dis: float, attributes: int) -> Floats:
    """That probability for each unique row by its SUDA score: higher where few attributes single the row out.

    Definition
        The odds that a match is right are those of DIS times s^q / h, with the row's score s, q = 1 + (8 - m) / 20 for
        m attributes, and h such that the harmonic mean over all rows that have a score is DIS (h is the harmonic mean
        of all s^q). Beyond 28 attributes q is 0. Rows without a score have 0.
    Source
        Elliot and Manning, Using DIS to Modify the Classification of Special Uniques, Joint ECE/Eurostat Work Session
        on Statistical Data Confidentiality, 2003, as sdcMicro computes it (suda2, DisFraction). The exponent is taken
        from there. sdcMicro looks at sets of all sizes: the figures are the same if these are looked at here, too.
    """
    found = np.zeros(len(scores))
    scored = scores > 0
    if not scored.any() or dis == 1:
        found[scored] = dis
        return found
    powers = scores[scored] ** max(0.0, 1 + (8 - attributes) / 20)
    odds = dis / (1 - dis) * powers * np.mean(1 / powers)
    found[scored] = odds / (1 + odds)
    return found
