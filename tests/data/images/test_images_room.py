import subprocess
import sys

import numpy as np

import unmix
from unmix.data import images


def test_importing_the_data_stays_cheap():
    code = (
        "import sys, unmix.data; assert 'torch' not in sys.modules; assert 'shapes3d' in unmix.data.__all__"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_names_are_found_in_both_rooms():
    for name in set(images.__all__) & set(unmix.data.__all__):
        assert getattr(unmix.data, name) is getattr(images, name)
    assert {"shapes3d", "dsprites", "cars3d", "mpi3d", "balls", "avatars"} <= set(unmix.data.__all__)


def test_estimators_take_what_is_rendered():
    data = unmix.data.shapes3d(60, size=16, random_state=0)
    settings = {"max_iter": 1, "random_state": 0, "device": "cpu"}
    drawn, held = (unmix.Autoencoder(3, **settings).fit(x) for x in (data.images, data.images[:]))
    np.testing.assert_array_equal(drawn.transform(data.images), held.transform(data.images[:]))
