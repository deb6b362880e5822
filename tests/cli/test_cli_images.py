"""`unmix simulate` of images."""

import json

import numpy as np
import pytest

from unmix.cli import main
from unmix.data import load_factors, shapes3d


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


def test_a_set_is_written_as_a_folder(tmp_path, capsys):
    assert (
        run("simulate", "shapes3d", "--n-samples", 20, "--size", 16, "--seed", 3, "--out", tmp_path / "s")
        == 0
    )
    assert "20 images of 16 x 16 x 3" in capsys.readouterr().out
    found, made = load_factors(tmp_path / "s"), shapes3d(20, size=16, random_state=3)
    np.testing.assert_array_equal(found.images, made.images[:])
    np.testing.assert_array_equal(found.factors, made.factors)


def test_balls_keep_where_they_are(tmp_path, capsys):
    out = tmp_path / "b"
    assert (
        run("simulate", "balls", "--n-balls", 4, "--n-samples", 10, "--size", 16, "--json", "--out", out) == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["n_images"] == 10 and told["shape"] == [16, 16, 3] and len(told["names"]) == 8
    assert np.load(out / "positions.npy").shape == np.load(out / "resting.npy").shape == (10, 4, 2)


def test_coordinates_of_balls_rest_apart_where_that_is_asked_for(tmp_path):
    run("simulate", "balls", "--n-samples", 200, "--size", 16, "--out", tmp_path / "together")
    run("simulate", "balls", "--n-samples", 200, "--size", 16, "--apart", "--out", tmp_path / "apart")
    x, y = (np.load(tmp_path / "together" / "resting.npy")[..., axis] for axis in (0, 1))
    assert (x == y).all()
    x, y = (np.load(tmp_path / "apart" / "resting.npy")[..., axis] for axis in (0, 1))
    assert (x != y).any()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["shapes3d", "--size", 50], "`size` must be one of"),
        (["shapes3d", "--noise", 0.1], "`--noise` must be left out"),
        (["shapes3d", "--profile", "tall"], "`--profile` must be left out"),
        (["shapes3d", "--n-balls", 2], "`--n-balls` must be left out"),
        (["shapes3d", "--n-latents", 3], "`--n-latents` must be left out"),
        (["shapes3d", "--kind", "mixture"], "`--kind` must be left out"),
        (["shapes3d", "--apart"], "`--apart` must be left out"),
        (["--n-balls", 2], "`--n-balls` must be left out for tables"),
        (["--size", 16], "`--size` must be left out for tables"),
        (["triangles"], "triangles"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(tmp_path, capsys, arguments, words):
    assert run("simulate", *arguments, "--out", tmp_path / "s") == 2
    error = capsys.readouterr().err.strip()
    assert words in error and error.startswith("unmix: error: ") and "\n" not in error
    assert not list(tmp_path.iterdir())


def test_a_folder_is_replaced_by_force_alone(tmp_path, capsys):
    command = ["simulate", "dsprites", "--n-samples", 5, "--size", 16, "--out", tmp_path / "s"]
    assert run(*command) == 0 and run(*command) == 2
    assert "--force" in capsys.readouterr().err
    assert run(*command, "--force") == 0
