"""The disclosure ledger: what it finds, repairs and records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kohorte import InputError
from kohorte.disclosures.candidate import PUBLIC, Candidate, ReleaseKind
from kohorte.disclosures.findings import FindingKind
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import PrivacyViolation
from support.disclosures import NAMES, K, asked


def kinds(ledger: Ledger, candidate: Candidate, together: object = "all") -> list[tuple[str, tuple[int, ...]]]:
    return [(found.kind, found.releases) for found in ledger.examine(candidate, K, together)]  # type: ignore[arg-type]


def test_a_first_release_of_everybody_in_large_classes_passes(ledger: Ledger) -> None:
    candidate = asked(ledger, "abcdefghijkl", "000111222333")
    assert not ledger.examine(candidate, K)
    assert ledger.record(candidate, "hash", k=K) == 1


def test_a_class_below_k_is_found_without_any_earlier_release(ledger: Ledger) -> None:
    assert kinds(ledger, asked(ledger, "abcdef", "000011")) == [(FindingKind.SMALL_CLASS, ())]


def test_everybody_but_one_is_found_at_the_first_request(ledger: Ledger) -> None:
    assert kinds(ledger, asked(ledger, "abcdefghijk", "00000000000")) == [(FindingKind.ALL_BUT_FEW, ())]


def test_a_group_and_the_group_without_one_person_are_found(ledger: Ledger) -> None:
    ledger.record(asked(ledger, "abcdef", "000000"), k=K)
    assert kinds(ledger, asked(ledger, "abcde", "00000")) == [(FindingKind.ALL_BUT_FEW, (1,))]


def test_a_group_and_the_group_with_one_person_more_are_found(ledger: Ledger) -> None:
    ledger.record(asked(ledger, "abcde", "00000"), k=K)
    assert kinds(ledger, asked(ledger, "abcdef", "000000")) == [(FindingKind.OVERLAPPING, (1,))]


def test_classes_by_other_columns_that_cross_are_found(ledger: Ledger) -> None:
    ledger.record(asked(ledger, "abcdef", "000111", columns={"age": "decades"}), k=K)
    crossed = asked(ledger, "abcdef", "001011", columns={"sex": "as it is"})
    assert kinds(ledger, crossed) == [(FindingKind.COMPLEMENTARY, (1,))]


def test_new_people_in_a_growing_table_are_found(ledger: Ledger) -> None:
    everybody = asked(ledger, "abcdefghijkl", "000000000000")
    ledger.record(everybody, k=K)
    people = np.append(everybody.people, ledger.fingerprints(["p12"]))
    assert kinds(ledger, Candidate(people, np.zeros(13, dtype=int), "A")) == [(FindingKind.GROWING, (1,))]


def test_enough_new_people_in_a_growing_table_pass(ledger: Ledger) -> None:
    everybody = asked(ledger, "abcdefghijkl", "000000000000")
    ledger.record(everybody, k=K)
    people = np.append(everybody.people, ledger.fingerprints(["p12", "p13", "p14"]))
    assert not ledger.examine(Candidate(people, np.zeros(15, dtype=int), "A"), K)


def test_only_the_releases_that_are_needed_are_named(ledger: Ledger) -> None:
    for classes in ("000000", "111111", "000000"):
        ledger.record(asked(ledger, "ghijkl", classes), k=K)
    ledger.record(asked(ledger, "abcdef", "000000"), k=K)
    assert kinds(ledger, asked(ledger, "abcde", "00000")) == [(FindingKind.ALL_BUT_FEW, (4,))]


@pytest.mark.parametrize("name", ["a", " A ", "\uff21"])
def test_a_recipient_who_writes_its_name_in_another_way_is_the_same_one(ledger: Ledger, name: str) -> None:
    ledger.record(asked(ledger, "abcdef", "000000", "A"), k=K)
    candidate = asked(ledger, "abcde", "00000", name)
    assert kinds(ledger, candidate, "alone") == [(FindingKind.ALL_BUT_FEW, (1,))]
    assert kinds(ledger, candidate, [["a", "B"]]) == [(FindingKind.ALL_BUT_FEW, (1,))]


def test_recipients_who_do_not_compare_are_examined_alone(ledger: Ledger) -> None:
    ledger.record(asked(ledger, "abcdef", "000000", "A"), k=K)
    candidate = asked(ledger, "abcde", "00000", "B")
    assert ledger.examine(candidate, K)
    assert not ledger.examine(candidate, K, "alone")
    assert not ledger.examine(candidate, K, [{"B", "C"}])
    assert kinds(ledger, candidate, [{"A", "B"}]) == [(FindingKind.ALL_BUT_FEW, (1,))]


def test_everybody_knows_what_was_published(ledger: Ledger) -> None:
    ledger.record(asked(ledger, "abcdef", "000000", PUBLIC), k=K)
    assert kinds(ledger, asked(ledger, "abcde", "00000", "B"), "alone") == [(FindingKind.ALL_BUT_FEW, (1,))]


def test_what_is_published_is_compared_with_what_anybody_got(ledger: Ledger) -> None:
    ledger.record(asked(ledger, "abcdef", "000000", "A"), k=K)
    assert ledger.examine(asked(ledger, "abcde", "00000", PUBLIC), K, "alone")


def test_a_repaired_candidate_passes_and_leaves_out_few(ledger: Ledger) -> None:
    ledger.record(asked(ledger, "abcdefghi", "000000000"), k=K)
    candidate = asked(ledger, "abcdefgh", "00000000")
    better = ledger.repaired(candidate, K)
    assert better is not None
    assert better.shown.sum() == 6  # one person is not asked for, and two are left out with them
    assert not ledger.examine(better, K)
    assert ledger.record(better, k=K) == 2


def test_the_same_people_are_left_out_when_the_request_is_repeated(ledger: Ledger) -> None:
    ledger.record(asked(ledger, "abcdefghi", "000000000"), k=K)
    candidate = asked(ledger, "abcdefgh", "00000000")
    first, second = ledger.repaired(candidate, K), ledger.repaired(candidate, K)
    assert first is not None
    assert second is not None
    assert (first.classes == second.classes).all()


def test_a_candidate_of_which_nothing_is_left_cannot_be_repaired(ledger: Ledger) -> None:
    assert ledger.repaired(asked(ledger, "ab", "00"), K) is None


def test_a_release_that_passes_is_not_changed_by_a_repair(ledger: Ledger) -> None:
    candidate = asked(ledger, "abcdef", "000111")
    better = ledger.repaired(candidate, K)
    assert better is not None
    assert (better.classes == candidate.classes).all()


def test_people_with_the_same_value_are_found_by_two_releases(ledger: Ledger) -> None:
    codes = np.array([1, 1, 1, 0, 0, 0])
    ledger.record(asked(ledger, "abcdef", "000000", sensitive={"diagnosis": codes}), k=K)
    again = asked(ledger, "abcdef", "000111", sensitive={"diagnosis": codes})
    assert [(one.kind, one.people_at_most) for one in ledger.examine(again, K)] == [(FindingKind.SAME_VALUE, 6)]
    mixed = asked(ledger, "abdcef", "000111", sensitive={"diagnosis": np.array([1, 1, 0, 1, 0, 0])})
    assert not ledger.examine(mixed, K)


def test_a_release_without_people_who_share_a_value_tells_theirs(ledger: Ledger) -> None:
    codes = np.array([1, 1, 1, 0, 1, 0])
    ledger.record(asked(ledger, "abcdef", "000000", sensitive={"diagnosis": codes}), k=K)
    rest = Candidate(
        ledger.fingerprints(NAMES[:6]), np.array([-1, -1, -1, 0, 0, 0]), "A", sensitive={"diagnosis": codes}
    )
    assert kinds(ledger, rest) == [(FindingKind.SAME_VALUE, (1,))]
    assert ledger.repaired(rest, K) is None


def test_withdrawn_people_are_found_and_repaired_together_with_others(ledger: Ledger) -> None:
    everybody = asked(ledger, "abcdefghijkl", "000000000000")
    ledger.record(everybody, k=K)
    assert ledger.withdraw(["p0"]) == 1
    assert ledger.withdraw(["P0 "]) == 0
    assert (FindingKind.WITHDRAWN, ()) in kinds(ledger, everybody)
    with pytest.raises(PrivacyViolation):
        ledger.record(everybody, k=K)
    better = ledger.repaired(everybody, K)
    assert better is not None
    assert better.classes[0] == -1
    assert better.shown.sum() == 9  # without two others, everybody would see who has withdrawn
    assert not ledger.examine(better, K)


def test_answers_with_noise_are_listed_and_split_nothing(ledger: Ledger) -> None:
    noise = asked(ledger, "a", "0", kind=ReleaseKind.QUERY, epsilon=0.5)
    assert not ledger.examine(noise, K)
    assert ledger.record(noise) == 1
    assert ledger.release(1)["epsilon"] == 0.5
    assert not ledger.examine(asked(ledger, "abcdefghijkl", "000000000000"), K)


def test_a_refusal_names_counts_and_releases_only(ledger: Ledger) -> None:
    with pytest.raises(PrivacyViolation) as caught:
        ledger.record(asked(ledger, "ab", "00", condition="drug is Secretol"), k=K)
    assert caught.value.code == "disclosure-refused"
    assert "at most 3 people" in caught.value.message
    assert "Secretol" not in caught.value.message
    assert ledger.releases() == []


def test_facts_of_a_release_are_kept(ledger: Ledger) -> None:
    ledger.record(asked(ledger, "abcdef", "000111", purpose="study", columns={"age": "decades"}), "abc", k=K)
    (facts,) = ledger.releases()
    assert facts["number"] == 1
    assert facts["purpose"] == "study"
    assert facts["columns"] == {"age": "decades"}
    assert facts["people"] == 6
    assert facts["certificate"] == "abc"


def test_releases_from_before_are_recorded_together_or_not_at_all(ledger: Ledger) -> None:
    old = [asked(ledger, "abcdef", "000000"), asked(ledger, "ghijkl", "000111")]
    with pytest.raises(InputError):
        ledger.record_all([*old, Candidate(np.array([99]), np.array([0]), "A")])
    assert ledger.releases() == []
    assert ledger.record_all(old) == [1, 2]
    assert [one.kind for one in ledger.examine(asked(ledger, "abcde", "00000"), K)] == [FindingKind.ALL_BUT_FEW]
    ledger.refuse_changed()


def test_the_releases_of_a_person_are_known(ledger: Ledger) -> None:
    ledger.record(asked(ledger, "abcdef", "000111"), k=K)
    ledger.record(asked(ledger, "ghijkl", "000111"), k=K)
    ledger.record(asked(ledger, "abcdefghijkl", "000111222333"), k=K)
    assert ledger.releases_of("p0") == [1, 3]
    assert ledger.releases_of("p6") == [2, 3]
    assert ledger.releases_of("stranger") == []


def test_people_of_the_ledger_who_left_the_table_hide_nobody(ledger: Ledger) -> None:
    """p0 and p1 are not in the table any more: they do not make one person outside the release three."""
    people = ledger.fingerprints(NAMES)
    candidate = Candidate(people[3:], np.zeros(9, dtype=int), "A", table=people[2:])
    assert kinds(ledger, candidate) == [(FindingKind.ALL_BUT_FEW, ())]
    assert not ledger.examine(Candidate(people[3:], np.zeros(9, dtype=int), "A"), K)


def test_people_of_another_table_do_not_matter(ledger: Ledger) -> None:
    """One ledger remembers several tables; a release of all people of one is not one of all but few."""
    people = ledger.fingerprints(NAMES)
    assert not ledger.examine(Candidate(people[:10], np.zeros(10, dtype=int), "A", table=people[:10]), K)
    assert ledger.examine(Candidate(people[:10], np.zeros(10, dtype=int), "A"), K)


def test_wrong_candidates_are_refused(ledger: Ledger) -> None:
    people = ledger.fingerprints(NAMES)
    for wrong in (
        lambda: Candidate(people, np.zeros(3, dtype=int), "A"),
        lambda: Candidate(people, np.full(12, -2), "A"),
        lambda: Candidate(people, np.zeros(12, dtype=int), " "),
        lambda: Candidate(people, np.zeros(12, dtype=int), "A", epsilon=0.0),
        lambda: Candidate(people, np.zeros(12, dtype=int), "A", purpose="x" * 3000),
        lambda: ledger.examine(Candidate(people + 1, np.zeros(12, dtype=int), "A"), K),
        lambda: ledger.examine(Candidate(people, np.zeros(12, dtype=int), "A"), 1),
        lambda: ledger.examine(Candidate(people, np.zeros(12, dtype=int), "A"), K, "some"),
        lambda: ledger.fingerprints(["p1", " "]),
        lambda: ledger.release(1),
    ):
        with pytest.raises(InputError):
            wrong()


def test_the_example_of_the_documentation(ledger: Ledger) -> None:
    eight, nine = (ledger.fingerprints(NAMES[:size]) for size in (8, 9))
    first = asked(ledger, "abcdef", "000000")
    assert kinds(ledger, replace(first, table=eight)) == [(FindingKind.ALL_BUT_FEW, ())]
    assert ledger.record(replace(first, table=nine), k=K) == 1
    assert kinds(ledger, asked(ledger, "abcde", "00000", table=nine)) == [(FindingKind.ALL_BUT_FEW, (1,))]
    assert ledger.record(asked(ledger, "abcdef", "000111", table=nine), k=K) == 2
    assert kinds(ledger, asked(ledger, "abdcef", "000111", table=nine)) == [(FindingKind.OVERLAPPING, (2,))]
    assert ledger.record(asked(ledger, "ghi", "000", table=nine), k=K) == 3
    ten = np.append(nine, ledger.fingerprints(["p12"]))
    everybody = Candidate(ten, np.zeros(10, dtype=int), "A", table=ten)
    assert [(one.kind, one.people_at_most) for one in ledger.examine(everybody, K)] == [(FindingKind.GROWING, 3)]
