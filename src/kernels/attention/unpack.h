// A chunk's keys and values converted to f32 once, for tiles with many rows: a conversion takes the same
// ports as a multiply-add, and without this every block of rows would repeat it.
//
// Values are unchanged, so are all results. Memory belongs to the caller.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/chunk.h"

namespace quire::kernels::QUIRE_ISA {

// From this many blocks of rows on the copy pays.
static constexpr int32_t kUnpackBlocks = 3;

struct UnpackedChunk {
  float* k;  // [kPagesPerChunk][d_k, kPageTokens]
  float* v;  // [kPagesPerChunk][kPageTokens, d_v]
};

// The pages of `packed` as f32; pages that are null stay so.
template <typename Storage>
static ChunkPages unpack_chunk(const ChunkPages& packed, int32_t d_k, int32_t d_v,
                               const UnpackedChunk& unpacked) {
  ChunkPages pages = {};
  const int64_t k_floats = int64_t{d_k} * kPageTokens;
  const int64_t v_floats = int64_t{d_v} * kPageTokens;
  for (int page = 0; page < kPagesPerChunk; ++page) {
    if (packed.k[page] == nullptr) continue;
    pages.k[page] = unpack<Storage>(packed.k[page], k_floats, unpacked.k + page * k_floats);
    pages.v[page] = unpack<Storage>(packed.v[page], v_floats, unpacked.v + page * v_floats);
  }
  return pages;
}

// Fetches one of n_parts equal parts of pages that will be unpacked next.
static void fetch_part(const ChunkPages& pages, const KvLayout& layout, int32_t part, int32_t n_parts) {
  const auto fetch_all = [&](const std::byte* const* page, size_t page_bytes) {
    const auto lines = static_cast<int32_t>(page_bytes / kCacheLine);
    const int32_t begin = lines * part / n_parts, end = lines * (part + 1) / n_parts;
    for (int i = 0; i < kPagesPerChunk; ++i) {
      if (page[i] == nullptr) continue;
      for (int32_t line = begin; line < end; ++line) {
        prefetch_far(page[i] + static_cast<size_t>(line) * kCacheLine);
      }
    }
  };
  fetch_all(pages.k, layout.k_head_bytes());
  fetch_all(pages.v, layout.v_head_bytes());
}

}  // namespace quire::kernels::QUIRE_ISA
