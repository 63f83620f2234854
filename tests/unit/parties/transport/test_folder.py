"""The folder of a party: key, certificate and settings."""

from __future__ import annotations

import hashlib
import ssl
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from kohorte.errors import InputError, KohorteError
from kohorte.parties.transport.folder import PartyFolder


@pytest.fixture
def folder(tmp_path: Path) -> PartyFolder:
    return PartyFolder.create(tmp_path / "clinic-a", "clinic-a")


def refused(path: Path) -> KohorteError:
    with pytest.raises(KohorteError) as caught:
        PartyFolder.open(path)
    return caught.value


def test_a_new_folder_has_key_certificate_and_settings_and_nothing_else(folder: PartyFolder) -> None:
    assert sorted(path.name for path in folder.path.iterdir()) == ["certificate.pem", "key.pem", "party.yaml"]
    assert (folder.path / "party.yaml").read_text() == "name: clinic-a\ndata: null\nstudies: []\n"
    assert folder == PartyFolder.open(folder.path)


def test_only_the_owner_can_read_the_key_and_the_folder(folder: PartyFolder) -> None:
    assert folder.key_file.stat().st_mode & 0o777 == 0o600
    assert folder.path.stat().st_mode & 0o777 == 0o700


def test_the_fingerprint_is_the_hash_of_the_certificate_in_der(folder: PartyFolder) -> None:
    der = ssl.PEM_cert_to_DER_cert(folder.certificate_file.read_text())
    assert folder.fingerprint == "sha256:" + hashlib.sha256(der).hexdigest()


def test_openssl_agrees_about_key_and_certificate(folder: PartyFolder) -> None:
    command = ["openssl", "x509", "-in", str(folder.certificate_file), "-noout", "-text", "-fingerprint", "-sha256"]
    try:
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        pytest.skip("there is no openssl on this machine")
    assert "CN = clinic-a" in text.replace("CN=", "CN = ")
    assert "NIST CURVE: P-256" in text
    shown = text.split("Fingerprint=")[1].strip().replace(":", "").lower()
    assert folder.fingerprint == f"sha256:{shown}"


def test_two_parties_of_one_name_have_different_keys(tmp_path: Path) -> None:
    one, other = (PartyFolder.create(tmp_path / name, "clinic-a") for name in ("one", "other"))
    assert one.fingerprint != other.fingerprint
    assert one.key_file.read_bytes() != other.key_file.read_bytes()


def test_no_text_about_a_folder_contains_its_key(folder: PartyFolder) -> None:
    secret = folder.key_file.read_text().splitlines()[1]
    assert secret not in repr(folder)
    (folder.path / "certificate.pem").write_text(folder.key_file.read_text())
    assert secret not in str(refused(folder.path))


def test_settings_name_the_data_the_studies_and_where_to_listen(folder: PartyFolder) -> None:
    (folder.path / "party.yaml").write_text(
        "name: clinic-a\ndata: ../patients.csv\nstudies: [heart.yaml]\nlisten: '0.0.0.0:8441'\n"
    )
    opened = PartyFolder.open(folder.path)
    assert opened.data == folder.path / "../patients.csv"
    assert opened.studies == (folder.path / "heart.yaml",)
    assert opened.listen == "0.0.0.0:8441"


def test_an_existing_party_is_never_replaced(folder: PartyFolder) -> None:
    before = folder.key_file.read_bytes()
    with pytest.raises(InputError, match=r"there is a key\.pem already") as caught:
        PartyFolder.create(folder.path, "clinic-a")
    assert caught.value.code == "party-folder-exists"
    assert folder.key_file.read_bytes() == before


def test_a_folder_that_has_other_files_can_become_a_party(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("age\n1\n")
    assert PartyFolder.create(tmp_path, "clinic-a").name == "clinic-a"


def test_a_party_that_cannot_be_written_leaves_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []

    def fail_at_the_settings(path: Path, content: bytes) -> None:
        written.append(path)
        if "party.yaml" in path.name:
            raise OSError(28, "full")
        path.write_text(content.decode())

    monkeypatch.setattr(Path, "write_bytes", fail_at_the_settings)
    with pytest.raises(KohorteError) as caught:
        PartyFolder.create(tmp_path / "new", "clinic-a")
    assert caught.value.code == "disk-full"
    assert len(written) == 3
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("name", ["", "../x", "a b", "Käthe", "x" * 41, "-a", "a\n"])
def test_a_name_that_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        PartyFolder.create(tmp_path / "new", name)
    assert caught.value.code == "party-name"
    assert not (tmp_path / "new").exists()


def test_a_missing_folder_is_named_with_the_command_that_makes_one(tmp_path: Path) -> None:
    error = refused(tmp_path / "nowhere")
    assert error.code == "party-folder"
    assert "kohorte party init NAME --folder" in str(error)


@pytest.mark.parametrize("file", ["key.pem", "certificate.pem", "party.yaml"])
def test_a_missing_file_is_named(folder: PartyFolder, file: str) -> None:
    (folder.path / file).unlink()
    error = refused(folder.path)
    assert error.code == "party-folder"
    assert file in str(error)


def test_a_key_that_others_can_read_is_refused(folder: PartyFolder) -> None:
    folder.key_file.chmod(0o640)
    error = refused(folder.path)
    assert (error.code, "chmod 600" in str(error)) == ("party-key", True)


def test_a_key_of_another_party_is_refused(folder: PartyFolder, tmp_path: Path) -> None:
    other = PartyFolder.create(tmp_path / "other", "clinic-a")
    folder.key_file.write_bytes(other.key_file.read_bytes())
    error = refused(folder.path)
    assert (error.code, "does not belong" in str(error)) == ("party-key", True)


@pytest.mark.parametrize("file", ["key.pem", "certificate.pem"])
def test_a_damaged_file_is_refused(folder: PartyFolder, file: str) -> None:
    (folder.path / file).write_text("-----BEGIN nothing")
    assert refused(folder.path).code == "party-key"


def test_a_name_that_is_not_the_one_of_the_certificate_is_refused(folder: PartyFolder) -> None:
    (folder.path / "party.yaml").write_text("name: clinic-b\n")
    error = refused(folder.path)
    assert (error.code, "'clinic-b'" in str(error)) == ("party-name", True)


@pytest.mark.parametrize(
    "text", ["name: clinic-a\nport: 1", "[]", "name: clinic-a\ndata: 3", "name: clinic-a\nstudies: x.yaml", "name: [a"]
)
def test_wrong_settings_are_refused(folder: PartyFolder, text: str) -> None:
    (folder.path / "party.yaml").write_text(text)
    assert refused(folder.path).code == "party-settings"


def test_an_expired_certificate_is_refused(folder: PartyFolder) -> None:
    key = load_pem_private_key(folder.key_file.read_bytes(), password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    old = x509.load_pem_x509_certificate(folder.certificate_file.read_bytes())
    expired = x509.CertificateBuilder(old.subject, old.subject, old.public_key(), 1).not_valid_before(
        datetime.now(UTC) - timedelta(days=9)
    )
    expired = expired.not_valid_after(datetime.now(UTC) - timedelta(days=1))
    folder.certificate_file.write_bytes(expired.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    assert refused(folder.path).code == "party-certificate-dates"
