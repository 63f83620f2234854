import numpy as np
import pytest

from kohorte.errors import InputError
from kohorte.estimators import Sample, dankar
from kohorte.groups import Groups
from kohorte.models.populations.population_uniqueness import PopulationUniqueness


def groups_of(*sizes, kept=None):
    return Groups(
        (0,),
        np.array(sizes, dtype=np.int64),
        codes=lambda which: np.zeros((int(which.sum()), 1)),
        kept=None if kept is None else np.array(kept),
    )


def test_a_table_of_the_whole_population_is_counted():
    model = PopulationUniqueness(threshold=0.2, sampling_fraction=1)
    assert model.reached(groups_of(1, 1, 3, 5)) == 0.2
    assert model.holds(groups_of(1, 1, 3, 5))
    assert not model.holds(groups_of(1, 1, 1, 3, 4))


def test_a_sample_reaches_the_estimated_share():
    sizes = [1] * 300 + [2] * 60 + [3] * 20 + [50] * 4
    share = dankar(Sample.of(np.array(sizes), 0.05)).uniques / (sum(sizes) / 0.05)
    model = PopulationUniqueness(threshold=share, sampling_fraction=0.05)
    assert model.reached(groups_of(*sizes)) == share
    assert model.holds(groups_of(*sizes))
    assert not PopulationUniqueness(threshold=share * 0.999, sampling_fraction=0.05).holds(groups_of(*sizes))


def test_without_uniques_it_holds_for_any_threshold():
    model = PopulationUniqueness(threshold=0, sampling_fraction=0.001)
    assert model.holds(groups_of(2, 2, 7))
    assert model.reached(groups_of(2, 2, 7)) == 0


def test_it_looks_at_the_kept_classes_alone():
    model = PopulationUniqueness(threshold=0, sampling_fraction=0.5)
    assert not model.holds(groups_of(1, 2, 7))
    assert model.holds(groups_of(1, 2, 7, kept=[False, True, True]))
    assert model.satisfied(groups_of(1, 2, 7)).all()


def test_where_nothing_is_kept_it_holds_and_reaches_nothing():
    model = PopulationUniqueness(threshold=0, sampling_fraction=0.5)
    for groups in (groups_of(), groups_of(1, 2, kept=[False, False])):
        assert model.holds(groups)
        assert model.reached(groups) is None


@pytest.mark.parametrize(("estimator", "sizes"), [("pitman", (1, 1, 1)), ("snb", (1, 3, 3))])
def test_without_an_estimate_it_does_not_hold(estimator, sizes):
    model = PopulationUniqueness(threshold=1, sampling_fraction=0.5, estimator=estimator)
    assert model.reached(groups_of(*sizes)) is None
    assert not model.holds(groups_of(*sizes))


def test_it_is_not_monotone():
    """Two classes of two rows become one of four: the sample unique now stands out more."""
    model = PopulationUniqueness(threshold=0.5, sampling_fraction=0.5, estimator="zayatz")
    assert model.reached(groups_of(1, 4)) > model.reached(groups_of(1, 2, 2))
    assert not model.monotone_under(0)
    assert not model.monotone_under(5)
    assert model.about_all


def test_it_is_written_to_a_plan_and_read_back():
    short = PopulationUniqueness(threshold=0.01, sampling_fraction=0.05)
    assert short.to_dict() == {"model": "population-uniqueness", "threshold": 0.01, "sampling_fraction": 0.05}
    full = PopulationUniqueness(threshold=0.01, sampling_fraction=0.05, estimator="snb")
    for model in (short, full):
        assert PopulationUniqueness.from_dict(model.to_dict()) == model
        assert eval(repr(model)) == model


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        *(("threshold", value) for value in (-0.1, 1.1, "0.1", None, True, float("nan"))),
        *(("sampling_fraction", value) for value in (0, -0.1, 1.1, "0.1", None, True, float("nan"))),
        *(("estimator", value) for value in ("pitmann", "", None, 3, ["snb"])),
    ],
)
def test_an_impossible_parameter_is_refused_by_name(parameter, value):
    parameters = {"threshold": 0.1, "sampling_fraction": 0.1, "estimator": "snb", parameter: value}
    with pytest.raises(InputError, match=parameter) as caught:
        PopulationUniqueness(**parameters)
    assert caught.value.code == "model-parameter"


def test_a_misspelt_estimator_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'pitman'"):
        PopulationUniqueness(threshold=0.1, sampling_fraction=0.1, estimator="pitmann")


def test_the_sampling_fraction_has_no_default():
    with pytest.raises(InputError, match="needs sampling_fraction"):
        PopulationUniqueness.from_dict({"model": "population-uniqueness", "threshold": 0.1})
