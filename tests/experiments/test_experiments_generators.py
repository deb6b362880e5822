"""The table about generators: what its scores say of real images, of noise, and of content."""

import numpy as np
import pytest
from PIL import Image

from unmix import CGGAN
from unmix.experiments.engine import Place
from unmix.experiments.papers.cg import gan
from unmix.experiments.papers.ddl import disco, encdiff
from unmix.objectives import GameObjective


def found(row, column):
    cell = next(cell for cell in gan.CELLS if (cell.row, cell.column) == (row, column))
    return gan.run(cell, 0, "smoke", Place("cpu"))


@pytest.mark.parametrize("world", [gan.DIGITS, gan.STYLES, gan.ROOMS])
def test_real_pairs_are_nearer_than_noise_and_pairs_are_pairs(world):
    real, noise = found(gan.REAL, world), found(gan.NOISE, world)
    assert real[gan.FRECHET] < noise[gan.FRECHET] and real[gan.KERNEL] < noise[gan.KERNEL]
    assert noise[gan.CONTENT] == pytest.approx(1, abs=0.15)
    pairs = gan.pairs_of(world, 16, 0)
    near, far = (
        np.abs(pairs.first.astype(float) - other).mean() for other in (pairs.second, pairs.second[::-1])
    )
    assert near < far


def test_a_generator_gets_every_score():
    scores = found("CG-GAN", gan.DIGITS)
    assert set(scores) == {gan.FRECHET, gan.KERNEL, gan.CONTENT, gan.SPECIFIC}
    assert all(np.isfinite(value) for value in scores.values()) and scores[gan.SPECIFIC] == 1


def test_a_run_that_was_killed_goes_on_and_can_be_watched(tmp_path, monkeypatch):
    cell = next(cell for cell in gan.CELLS if (cell.row, cell.column) == ("CG-GAN", gan.DIGITS))
    place, whole = Place("cpu", folder=str(tmp_path)), found("CG-GAN", gan.DIGITS)
    with monkeypatch.context() as killed:
        killed.setattr(CGGAN, "_inversion", stop)
        with pytest.raises(KeyboardInterrupt):
            gan.run(cell, 0, "smoke", place)
    assert sorted(path.name for path in tmp_path.glob("*/samples/*")) == [
        "step-000001.png",
        "step-000002.png",
    ]
    assert list(tmp_path.glob("*/checkpoint/game/*"))
    monkeypatch.setattr(GameObjective, "distinguish", stop)  # the game is over, and not played again
    assert gan.run(cell, 0, "smoke", place) == whole
    assert not list(tmp_path.glob("*/checkpoint"))


def stop(*given):
    raise KeyboardInterrupt


@pytest.mark.filterwarnings("ignore:all codes spread by less")  # of models that have learned nothing
@pytest.mark.parametrize("table", [encdiff, disco])
def test_trainings_of_the_other_tables_can_be_watched(table, tmp_path):
    table.run(table.CELLS[0], 0, "smoke", Place("cpu", folder=str(tmp_path)))
    assert list(tmp_path.glob("*/samples/step-*.png"))


def test_a_folder_without_digits_and_styles_is_refused(tmp_path):
    with pytest.raises(ValueError, match="`data` must hold files of MNIST, two folders"):
        gan.pairs_of(gan.DIGITS, 16, 0, str(tmp_path))


def test_styles_come_from_two_folders_of_pictures(tmp_path):
    for place, style in enumerate(("first", "second")):
        (tmp_path / style).mkdir()
        for number in range(3):
            grey = np.full((8, 8, 3), 40 * number + place, np.uint8)
            Image.fromarray(grey).save(tmp_path / style / f"{number}.png")
    assert "emoji" in gan.data_name(str(tmp_path)) and "emoji" not in gan.data_name(None)
    pairs = gan.pairs_of(gan.STYLES, 8, 0, str(tmp_path))
    assert sorted(pairs.first[:, 0, 0, 0]) == [0, 40, 80]
    np.testing.assert_array_equal(pairs.second, pairs.first + 1)
    assert len(gan.pairs_of(gan.DIGITS, 8, 0, str(tmp_path)).first) == 1797  # no files of MNIST there
