// GgufWeights: the tensors of an opened model file as a WeightSource.
//
// Borrows the file. Thread safe: release() only advises the kernel about pages.
#pragma once

#include "gguf/gguf_file.h"
#include "graph/weight.h"

namespace quire {

class GgufWeights final : public graph::WeightSource {
 public:
  explicit GgufWeights(const GgufFile& file) : file_(file) {}

  const TensorView* find(std::string_view name) const override {
    const TensorInfo* tensor = file_.find_tensor(name);
    return tensor == nullptr ? nullptr : &tensor->view;
  }

  void release(const TensorView& view) const override {
    for (size_t i = 0; i < file_.n_parts(); ++i) {
      const std::span<const std::byte> bytes = file_.part(i).bytes();
      if (view.data < bytes.data() || view.data >= bytes.data() + bytes.size()) continue;
      file_.part(i).advise_dont_need(static_cast<size_t>(view.data - bytes.data()), view.bytes());
    }
  }

 private:
  const GgufFile& file_;
};

}  // namespace quire
