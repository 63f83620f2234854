"""The text of plans and settings: what is written quickly is what PyYAML writes."""

import math
import random
import time
from collections.abc import Callable

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kohorte.data import strict_yaml

WORDS = ["true", "null", "no", "1", "0123", "~", "%Y-%m-%d", "a b", "a: b", "- a", "a #b", "", "ä", "\u0085", "x" * 130]
MORE = ["zip", "%d.%m.%Y", "%", "%a-", "age_1", "e-mail", "two words " * 15, "x" * 61, "1e5", "k.A.", "2020-01-01"]
TEXTS = st.sampled_from([*WORDS, *MORE])
SCALARS = st.one_of(TEXTS, st.text(max_size=8), st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False))
KEYS = st.one_of(TEXTS, st.text(max_size=8), st.integers(), st.booleans())
ENTRIES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=25,
)


def by_pyyaml(data: object) -> str:
    return str(yaml.dump(data, Dumper=strict_yaml._Dumper, sort_keys=False, allow_unicode=True, width=100))


@given(ENTRIES)
def test_a_text_is_the_one_that_pyyaml_writes(data: object) -> None:
    assert strict_yaml.dump(data) == by_pyyaml(data)


@pytest.mark.parametrize("entry", [(1, 2), math.inf, [(1, "a")], {"a": {}}, {"a": []}, [[["a"], {"b": [{"c": 1}]}]]])
def test_what_is_rare_is_written_as_pyyaml_does(entry: object) -> None:
    assert strict_yaml.dump(entry) == by_pyyaml(entry)


def test_a_plan_of_thousands_of_columns_is_written_in_a_small_part_of_the_time_of_pyyaml() -> None:
    draw = random.Random(1)
    hierarchy = {"type": "dates", "format": "%d.%m.%Y", "levels": ["month", "year", "decade"]}
    roles = [{"role": "quasi-identifying", "hierarchy": hierarchy}, {"role": "insensitive"}]
    data = {"attributes": {f"q{at}": draw.choice(roles) for at in range(500)}}
    assert strict_yaml.dump(data) == by_pyyaml(data)

    def seconds(write: Callable[[object], str]) -> float:
        before = time.process_time()
        write(data)
        return time.process_time() - before

    fast, slow = (min(seconds(write) for _ in range(3)) for write in (strict_yaml.dump, by_pyyaml))
    assert fast < slow / 5
