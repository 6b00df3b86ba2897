#!/usr/bin/env python3
"""Makes oracle cases: random tiny models run through transformers, written as GGUF files with their logits.

Usage: tools/make_model_cases.py [CASE ...]      (all cases without names; "rope" for rope.json alone)
Needs: pip install torch transformers gguf numpy (transformers 5.24 made the stored ones).

Writes tests/data/models/CASE/{case.json, model-f16.gguf, logits.npy}, in the form that tests/oracle/case.h
reads, and tests/data/models/rope.json, read by tests/unit/models/rope_test.cc.

Every matrix entry is a bf16 number that f16 holds too, so that the file carries exactly what the reference
computed with. Names and layouts are those that converters write: q and k rows permuted where neighbouring
values rotate, "+ 1" baked into gemma's norms, LongRoPE factors as tensors, the matrices of experts in tensors of three
dimensions.
"""

import dataclasses
import json
import math
import pathlib
import sys

import gguf
import numpy as np
import torch
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "models"
N_PROMPT, N_GREEDY, N_VOCAB = 40, 24, 96

# What all cases share; a case overrides what it needs otherwise.
BASE = dict(vocab_size=N_VOCAB, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=256, tie_word_embeddings=False, pad_token_id=None,
            bos_token_id=None, eos_token_id=None)


@dataclasses.dataclass
class Case:
    about: str
    config: str  # name of the configuration class
    arch: str  # general.architecture
    settings: dict  # over BASE
    keys: dict = dataclasses.field(default_factory=dict)  # GGUF keys besides the common ones
    rope_factors: bool = False  # write the LongRoPE tensors
    ctx: int = 256  # the context the case is to be loaded with
    pad_to: int = 0  # length the reference sees: what its LongRoPE chooses by
    fused_experts: bool = False  # gate and up of the experts in one tensor
    model_of: str = ""  # the case whose file this one uses
    seed: int = 1


def longrope(n_pairs, original):
    return dict(rope_type="longrope", rope_theta=10000.0, original_max_position_embeddings=original,
                short_factor=[1.0 + 0.05 * i for i in range(n_pairs)],
                long_factor=[1.5 + 0.75 * i for i in range(n_pairs)])


def longrope_keys(original, longest):
    factor = longest / original
    return {"rope.scaling.original_context_length": original,
            "rope.scaling.attn_factor": math.sqrt(1 + math.log(factor) / math.log(original))}


PHI3 = dict(rope_parameters=longrope(8, 64), original_max_position_embeddings=64, max_position_embeddings=1024)
PHI4 = dict(rope_parameters={**longrope(6, 32), "partial_rotary_factor": 0.75},
            original_max_position_embeddings=32, max_position_embeddings=512, partial_rotary_factor=0.75,
            tie_word_embeddings=True)

# Latent attention: heads of 16 + 8 and values of 20 over rows of 24 + 8.
LATENT = dict(kv_lora_rank=24, qk_nope_head_dim=16, qk_rope_head_dim=8, v_head_dim=20, moe_intermediate_size=32)
LATENT_KEYS = {"attention.kv_lora_rank": 24, "rope.dimension_count": 8}


def latent_yarn(mscale):
    return dict(rope_type="yarn", rope_theta=10000.0, factor=8.0, original_max_position_embeddings=32, mscale=mscale,
                mscale_all_dim=mscale)


def latent_yarn_keys(mscale):
    return {"rope.scaling.type": "yarn", "rope.scaling.factor": 8.0, "rope.scaling.original_context_length": 32,
            "rope.scaling.yarn_log_multiplier": 0.1 * mscale}


# Five experts, two of which a token sees.
EXPERT_KEYS = {"expert_count": 5, "expert_used_count": 2, "expert_feed_forward_length": 32}

