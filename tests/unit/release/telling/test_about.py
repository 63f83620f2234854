"""What a release is for stands in its certificate; anything but a line of text is refused."""

from __future__ import annotations

import pytest

import kohorte as ko
from kohorte.errors import InputError
from kohorte.release.telling.about import About
from support.minority import minority, plan_for


def test_title_purpose_and_recipient_stand_in_the_certificate() -> None:
    about = About("Registry of gout", "study 7", "University of Kiel")
    certificate = ko.certify(ko.anonymize(minority(), plan_for()), about=about)
    assert certificate.facts["about"] == about.to_dict()
    for line in ("Title       Registry of gout", "Purpose     study 7", "Recipient   University of Kiel"):
        assert line in certificate.to_text()


@pytest.mark.parametrize("text", ["", "  ", "two\nlines", "x" * 501, "turn\u202earound", 7])
def test_what_is_not_one_line_of_text_is_refused(text) -> None:
    with pytest.raises(InputError) as caught:
        About(purpose=text)
    assert caught.value.code == "about-text"
