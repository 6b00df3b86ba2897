// Files whose keys or tensors do not make a model: each is refused with one line that names the file and the
// fault, and none brings the program down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model.h"
#include "gguf/gguf_file.h"
#include "models/architecture.h"
#include "unit/gguf/raw_gguf.h"
#include "unit/gguf/temp_folder.h"
#include "unit/models/tiny_model.h"

namespace quire {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TempFolder;
using testing::TinyModel;

class HostileModel : public ::testing::Test {
 protected:
  // The message of opening the model, empty when it opens.
  std::string message_of(const TinyModel& model, ErrorCode code = ErrorCode::kCorrupt) {
    const std::string path = model.write(folder.path("model.gguf"));
    const Result<std::unique_ptr<Model>> opened = Model::open(path, {});
    if (opened.ok()) return "";
    EXPECT_EQ(opened.error().code, code) << opened.error().message;
    EXPECT_THAT(opened.error().message, AllOf(HasSubstr(path), Not(HasSubstr("\n"))));
    return opened.error().message;
  }
  std::string with_key(std::string_view key, TinyModel::Value value,
                       std::string_view architecture = "llama") {
    TinyModel model = TinyModel::of(architecture);
    model.set(fmt::format("{}.{}", architecture, key), std::move(value));
    return message_of(model);
  }

