// A memory whose pages hold something to check: in place of keys and values, each position of a page holds a
// hash of all tokens up to it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "memory/sequence_memory.h"

namespace quire::testing {

// One position of such a layer is 8 bytes.
inline AttentionNeed checked_layer(int32_t window = 0) {
  return {.n_head_kv = 1, .d_k = 2, .d_v = 2, .window = window};
}

// A layer with a state: in place of one, a hash of all tokens of the sequence.
inline RecurrentNeed checked_state() { return {.tail_elements = 16, .state_elements = 32}; }

inline SequenceMemory make_memory(const MemoryConfig& config) {
  Result<SequenceMemory> memory = SequenceMemory::create(config);
  return std::move(memory).value();
}

inline uint64_t next_content(uint64_t before, int32_t token) {
  return (before ^ (static_cast<uint64_t>(token) + 1)) * 0x9e3779b97f4a7c15u + 1;
}

inline std::byte* position_at(const SequenceMemory& memory, size_t layer, int64_t slot) {
  return memory.layer_pages(layer) +
         static_cast<size_t>(slot / kPagePositions) * memory.layer_page_stride(layer) +
         static_cast<size_t>(slot % kPagePositions) * sizeof(uint64_t);
}

// Advances every state by the rows of the step, having compared the one it starts from with the tokens.
inline void compute_states(SequenceMemory& memory, size_t layer) {
  const StepTables tables = memory.tables();
  const auto at = [&](int32_t slot) {
    return memory.layer_states(layer) + int64_t{slot} * memory.states()->slot_floats();
  };
  for (size_t s = 0; s < tables.states.spans.size(); ++s) {
    const StateSpan& span = tables.states.spans[s];
    const std::span<const int32_t> tokens = memory.tokens(tables.sequences[s]);
    const auto begin = static_cast<size_t>(tables.positions[static_cast<size_t>(span.row_begin)]);
    uint64_t expected = 0, content = 0;
    for (size_t p = 0; p < begin; ++p) expected = next_content(expected, tokens[p]);
    if (span.source >= 0) std::memcpy(&content, at(span.source), sizeof(content));
    ASSERT_EQ(content, expected) << "state of " << begin << " positions";
    ASSERT_EQ(span.source < 0, begin == 0);
    for (int32_t row = span.row_begin; row < span.row_end; ++row) {
      content = next_content(content, tokens[begin + static_cast<size_t>(row - span.row_begin)]);
      std::memcpy(at(tables.states.slots[static_cast<size_t>(row)]), &content, sizeof(content));
    }
  }
}

// Does what the executor does in a step: writes every new position through the slots, having read the one
// before through the block table.
inline void compute_step(SequenceMemory& memory, size_t n_layers) {
  const StepTables tables = memory.tables();
  for (size_t layer = 0; layer < n_layers; ++layer) {
    if (memory.layer_group(layer) == kStateGroup) {
      compute_states(memory, layer);
      continue;
    }
    const GroupTables& group = tables.groups[static_cast<size_t>(memory.layer_group(layer))];
    for (size_t s = 0; s < group.spans.size(); ++s) {
      const StepSpan& span = group.spans[s];
      const std::span<const int32_t> tokens = memory.tokens(tables.sequences[s]);
      uint64_t content = 0;
      for (int32_t row = span.row_begin; row < span.row_end; ++row) {
        const int32_t position = tables.positions[static_cast<size_t>(row)];
        if (row == span.row_begin) {
          for (int32_t p = 0; p < position; ++p)
            content = next_content(content, tokens[static_cast<size_t>(p)]);
        }
        content = next_content(content, tokens[static_cast<size_t>(position)]);
        std::memcpy(position_at(memory, layer, group.slots[static_cast<size_t>(row)]), &content,
                    sizeof(content));
      }
    }
  }
}

// Every position that the sequence's next query sees holds what its own tokens say.
inline void expect_content(const SequenceMemory& memory, SequenceId sequence, size_t n_layers) {
  const std::span<const int32_t> tokens = memory.tokens(sequence);
  const auto length = static_cast<int64_t>(tokens.size());
  for (size_t layer = 0; layer < n_layers; ++layer) {
    if (memory.layer_group(layer) == kStateGroup) continue;  // compared when the next step starts from it
    const PageGroup& group = memory.group(memory.layer_group(layer));
    const int64_t first = group.window() == 0 ? 0 : std::max<int64_t>(0, length - group.window() + 1);
    uint64_t expected = 0;
    for (int64_t p = 0; p < length; ++p) {
      expected = next_content(expected, tokens[static_cast<size_t>(p)]);
      if (p < first) continue;
      const int64_t page = group.page(sequence.index, static_cast<int32_t>(p / kPagePositions));
      ASSERT_GE(page, 0) << "layer " << layer << " position " << p << " of " << length;
      uint64_t held = 0;
      std::memcpy(&held, position_at(memory, layer, page * kPagePositions + p % kPagePositions),
                  sizeof(held));
      ASSERT_EQ(held, expected) << "layer " << layer << " position " << p << " of " << length;
    }
  }
}

// A step of one sequence.
inline Status run_step(SequenceMemory& memory, SequenceId sequence, std::span<const int32_t> tokens,
                       size_t n_layers) {
  memory.begin_step();
  QUIRE_RETURN_IF_ERROR(memory.append(sequence, tokens));
  compute_step(memory, n_layers);
  memory.commit_step();
  return {};
}

// n tokens that follow from a seed.
inline std::vector<int32_t> tokens_of(int32_t seed, int64_t n) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < n; ++i) tokens.push_back(static_cast<int32_t>((seed * 7919 + i * 31) % 1000));
  return tokens;
}

inline std::vector<int32_t> operator+(std::vector<int32_t> a, const std::vector<int32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

#define ASSERT_SOUND(memory)                          \
  do {                                                \
    const Status sound = (memory).check();            \
    ASSERT_TRUE(sound.ok()) << sound.error().message; \
  } while (0)

}  // namespace quire::testing
