// Tile registers: integer dot products, of kTileValues values each, of up to 16 rows of activations with 16
// columns of weights at once, where the ISA has them. Include from *.kern.cc files only.
//
// kHasTiles says whether; elsewhere the functions exist and must not be called. A TileScope must live while
// tiles are used: it sets their shape and gives them back. One scope per thread at a time. Two products are
// under way at once, each with rows of its own, in slots 0 and 1; the columns are those of both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

inline constexpr int kTileValues = 32;

}  // namespace quire::kernels::QUIRE_ISA

#if defined(QUIRE_ISA_IS_AMX)
#include "kernels/vec/tiles_amx.h"  // IWYU pragma: export
#else

namespace quire::kernels::QUIRE_ISA {

inline constexpr bool kHasTiles = false;

struct TileScope {
  explicit TileScope(int /*n_rows*/) {}
};

QUIRE_VEC_FN void load_columns(const std::byte*) { __builtin_unreachable(); }
template <int kSlot>
QUIRE_VEC_FN void load_rows(const int8_t*) {
  __builtin_unreachable();
}
template <int kSlot>
QUIRE_VEC_FN void multiply() {
  __builtin_unreachable();
}
template <int kSlot>
QUIRE_VEC_FN void store_product(int32_t*) {
  __builtin_unreachable();
}

}  // namespace quire::kernels::QUIRE_ISA

#endif