  TempFolder folder;
};

TEST_F(HostileModel, EveryFamilyOpensAsItIs) {
  for (const Architecture& architecture : architectures())
    EXPECT_EQ(message_of(TinyModel::of(architecture.name)), "") << architecture.name;
}

TEST_F(HostileModel, CountsOutOfRange) {
  EXPECT_THAT(with_key("attention.head_count", uint32_t{0}),
              AllOf(HasSubstr("llama.attention.head_count is 0"), HasSubstr("expected")));
  EXPECT_THAT(with_key("attention.head_count_kv", uint32_t{0}), HasSubstr("head_count_kv is 0"));
  EXPECT_THAT(with_key("block_count", uint32_t{100000}), HasSubstr("llama.block_count is 100000"));
  EXPECT_THAT(with_key("block_count", uint32_t{0}), HasSubstr("llama.block_count is 0"));
  EXPECT_THAT(with_key("block_count", int64_t{-1}), HasSubstr("llama.block_count is -1"));
  EXPECT_THAT(with_key("embedding_length", uint32_t{0}), HasSubstr("embedding_length is 0"));
  EXPECT_THAT(with_key("embedding_length", std::numeric_limits<int64_t>::max()),
              HasSubstr("embedding_length is 9223372036854775807"));
  EXPECT_THAT(with_key("feed_forward_length", uint32_t{0}), HasSubstr("feed_forward_length is 0"));
  EXPECT_THAT(with_key("attention.key_length", uint32_t{0}), HasSubstr("key_length is 0"));
  EXPECT_THAT(with_key("attention.value_length", uint32_t{1u << 30}), HasSubstr("value_length is"));
  EXPECT_THAT(with_key("vocab_size", uint32_t{0}), HasSubstr("vocab_size is 0"));
}

TEST_F(HostileModel, CountsThatDoNotFitTogether) {
  EXPECT_THAT(with_key("embedding_length", uint32_t{66}),
              AllOf(HasSubstr("embedding_length is 66"), HasSubstr("multiple of"), HasSubstr("key_length")));
  EXPECT_THAT(with_key("attention.head_count_kv", uint32_t{3}),
              AllOf(HasSubstr("head_count is 4"), HasSubstr("= 3")));
  // One layer more than there are tensors for.
  EXPECT_THAT(with_key("block_count", uint32_t{3}), HasSubstr("tensor blk.2.attn_norm.weight is missing"));
}

TEST_F(HostileModel, MissingKeys) {
  for (const char* key : {"block_count", "context_length", "embedding_length", "feed_forward_length",
                          "attention.head_count", "attention.layer_norm_rms_epsilon", "vocab_size"}) {
    TinyModel model = TinyModel::of("llama");
    model.erase(std::string("llama.") + key);
    EXPECT_THAT(message_of(model, ErrorCode::kNotFound), HasSubstr(std::string("llama.") + key));
  }
  TinyModel model = TinyModel::of("llama");
  model.erase("general.architecture");
  EXPECT_THAT(message_of(model, ErrorCode::kNotFound), HasSubstr("general.architecture"));
}

TEST_F(HostileModel, KeysOfTheWrongType) {
  for (const char* key : {"block_count", "context_length", "embedding_length", "attention.head_count",
                          "attention.layer_norm_rms_epsilon", "rope.freq_base", "rope.dimension_count"}) {
    EXPECT_THAT(with_key(key, std::string("7")), HasSubstr(std::string("llama.") + key)) << key;
  }
  EXPECT_THAT(with_key("rope.scaling.type", uint32_t{1}), HasSubstr("llama.rope.scaling.type"));
  EXPECT_THAT(with_key("block_count", 2.5f), HasSubstr("llama.block_count"));
  EXPECT_THAT(with_key("feed_forward_length", std::vector<uint32_t>{}), HasSubstr("empty"));
  EXPECT_EQ(with_key("feed_forward_length", std::vector<uint32_t>{96, 96}), "");
}

TEST_F(HostileModel, LayersOfDifferentWidthsAreUnsupported) {
  TinyModel model = TinyModel::of("llama");
  model.set("llama.feed_forward_length", std::vector<uint32_t>{96, 64});
  EXPECT_THAT(message_of(model, ErrorCode::kUnsupported), HasSubstr("differs from layer to layer"));
}

TEST_F(HostileModel, NumbersThatAreNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (float value : {nan, inf, -1e-5f})
    EXPECT_THAT(with_key("attention.layer_norm_rms_epsilon", value), HasSubstr("rms_epsilon is"));
  for (float value : {nan, inf, 0.0f, -1.0f}) {
    EXPECT_THAT(with_key("rope.freq_base", value), HasSubstr("llama.rope.freq_base is")) << value;
    EXPECT_THAT(with_key("rope.scaling.factor", value), HasSubstr("llama.rope.scaling.factor is")) << value;
  }
  EXPECT_THAT(with_key("attention.scale", nan), HasSubstr("attention.scale is nan"));
  for (float value : {nan, -1.0f}) {
    EXPECT_THAT(with_key("attn_logit_softcapping", value, "gemma2"), HasSubstr("attn_logit_softcapping is"));
    EXPECT_THAT(with_key("final_logit_softcapping", value, "gemma3"),
                HasSubstr("final_logit_softcapping is"));
  }
  for (const char* key : {"embedding_scale", "residual_scale", "logit_scale"})
    EXPECT_THAT(with_key(key, nan, "granite"), HasSubstr(std::string("granite.") + key));
  EXPECT_THAT(with_key("logit_scale", 0.0f, "granite"), HasSubstr("granite.logit_scale is 0"));
}

TEST_F(HostileModel, LatentAttention) {
  EXPECT_THAT(with_key("attention.kv_lora_rank", uint32_t{0}, "deepseek2"), HasSubstr("kv_lora_rank is 0"));
  EXPECT_THAT(with_key("attention.q_lora_rank", int64_t{1} << 40, "deepseek2"), HasSubstr("q_lora_rank is"));
  EXPECT_THAT(with_key("attention.key_length_mla", uint32_t{6}, "deepseek2"),
              HasSubstr("key_length_mla is 6"));
  EXPECT_THAT(with_key("attention.value_length_mla", uint32_t{0}, "deepseek2"),
              HasSubstr("value_length_mla is 0"));
  EXPECT_THAT(with_key("nextn_predict_layers", uint32_t{2}, "deepseek2"),
              HasSubstr("nextn_predict_layers is 2"));
  EXPECT_THAT(with_key("expert_shared_count", int64_t{-1}, "deepseek2"),
              HasSubstr("expert_shared_count is -1"));
  TinyModel model = TinyModel::of("deepseek2");
  model.set("deepseek2.attention.temperature_scale", 0.1f);
  EXPECT_THAT(message_of(model, ErrorCode::kUnsupported), HasSubstr("attention.temperature_scale"));
  model = TinyModel::of("deepseek2");
  model.erase_tensor("blk.0.attn_k_b.weight");
  EXPECT_THAT(message_of(model), HasSubstr("blk.0.attn_kv_b.weight is missing"));
}

TEST_F(HostileModel, RopeDimensions) {
  EXPECT_THAT(with_key("rope.dimension_count", uint32_t{7}), HasSubstr("dimension_count is 7"));
  EXPECT_THAT(with_key("rope.dimension_count", uint32_t{18}), HasSubstr("dimension_count is 18"));
  EXPECT_THAT(with_key("rope.dimension_count", uint32_t{0}), HasSubstr("dimension_count is 0"));
  // The head size stands in for the key, and is odd.
  EXPECT_THAT(with_key("attention.key_length", uint32_t{17}), HasSubstr("is 17, expected an even number"));
  TinyModel model = TinyModel::of("llama");
  model.set("llama.rope.scaling.type", std::string("su"));
  EXPECT_THAT(message_of(model, ErrorCode::kUnsupported), HasSubstr("\"su\""));
}

TEST_F(HostileModel, RopeFactors) {
  TinyModel model = TinyModel::of("llama");
  model.add_tensor({.name = "rope_freqs.weight", .dims = {7}});
  EXPECT_THAT(message_of(model), HasSubstr("rope_freqs.weight"));
  model.tensor("rope_freqs.weight") = {.name = "rope_freqs.weight", .dims = {8}, .values = {0, 1, 1, 1}};
  EXPECT_THAT(message_of(model), AllOf(HasSubstr("rope_freqs.weight"), HasSubstr("holds 0")));
  model.tensor("rope_freqs.weight").values.assign(8, 1e-44f);
  EXPECT_THAT(message_of(model), HasSubstr("frequency"));
  TinyModel phi = TinyModel::of("phi3");
  phi.add_tensor({.name = "rope_factors_long.weight", .dims = {8}, .values = std::vector<float>(8, 2)});
  EXPECT_THAT(message_of(phi), HasSubstr("rope_factors_short.weight is missing"));
}

TEST_F(HostileModel, Windows) {
  for (const char* architecture : {"gemma2", "gemma3", "olmo2"}) {
    EXPECT_THAT(with_key("attention.sliding_window", uint32_t{0}, architecture),
                HasSubstr("attention.sliding_window is 0"));
    EXPECT_THAT(with_key("attention.sliding_window", int64_t{1} << 40, architecture),
                HasSubstr("attention.sliding_window is"));
  }
  EXPECT_THAT(with_key("attention.sliding_window_pattern", int64_t{-1}, "gemma3"),
              HasSubstr("sliding_window_pattern is -1"));
}

TEST_F(HostileModel, States) {
  for (const char* architecture : {"mamba2", "falcon-h1", "qwen35", "qwen3next"}) {
    for (const char* key : {"inner_size", "state_size", "time_step_rank", "group_count", "conv_kernel"}) {
      const std::string name = std::string("ssm.") + key;
      EXPECT_THAT(with_key(name, uint32_t{0}, architecture), HasSubstr(name + " is 0")) << architecture;
      EXPECT_THAT(with_key(name, uint32_t{1} << 31, architecture), HasSubstr(name + " is 2147483648"));
    }
    EXPECT_THAT(with_key("ssm.inner_size", uint32_t{33}, architecture),
                AllOf(HasSubstr("inner_size is 33"), HasSubstr("time_step_rank = 4")));
    EXPECT_THAT(with_key("ssm.group_count", uint32_t{3}, architecture),
                AllOf(HasSubstr("time_step_rank is 4"), HasSubstr("group_count = 3")));
    EXPECT_THAT(with_key("ssm.conv_kernel", uint32_t{9}, architecture), HasSubstr("conv_kernel is 9"));
  }
  EXPECT_THAT(with_key("full_attention_interval", uint32_t{0}, "qwen35"), HasSubstr("interval is 0"));
  EXPECT_THAT(with_key("shortconv.l_cache", uint32_t{0}, "lfm2"), HasSubstr("l_cache is 0"));
  EXPECT_THAT(with_key("attention.head_count_kv", std::vector<uint32_t>{0}, "jamba"),
              HasSubstr("head_count_kv"));
  TinyModel model = TinyModel::of("granitehybrid");
  model.set("granitehybrid.attention.head_count_kv", std::vector<uint32_t>{1, 2});
  EXPECT_THAT(message_of(model, ErrorCode::kUnsupported), HasSubstr("differs between layers"));
}

TEST_F(HostileModel, Vocabulary) {
  EXPECT_THAT(with_key("vocab_size", uint32_t{41}),
              AllOf(HasSubstr("token_embd.weight"), HasSubstr("[64, 40, 1, 1]"), HasSubstr("[64, 41]")));
  TinyModel model = TinyModel::of("llama");
  model.set("tokenizer.ggml.tokens", std::vector<std::string>(39, "x"));  // counts more than vocab_size
  EXPECT_THAT(message_of(model), AllOf(HasSubstr("token_embd.weight"), HasSubstr("[64, 39]")));
  model.set("tokenizer.ggml.tokens", std::vector<std::string>{});
  EXPECT_THAT(message_of(model), HasSubstr("tokenizer.ggml.tokens has 0 entries"));
}

TEST_F(HostileModel, EveryTensorIsMissed) {
  for (const Architecture& architecture : architectures()) {
    const TinyModel whole = TinyModel::of(architecture.name);
    for (const TinyModel::Tensor& tensor : whole.tensors()) {
      // Without these the model is another one, still whole.
      if (tensor.name.ends_with(".bias") || tensor.name == "output.weight" ||
          tensor.name.ends_with("ffn_gate_inp_shexp.weight"))
        continue;
      TinyModel model = whole;
      model.erase_tensor(tensor.name);
      // Without the fused matrix the separate ones are asked for; without a gate, a fused up.
      std::string missed = tensor.name;
      for (const char* part : {"attn_k_b", "attn_v_b"}) {
        if (missed.find(part) != std::string::npos) missed.replace(missed.find(part), 8, "attn_kv_b");
      }
      if (missed.ends_with("attn_qkv.weight") && architecture.name == "phi3")
        missed.replace(missed.find("qkv"), 3, "q");
      if (architecture.name == "falcon-h1" && tensor.name.ends_with("ssm_norm.weight")) continue;
      // A layer without a router is dense.
      if (architecture.name == "jamba" && missed.ends_with("ffn_gate_inp.weight")) missed = "ffn_up.weight";
      if (missed.ends_with("ssm_ba.weight")) missed.replace(missed.find("ba"), 2, "beta");
      if (missed.ends_with("ffn_gate.weight") || missed.ends_with("ffn_gate_shexp.weight"))
        missed.replace(missed.find("gate"), 4, "up");
      EXPECT_THAT(message_of(model), HasSubstr(missed)) << architecture.name;
    }
  }
}

TEST_F(HostileModel, EveryTensorMayHaveTheWrongShape) {
  for (const Architecture& architecture : architectures()) {
    const TinyModel whole = TinyModel::of(architecture.name);
    for (const TinyModel::Tensor& tensor : whole.tensors()) {
      for (size_t dim = 0; dim < tensor.dims.size(); ++dim) {
        TinyModel model = whole;
        model.tensor(tensor.name).dims[dim] += 32;
        EXPECT_THAT(message_of(model), AllOf(HasSubstr(tensor.name), HasSubstr("has shape")))
            << architecture.name;
      }
    }
  }
}

TEST_F(HostileModel, TypesThatAreNoWeights) {
  for (ElementType type :
       {ElementType::kI32, ElementType::kI8, ElementType::kF64, ElementType::kQ8_1, ElementType::kQ8_K}) {
    for (const char* name : {"token_embd.weight", "blk.1.attn_q.weight", "blk.0.attn_norm.weight"}) {
      TinyModel model = TinyModel::of("llama", 256);  // a multiple of every block
      ASSERT_EQ(message_of(model), "");
      model.tensor(name).type = type;
      const std::string message = message_of(model, ErrorCode::kUnsupported);
      // F64 is a number all the same: a norm or a table may hold it.
      const bool readable = element_type_info(type).decode != nullptr;
      if (readable && !std::string(name).ends_with("attn_q.weight")) {
        EXPECT_EQ(message, "");
      } else {
        EXPECT_THAT(message, AllOf(HasSubstr(name), HasSubstr(element_type_info(type).name)));
      }
    }
  }
}

TEST_F(HostileModel, RowsThatAreNoMultipleOfTheBlock) {
  testing::RawGguf raw = testing::RawGguf::with_counts(1, 1);
  raw.key("general.architecture", ValueType::kString).string("llama");
  raw.tensor("token_embd.weight", {48, 2}, static_cast<uint32_t>(ElementType::kQ8_0), 0).data(256);
  const Result<GgufFile> file = GgufFile::parse(raw.bytes(), "odd.gguf");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, AllOf(HasSubstr("odd.gguf"), HasSubstr("token_embd.weight")));
}

