"""DIS-SUDA: the probability that a match with a unique row is correct, from sampling fraction and special uniques."""

from __future__ import annotations

import numpy as np

from kohorte.kernels.arrays import Counts, Floats


def intrusion_score(sizes: Counts, counts: Counts, fraction: float) -> float | None:
    """The probability that a match with a unique row is correct (DIS); None without unique rows.

    Definition
        With U unique rows, P rows in classes of two and the sampling fraction f: U f / (U f + P (1 - f)).
        Imagine that a row is removed from the table and put back with probability f: a match with a single row is
        correct for a unique row that was put back, and wrong for a row of a pair that was not. Without pairs it is 1.
        `counts` are the rows, or the people with their highest risk, in groups of these sizes.
    Source
        Skinner and Elliot, A Measure of Disclosure Risk for Microdata, Journal of the Royal Statistical Society B
        64(4), 2002.
    """
    uniques, paired = int(counts[sizes == 1].sum()), int(counts[sizes == 2].sum())
    if not uniques:
        return None
    return uniques * fraction / (uniques * fraction + paired * (1 - fraction))


def dis_suda(scores: Floats, counts: Counts, dis: float, attributes: int) -> Floats:
    """The same probability for each group by its SUDA score: higher if few attributes single its row out.

    Definition
        The odds of a correct match are those of DIS times s^q / h, with the row's score s, q = 1 + (8 - m) / 20 for
        m attributes (0 above 28 attributes), and the harmonic mean h of all s^q. Rows without a score get 0.
        `counts` are the rows, or the people with their highest score, in each group.
    Source
        Elliot and Manning, Using DIS to Modify the Classification of Special Uniques, Joint ECE/Eurostat Work Session
        on Statistical Data Confidentiality, 2003, with the exponent of the R package sdcMicro (suda2, DisFraction).
        The figures equal those of sdcMicro if sets of all sizes are assessed here, too.
    """
    found = np.zeros(len(scores))
    scored = scores > 0
    if not scored.any() or dis == 1:
        found[scored] = dis
        return found
    powers = scores[scored] ** max(0.0, 1 + (8 - attributes) / 20)
    odds = dis / (1 - dis) * powers * np.average(1 / powers, weights=counts[scored])
    found[scored] = odds / (1 + odds)
    return found
