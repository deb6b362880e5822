"""Networks and their derivatives; nothing here knows a loss.

`mlp` and `residual_mlp` build networks; `jacobian` and its relatives differentiate any batched function,
fastest for those networks: their Jacobian is a product of layers that shares the forward pass.
"""

from ._activations import ACTIVATIONS, Activation
from ._attention import Attention, ScalarTokens
from ._convolutions import conv_decoder, conv_encoder
from ._directional import first_directional, second_directional
from ._features import LiteFeatures, efficientnet_lite0
from ._feedforward import Feedforward, Slopes, feature_jacobian
from ._gated import GatedMLP, gated_mlp
from ._grids import grid_decoder, grid_encoder
from ._hessian import hessian
from ._jacobian import jacobian, jvp_columns, value_and_jacobian, value_and_jvp_columns
from ._lipschitz import BiLipschitz, bilipschitz, directional_bilipschitz, segment_gap
from ._networks import ResidualMLP, batch_norm_head, mlp, residual_mlp
from ._points import points_decoder, points_encoder
from ._shapes import entries
from ._sparse_codes import (
    Active,
    Filled,
    batch_top_filled,
    batch_top_index,
    index_above,
    jump,
    jump_count,
    picked,
    row_of_each,
    top_filled,
    top_index,
    unit_rows,
)
from ._strided import leaky_encoder, strided_decoder, strided_encoder
from ._style import StyleGenerator, style_generator
from ._style_critic import StyleDiscriminator, style_discriminator
from ._tangents import Remembered
from ._unet import UNet, unet
from ._warp import Warp

__all__ = [
    "mlp",
    "residual_mlp",
    "ResidualMLP",
    "batch_norm_head",
    "gated_mlp",
    "GatedMLP",
    "conv_encoder",
    "conv_decoder",
    "strided_encoder",
    "strided_decoder",
    "leaky_encoder",
    "grid_encoder",
    "grid_decoder",
    "unet",
    "UNet",
    "ScalarTokens",
    "Attention",
    "style_generator",
    "StyleGenerator",
    "style_discriminator",
    "StyleDiscriminator",
    "efficientnet_lite0",
    "LiteFeatures",
    "points_encoder",
    "points_decoder",
    "entries",
    "ACTIVATIONS",
    "Activation",
    "jacobian",
    "value_and_jacobian",
    "jvp_columns",
    "Remembered",
    "value_and_jvp_columns",
    "first_directional",
    "second_directional",
    "hessian",
    "bilipschitz",
    "directional_bilipschitz",
    "BiLipschitz",
    "segment_gap",
    "Feedforward",
    "Slopes",
    "feature_jacobian",
    "Active",
    "Filled",
    "top_filled",
    "batch_top_filled",
    "top_index",
    "batch_top_index",
    "index_above",
    "picked",
    "row_of_each",
    "unit_rows",
    "jump",
    "jump_count",
    "Warp",
]
