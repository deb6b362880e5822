"""Write a penalty, have it checked, and train with it.

python examples/03_write_your_own_penalty.py [--quick]
"""

# %% A penalty is a function (decoder, z) -> scalar: sum within a sample, mean over the batch
import sys
from functools import partial

import unmix
from unmix.nn import jacobian, mlp
from unmix.penalties import check_penalty, dependency_sparsity

QUICK = "--quick" in sys.argv


def smooth_count(decoder, z, *, width=0.3):
    """Count entries of the Jacobian, softly: t^2 / (t^2 + width^2) is 0 at zero and 1 far away."""
    t = jacobian(decoder, z) * z.detach().std(0, correction=0)  # units of z must not matter
    return (t.square() / (t.square() + width**2)).sum((1, 2)).mean()


# %% The check says whether training can rely on it, and if not, what to mend
print("smooth_count", check_penalty(smooth_count))
print("summed over the batch", check_penalty(lambda decoder, z: jacobian(decoder, z).abs().sum()))
print("detached", check_penalty(lambda decoder, z: jacobian(decoder, z).detach().abs().sum((1, 2)).mean()))

# %% Any penalty goes into the estimator; a variation is a partial. Plain networks start at random, so that
# the penalty alone makes the difference (the default networks start at sparse linear models)
data = unmix.data.sparse_mixing(1000, n_latents=4, n_observed=12, random_state=0)
plain = {"encoder": mlp, "decoder": mlp, "batch_size": 100, "max_iter": 20 if QUICK else 100, "n_restarts": 3}
penalties = {
    "none": lambda decoder, z: 0.0 * z.sum(),
    "L1": partial(dependency_sparsity, normalize="std"),
    "smooth count": smooth_count,
    "smooth count, wide": partial(smooth_count, width=1.0),
}
floor = unmix.metrics.rotation_floor(data.z, random_state=0)
print(f"\nraw x: MCC {unmix.metrics.mcc(data.z, data.x):.3f}, rotation floor: MCC {floor:.3f}")
for name, penalty in penalties.items():
    model = unmix.DiverseDictionaryLearning(4, penalty=penalty, weight=0.05, **plain, random_state=0).fit(
        data.x
    )
    score = unmix.metrics.mcc(data.z, model.transform(data.x))
    print(f"{name}: MCC {score:.3f}, wrong edges {data.structure.hamming(model.structure_)}")
