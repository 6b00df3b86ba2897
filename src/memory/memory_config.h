// MemoryConfig: what a SequenceMemory is made for. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/memory_region.h"
#include "memory/layer_needs.h"

namespace quire {

enum class PrefixCache : uint8_t { kOff, kOn };

struct MemoryConfig {
  LayerNeeds needs = {};
  int32_t element_bytes = 2;    // of stored keys and values
  int32_t n_pages = 0;          // of each group; a windowed group gets fewer when its windows need fewer
  int32_t n_spill_pages = 0;    // of each group, at most as many as it has pages
  int32_t max_sequences = 1;    // open at the same time
  int64_t max_positions = 0;    // of one sequence
  int64_t max_step_tokens = 1;  // appended between two begin_step()
  // Of layers with a state: how many of the newest positions can be taken back whatever happens (drafts), how
  // many positions lie between checkpoints (a multiple of 16), and how many bytes of checkpoints there may
  // be.
  int32_t max_draft = 0;
  int64_t checkpoint_every = 256;
  size_t max_checkpoint_bytes = size_t{256} << 20;
  PrefixCache prefix_cache = PrefixCache::kOn;
  size_t max_cached_bytes = std::numeric_limits<size_t>::max();  // in pages that no sequence holds
  uint64_t fingerprint = 0;  // of the model, its numerics settings and the type of keys and values
  uint64_t (*prefix_hash)(const void* bytes, size_t n_bytes) = nullptr;  // null = XXH3
  Allocation allocation = Allocation::kReal;
};

}  // namespace quire