CASES = {
    "phi3-longrope": Case(
        "LongRoPE: the long factors, because the context is above the original one", "Phi3Config", "phi3", PHI3,
        longrope_keys(64, 1024), rope_factors=True, ctx=65, pad_to=80),
    "phi3-longrope-short": Case(
        "the same file within the original context: the short factors, the same magnitude", "Phi3Config", "phi3",
        PHI3, longrope_keys(64, 1024), rope_factors=True, ctx=64, pad_to=64, model_of="phi3-longrope"),
    "phi4-mini": Case(
        "Phi-4 mini: three quarters of a head rotate, LongRoPE, tied head", "Phi3Config", "phi3", PHI4,
        longrope_keys(32, 512), rope_factors=True, pad_to=64, seed=2),
    "llama-biases": Case(
        "biases on q, k, v, o, gate, up and down; heads wider than the width divided by their number",
        "LlamaConfig", "llama", dict(attention_bias=True, mlp_bias=True, head_dim=24),
        {"attention.key_length": 24, "attention.value_length": 24, "rope.dimension_count": 24}, seed=3),
    "qwen2-yarn": Case(
        "YaRN on halves, with its own attention factor and correction range", "Qwen2Config", "qwen2",
        dict(rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=8.0, beta_fast=16.0, beta_slow=0.5,
                                  original_max_position_embeddings=32, attention_factor=1.4)),
        {"rope.scaling.type": "yarn", "rope.scaling.factor": 8.0, "rope.scaling.original_context_length": 32,
         "rope.scaling.yarn_beta_fast": 16.0, "rope.scaling.yarn_beta_slow": 0.5,
         "rope.scaling.yarn_attn_factor": 1.4}, seed=4),
    "gemma3-linear": Case(
        "a window pattern named layer by layer, linear scaling in the full layers only, final soft cap",
        "Gemma3TextConfig", "gemma3",
        dict(num_hidden_layers=3, head_dim=16, query_pre_attn_scalar=16, sliding_window=8, hidden_size=48,
             intermediate_size=64, final_logit_softcapping=20.0, tie_word_embeddings=True,
             layer_types=["full_attention", "sliding_attention", "full_attention"],
             rope_parameters=dict(
                 full_attention=dict(rope_type="linear", rope_theta=100000.0, factor=8.0),
                 sliding_attention=dict(rope_type="default", rope_theta=10000.0))),
        {"attention.key_length": 16, "attention.value_length": 16, "attention.sliding_window": 8,
         "attention.sliding_window_pattern": [False, True, False], "rope.freq_base": 100000.0,
         "rope.scaling.type": "linear", "rope.scaling.factor": 8.0, "final_logit_softcapping": 20.0}, seed=5),
    "gemma3-full": Case(
        "every layer full: a pattern of 1", "Gemma3TextConfig", "gemma3",
        dict(head_dim=16, query_pre_attn_scalar=16, sliding_window=8, hidden_size=48, intermediate_size=64,
             tie_word_embeddings=True, layer_types=["full_attention", "full_attention"],
             rope_parameters=dict(full_attention=dict(rope_type="default", rope_theta=1000000.0))),
        {"attention.key_length": 16, "attention.value_length": 16, "attention.sliding_window": 8,
         "attention.sliding_window_pattern": 1, "rope.freq_base": 1000000.0}, seed=6),
    "olmo2-gqa": Case("fewer key heads than query heads under a norm over all of them", "Olmo2Config", "olmo2",
                      dict(rope_parameters=dict(rope_type="default", rope_theta=500000.0)),
                      {"rope.freq_base": 500000.0}, seed=7),
    "olmo3": Case(
        "windows in three layers of four; YaRN in the full ones only", "Olmo3Config", "olmo2",
        dict(num_hidden_layers=5, sliding_window=8, hidden_size=48, intermediate_size=48,
             rope_parameters=dict(
                 full_attention=dict(rope_type="yarn", rope_theta=500000.0, factor=8.0,
                                     original_max_position_embeddings=32),
                 sliding_attention=dict(rope_type="default", rope_theta=500000.0))),
        {"attention.sliding_window": 8, "rope.freq_base": 500000.0, "rope.scaling.type": "yarn",
         "rope.scaling.factor": 8.0, "rope.scaling.original_context_length": 32}, seed=8),
    "granite-tied": Case(
        "the four scalars with a tied head", "GraniteConfig", "granite",
        dict(embedding_multiplier=6.0, attention_multiplier=0.2, residual_multiplier=0.6, logits_scaling=3.0,
             tie_word_embeddings=True),
        {"embedding_scale": 6.0, "attention.scale": 0.2, "residual_scale": 0.6, "logit_scale": 3.0}, seed=9),
    "mixtral-top3": Case(
        "three experts of four, as wide as the file's feed-forward", "MixtralConfig", "llama",
        dict(num_local_experts=4, num_experts_per_tok=3, intermediate_size=32),
        {"expert_count": 4, "expert_used_count": 3, "rope.freq_base": 1000000.0}, seed=10),
    "qwen2moe-shared": Case(
        "weights as the softmax gives them, a shared expert under its gate", "Qwen2MoeConfig", "qwen2moe",
        dict(num_experts=5, num_experts_per_tok=2, moe_intermediate_size=32, shared_expert_intermediate_size=40,
             decoder_sparse_step=1, mlp_only_layers=[], norm_topk_prob=False, qkv_bias=True),
        {**EXPERT_KEYS, "expert_shared_feed_forward_length": 40}, seed=11),
    "qwen3moe-fused": Case(
        "gate and up of the experts in one tensor", "Qwen3MoeConfig", "qwen3moe",
        dict(num_experts=5, num_experts_per_tok=2, moe_intermediate_size=32, head_dim=16, decoder_sparse_step=1,
             mlp_only_layers=[], norm_topk_prob=True),
        {**EXPERT_KEYS, "attention.key_length": 16, "attention.value_length": 16}, fused_experts=True, seed=12),
    "gpt-oss-plain": Case(
        "sinks, windows and biased experts without YaRN", "GptOssConfig", "gpt-oss",
        dict(num_local_experts=5, num_experts_per_tok=2, intermediate_size=32, head_dim=16, sliding_window=8,
             rope_parameters=dict(rope_type="default", rope_theta=10000.0),
             layer_types=["sliding_attention", "full_attention"]),
        {**EXPERT_KEYS, "attention.key_length": 16, "attention.value_length": 16, "attention.sliding_window": 8},
        seed=13),
    "olmoe": Case(
        "norms of q and k over all heads, weights as the softmax gives them", "OlmoeConfig", "olmoe",
        dict(num_experts=5, num_experts_per_tok=2, intermediate_size=32, norm_topk_prob=False), EXPERT_KEYS, seed=14),
    "granitemoe": Case(
        "the four scalars with experts", "GraniteMoeConfig", "granitemoe",
        dict(num_local_experts=5, num_experts_per_tok=2, intermediate_size=32, embedding_multiplier=6.0,
             attention_multiplier=0.2, residual_multiplier=0.6, logits_scaling=3.0),
        {**EXPERT_KEYS, "embedding_scale": 6.0, "attention.scale": 0.2, "residual_scale": 0.6, "logit_scale": 3.0},
        seed=15),
    "deepseek2-lite": Case(
        "queries projected at once, k_b and v_b in one tensor as older files have them, YaRN in the scale of scores, "
        "two shared experts", "DeepseekV2Config", "deepseek2",
        dict(**LATENT, num_key_value_heads=4, q_lora_rank=None, n_routed_experts=5, num_experts_per_tok=2,
             n_shared_experts=2, first_k_dense_replace=1, n_group=1, topk_group=1, topk_method="greedy",
             routed_scaling_factor=1.0, rope_parameters=latent_yarn(0.707)),
        {**EXPERT_KEYS, **LATENT_KEYS, **latent_yarn_keys(0.707), "leading_dense_block_count": 1,
         "expert_shared_count": 2, "expert_weights_scale": 1.0, "attention.key_length": 24,
         "attention.value_length": 20}, seed=16),
    "deepseek3-groups": Case(
        "sigmoids with a selection bias among two of four groups, YaRN, a rank for queries", "DeepseekV3Config",
        "deepseek2",
        dict(**LATENT, num_key_value_heads=4, q_lora_rank=32, n_routed_experts=8, num_experts_per_tok=3,
             n_shared_experts=1, first_k_dense_replace=1, n_group=4, topk_group=2, norm_topk_prob=True,
             routed_scaling_factor=2.5, rope_parameters=latent_yarn(1.0)),
        {**LATENT_KEYS, **latent_yarn_keys(1.0), "expert_count": 8, "expert_used_count": 3,
         "expert_feed_forward_length": 32, "leading_dense_block_count": 1, "expert_shared_count": 1,
         "expert_weights_scale": 2.5, "expert_weights_norm": True, "expert_gating_func": 2, "expert_group_count": 4,
         "expert_group_used_count": 2, "attention.q_lora_rank": 32, "attention.key_length": 32,
         "attention.value_length": 24, "attention.key_length_mla": 24, "attention.value_length_mla": 20}, seed=17),
}


