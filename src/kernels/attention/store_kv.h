// Writing new keys and values into their pages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/kv_storage.h"

namespace quire::kernels::QUIRE_ISA {

// One key [d_k] into lane `token` of a transposed page.
template <typename Storage>
static void store_key(const float* key, int32_t d_k, int32_t token, std::byte* page) {
  std::byte* lane = page + static_cast<size_t>(token) * Storage::kBytes;
  for (int32_t d = 0; d < d_k; d += kLanes) {
    const int32_t n = d_k - d < kLanes ? d_k - d : kLanes;
    alignas(64) std::byte rounded[kLanes * Storage::kBytes];
    Storage::store16(rounded, load_partial(key + d, n));
    for (int32_t i = 0; i < n; ++i) {
      __builtin_memcpy(lane + static_cast<size_t>(d + i) * kPageTokens * Storage::kBytes,
                       rounded + static_cast<size_t>(i) * Storage::kBytes, Storage::kBytes);
    }
  }
}

// One value [d_v] into row `token` of its page.
template <typename Storage>
static void store_value(const float* value, int32_t d_v, int32_t token, std::byte* page) {
  std::byte* row = page + static_cast<size_t>(token) * static_cast<size_t>(d_v) * Storage::kBytes;
  int32_t d = 0;
  for (; d + kLanes <= d_v; d += kLanes) {
    Storage::store16(row + static_cast<size_t>(d) * Storage::kBytes, load(value + d));
  }
  if (d < d_v) {
    alignas(64) std::byte rounded[kLanes * Storage::kBytes];
    Storage::store16(rounded, load_partial(value + d, d_v - d));
    __builtin_memcpy(row + static_cast<size_t>(d) * Storage::kBytes, rounded,
                     static_cast<size_t>(d_v - d) * Storage::kBytes);
  }
}

template <typename Storage>
static void store_rows(const StoreKvArgs& args, int64_t row_begin, int64_t row_end) {
  const KvLayout& layout = args.layout;
  for (int64_t row = row_begin; row < row_end; ++row) {
    const int64_t slot = args.slots[row];
    if (slot < 0) continue;
    const int32_t token = static_cast<int32_t>(slot % kPageTokens);
    std::byte* page = args.pages + static_cast<size_t>(slot / kPageTokens) * args.page_stride;
    for (int32_t head = 0; head < layout.n_head_kv; ++head) {
      store_key<Storage>(args.k + row * args.ld_k + int64_t{head} * layout.d_k, layout.d_k, token,
                         page + layout.k_offset(head));
      store_value<Storage>(args.v + row * args.ld_v + int64_t{head} * layout.d_v, layout.d_v, token,
                           page + layout.v_offset(head));
    }
  }
}

}  // namespace quire::kernels::QUIRE_ISA
