"""Every example runs by itself, without warnings, and ends in printed numbers."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
QUICK = ("01_recover_sparse_latents", "02_is_my_structure_identifiable")  # the others are slow
PROMISED = {
    "01_recover_sparse_latents": r"MCC 0\.\d+ .* raw x 0\.\d+, rotation floor 0\.\d+",
    "02_is_my_structure_identifiable": r"nonlinear: True - linear: False",
    "03_write_your_own_penalty": r"smooth_count holds",
    "04_pipeline_and_grid_search": r"chosen: \d",
    "05_resume_a_killed_fit": r"largest difference: 0\.0",
    "06_autoencoder_then_ica": r"active latents: 3 of 6[\s\S]*MCC 0\.99\d after ICA, 0\.8\d+ before",
    "09_look_at_images": r"None of 12 latents[\s\S]*InfoM 0\.\d+, pixel PCA[\s\S]*19 files: index\.html",
    "10_sparse_flow": r"weight 0\.3: \d\.\d+ nats a pixel, a latent moves \d+% of 64 pixels",
    "08_own_method": r"raw x, n = 3: MCC 0\.\d+ [\s\S]*Whitening, n = 5: MCC 0\.\d+",
    "07_sparsest_basis": r"SparseBasis: MCC 1\.000 .*[\s\S]*patterns right: 0\.99",
}


def test_every_example_is_here():
    assert [path.stem for path in EXAMPLES] == sorted(PROMISED)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow) for path in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_example_prints_what_it_promises(path, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path), "--quick"],
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(PROMISED[path.stem], done.stdout), done.stdout
    assert re.search(r"\d", done.stdout.strip().splitlines()[-1]) or path.stem.startswith("02")
    assert not list(tmp_path.iterdir()), "an example must not leave files behind"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_short_and_in_cells(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) < 60
    assert sum(line.lstrip().startswith("# %%") for line in lines) >= 3
    assert f"python examples/{path.name} [--quick]" in lines[2]
