// LayerNeeds: what one layer of a model must remember between steps, as plain numbers.
//
// Models declare needs; the memory composes them; the engine joins the two to kernels. Only kinds that work
// are listed; recurrent state comes as a further alternative of the variant. Plain data.
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

using LayerNeed = std::variant<AttentionNeed, LatentNeed>;
using LayerNeeds = std::vector<LayerNeed>;

}  // namespace quire
