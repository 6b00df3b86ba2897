// TinyModel: a model file of a few kilobytes that tests change and then write: keys, tensors, random weights.
//
//   TinyModel model = TinyModel::of("llama");
//   model.set("llama.attention.head_count", uint32_t{0});
//   const std::string path = model.write(folder.path("model.gguf"));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/element_type.h"

namespace quire::testing {

class TinyModel {
 public:
  using Value = std::variant<uint32_t, int64_t, float, bool, std::string, std::vector<uint32_t>,
                             std::vector<std::string>, std::vector<float>>;
  struct Tensor {
    std::string name;
    std::vector<int64_t> dims;  // contiguous first
    ElementType type = ElementType::kF32;
    std::vector<float> values = {};  // random where empty
  };

  static constexpr int64_t kWidth = 64, kHidden = 96, kVocab = 40;
  static constexpr int64_t kExperts = 4, kExpertsUsed = 2, kExpertHidden = 32;
  static constexpr int64_t kLayers = 2, kHeads = 4, kHeadsKv = 2, kHead = 16;
  static constexpr int64_t kRankQ = 24, kRankKv = 20, kRope = 6;  // of latent attention

  // Layers with a state: heads and key heads (or groups) of them, sizes, taps of the convolution.
  static constexpr int64_t kStateHeads = 4, kStateGroups = 2, kStateHead = 8, kState = 16, kTaps = 4;
  static constexpr int64_t kInner = kStateHeads * kStateHead;

  // A complete model of one of the supported architectures.
  static TinyModel of(std::string_view architecture, int64_t width = kWidth);

  // Sets a key, or replaces it.
  void set(std::string_view key, Value value);
  void erase(std::string_view key);
  // The tensor of this name, which is there.
  Tensor& tensor(std::string_view name);
  void add_tensor(Tensor tensor) { tensors_.push_back(std::move(tensor)); }
  void erase_tensor(std::string_view name);
  const std::vector<Tensor>& tensors() const { return tensors_; }

  // Writes the file and returns its path.
  std::string write(const std::string& path) const;

 private:
  void add_mamba(int64_t layer, int64_t width, std::string_view architecture);
  void add_mamba2(int64_t layer, int64_t width);
  void add_delta_net(int64_t layer, int64_t width, std::string_view architecture);
  void add_experts(int64_t layer, int64_t width, std::string_view architecture);

  std::vector<std::pair<std::string, Value>> keys_;
  std::vector<Tensor> tensors_;
};

}  // namespace quire::testing
