"""A Hugging Face model folder made of a GGUF file, for engines that read no GGUF.

usage: model_folder.py MODEL.gguf FOLDER [--dtype bfloat16|float16|float32] [--think]      (needs gguf, numpy, tokenizers)

Writes config.json, generation_config.json, model.safetensors, tokenizer.json and tokenizer_config.json. Quantised
weights are computed back, so the folder computes what the file computes, up to the rounding to its type. Reads plain
models of the architecture "llama" with a byte-level BPE tokenizer, and refuses all others. With --think two control
tokens that the model's chats never use are called <think> and </think>: engines that look for these tokens find them.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import numpy as np
from gguf import GGUFReader, TokenType, dequantize
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers, processors
from tokenizers.models import BPE

SPLITS_DIGITS = {"smollm": True, "gpt-2": False, "default": False}
OUTER_TENSORS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
LAYER_TENSORS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
SAFETENSORS_TYPES = {"bfloat16": "BF16", "float16": "F16", "float32": "F32"}
THINK = {"<repo_name>": "<think>", "<file_sep>": "</think>"}
REQUIRED = object()


class Refused(Exception):
    """A model that is not converted here."""


class Metadata:
    def __init__(self, reader):
        self.reader = reader

    def get(self, key, default=REQUIRED):
        field = self.reader.get_field(key)
        if field is not None:
            return field.contents()
        if default is REQUIRED:
            raise Refused("its key %s is missing" % key)
        return default


def tensor_name(name):
    if layer := re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", name):
        if part := LAYER_TENSORS.get(layer[2]):
            return "model.layers.%s.%s.weight" % (layer[1], part)
    elif part := OUTER_TENSORS.get(name.removesuffix(".weight")):
        return part + ".weight"
    raise Refused("it has a tensor %r, which no plain Llama model has" % name)


def in_halves(weights, heads):
    """llama.cpp keeps the two rows that a rotation mixes side by side; others keep them half a head apart."""
    half = weights.shape[0] // heads // 2
    return weights.reshape(heads, half, 2, weights.shape[1]).swapaxes(1, 2).reshape(weights.shape)


def encoded(weights, dtype):
    if dtype != "bfloat16":
        return weights.astype(dtype).tobytes()
    bits = np.ascontiguousarray(weights).view(np.uint32)  # numpy has no bfloat16: round to nearest, ties to even
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16).tobytes()


def tensors(reader, heads, kv_heads, dtype):
    found = {}
    for tensor in reader.tensors:
        weights = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if ".attn_q." in tensor.name:
            weights = in_halves(weights, heads)
        elif ".attn_k." in tensor.name:
            weights = in_halves(weights, kv_heads)
        found[tensor_name(tensor.name)] = (list(weights.shape), encoded(weights, dtype))
    return found


def write_safetensors(found, dtype, path):
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, (shape, data) in found.items():
        header[name] = {
            "dtype": SAFETENSORS_TYPES[dtype],
            "shape": shape,
            "data_offsets": [end, end + len(data)],
        }
        end += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.writelines(data for _, data in found.values())


def tokenizer(metadata, think):
    """The tokenizer, and the text of each token."""
    if (kind := metadata.get("tokenizer.ggml.model")) != "gpt2":
        raise Refused("its tokenizer is %r, not byte-level BPE" % kind)
    if (split := metadata.get("tokenizer.ggml.pre", "default")) not in SPLITS_DIGITS:
        raise Refused("its text is cut by the rule %r, which is not known here" % split)
    texts = list(metadata.get("tokenizer.ggml.tokens"))
    kinds = metadata.get("tokenizer.ggml.token_type", [TokenType.NORMAL] * len(texts))
    if think:
        if missing := THINK.keys() - set(texts):
            raise Refused("it has no token " + " or ".join(sorted(missing)))
        texts = [THINK.get(text, text) for text in texts]
    merges = [tuple(merge.split(" ")) for merge in metadata.get("tokenizer.ggml.merges")]
    made = Tokenizer(BPE({text: number for number, text in enumerate(texts)}, merges))
    steps = [pre_tokenizers.Digits(individual_digits=True)] if SPLITS_DIGITS[split] else []
    made.pre_tokenizer = pre_tokenizers.Sequence(steps + [pre_tokenizers.ByteLevel(add_prefix_space=False)])
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    for wanted, special in ((TokenType.CONTROL, True), (TokenType.USER_DEFINED, False)):
        made.add_tokens(
            [
                AddedToken(text, special=special and text not in THINK.values(), normalized=False)
                for text, kind in zip(texts, kinds)
                if kind == wanted
            ]
        )
    if metadata.get("tokenizer.ggml.add_bos_token", False):
        bos = metadata.get("tokenizer.ggml.bos_token_id")
        made.post_processor = processors.TemplateProcessing(
            single=texts[bos] + " $A", special_tokens=[(texts[bos], bos)]
        )
    return made, texts


def convert(source, folder, dtype, think):
    reader = GGUFReader(source)
    metadata = Metadata(reader)
    if (architecture := metadata.get("general.architecture")) != "llama":
        raise Refused("its architecture is %r, not llama" % architecture)
    if metadata.get("llama.rope.scaling.type", "none") != "none" or metadata.get("llama.expert_count", 0):
        raise Refused("it scales its positions or has experts")
    hidden, heads = metadata.get("llama.embedding_length"), metadata.get("llama.attention.head_count")
    kv_heads = metadata.get("llama.attention.head_count_kv", heads)
    found = tensors(reader, heads, kv_heads, dtype)
    made, texts = tokenizer(metadata, think)
    named = {"bos": "bos", "eos": "eos", "pad": "padding", "unk": "unknown"}
    ids = {key: metadata.get("tokenizer.ggml.%s_token_id" % name, None) for key, name in named.items()}
    ids = {key: number for key, number in ids.items() if number is not None}
    special = {key + "_token_id": number for key, number in ids.items() if key != "unk"}
    context = metadata.get("llama.context_length")
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": hidden,
        "intermediate_size": metadata.get("llama.feed_forward_length"),
        "num_hidden_layers": metadata.get("llama.block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": metadata.get("llama.attention.key_length", hidden // heads),
        "rms_norm_eps": round(metadata.get("llama.attention.layer_norm_rms_epsilon"), 12),
        "rope_theta": metadata.get("llama.rope.freq_base", 10000.0),
        "hidden_act": "silu",
        "max_position_embeddings": context,
        "vocab_size": len(texts),
        "tie_word_embeddings": "lm_head.weight" not in found,
        "attention_bias": False,
        "mlp_bias": False,
        "torch_dtype": dtype,
        **special,
    }
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": context,
        "clean_up_tokenization_spaces": False,
        "chat_template": metadata.get("tokenizer.chat_template", None),
        **{key + "_token": texts[number] for key, number in ids.items()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (
        ("config.json", config),
        ("tokenizer_config.json", tokenizer_config),
        ("generation_config.json", special),
    ):
        (folder / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    made.save(str(folder / "tokenizer.json"))
    write_safetensors(found, dtype, folder / "model.safetensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dtype", choices=SAFETENSORS_TYPES, default="bfloat16")
    parser.add_argument("--think", action="store_true")
    arguments = parser.parse_args()
    try:
        convert(arguments.source, arguments.folder, arguments.dtype, arguments.think)
    except Refused as refusal:
        sys.exit("%s can't be converted: %s" % (arguments.source, refusal))


if __name__ == "__main__":
    main()
