#include "unit/models/tiny_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "gguf/gguf_header.h"

namespace quire::testing {

namespace {

// What mixes the tokens of a layer, and whether the layer does anything besides.
enum class Mixer : uint8_t { kAttention, kDeltaNet, kMamba, kMamba2, kBoth, kShortConv, kFeedForward };

Mixer mixer_of(std::string_view architecture, int64_t il) {
  const bool first = il % 2 == 0;
  if (architecture.starts_with("qwen35") || architecture == "qwen3next")
    return first ? Mixer::kDeltaNet : Mixer::kAttention;
  if (architecture == "mamba") return Mixer::kMamba;
  if (architecture == "mamba2") return Mixer::kMamba2;
  if (architecture == "falcon-h1") return Mixer::kBoth;
  if (architecture == "jamba") return first ? Mixer::kMamba : Mixer::kAttention;
  if (architecture == "granitehybrid") return first ? Mixer::kMamba2 : Mixer::kAttention;
  if (architecture == "lfm2") return first ? Mixer::kShortConv : Mixer::kAttention;
  if (architecture == "nemotron_h")
    return il == 0 ? Mixer::kMamba2 : il == 1 ? Mixer::kAttention : Mixer::kFeedForward;
  return Mixer::kAttention;
}

// Families that say by layer how many key heads it has.
bool is_hybrid(std::string_view architecture) {
  return architecture == "jamba" || architecture == "granitehybrid" || architecture == "lfm2" ||
         architecture == "nemotron_h";
}

}  // namespace

TinyModel TinyModel::of(std::string_view architecture, int64_t width) {
  TinyModel m;
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", architecture, name); };
  m.set("general.architecture", std::string(architecture));
  m.set(key("block_count"), uint32_t{kLayers});
  m.set(key("context_length"), uint32_t{128});
  m.set(key("embedding_length"), static_cast<uint32_t>(width));
  m.set(key("feed_forward_length"), uint32_t{kHidden});
  m.set(key("attention.head_count"), uint32_t{kHeads});
  m.set(key("attention.head_count_kv"), uint32_t{kHeadsKv});
  m.set(key("attention.layer_norm_rms_epsilon"), 1e-5f);
  m.set(key("vocab_size"), uint32_t{kVocab});
  if (width != kHeads * kHead) {
    m.set(key("attention.key_length"), uint32_t{kHead});
    m.set(key("attention.value_length"), uint32_t{kHead});
  }

  const bool gemma = architecture.starts_with("gemma");
  const bool olmo = architecture == "olmo2";
  const bool glm = architecture == "glm4";
  const bool per_head_norms =
      architecture.starts_with("qwen3") || architecture == "gemma3" || architecture == "lfm2";
  const bool gpt_oss = architecture == "gpt-oss";
  const bool latent = architecture == "deepseek2";
  const bool delta_net = mixer_of(architecture, 0) == Mixer::kDeltaNet;
  const bool one_thing = architecture.starts_with("mamba") || architecture == "nemotron_h";
  const int64_t n_layers = architecture == "nemotron_h" ? 3 : kLayers;
  const bool experts = architecture.ends_with("moe") || architecture == "qwen3next" ||
                       architecture == "jamba" || gpt_oss || latent;
  const bool full_norms = olmo || architecture == "olmoe";
  if (experts) {
    m.set(key("expert_count"), uint32_t{kExperts});
    m.set(key("expert_used_count"), uint32_t{kExpertsUsed});
    m.set(key("expert_feed_forward_length"), uint32_t{kExpertHidden});
  }
  if (latent) {
    m.set(key("attention.head_count_kv"), uint32_t{1});
    m.set(key("attention.q_lora_rank"), uint32_t{kRankQ});
    m.set(key("attention.kv_lora_rank"), uint32_t{kRankKv});
    m.set(key("attention.key_length"), uint32_t{kRankKv + kRope});
    m.set(key("attention.value_length"), uint32_t{kRankKv});
    m.set(key("attention.key_length_mla"), uint32_t{kHead});
    m.set(key("attention.value_length_mla"), uint32_t{kHead});
    m.set(key("rope.dimension_count"), uint32_t{kRope});
    m.set(key("expert_shared_count"), uint32_t{2});
  }
  if (architecture == "lfm2") m.set(key("shortconv.l_cache"), uint32_t{3});
  if (is_hybrid(architecture)) {
    std::vector<uint32_t> heads, hidden;
    for (int64_t il = 0; il < n_layers; ++il) {
      heads.push_back(mixer_of(architecture, il) == Mixer::kAttention ? uint32_t{kHeadsKv} : 0);
      hidden.push_back(one_thing && mixer_of(architecture, il) != Mixer::kFeedForward ? 0
                                                                                      : uint32_t{kHidden});
    }
    m.set(key("block_count"), static_cast<uint32_t>(n_layers));
    m.set(key("attention.head_count_kv"), heads);
    m.set(key("feed_forward_length"), hidden);
  }
  if (mixer_of(architecture, 0) != Mixer::kAttention && architecture != "lfm2") {
    m.set(key("ssm.inner_size"), static_cast<uint32_t>(kInner));
    m.set(key("ssm.state_size"), static_cast<uint32_t>(kState));
    m.set(key("ssm.time_step_rank"), static_cast<uint32_t>(kStateHeads));
    m.set(key("ssm.group_count"), static_cast<uint32_t>(kStateGroups));
    m.set(key("ssm.conv_kernel"), static_cast<uint32_t>(kTaps));
  }
  if (delta_net) m.set(key("full_attention_interval"), uint32_t{2});
  if (architecture == "qwen2moe" || (delta_net && experts))
    m.set(key("expert_shared_feed_forward_length"), uint32_t{kHidden});
  const auto add = [&](const std::string& name, std::vector<int64_t> dims) {
    m.add_tensor({.name = name, .dims = std::move(dims)});
  };
  add("token_embd.weight", {width, kVocab});
  for (int64_t il = 0; il < n_layers; ++il) {
    const auto name = [&](std::string_view part) { return fmt::format("blk.{}.{}", il, part); };
    if (!olmo) add(name("attn_norm.weight"), {width});
    const Mixer mixer = mixer_of(architecture, il);
    const bool attention = (mixer == Mixer::kAttention || mixer == Mixer::kBoth) && !latent;
    if (mixer == Mixer::kMamba) m.add_mamba(il, width, architecture);
    if (mixer == Mixer::kMamba2 || mixer == Mixer::kBoth) m.add_mamba2(il, width);
    if (mixer == Mixer::kDeltaNet) m.add_delta_net(il, width, architecture);
    if (mixer == Mixer::kShortConv) {
      add(name("shortconv.in_proj.weight"), {width, 3 * width});
      add(name("shortconv.conv.weight"), {3, width});
      add(name("shortconv.out_proj.weight"), {width, width});
    }
    if (mixer == Mixer::kFeedForward) {
      add(name("ffn_up.weight"), {width, kHidden});
      add(name("ffn_down.weight"), {kHidden, width});
    }
    if (latent) {
      add(name("attn_q_a.weight"), {width, kRankQ});
      add(name("attn_q_a_norm.weight"), {kRankQ});
      add(name("attn_q_b.weight"), {kRankQ, kHeads * kHead});
      add(name("attn_kv_a_mqa.weight"), {width, kRankKv + kRope});
      add(name("attn_kv_a_norm.weight"), {kRankKv});
      add(name("attn_k_b.weight"), {kHead - kRope, kRankKv, kHeads});
      add(name("attn_v_b.weight"), {kRankKv, kHead, kHeads});
    } else if (attention && architecture == "phi3") {
      add(name("attn_qkv.weight"), {width, (kHeads + 2 * kHeadsKv) * kHead});
    } else if (attention) {
      add(name("attn_q.weight"), {width, (delta_net ? 2 : 1) * kHeads * kHead});
      add(name("attn_k.weight"), {width, kHeadsKv * kHead});
      add(name("attn_v.weight"), {width, kHeadsKv * kHead});
    }
    if (architecture.starts_with("qwen2") || gpt_oss || glm) {
      add(name("attn_q.bias"), {kHeads * kHead});
      add(name("attn_k.bias"), {kHeadsKv * kHead});
      add(name("attn_v.bias"), {kHeadsKv * kHead});
    }
    if (attention && (per_head_norms || full_norms)) {
      add(name("attn_q_norm.weight"), {full_norms ? kHeads * kHead : kHead});
      add(name("attn_k_norm.weight"), {full_norms ? kHeadsKv * kHead : kHead});
    }
    if (attention || latent) add(name("attn_output.weight"), {kHeads * kHead, width});
    if (one_thing) continue;
    if (gemma || olmo || glm) add(name("post_attention_norm.weight"), {width});
    if (gpt_oss) {
      add(name("attn_sinks.weight"), {kHeads});
      add(name("attn_output.bias"), {width});
      add(name("post_attention_norm.weight"), {width});
    } else if (delta_net) {
      add(name("post_attention_norm.weight"), {width});
    } else if (!olmo) {
      add(name("ffn_norm.weight"), {width});
    }
    if (experts && (architecture != "jamba" || attention)) {
      m.add_experts(il, width, architecture);
      continue;
    }
    if (architecture == "phi3" || glm) {
      add(name("ffn_up.weight"), {width, 2 * kHidden});
    } else {
      add(name("ffn_gate.weight"), {width, kHidden});
      add(name("ffn_up.weight"), {width, kHidden});
    }
    add(name("ffn_down.weight"), {kHidden, width});
    if (gemma || olmo || glm) add(name("post_ffw_norm.weight"), {width});
  }
  add(architecture == "lfm2" ? "token_embd_norm.weight" : "output_norm.weight", {width});
  if (!gemma) add("output.weight", {width, kVocab});
  return m;
}

void TinyModel::add_mamba(int64_t layer, int64_t width, std::string_view architecture) {
  const auto add = [&](std::string_view part, std::vector<int64_t> dims) {
    add_tensor({.name = fmt::format("blk.{}.ssm_{}", layer, part), .dims = std::move(dims)});
  };
  constexpr int64_t kRank = kStateHeads;
  add("in.weight", {width, 2 * kInner});
  add("conv1d.weight", {kTaps, kInner});
  add("conv1d.bias", {kInner});
  add("x.weight", {kInner, kRank + 2 * kState});
  if (architecture == "jamba") {
    add("dt_norm.weight", {kRank});
    add("b_norm.weight", {kState});
    add("c_norm.weight", {kState});
  }
  add("dt.weight", {kRank, kInner});
  add("dt.bias", {kInner});
  add("a", {kState, kInner});
  add("d", {kInner});
  add("out.weight", {kInner, width});
}

void TinyModel::add_mamba2(int64_t layer, int64_t width) {
  const auto add = [&](std::string_view part, std::vector<int64_t> dims) {
    add_tensor({.name = fmt::format("blk.{}.ssm_{}", layer, part), .dims = std::move(dims)});
  };
  constexpr int64_t kChannels = kInner + 2 * kStateGroups * kState;
  add("in.weight", {width, kInner + kChannels + kStateHeads});
  add("conv1d.weight", {kTaps, kChannels});
  add("conv1d.bias", {kChannels});
  add("dt.bias", {kStateHeads});
  add("a", {1, kStateHeads});
  add("d", {1, kStateHeads});
  add("norm.weight", {kInner / kStateGroups, kStateGroups});
  add("out.weight", {kInner, width});
}

void TinyModel::add_delta_net(int64_t layer, int64_t width, std::string_view architecture) {
  const auto add = [&](std::string_view part, std::vector<int64_t> dims) {
    add_tensor({.name = fmt::format("blk.{}.{}", layer, part), .dims = std::move(dims)});
  };
  constexpr int64_t kChannels = 2 * kStateGroups * kState + kInner;
  add("attn_qkv.weight", {width, kChannels});
  add("attn_gate.weight", {width, kInner});
  if (architecture == "qwen3next") {
    add("ssm_ba.weight", {width, 2 * kStateHeads});
  } else {
    add("ssm_beta.weight", {width, kStateHeads});
    add("ssm_alpha.weight", {width, kStateHeads});
  }
  add("ssm_conv1d.weight", {kTaps, kChannels});
  add("ssm_dt.bias", {kStateHeads});
  add("ssm_a", {kStateHeads});
  add("ssm_norm.weight", {kStateHead});
  add("ssm_out.weight", {kInner, width});
}

void TinyModel::add_experts(int64_t layer, int64_t width, std::string_view architecture) {
  const auto add = [&](std::string_view part, std::vector<int64_t> dims) {
    add_tensor({.name = fmt::format("blk.{}.ffn_{}", layer, part), .dims = std::move(dims)});
  };
  add("gate_inp.weight", {width, kExperts});
  add("gate_exps.weight", {width, kExpertHidden, kExperts});
  add("up_exps.weight", {width, kExpertHidden, kExperts});
  add("down_exps.weight", {kExpertHidden, width, kExperts});
  if (architecture == "gpt-oss") {
    add("gate_inp.bias", {kExperts});
    add("gate_exps.bias", {kExpertHidden, kExperts});
    add("up_exps.bias", {kExpertHidden, kExperts});
    add("down_exps.bias", {width, kExperts});
  }
  if (architecture == "deepseek2") {
    add("gate_shexp.weight", {width, 2 * kExpertHidden});
    add("up_shexp.weight", {width, 2 * kExpertHidden});
    add("down_shexp.weight", {2 * kExpertHidden, width});
  }
  if (architecture == "qwen2moe" || architecture == "qwen35moe" || architecture == "qwen3next") {
    add("gate_inp_shexp.weight", {width, 1});
    add("gate_shexp.weight", {width, kHidden});
    add("up_shexp.weight", {width, kHidden});
    add("down_shexp.weight", {kHidden, width});
  }
}

void TinyModel::set(std::string_view key, Value value) {
  erase(key);
  keys_.emplace_back(key, std::move(value));
}

void TinyModel::erase(std::string_view key) {
  std::erase_if(keys_, [&](const auto& entry) { return entry.first == key; });
}

TinyModel::Tensor& TinyModel::tensor(std::string_view name) {
  const auto it =
      std::find_if(tensors_.begin(), tensors_.end(), [&](const Tensor& t) { return t.name == name; });
  if (it == tensors_.end()) ADD_FAILURE() << "no tensor " << name;
  return *it;
}

void TinyModel::erase_tensor(std::string_view name) {
  EXPECT_EQ(std::erase_if(tensors_, [&](const Tensor& t) { return t.name == name; }), 1u) << name;
}

std::string TinyModel::write(const std::string& path) const {
  GgufHeader header;
  for (const auto& [key, value] : keys_) {
    std::visit(
        [&, &name = key](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            const std::vector<std::string_view> views(v.begin(), v.end());
            header.set_array(name, std::span<const std::string_view>(views));
          } else if constexpr (std::is_same_v<T, std::vector<uint32_t>> ||
                               std::is_same_v<T, std::vector<float>>) {
            header.set_array(name, std::span(v));
          } else {
            header.set(name, v);
          }
        },
        value);
  }
  for (const Tensor& tensor : tensors_)
    header.add_tensor({.name = tensor.name, .type = tensor.type, .dims = tensor.dims});
  const Result<GgufLayout> layout = header.layout();
  EXPECT_TRUE(layout.ok()) << (layout.ok() ? "" : layout.error().message);
  if (!layout.ok()) return path;

