// Sliding windows: which layers of a model see only the newest positions, and how many.
//
// Source: `attention.sliding_window` and `attention.sliding_window_pattern` of GGUF metadata. Plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "models/blocks/keys.h"

namespace quire {

struct WindowParams {
  int32_t positions = 0;       // a query sees, itself included
  std::vector<bool> windowed;  // by layer

  // The window of a layer; 0 = every position.
  int32_t of(int32_t il) const { return windowed[static_cast<size_t>(il)] ? positions : 0; }
};

// What a family uses where the file says nothing.
struct WindowDefaults {
  int64_t positions = 0;
  int64_t period = 1;
};

// The pattern is a period P (the last of every P layers is full; 1 = all are full, 0 = none is) or one bool
// a layer (true = windowed). Errors: kCorrupt naming the key.
Result<WindowParams> read_windows(const Keys& keys, int32_t n_layer, const WindowDefaults& defaults);

}  // namespace quire
