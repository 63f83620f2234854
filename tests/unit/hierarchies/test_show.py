from kohorte.hierarchies import Hierarchy, Tree, show, to_csv

TREE = Tree({"A": {"B": ["x"], "C": ["yy"]}, "D": ["z"]}).build([], attribute="d")


def test_the_table_is_aligned_and_has_a_header():
    assert show(TREE).splitlines() == [
        "level 0 | level 1 | level 2 | level 3",
        "--------+---------+---------+--------",
        "x       | B       | A       | *",
        "yy      | C       | A       | *",
        "z       | z       | D       | *",
    ]


def test_values_of_a_group_stand_together():
    mixed = Hierarchy.from_columns([["a", "b", "c"], ["x", "y", "x"]], attribute="d")
    assert [line[0] for line in show(mixed).splitlines()[2:]] == ["a", "c", "b"]


def test_a_limit_says_how_many_values_are_left_out():
    assert show(TREE, limit=1).splitlines()[-1] == "... 2 more values"
    assert show(TREE, limit=2).splitlines()[-1] == "... 1 more value"
    assert show(TREE, limit=3) == show(TREE)


def test_line_ends_in_a_value_do_not_break_the_table():
    odd = Hierarchy.from_columns([["a\nb"], ["*"]], attribute="d")
    assert show(odd).splitlines()[2] == "a\\x{a}b | *"


def test_the_csv_has_one_line_a_value_and_no_header():
    assert to_csv(TREE) == "x;B;A;*\nyy;C;A;*\nz;z;D;*\n"


def test_the_csv_quotes_what_would_be_misread():
    odd = Hierarchy.from_columns([['a;"b"', "\ufeffc"], ["x\r", "x\r"]], attribute="d")
    assert to_csv(odd) == '"a;""b""";"x\r";*\n"\ufeffc";"x\r";*\n'