def round_bf16(tensor):
    """bf16 numbers of at least 2^-14 or zero, which f16 holds as well."""
    rounded = tensor.to(torch.bfloat16).float()
    return torch.where(rounded.abs() < 2.0**-14, torch.zeros_like(rounded), rounded)


def router_biases(model):
    return [(name, buffer) for name, buffer in model.named_buffers() if name.endswith("e_score_correction_bias")]


def randomise(model, gemma, tied):
    """Weights away from their defaults everywhere, so that leaving one out shows."""
    for _, bias in router_biases(model):
        bias.copy_(round_bf16(torch.randn(bias.shape) * 0.25))
    for name, parameter in model.named_parameters():
        shape = parameter.shape
        if parameter.dim() == 1:
            mean = 1.0 if "norm" in name else 0.0
            # With a tied head and a final norm around one, greedy text would repeat one token.
            if tied and name == "model.norm.weight":
                mean = 0.0
            values = torch.randn(shape) * 0.25 + mean - (1.0 if gemma and "norm" in name else 0.0)
        elif "embed" in name:
            values = torch.randn(shape)
        else:
            # Attention that is not flat and logits that are apart: q, k and the head are larger than the rest.
            # So are routers, whose choices are then not close calls.
            large = ("q_proj", "q_b_proj", "k_proj", "qkv", "lm_head", "mlp.gate.", "router")
            gain = 0.5 if "bias" in name else 2.0 if any(part in name for part in large) else 1.0
            values = torch.randn(shape) * gain / (1.0 if "bias" in name else math.sqrt(shape[-1]))
        parameter.data.copy_(round_bf16(values))


