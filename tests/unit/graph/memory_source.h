// MemorySource: tensors made by hand as a WeightSource, which counts what is given back.
//
// Owns the bytes. Values are small random numbers of a fixed seed unless given. release() may be called by
// several threads at once, as weights are loaded; nothing else meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/weight.h"
#include "tensor/tensor_view.h"

namespace quire::graph::testing {

class MemorySource final : public WeightSource {
 public:
  MemorySource() = default;
  MemorySource(const MemorySource&) = delete;
  MemorySource& operator=(const MemorySource&) = delete;

  // dims as in a file, contiguous first.
  void add(const std::string& name, std::initializer_list<int64_t> dims, const std::vector<float>& values,
           ElementType type = ElementType::kF32) {
    const ElementTypeInfo& info = element_type_info(type);
    Entry entry;
    entry.view.type = type;
    entry.view.dims = {1, 1, 1, 1};
    std::copy(dims.begin(), dims.end(), entry.view.dims.begin());
    ASSERT_EQ(entry.view.n_elems(), static_cast<int64_t>(values.size())) << name;
    entry.bytes.resize(entry.view.bytes());
    if (type == ElementType::kF32) {
      std::memcpy(entry.bytes.data(), values.data(), entry.bytes.size());
    } else if (info.encode != nullptr) {
      info.encode(values.data(), entry.bytes.data(), entry.view.n_elems());
    }
    Entry& stored = entries_[name] = std::move(entry);
    stored.view.data = stored.bytes.data();
  }

  void add_random(const std::string& name, std::initializer_list<int64_t> dims,
                  ElementType type = ElementType::kF32) {
    int64_t n = 1;
    for (int64_t dim : dims) n *= dim;
    std::uniform_real_distribution<float> distribution(-0.5f, 0.5f);
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = distribution(random_);
    add(name, dims, values, type);
  }

  const TensorView* find(std::string_view name) const override {
    const auto it = entries_.find(name);
    return it == entries_.end() ? nullptr : &it->second.view;
  }
  void release(const TensorView& view) const override {
    const std::lock_guard lock(releasing_);
    for (const auto& [name, entry] : entries_) {
      const std::byte* end = entry.view.data + entry.view.bytes();
      if (view.data >= entry.view.data && view.data < end) released_[name] += view.bytes();
    }
  }

  const float* values(const std::string& name) const {
    return reinterpret_cast<const float*>(entries_.at(name).bytes.data());
  }
  // Bytes given back, by tensor.
  const std::map<std::string, size_t>& released() const { return released_; }

 private:
  struct Entry {
    std::vector<std::byte> bytes;
    TensorView view;
  };
  std::map<std::string, Entry, std::less<>> entries_;
  mutable std::mutex releasing_;
  mutable std::map<std::string, size_t> released_;
  std::mt19937 random_{1};
};

}  // namespace quire::graph::testing
