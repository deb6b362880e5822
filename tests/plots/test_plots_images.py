"""Pictures of models of images: every pixel is the one that the decoder gives."""

import io
from functools import partial
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import unmix
from families import IMAGE_MAKERS, IMAGE_READERS
from models import ImageModel, image_model, verdict
from unmix import plots
from unmix._names import ESTIMATORS
from unmix.nn import conv_decoder, conv_encoder
from unmix.plots import _frames, _image_words, _pixels
from unmix.plots._looking import Look, positions, swapped, traversed

GRIDS = (plots.image_reconstructions, plots.image_traversals, plots.image_swaps, plots.image_jacobian)
seeds = st.integers(0, 10_000)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


class Flat(ImageModel):
    """With `fit`, so that it can be a step of a pipeline."""

    def fit(self, x, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True


@given(seed=seeds, half=st.integers(1, 6), row=st.integers(0, 59))
def test_the_middle_of_a_traversal_is_the_reconstruction(seed, half, row):
    model, x = image_model(random_state=seed)
    strips = Look(model, x).strips(range(3), row, 2 * half + 1)
    for strip in strips:
        assert strip.here == half and len(strip.pictures) == 2 * half + 1
        np.testing.assert_allclose(strip.pictures[half], x[row], atol=1e-6)


@given(seed=seeds)
def test_only_the_latent_moves_and_only_what_it_reaches(seed):
    model, x = image_model(random_state=seed)
    for strip in Look(model, x).strips(range(3), 7, 5):
        moved = np.abs(strip.pictures - strip.pictures[2]).max(0) > 1e-6
        assert not moved[model.patterns[strip.latent] == 0].any()
        change = (strip.values - strip.values[2])[:, None, None, None] * model.patterns[strip.latent]
        np.testing.assert_allclose(strip.pictures, x[7] + change, atol=1e-5)


@given(values=st.lists(st.floats(-5, 5, width=32), min_size=20, max_size=60, unique=True), at=st.floats(0, 1))
def test_a_latent_goes_from_quantile_to_quantile_over_its_own_value(values, at):
    column = np.array(values)
    own = float(np.quantile(column, at))
    way, here = positions(column, own, 7)
    low, high = np.quantile(column, [0.02, 0.98])
    assert way[here] == own and here == 3 and (np.diff(way) >= 0).all()
    assert way[0] == min(low, own) and way[-1] == max(high, own)


@given(n_values=st.integers(1, 20), own=st.integers(0, 19), half=st.integers(1, 5))
def test_a_latent_of_few_values_goes_through_these_in_order(n_values, own, half):
    column, own = np.arange(60) % n_values, own % n_values
    way, here = positions(column, own, 2 * half + 1)
    assert way[here] == own and len(way) == min(n_values, 2 * half + 1)
    assert (np.diff(way) > 0).all() and set(way) <= set(column)


@given(seed=seeds, order=st.permutations(range(3)))
def test_exchanging_all_latents_gives_the_other_image(seed, order):
    model, x = image_model(random_state=seed)
    codes = model.transform(x)
    found = swapped(model.inverse_transform, codes[3], codes[8], order)
    np.testing.assert_allclose(found.ends, x[[3, 8]], atol=1e-6)
    np.testing.assert_allclose(found.up_to[-1], x[8], atol=1e-6)
    np.testing.assert_allclose(found.one + found.other, np.repeat(x[3:4] + x[8:9], 3, 0), atol=1e-6)
    for j, one in zip(order, found.one, strict=True):  # this latent is the second's, all else the first's
        own = model.patterns[j] != 0
        np.testing.assert_allclose(one, np.where(own, x[8], x[3]), atol=1e-6)


@pytest.mark.parametrize("as_bytes", [False, True])
@pytest.mark.parametrize("shape", [(8, 8, 1), (8, 16, 3)])
def test_slopes_are_the_columns_of_the_jacobian_times_the_spread(as_bytes, shape):
    model, x = image_model(shape=shape, as_bytes=as_bytes, size=0.05)  # far from black and white
    look = Look(model, x)
    expected = model.patterns * look.codes.std(0)[:, None, None, None]
    slopes = look.slopes([4, 9])
    assert slopes.shape == (2, 3, *shape)
    np.testing.assert_allclose(slopes, np.stack([expected] * 2), atol=1e-6)
    del model.jacobian  # then it is a change over one deviation, of rounded bytes
    np.testing.assert_allclose(look.slopes([4, 9]), slopes, atol=1 / 255 if as_bytes else 1e-5)


def test_slopes_of_a_pipeline_follow_the_chain_rule():
    first, x = image_model()
    model = Flat(first.patterns)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    mix = FunctionTransformer(lambda z: z @ turn, inverse_func=lambda z: z @ turn.T)
    both = make_pipeline(model, StandardScaler(), mix).fit(x)
    look = Look(both, x)
    scale = both[1].scale_
    patterns = np.einsum("jk,j,jhwc->khwc", turn, scale, model.patterns)
    np.testing.assert_allclose(
        look.slopes([5])[0], patterns * look.codes.std(0)[:, None, None, None], atol=1e-5
    )


def test_slopes_of_a_pipeline_that_loses_latents_are_secants():
    first, x = image_model()
    model = Flat(first.patterns)
    back = lambda z: np.pad(z, ((0, 0), (0, 1)))  # noqa: E731
    fewer = FunctionTransformer(lambda z: z[:, :2], inverse_func=back, check_inverse=False)
    look = Look(make_pipeline(model, fewer).fit(x), x)
    expected = model.patterns[:2] * look.codes.std(0)[:, None, None, None]
    np.testing.assert_allclose(look.slopes([5])[0], expected, atol=1e-5)


def test_slopes_of_few_values_go_from_one_neighbour_to_the_other():
    patterns = image_model()[0].patterns
    model = ImageModel(patterns)
    codes = 0.05 * (np.random.default_rng(1).integers(0, 4, (60, 3)))
    look = Look(model, model.inverse_transform(codes))
    look.codes = codes  # as the encoder of such a model gives them, to the bit
    model.transform = lambda x: codes[: len(x)]
    inner = (codes[:5] > 0) & (codes[:5] < 0.15)
    steps = np.where(inner, 0.1, 0.05)[:, :, None, None, None]
    np.testing.assert_allclose(look.slopes(range(5)), steps * patterns, atol=1e-6)


def test_a_latent_that_moves_nothing_is_dead_named_pale_and_last():
    patterns = image_model()[0].patterns * np.array([1e-3, 1, 1])[:, None, None, None]
    model = ImageModel(patterns)
    x = model.inverse_transform(np.random.default_rng(0).uniform(-0.2, 0.2, (60, 3)))
    ax = plots.image_traversals(model, x, trust=verdict(1, 1, 1))
    names = [text.get_text().partition("\n")[0] for text in ax.get_yticklabels()]
    assert names == ["ẑ2, trusted", "ẑ1, trusted", "ẑ0, dead"]
    drawn = ax.images[0].get_array()[..., :3].astype(float)
    assert np.ptp(drawn[-8:, :8]) < 0.5 * np.ptp(drawn[:8, :8])


def test_a_latent_with_one_value_is_dead():
    model, _ = image_model()
    strips = traversed(model.inverse_transform, np.zeros((30, 3)), np.zeros(3), [0], 9)
    assert strips[0].dead and len(strips[0].pictures) == 1 and strips[0].strength == 0


def test_the_trusted_come_first_then_the_strong():
    model, x = image_model(4)
    strips = Look(model, x).strips(range(4), 0, 5)
    by_strength = sorted(strips, key=lambda each: -each.strength)
    assert _image_words.ordered(strips) == by_strength
    found = verdict(1, -1, 1, -1)
    trusted = [each.latent for each in by_strength if found.trusted[each.latent]]
    rest = [each.latent for each in by_strength if not found.trusted[each.latent]]
    assert 0 < len(trusted) < 4
    assert [each.latent for each in _image_words.ordered(strips, found)] == trusted + rest


@pytest.mark.parametrize("as_bytes", [False, True])
@pytest.mark.parametrize("shape", [(8, 8, 1), (16, 12, 3), (8, 8, 2)])
def test_what_is_drawn_is_what_was_decoded(as_bytes, shape):
    model, x = image_model(shape=shape, as_bytes=as_bytes)
    ax = plots.image_traversals(model, x, latents=[1, 0, 2], row=5, n_steps=5)
    drawn = ax.images[0].get_array()
    height, width, channels = shape
    gap = (drawn.shape[0] - 3 * height) // 2
    across = 2 * (width + gap)
    for k in range(3):
        top = k * (height + gap)
        tile = drawn[top : top + height, across : across + width]
        seen = _pixels.brightness(x[5])
        grey = seen if channels == 3 else seen.mean(-1, keepdims=True)
        assert np.abs(tile[..., :3] - 255 * grey).max() <= 1 and (tile[..., 3] == 255).all()
    assert (drawn[height : height + gap, :, 3] == 0).all()


OF_IMAGES = [name for name in ESTIMATORS if "images" in getattr(getattr(unmix, name), "takes", ())]
OF_THEIR_OWN = {type(member).__name__: member for member in (*IMAGE_MAKERS[::-1], *IMAGE_READERS[::-1])}


def small_model(name):
    """Return a model of images with small networks: its family's, or convolutions of four channels."""
    if name in OF_THEIR_OWN:
        return clone(OF_THEIR_OWN[name])
    small = {"encoder": partial(conv_encoder, widths=(4,)), "decoder": partial(conv_decoder, widths=(4,))}
    return getattr(unmix, name)(2, max_iter=1, random_state=0, **small)


@pytest.mark.parametrize("name", [*OF_IMAGES, "Autoencoder then FastICA"])
def test_every_model_of_images_can_be_looked_at(name):
    x = image_model(as_bytes=True, n_images=40)[1]
    first = small_model(name.partition(" ")[0])
    model = make_pipeline(first, unmix.FastICA(2, random_state=0)) if "then" in name else first
    told = {"domains": np.arange(40) % 2} if getattr(first, "needs_domains", False) else {}
    look = Look(model.fit(x, **told), x)
    (found,) = look.reconstructions([3])[1]
    for strip in look.strips([0, 1], 3, 5):
        assert np.abs(strip.pictures[strip.here] - found).max() <= 1.001 / 255
        assert set(strip.values) <= set(look.codes[:, strip.latent]) or len(strip.values) == 5
    slopes = look.slopes([3, 4])
    assert slopes.shape == (2, look.n_latents, 8, 8, 1) and np.isfinite(slopes).all()


@pytest.mark.parametrize("draw", GRIDS)
def test_every_picture_says_what_it_shows(draw):
    model, x = image_model(shape=(8, 8, 3))
    ax = draw(model, x)
    assert ax.get_title(loc="left") and len(ax.get_xlabel()) > 40
    assert all(text.get_text() for text in ax.get_yticklabels())
    names = [f"well $A{k}$" for k in range(len(x))]
    ids = draw(model, x, plt.figure().add_subplot(), ids=names)
    said = ids.get_title(loc="left") + " ".join(text.get_text() for text in ids.get_xticklabels())
    assert r"well \$A" in said


def test_traversals_name_range_and_row(tmp_path):
    model, x = image_model()
    ax = plots.image_traversals(model, x, row=11, n_steps=3)
    assert ax.get_title(loc="left") == "What each latent does to row 11"
    look = Look(model, x)
    strip = look.strips([2], 11, 3)[0]
    ends = (np.quantile(look.codes[:, 2], [0.02, 0.98]) - look.codes[:, 2].mean()) / look.codes[:, 2].std()
    np.testing.assert_allclose(look.in_deviations(strip)[[0, -1]], ends, atol=1e-6)
    assert ax.get_yticklabels()[0].get_text() == f"ẑ2\n−{-ends[0]:.1f} to {ends[1]:.1f} sd"


@given(n_rows=st.integers(1, 4), n_columns=st.integers(1, 4), gap=st.integers(0, 3), seed=seeds)
def test_tiles_lie_where_they_belong(n_rows, n_columns, gap, seed):
    tiles = np.random.default_rng(seed).integers(0, 256, (n_rows, n_columns, 3, 5, 3))
    sheet = _pixels.tiled(tiles / 255, gap)
    assert sheet.shape == (n_rows * (3 + gap) - gap, n_columns * (5 + gap) - gap, 4)
    for i, k in np.ndindex(n_rows, n_columns):
        top, left = i * (3 + gap), k * (5 + gap)
        np.testing.assert_array_equal(sheet[top : top + 3, left : left + 5, :3], tiles[i, k])
    assert (sheet[..., 3] == 255).sum() == n_rows * n_columns * 15


@given(change=st.floats(-1, 1), channels=st.sampled_from([1, 3]))
def test_signed_colours_are_mirrored_and_neutral_at_zero(change, channels):
    up, down = (_pixels.signed(np.full((1, 1, channels), sign * change), 1.0) for sign in (1, -1))
    zero = _pixels.signed(np.zeros((1, 1, channels)), 1.0)
    if channels == 3:
        np.testing.assert_allclose(up + down, 2 * zero)
        assert (np.sign(up - zero) == np.sign(change)).all() or abs(change) < 1e-12
    elif abs(change) > 0.05:  # blue for up, orange for down
        blue_first = up[..., 2] > up[..., 0]
        assert blue_first.all() == (change > 0)
    assert ((up >= 0) & (up <= 1)).all()


@pytest.mark.parametrize("side", [8, 16, 64, 128])
@pytest.mark.parametrize("n_frames", [4, 9, 16])
def test_a_gif_has_as_many_frames_as_asked(side, n_frames):
    still = np.full((5, side, side, 3), 0.5)  # a dead latent: only the mark moves
    moving = np.linspace(0, 1, 5)[:, None, None, None] * np.ones((side, side, 3))
    tiles = [_frames.Moving(p, "ẑ0, not trusted", "−2.0 to 2.0 sd") for p in (still, moving)]
    content = _pixels.gif(_frames.frames(tiles, "title", "a caption " * 9, n_frames=n_frames, side=64))
    with Image.open(io.BytesIO(content)) as file:
        assert file.n_frames == n_frames and file.info["loop"] == 0


def test_a_gif_goes_there_and_back():
    pictures = np.linspace(0, 1, 5)[:, None, None, None] * np.ones((16, 16, 3))
    frames = _frames.frames([_frames.Moving(pictures, "ẑ0", "")], "t", "c", n_frames=8, side=16)
    brightest = [np.asarray(frame)[60:70, 14:26].mean() for frame in frames]
    assert brightest[:5] == sorted(brightest[:5]) and brightest[5:] == brightest[3:0:-1]


@settings(max_examples=10)
@given(n_images=st.integers(2, 9))
def test_few_images_will_do(n_images):
    model, x = image_model(n_images=n_images)
    for draw in GRIDS:
        assert draw(model, x).images
        plt.close("all")


@pytest.mark.parametrize(
    ("draw", "asked", "words"),
    [
        (
            plots.image_traversals,
            {"latents": [3]},
            "`latents` must hold each latent once, numbers from 0 to 2",
        ),
        (plots.image_traversals, {"latents": [1, 1]}, "`latents` must hold each latent once"),
        (plots.image_traversals, {"row": 60}, "`rows` must hold each row once, numbers from 0 to 59"),
        (plots.image_traversals, {"n_steps": 8}, "`n_steps` must be an odd number of at least 3, got 8"),
        (plots.image_reconstructions, {"n": 0}, "`n` must be at least 1"),
        (plots.image_reconstructions, {"rows": []}, "`rows` must hold"),
        (plots.image_swaps, {"rows": [1]}, "`rows` must name two images, got 1"),
        (plots.image_jacobian, {"rows": [-1]}, "`rows` must hold"),
    ],
)
def test_what_can_not_be_shown_is_refused(draw, asked, words):
    model, x = image_model()
    with pytest.raises(ValueError, match=words):
        draw(model, x, **asked)


def test_tables_and_models_that_can_not_decode_are_refused():
    model, x = image_model()
    with pytest.raises(ValueError, match="`X` must be images of shape"):
        plots.image_traversals(model, x.reshape(len(x), -1))
    with pytest.raises(TypeError, match="`model` must have `inverse_transform`"):
        plots.image_traversals(SimpleNamespace(transform=abs), x)
