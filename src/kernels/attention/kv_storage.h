// The storage types of keys and values: one struct per KvType with the loads and stores of 16 elements.
//
// Used by templates of this folder only. Arithmetic is always f32; a store rounds to nearest even.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

struct StorageF32 {
  static constexpr size_t kBytes = 4;
  static constexpr bool kFetchAhead = true;
  QUIRE_VEC_FN F32 load16(const std::byte* p) { return load(reinterpret_cast<const float*>(p)); }
  QUIRE_VEC_FN F32 load_first(const std::byte* p, int n) {
    return load_partial(reinterpret_cast<const float*>(p), n);
  }
  QUIRE_VEC_FN void store16(std::byte* p, F32 a) { store(reinterpret_cast<float*>(p), a); }
};

// A copy in the nearest caches: what comes next is fetched elsewhere.
struct StorageNear : StorageF32 {
  static constexpr bool kFetchAhead = false;
};

struct StorageF16 {
  static constexpr size_t kBytes = 2;
  static constexpr bool kFetchAhead = true;
  QUIRE_VEC_FN F32 load16(const std::byte* p) { return load_f16(reinterpret_cast<const uint16_t*>(p)); }
  QUIRE_VEC_FN F32 load_first(const std::byte* p, int n) {
    return load_f16_partial(reinterpret_cast<const uint16_t*>(p), n);
  }
  QUIRE_VEC_FN void store16(std::byte* p, F32 a) { store_f16(reinterpret_cast<uint16_t*>(p), a); }
};

struct StorageBF16 {
  static constexpr size_t kBytes = 2;
  static constexpr bool kFetchAhead = true;
  QUIRE_VEC_FN F32 load16(const std::byte* p) { return load_bf16(reinterpret_cast<const uint16_t*>(p)); }
  QUIRE_VEC_FN F32 load_first(const std::byte* p, int n) {
    return load_bf16_partial(reinterpret_cast<const uint16_t*>(p), n);
  }
  QUIRE_VEC_FN void store16(std::byte* p, F32 a) { store_bf16(reinterpret_cast<uint16_t*>(p), a); }
};

// n stored values, a multiple of kLanes, as f32; returns `to`.
template <typename Storage>
static const std::byte* unpack(const std::byte* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; i += kLanes) {
    store(to + i, Storage::load16(from + static_cast<size_t>(i) * Storage::kBytes));
  }
  return reinterpret_cast<const std::byte*>(to);
}

}  // namespace quire::kernels::QUIRE_ISA