TEST_F(HostileModel, UnknownArchitectures) {
  for (const char* name : {"mamba9000", "", "LLAMA", "llama "}) {
    TinyModel model = TinyModel::of("llama");
    model.set("general.architecture", std::string(name));
    EXPECT_THAT(message_of(model, ErrorCode::kUnsupported),
                AllOf(HasSubstr(fmt::format("\"{}\"", name)), HasSubstr("gemma3"), HasSubstr("qwen3")));
  }
}

TEST_F(HostileModel, Experts) {
  EXPECT_THAT(with_key("expert_count", uint32_t{0}, "qwen3moe"), HasSubstr("qwen3moe.expert_count is 0"));
  EXPECT_THAT(with_key("expert_count", uint32_t{5000}, "llama"), HasSubstr("llama.expert_count is 5000"));
  for (uint32_t n : {0u, 5u})
    EXPECT_THAT(with_key("expert_used_count", n, "gpt-oss"), HasSubstr("gpt-oss.expert_used_count is"));
  EXPECT_THAT(with_key("expert_feed_forward_length", uint32_t{0}, "qwen2moe"),
              HasSubstr("qwen2moe.expert_feed_forward_length is 0"));
  EXPECT_THAT(with_key("expert_group_count", uint32_t{3}, "qwen3moe"),
              AllOf(HasSubstr("expert_count is 4"), HasSubstr("expert_group_count = 3")));
  EXPECT_THAT(with_key("expert_weights_scale", std::numeric_limits<float>::infinity(), "qwen3moe"),
              HasSubstr("qwen3moe.expert_weights_scale is inf"));
  EXPECT_THAT(with_key("expert_weights_norm", 1.0f, "qwen3moe"), HasSubstr("expert_weights_norm"));
  TinyModel model = TinyModel::of("qwen3moe");
  model.set("qwen3moe.expert_gating_func", uint32_t{4});
  EXPECT_THAT(message_of(model, ErrorCode::kUnsupported), HasSubstr("qwen3moe.expert_gating_func is 4"));
  model = TinyModel::of("llama");
  model.set("llama.expert_count", uint32_t{4});
  EXPECT_THAT(message_of(model, ErrorCode::kNotFound), HasSubstr("llama.expert_used_count"));
  model.set("llama.expert_used_count", uint32_t{2});
  model.add_tensor({.name = "blk.0.ffn_gate.0.weight", .dims = {TinyModel::kWidth, TinyModel::kHidden}});
  EXPECT_THAT(message_of(model, ErrorCode::kUnsupported), HasSubstr("tensor for each expert"));
}

TEST_F(HostileModel, DepthsThatChooseTheScaleOfTheLargestModel) {
  // 46 and 62 layers mark the 27B models, whose scale is of the width per head; more heads than width is no
  // reason to divide by zero.
  for (const auto& [architecture, layers] : {std::pair{"gemma2", 46u}, std::pair{"gemma3", 62u}}) {
    TinyModel model = TinyModel::of(architecture);
    model.set(fmt::format("{}.block_count", architecture), layers);
    model.set(fmt::format("{}.attention.head_count", architecture), uint32_t{128});
    model.set(fmt::format("{}.attention.key_length", architecture), uint32_t{2});
    EXPECT_THAT(message_of(model), HasSubstr("attn_q.weight has shape"));
  }
}

}  // namespace
}  // namespace quire
