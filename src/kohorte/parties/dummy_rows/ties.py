"""Which columns of different parties determine each other: counted under encryption, so that dummy rows keep them.

All parties draw the same pairs of people, by keyed hashes of their identifiers, as they draw the people that dummy rows
are made from. A party encrypts, for each of its columns, whether the two people of a pair have the same value, with a
key that only it knows. Another party adds up the pairs that agree in a column of its own. The first one decrypts how
many pairs agree in both columns, and nothing else. If nearly all pairs that agree in one column agree in the other,
the first column determines the second one, as a diagnosis determines its code, or a town its state.

Learns
    The first party learns, for each two columns, how many of the pairs agree in both, and how many agree in the column
    of the other party. The other party learns which columns are compared. Both learn which columns determine each
    other. Columns in which fewer than thirty pairs agree are not compared, and nothing is if a party has fewer than
    thirty rows: the numbers would tell something about single people.
Leaves open
    Columns with more than about a hundred values that are equally frequent: too few pairs agree.
Source
    The inner product of two bit vectors under additively homomorphic encryption: Goethals, Laur, Lipmaa and
    Mielikäinen, On Private Scalar Product Computation for Privacy-Preserving Data Mining, ICISC 2004.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kohorte.kernels.arrays import Bools, Counts
from kohorte.parties.ciphers.counters import ElGamal, ElGamalPublic
from kohorte.parties.own_table import OwnTable
from kohorte.parties.sealed import malformed, pack, unpack

PAIRS = 4_000
"""So many pairs of people are compared; each costs a ciphertext for each column."""

FEWEST, MOST = 30, PAIRS // 2
"""A column is compared if so many pairs agree in it: fewer tell about single people, more are no detail."""

NEARLY_ALL = 0.9
"""This share of the pairs that agree in one column agree in another one if it is determined."""

WORD = 8


@dataclass(frozen=True, eq=False)
class Agreeing:
    """For each column that is compared, which of the pairs have the same value in it."""

    pairs: Mapping[str, Bools] = field(repr=False)

    @classmethod
    def of(cls, own: OwnTable, *, key: bytes, rows: int) -> Agreeing:
        """Compare the pairs in a party's own table; `rows` is a number of rows on which all parties agree.

        Of so few people that their pairs would tell about single ones, nothing is compared.
        """
        assert own.identifiers is not None, "the rows have identifiers"
        if rows < FEWEST:
            return cls({})
        one, other = _drawn(own.identifiers, key, rows)
        there = (one >= 0) & (other >= 0)
        found = {name: there & (column.codes[one] == column.codes[other]) for name, column in own.columns.items()}
        return cls({name: same for name, same in found.items() if FEWEST <= int(same.sum()) <= MOST})

    def question(self, private: ElGamal) -> bytes:
        """Ask another party how many pairs agree in columns of both."""
        same = np.concatenate([np.zeros(0, dtype=np.int64), *(own.astype(np.int64) for own in self.pairs.values())])
        arrays = {"key": np.frombuffer(private.public.to_bytes(), dtype=np.uint8), "same": private.encrypt(same)}
        return pack({"columns": list(self.pairs)}, arrays)

    def answer(self, message: bytes) -> bytes:
        """Add up, for each two columns, the encrypted pairs that agree in both."""
        facts, arrays = unpack(message)
        names, key, same = facts.get("columns"), arrays.get("key"), arrays.get("same")
        if not isinstance(names, list) or key is None or same is None or same.shape[:1] != (len(names) * PAIRS,):
            raise malformed("it does not ask for pairs")
        public = ElGamalPublic.from_bytes(key.tobytes())
        column_of = np.repeat(np.arange(len(names), dtype=np.uint32), PAIRS)
        sums = [
            public.refresh(public.sum_groups(same[chosen], column_of[chosen], len(names)))
            for chosen in (np.tile(own, len(names)) for own in self.pairs.values())
        ]
        counters = np.concatenate([public.encrypt(np.zeros(0, dtype=np.int64)), *sums])
        agree = {name: int(own.sum()) for name, own in self.pairs.items()}
        return pack({"agree": agree}, {"both": counters})

    def tied(self, message: bytes, private: ElGamal) -> set[str]:
        """The columns of both parties of which one determines the other."""
        facts, arrays = unpack(message)
        agree, both = facts.get("agree"), arrays.get("both")
        if not isinstance(agree, dict) or both is None or len(both) != len(agree) * len(self.pairs):
            raise malformed("it does not count pairs")
        if not all(type(number) is int and 0 <= number <= PAIRS for number in agree.values()):
            raise malformed("it counts pairs that there are not")
        counts = private.decrypt(both, PAIRS).reshape(len(agree), len(self.pairs))
        found: set[str] = set()
        for (theirs, number), row in zip(agree.items(), counts.tolist(), strict=True):
            for (own, same), together in zip(self.pairs.items(), row, strict=True):
                if together >= NEARLY_ALL * min(number, int(same.sum())):
                    found |= {str(theirs), own}
        return found


def _drawn(people: Sequence[str], key: bytes, rows: int) -> tuple[Counts, Counts]:
    """The rows of the two people of each pair; -1 where this party has nobody.

    Hashes divide people into boxes of about two; the one with the smallest hash stands for a box, and two boxes are a
    pair. So parties that differ in few people draw nearly the same pairs, and no number of pairs tells who is where.
    """
    at_once = max(1, rows // 4)
    boxes, drawn = 2 * at_once, []
    for turn in range(math.ceil(PAIRS / at_once)):
        hashes = b"".join(hashlib.shake_256(key + f"{turn} {person}".encode()).digest(2 * WORD) for person in people)
        numbers = np.frombuffer(hashes, dtype="<u8").reshape(-1, 2)
        box = (numbers[:, 0] % np.uint64(boxes)).astype(np.int64)
        order = np.lexsort([numbers[:, 1], box])
        taken, first = np.unique(box[order], return_index=True)
        of_box = np.full(boxes, -1, dtype=np.int64)
        of_box[taken] = order[first]
        drawn.append(of_box.reshape(-1, 2))
    pairs = np.concatenate(drawn)[:PAIRS]
    return pairs[:, 0], pairs[:, 1]