  // Not by GgufWriter, whose files are flushed to the disk: tests write hundreds.
  std::vector<std::byte> file = layout->header;
  const size_t data = file.size();
  file.resize(data + layout->data_bytes);
  uint32_t random = 1;  // a linear congruential generator: most of the time would go here
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    int64_t n = 1;
    for (int64_t dim : tensor.dims) n *= dim;
    const float spread = tensor.dims.size() > 1 ? 0.2f : 0.1f;
    const float centre = tensor.name.ends_with("norm.weight") ? 1.0f : 0.0f;
    std::vector<float> values = tensor.values;
    values.resize(static_cast<size_t>(n));
    if (tensor.values.empty()) {
      for (float& value : values) {
        random = random * 1664525u + 1013904223u;
        value = centre + spread * (static_cast<float>(random >> 8) * 0x1p-23f - 1);
      }
    }
    std::byte* out = file.data() + data + layout->tensors[i].offset;
    if (tensor.type == ElementType::kF32) {
      std::memcpy(out, values.data(), layout->tensors[i].bytes);
    } else if (const auto encode = element_type_info(tensor.type).encode; encode != nullptr) {
      encode(values.data(), out, n);
    }
  }
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  EXPECT_TRUE(stream.good()) << path;
  return path;
}

}  // namespace quire::testing
