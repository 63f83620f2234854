"""Properties of record linkage that hold for all names and dates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kohorte.patients.identity import FIELDS, Identity
from kohorte.patients.linkage.blocking import keys_of
from kohorte.patients.linkage.comparison import compare
from kohorte.patients.linkage.frequencies import Frequencies
from kohorte.patients.linkage.names import first_names, last_name
from kohorte.patients.linkage.record import Record, counted_of
from kohorte.patients.linkage.weights import Verdict, Weighing
from support.examples import examples

NAMES = st.one_of(
    st.sampled_from(
        ["Anna", "Anna Lena", "Annalena", "Lena", "Lina", "Müller", "Mueller-Koch", "Koch", "von Koch", "H.", ""]
    ),
    st.text(max_size=12),
)
DATES = st.one_of(
    st.sampled_from(["1960-02-03", "03.02.1960", "1960-03-02", "1960", "01.01.1960", "3.2.60", ""]),
    st.text(max_size=10),
)
IDENTITIES = st.builds(
    Identity,
    first_names=NAMES,
    last_name=NAMES,
    birth_name=NAMES,
    birth_date=DATES,
    sex=st.sampled_from(["m", "w", "divers", ""]),
    postcode=st.sampled_from(["01067", "1067", "24103", ""]),
    place=st.sampled_from(["Dresden", "Kiel", ""]),
    insurance_number=st.sampled_from(["A123456789", "A123456798", ""]),
)


@examples(200)
@given(IDENTITIES, IDENTITIES)
def test_a_comparison_does_not_depend_on_the_order(one: Identity, other: Identity) -> None:
    first, second = Record.of(one), Record.of(other)
    frequencies = Frequencies()
    frequencies.add(one.counted for one in (first, first, second))
    weighing = Weighing(frequencies)
    there, back = weighing.compare(first, second), weighing.compare(second, first)
    assert there.agreement.levels == back.agreement.levels
    assert abs(there.weight - back.weight) < 1e-9
    assert there.verdict == back.verdict


@examples(200)
@given(IDENTITIES)
def test_a_record_that_says_enough_is_found_again_and_never_another_person(identity: Identity) -> None:
    record = Record.of(identity)
    again = Weighing(Frequencies()).compare(record, record)
    assert keys_of(record) == keys_of(Record.of(Identity(*identity.values)))
    if record.certain:
        assert again.verdict is Verdict.SAME
    if record.sufficient and record.first and record.last:
        assert again.verdict is not Verdict.DIFFERENT or not record.date.whole


@examples(200)
@given(st.text(max_size=30))
def test_names_are_letters_a_to_z_and_stay_what_they_are(text: str) -> None:
    for normalize in (first_names, last_name):
        name = normalize(text)
        assert all(part.isascii() and part.isalpha() and part.islower() for part in name.parts)
        assert normalize(" ".join(name.parts)).parts in (name.parts, ())


@examples(100)
@given(IDENTITIES, IDENTITIES)
def test_no_repr_contains_a_value(one: Identity, other: Identity) -> None:
    first, second = Record.of(one), Record.of(other)
    shown = {repr(one), repr(first), repr(second.first), repr(first.date)}
    assert shown <= {"<Identity>", "<Record>", "<BirthDate>"} | {f"<Name of {count} parts>" for count in range(40)}
    levels = set(compare(first, second).levels.values())
    assert not levels & {value for field, value in zip(FIELDS, one.values, strict=True) if value}


@examples(200)
@given(IDENTITIES)
def test_names_are_counted_as_they_are_compared(identity: Identity) -> None:
    assert counted_of(identity) == Record.of(identity).counted
