import pytest

from kohorte.errors import InputError
from kohorte.hierarchies import CsvFile


def build(folder, content: str | bytes, **options):
    raw = content if isinstance(content, bytes) else content.encode()
    (folder / "h.csv").write_bytes(raw)
    return CsvFile("h.csv", folder=folder, **options).build(["Zoe"], attribute="country")


def refused(folder, content, **options) -> InputError:
    with pytest.raises(InputError) as caught:
        build(folder, content, **options)
    return caught.value


@pytest.mark.parametrize(
    "content",
    [
        "a;x;*\nb;x;*\n",
        "a;x;*\r\nb;x;*\r\n",
        "\ufeffa;x;*\nb;x;*",
        '"a";"x";*\n"b";x;"*"\n',
        "a;x;*\n\nb;x;*\n\n",
        "a;x;*\rb;x;*",
    ],
)
def test_line_ends_quotes_and_byte_order_marks_make_no_difference(tmp_path, content):
    assert build(tmp_path, content).labels == (("a", "b"), ("x",), ("*",))


def test_the_file_decides_which_values_there_are(tmp_path):
    assert build(tmp_path, "a;*\nb;*\n").encode(["Zoe", "b"]).tolist() == [-1, 1]


def test_quoted_fields_may_hold_separators_quotes_and_line_ends(tmp_path):
    assert build(tmp_path, '"a;""b""\nc";*\n').values == ('a;"b"\nc',)


def test_an_empty_first_field_is_the_row_for_missing_values(tmp_path):
    assert build(tmp_path, "a;x;*\n;missing;*\n").values == ("a", "")


@pytest.mark.parametrize(("separator", "content"), [(",", "a,x,*\n"), ("\t", "a\tx\t*\n"), ("|", "a|x|*\n")])
def test_the_separator_can_be_set(tmp_path, separator, content):
    assert build(tmp_path, content, separator=separator).labels == (("a",), ("x",), ("*",))


@pytest.mark.parametrize("separator", [",", "\t", "|"])
def test_another_separator_is_named_instead_of_unknown_values(tmp_path, separator):
    """All values were said to be unknown, and nothing told why."""
    error = refused(tmp_path, f"Zoe{separator}x{separator}*\nAda{separator}y{separator}*\n")
    assert error.code == "hierarchy-file-separator"
    assert repr(separator) in error.message
    assert "Zoe" not in error.message


def test_a_file_of_values_alone_may_contain_other_separators(tmp_path):
    assert build(tmp_path, "Zoe\nZoe,x\n").values == ("Zoe", "Zoe,x")
    assert build(tmp_path, "a,x\nb,y\n").values == ("a,x", "b,y")


def test_a_star_level_is_added_when_the_file_has_none(tmp_path):
    assert build(tmp_path, "a;x\nb;y\nc;y\n").notes


@pytest.mark.parametrize("content", ["a;x;*\nb;*\n", 'a;x;*\n"b";x;x;*\n', "a;x;*\n\nb;*\n"])
def test_a_ragged_line_is_refused_with_file_and_line(tmp_path, content):
    error = refused(tmp_path, content)
    assert error.code == "hierarchy-file-ragged"
    assert "h.csv" in error.message
    assert f"line {content.count(chr(10))}" in error.message


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "hierarchy-file-empty"),
        ("\n\r\n", "hierarchy-file-empty"),
        (b"\xff\xfeZ\x00", "hierarchy-file-encoding"),
        ('a;"Zoe', "hierarchy-file-malformed"),
        ('a;"Zoe"x;*', "hierarchy-file-malformed"),
        ("Zoe;x\nZoe;x\n", "hierarchy-duplicate-values"),
        ("Zoe;\n", "hierarchy-empty-label"),
        ("a;Zoe;1;*\nb;Zoe;2;*\n", "hierarchy-not-monotone"),
    ],
)
def test_a_file_that_is_no_hierarchy_is_refused_without_its_content(tmp_path, content, code):
    error = refused(tmp_path, content)
    assert error.code == code
    assert "Zoe" not in error.message
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.csv") as caught:
        CsvFile("nowhere.csv", folder=tmp_path).build([], attribute="country")
    assert caught.value.code == "hierarchy-file-missing"


def test_equal_paths_make_equal_builders_whatever_the_folder(tmp_path):
    assert CsvFile("h.csv", folder=tmp_path) == CsvFile("h.csv")
    assert CsvFile("h.csv") != CsvFile("h.csv", separator=",")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"path": ""}, "path"),
        ({"path": 5}, "path"),
        ({"path": "a\0b"}, "path"),
        ({"path": "h.csv", "separator": ";;"}, "separator"),
        ({"path": "h.csv", "separator": '"'}, "separator"),
        ({"path": "h.csv", "separator": "\n"}, "separator"),
        ({"path": "h.csv", "separator": None}, "separator"),
    ],
)
def test_bad_options_are_refused_by_name(options, named):
    with pytest.raises(InputError, match=named) as caught:
        CsvFile(**options)
    assert caught.value.code == "hierarchy-option-invalid"
