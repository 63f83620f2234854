"""The search for garbage is left out, and found as it was."""

from __future__ import annotations

import gc

import pytest

from kohorte.patients.list.garbage import no_garbage_collection


def test_the_search_for_garbage_is_left_out_and_goes_on_afterwards() -> None:
    assert gc.isenabled()
    with no_garbage_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_search_for_garbage_goes_on_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), no_garbage_collection():
        print(1 / 0)
    assert gc.isenabled()


def test_a_search_for_garbage_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with no_garbage_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
