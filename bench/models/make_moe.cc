// Writes a random mixture-of-experts model of about half a gigabyte, for measuring decoding:
//
//   make_moe OUT.gguf [q4_k | mxfp4]
//   quire bench -m OUT.gguf -p 128 -n 64 --limits
//
// In the shape of Qwen 3's: each of 6 layers has 32 experts of 768 x 2048, 4 of which a token sees. Weights
// are random codes with scales that keep values around those of a trained model; the same in every run.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf_writer.h"
#include "tensor/formats/mxfp4.h"
#include "tensor/formats/q4_k.h"
#include "tensor/half.h"

namespace quire {
namespace {

constexpr int64_t kLayers = 6, kWidth = 2048, kExpertWidth = 768, kExperts = 32, kUsed = 4;
constexpr int64_t kHeads = 16, kHeadsKv = 2, kHead = 128, kVocab = 8192;

// splitmix64 (Steele, Lea and Flood 2014).
class Random {
 public:
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  void fill(std::span<std::byte> bytes) {
    for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      const uint64_t word = next();
      std::memcpy(bytes.data() + i, &word, 8);
    }
  }

 private:
  uint64_t state_ = 1;
};

GgufHeader make_header(ElementType type) {
  GgufHeader header;
  const auto count = [&](std::string_view key, int64_t value) {
    header.set("qwen3moe." + std::string(key), static_cast<uint32_t>(value));
  };
  header.set("general.architecture", "qwen3moe");
  header.set("general.name", std::string("random mixture of experts, ") + element_type_info(type).name);
  count("block_count", kLayers);
  count("context_length", 4096);
  count("embedding_length", kWidth);
  count("feed_forward_length", kExpertWidth);
  count("expert_feed_forward_length", kExpertWidth);
  count("expert_count", kExperts);
  count("expert_used_count", kUsed);
  count("attention.head_count", kHeads);
  count("attention.head_count_kv", kHeadsKv);
  count("attention.key_length", kHead);
  count("attention.value_length", kHead);
  count("vocab_size", kVocab);
  header.set("qwen3moe.attention.layer_norm_rms_epsilon", 1e-6f);
  header.set("qwen3moe.rope.freq_base", 1e6f);

  const auto matrix = [&](const std::string& name, std::vector<int64_t> dims) {
    header.add_tensor({.name = name, .type = type, .dims = std::move(dims)});
  };
  const auto vector = [&](const std::string& name, std::vector<int64_t> dims) {
    header.add_tensor({.name = name, .dims = std::move(dims)});
  };
  matrix("token_embd.weight", {kWidth, kVocab});
  for (int64_t il = 0; il < kLayers; ++il) {
    const std::string layer = "blk." + std::to_string(il) + ".";
    vector(layer + "attn_norm.weight", {kWidth});
    matrix(layer + "attn_q.weight", {kWidth, kHeads * kHead});
    matrix(layer + "attn_k.weight", {kWidth, kHeadsKv * kHead});
    matrix(layer + "attn_v.weight", {kWidth, kHeadsKv * kHead});
    vector(layer + "attn_q_norm.weight", {kHead});
    vector(layer + "attn_k_norm.weight", {kHead});
    matrix(layer + "attn_output.weight", {kHeads * kHead, kWidth});
    vector(layer + "ffn_norm.weight", {kWidth});
    vector(layer + "ffn_gate_inp.weight", {kWidth, kExperts});
    matrix(layer + "ffn_gate_exps.weight", {kWidth, kExpertWidth, kExperts});
    matrix(layer + "ffn_up_exps.weight", {kWidth, kExpertWidth, kExperts});
    matrix(layer + "ffn_down_exps.weight", {kExpertWidth, kWidth, kExperts});
  }
  vector("output_norm.weight", {kWidth});
  return header;
}

// Random codes under fixed scales: weights of mean about 0 and spread about 0.02.
void fill_blocks(ElementType type, std::span<std::byte> bytes, Random& random) {
  random.fill(bytes);
  if (type == ElementType::kQ4_K) {
    for (size_t at = 0; at < bytes.size(); at += sizeof(BlockQ4_K)) {
      // 31.5 is the mean of a 6-bit scale and of a minimum, 7.5 that of a code.
      constexpr float kScale = 0.02f / (31.5f * 4.6f);
      const uint16_t d[2] = {f32_to_f16(kScale), f32_to_f16(7.5f * kScale)};
      std::memcpy(bytes.data() + at, d, sizeof(d));
    }
  } else {
    for (size_t at = 0; at < bytes.size(); at += sizeof(BlockMXFP4)) bytes[at] = std::byte{120};  // 2^-7
  }
}

// Norm weights are one, routers random.
void fill_floats(const std::string& name, std::span<std::byte> bytes, Random& random) {
  const bool router = name.ends_with("ffn_gate_inp.weight");
  for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    const float value = router ? (static_cast<float>(random.next() >> 40) * 0x1p-23f - 1) * 0.1f : 1.0f;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  }
}

Status write_model(const std::string& path, ElementType type) {
  const GgufHeader header = make_header(type);
  QUIRE_ASSIGN_OR_RETURN(GgufWriter writer, GgufWriter::create(path, header));
  Random random;
  std::vector<std::byte> row_bytes;
  for (const GgufTensorSpec& tensor : header.tensors()) {
    int64_t rows = 1;
    for (size_t i = 1; i < tensor.dims.size(); ++i) rows *= tensor.dims[i];
    const ElementTypeInfo& info = element_type_info(tensor.type);
    row_bytes.resize(static_cast<size_t>(tensor.dims[0] / info.block_elems * info.block_bytes));
    for (int64_t row = 0; row < rows; ++row) {
      if (tensor.type == ElementType::kF32) {
        fill_floats(tensor.name, row_bytes, random);
      } else {
        fill_blocks(type, row_bytes, random);
      }
      QUIRE_RETURN_IF_ERROR(writer.append(row_bytes));
    }
  }
  return writer.finish();
}

}  // namespace
}  // namespace quire

int main(int argc, char** argv) {
  const std::string_view type = argc > 2 ? argv[2] : "q4_k";
  if (argc < 2 || argc > 3 || (type != "q4_k" && type != "mxfp4")) {
    std::fprintf(stderr, "usage: make_moe OUT.gguf [q4_k | mxfp4]\n");
    return 2;
  }
  const quire::Status status =
      quire::write_model(argv[1], type == "q4_k" ? quire::ElementType::kQ4_K : quire::ElementType::kMXFP4);
  if (!status.ok()) {
    std::fprintf(stderr, "make_moe: %s\n", status.error().message.c_str());
    return 1;
  }
  return 0;
}
