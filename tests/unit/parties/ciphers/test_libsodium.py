import ctypes
import importlib
import sys
from pathlib import Path

import pytest

from kohorte.errors import InputError
from kohorte.kernels.points_reference import Ristretto
from kohorte.parties.ciphers import libsodium


@pytest.fixture
def no_cache():
    libsodium.libsodium.cache_clear()
    yield
    libsodium.libsodium.cache_clear()


def test_the_copy_of_rbcl_works_and_leaves_no_file(no_cache, monkeypatch, tmp_path):
    pytest.importorskip("rbcl")
    monkeypatch.setattr(libsodium, "_NAMES", {"linux": (), sys.platform: ()})
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in [name for name in sys.modules if name.split(".")[0] == "rbcl"]:
        monkeypatch.delitem(sys.modules, name)
    library = libsodium.libsodium()
    assert str(tmp_path) in library._name
    assert list(tmp_path.iterdir()) == []
    four = Ristretto(**libsodium.addresses()).multiply_base(np_scalar(4))[0]
    assert four.tobytes().hex().startswith("da80862773358b46")


def np_scalar(number):
    from kohorte.parties.ciphers.ristretto import scalars_of

    return scalars_of([number])


def test_a_library_without_the_group_is_passed_over(no_cache, monkeypatch):
    without = ctypes.CDLL(None)
    monkeypatch.setattr(libsodium, "_libraries", lambda: iter([without]))
    if not hasattr(without, "crypto_core_ristretto255_add"):
        with pytest.raises(InputError, match=r"install kohorte\[parties\]") as caught:
            libsodium.libsodium()
        assert caught.value.code == "party-library-missing"


def test_without_any_library_the_remedy_is_named(no_cache, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(libsodium, "_NAMES", {"linux": ("libsodium-that-is-not-there.so",), sys.platform: ()})
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InputError, match=r"install kohorte\[parties\]"):
        libsodium.libsodium()


def test_the_extra_names_what_is_imported():
    import tomllib

    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = {name.split(">")[0] for name in project["optional-dependencies"]["parties"]}
    assert {"cryptography", "rbcl"} <= extra
    assert set(project["optional-dependencies"]["parties"]) <= set(project["optional-dependencies"]["dev"])
