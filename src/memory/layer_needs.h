// LayerNeeds: what one layer of a model must remember between steps, as plain numbers.
//
// Models declare needs; the memory composes them; the engine joins the two to kernels. Only kinds that work
// are listed. Plain data.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace quire {

// Keys and values of every position, or, with a window, of those a query can still see.
struct AttentionNeed {
  int32_t n_head_kv = 0;
  int32_t d_k = 0, d_v = 0;  // per head
  int32_t window = 0;        // positions a query sees, itself included; 0 = all
};

// One row of every position, which all heads read as key and in part as value (latent attention).
struct LatentNeed {
  int32_t width = 0;
};

// One state for a whole sequence, replaced by every position: f32, each part a multiple of 16 elements.
struct RecurrentNeed {
  int64_t tail_elements = 0;   // newest inputs of a convolution
  int64_t state_elements = 0;  // of a scan
};

using LayerNeed = std::variant<AttentionNeed, LatentNeed, RecurrentNeed>;
using LayerNeeds = std::vector<LayerNeed>;

}  // namespace quire
