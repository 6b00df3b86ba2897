// Cuts a caller's scratch into buffers, one after the other, each on a multiple of 64 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Over a null base it only counts what the buffers take.
class ScratchCutter {
 public:
  explicit ScratchCutter(std::byte* base) : base_(base) {}

  float* take(int64_t n_floats) {
    float* at = base_ == nullptr ? nullptr : reinterpret_cast<float*>(base_ + bytes_);
    bytes_ += static_cast<size_t>(round_up(n_floats, kLanes)) * sizeof(float);
    return at;
  }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* base_;
  size_t bytes_ = 0;
};

}  // namespace quire::kernels::QUIRE_ISA
