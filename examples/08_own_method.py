"""Run a method of your own on a published table, beside raw x, the paper's methods and ours.

python examples/08_own_method.py [--quick]
"""

# %% Any class with fit and transform; n_components and random_state are passed to it if it takes them
import sys
import tempfile

from sklearn.decomposition import PCA

from unmix import experiments as ex


class Whitening(PCA):
    """Principal components of variance 1."""

    def __init__(self, n_components=None):
        super().__init__(n_components, whiten=True)


# %% The same as: unmix reproduce ddl.table4 --method 08_own_method:Whitening --budget smoke --seeds 5
if __name__ == "__main__":  # workers are fresh processes, which import this file
    table, method = ex.load_experiment("ddl.table4"), "08_own_method:Whitening"
    tasks = ex.tasks_of(table, seeds=1 if "--quick" in sys.argv else 5, budget="smoke", method=method)
    with tempfile.TemporaryDirectory() as folder:
        ex.sweep([t for t in tasks if t.cells[0].row in ("Whitening", ex.RAW)], ex.Store(folder), workers=1)
        # %% Tables are plain values; `unmix report` shows them as a page
        for line in ex.summarise(ex.Store(folder).records())[0].lines:
            print(f"{line.row}, {line.column}: MCC {line.ours:.3f} over {line.n} seed(s)")
