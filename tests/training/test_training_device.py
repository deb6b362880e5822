import pytest
import torch

from unmix.training import device


def test_auto_takes_the_fastest_present():
    assert device().type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert device("cpu") == torch.device("cpu")
    assert device(torch.device("cpu")) == torch.device("cpu")


def test_unknown_names_say_what_to_use():
    with pytest.raises(ValueError, match='`device` must be "auto", "cpu" or "cuda", got \'gpu\''):
        device("gpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_an_absent_device_is_named():
    with pytest.raises(ValueError, match="`device` must be present, got 'cuda'"):
        device("cuda")