def permute(matrix, n_head):
    """Rows of q and k from halves to neighbours, as converters store them for `llama` and `granite`."""
    rows = matrix.shape[0]
    return matrix.reshape(n_head, 2, rows // n_head // 2, *matrix.shape[1:]).swapaxes(1, 2).reshape(matrix.shape)


def expert_tensors(case, name, values):
    """The file's names and layouts of one parameter of all experts, [experts, n, k] or [experts, n]."""
    layer = f"blk.{name.split('.')[2]}."
    kind = "bias" if name.endswith("_bias") else "weight"
    if case.arch == "gpt-oss" and kind == "weight":  # stored as [experts, k, n]
        values = values.swapaxes(1, 2)
    if "down_proj" in name:
        return {f"{layer}ffn_down_exps.{kind}": values}
    if case.fused_experts:
        return {f"{layer}ffn_gate_up_exps.{kind}": values}
    if case.arch == "gpt-oss":  # rows of gate and up alternate
        gate, up = values[:, 0::2], values[:, 1::2]
    else:
        gate, up = np.split(values, 2, axis=1)
    return {f"{layer}ffn_gate_exps.{kind}": gate, f"{layer}ffn_up_exps.{kind}": up}


def latent_tensors(case, config, name, values):
    """kv_b [heads, plain + value, rank]: whole in files without absorbed sizes, else k_b (turned) and v_b."""
    layer = f"blk.{name.split('.')[2]}."
    if "attention.key_length_mla" not in case.keys:
        return {layer + "attn_kv_b.weight": values}
    heads = values.reshape(config.num_attention_heads, -1, values.shape[1])
    k, v = heads[:, :config.qk_nope_head_dim], heads[:, config.qk_nope_head_dim:]
    return {layer + "attn_k_b.weight": k.swapaxes(1, 2), layer + "attn_v_b.weight": v}


def write_gguf(path, case, config, model):
    writer = gguf.GGUFWriter(path, case.arch)
    writer.add_vocab_size(config.vocab_size)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(1 if "attention.key_length_mla" in case.keys else config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    keys = dict(case.keys)
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    keys.setdefault("rope.dimension_count", int(head * case.settings.get("partial_rotary_factor", 1)))
    for key, value in keys.items():
        name = f"{case.arch}.{key}"
        if isinstance(value, str):
            writer.add_string(name, value)
        elif isinstance(value, bool):
            writer.add_bool(name, value)
        elif isinstance(value, float):
            writer.add_float32(name, value)
        elif isinstance(value, list):
            writer.add_array(name, value)
        else:
            writer.add_uint32(name, value)

    arch = {value: key for key, value in gguf.MODEL_ARCH_NAMES.items()}[case.arch]
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    for name, parameter in [*model.named_parameters(), *router_biases(model)]:
        values = parameter.detach().numpy().astype(np.float32)
        if case.arch.startswith("gemma") and name.endswith("norm.weight"):
            values = values + np.float32(1)
        if case.arch in ("llama", "granite", "granitemoe") and (".q_proj." in name or ".k_proj." in name):
            values = permute(values,
                             config.num_attention_heads if ".q_proj." in name else config.num_key_value_heads)
        if ".kv_b_proj." in name:
            tensors = latent_tensors(case, config, name, values)
        elif name.endswith("e_score_correction_bias"):
            tensors = {f"blk.{name.split('.')[2]}.exp_probs_b.bias": values}
        elif ".experts." in name:
            tensors = expert_tensors(case, name, values)
        elif name.endswith(".sinks"):
            tensors = {names.get_name(name) + ".weight": values}
        else:
            known = name.replace("router.weight", "router.layer.weight") if "block_sparse" in name else name
            tensors = {names.get_name(known, try_suffixes=(".weight", ".bias")): values}
        for stored_name, part in tensors.items():
            # Routers stay f32 in files.
            wide = part.ndim == 1 or stored_name.endswith(".bias") or "ffn_gate_inp" in stored_name
            stored = np.ascontiguousarray(part.astype(np.float32 if wide else np.float16))
            assert np.array_equal(stored.astype(np.float32), part), name
            writer.add_tensor(stored_name, stored)
    if case.rope_factors:
        for side in ("short", "long"):
            writer.add_tensor(f"rope_factors_{side}.weight",
                              np.array(config.rope_parameters[f"{side}_factor"], dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make_case(name, case):
    folder = DATA / name
    folder.mkdir(parents=True, exist_ok=True)
    config = getattr(transformers, case.config)(**{**BASE, **case.settings})
    config._attn_implementation = "eager"
    torch.manual_seed(case.seed)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    randomise(model, case.arch.startswith("gemma"), config.tie_word_embeddings)

    def logits_of(tokens):
        # Later tokens change nothing for earlier ones but the length, by which LongRoPE chooses.
        padded = tokens + [0] * max(0, case.pad_to - len(tokens))
        with torch.no_grad():
            out = model(input_ids=torch.tensor([padded]), use_cache=False)
        return out.logits[0, :len(tokens)].double().numpy()

    tokens = torch.randint(0, N_VOCAB, (N_PROMPT,)).tolist()
    greedy, margins = [], []
    for _ in range(N_GREEDY):
        row = logits_of(tokens + greedy)[-1]
        best = np.sort(row)[::-1]
        margins.append(float(best[0] - best[1]))
        greedy.append(int(row.argmax()))
    logits = logits_of(tokens + greedy[:-1]).astype(np.float32)
    if not case.model_of:
        write_gguf(str(folder / "model-f16.gguf"), case, config, model)
    np.save(folder / "logits.npy", logits)
    described = {
        "case": name, "mode": "causal", "about": case.about, "arch": case.arch, "ctx": case.ctx,
        "model": f"../{case.model_of}/model-f16.gguf" if case.model_of else "model-f16.gguf",
        "n_prompt": N_PROMPT, "n_vocab": N_VOCAB, "tokens": tokens, "greedy": greedy,
        "greedy_margin_min": min(margins), "logit_std": float(logits.std()),
        "made_with": {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]},
    }
    (folder / "case.json").write_text(json.dumps(described, indent=1) + "\n")
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(f"{name}: {size // 1024} KiB, std {logits.std():.2f}, smallest margin {min(margins):.3f}, "
          f"{len(set(greedy))} different ids")


def rope_entry(name, d_head, n_ctx_train, ctx, parameters, keys, tensors=None, seq_len=None):
    """One row of rope.json: what transformers computes for `parameters`, and the keys that say the same."""
    config = transformers.LlamaConfig(hidden_size=4 * d_head, num_attention_heads=4, head_dim=d_head,
                                      max_position_embeddings=n_ctx_train, rope_parameters=dict(parameters))
    if parameters["rope_type"] == "default":
        n = int(d_head * parameters.get("partial_rotary_factor", 1))
        inv_freq = 1.0 / parameters["rope_theta"]**(torch.arange(0, n, 2).double() / n)
        magnitude = 1.0
    else:
        inv_freq, magnitude = ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, "cpu", seq_len=seq_len)
    return {"name": name, "d_head": d_head, "n_ctx_train": n_ctx_train, "ctx": ctx,
            "keys": {"rope.freq_base": parameters["rope_theta"], **keys}, "tensors": tensors or {},
            "inv_freq": [float(f) for f in inv_freq], "magnitude": float(magnitude)}


def make_rope():
    rows = []

    def yarn(name, d_head, theta, factor, original, keys=None, **extra):
        parameters = dict(rope_type="yarn", rope_theta=theta, factor=factor,
                          original_max_position_embeddings=original, **extra)
        rows.append(rope_entry(name, d_head, int(original * max(factor, 1)), 4096, parameters,
                               {"rope.scaling.type": "yarn", "rope.scaling.factor": factor,
                                "rope.scaling.original_context_length": original, **(keys or {})}))

    rows.append(rope_entry("plain", 128, 4096, 4096, dict(rope_type="default", rope_theta=10000.0), {}))
    rows.append(rope_entry("partial", 96, 4096, 4096,
                           dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.75),
                           {"rope.dimension_count": 72}))
    linear = dict(rope_type="linear", rope_theta=1000000.0, factor=8.0)
    rows.append(rope_entry("linear", 64, 4096, 4096, linear,
                           {"rope.scaling.type": "linear", "rope.scaling.factor": 8.0}))
    rows.append(rope_entry("linear_old_key", 64, 4096, 4096, linear, {"rope.scale_linear": 8.0}))
    yarn("yarn", 128, 1000000.0, 4.0, 32768)
    yarn("yarn_small_base", 64, 10000.0, 16.0, 2048)
    yarn("yarn_betas", 128, 10000.0, 8.0, 4096, {"rope.scaling.yarn_beta_fast": 16.0,
                                                 "rope.scaling.yarn_beta_slow": 2.0}, beta_fast=16.0, beta_slow=2.0)
    yarn("yarn_attention_factor", 128, 10000.0, 8.0, 4096, {"rope.scaling.yarn_attn_factor": 1.3},
         attention_factor=1.3)
    # The file holds 0.1 times mscale_all_dim.
    yarn("yarn_log_multiplier", 64, 10000.0, 40.0, 4096, {"rope.scaling.yarn_log_multiplier": 0.0707},
         mscale=1.0, mscale_all_dim=0.707)
    yarn("yarn_equal_mscales", 64, 10000.0, 40.0, 4096, {"rope.scaling.yarn_log_multiplier": 0.1},
         mscale=1.0, mscale_all_dim=1.0)
    yarn("yarn_narrow_range", 16, 10000.0, 4.0, 64)  # low and high meet
    yarn("yarn_factor_below_one", 64, 10000.0, 0.5, 4096)

    llama3 = dict(rope_type="llama3", rope_theta=500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                  original_max_position_embeddings=8192)
    entry = rope_entry("llama3", 128, 131072, 8192, llama3, {})
    # Converters write the divisors that turn the plain frequencies into the scaled ones.
    plain = 1.0 / 500000.0**(np.arange(0, 128, 2) / 128)
    divisors = []
    for freq in plain:
        wavelength = 2 * math.pi / freq
        if wavelength < 8192 / 4.0:
            divisors.append(1.0)
        elif wavelength > 8192 / 1.0:
            divisors.append(8.0)
        else:
            smooth = (8192 / wavelength - 1.0) / (4.0 - 1.0)
            divisors.append(1 / ((1 - smooth) / 8.0 + smooth))
    entry["tensors"] = {"rope_freqs.weight": divisors}
    rows.append(entry)

    short = [1.0 + 0.02 * i for i in range(48)]
    long = [1.1 + 0.9 * i for i in range(48)]
    for name, ctx, seq_len in (("longrope_short", 4096, 4096), ("longrope_long", 4097, 4097)):
        parameters = dict(rope_type="longrope", rope_theta=10000.0, short_factor=short, long_factor=long,
                          original_max_position_embeddings=4096)
        rows.append(rope_entry(name, 96, 131072, ctx, parameters, longrope_keys(4096, 131072),
                               {"rope_factors_short.weight": short, "rope_factors_long.weight": long}, seq_len))
    (DATA / "rope.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    print(f"rope.json: {len(rows)} rows")


def main():
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    wanted = sys.argv[1:] or [*CASES, "rope"]
    for name in wanted:
        if name == "rope":
            make_rope()
        else:
            make_case(name, CASES[name])


if __name__ == "__main__":
    main()
