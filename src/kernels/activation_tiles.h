// How rows of quantised activations are cut into tiles, for those who divide rows among threads: rows of one
// tile share cache lines.
#pragma once

#include <cstdint>

namespace quire::kernels {

// Number n of the tiles that m rows are cut into; tile t holds rows [m * t / n, m * (t + 1) / n).
int64_t activation_tiles(int64_t m);

}  // namespace quire::kernels
