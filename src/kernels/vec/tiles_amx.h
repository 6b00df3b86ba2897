// Tiles on AMX (AMX-TILE, AMX-INT8). See tiles.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/vec/tiles.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

inline constexpr bool kHasTiles = true;

// Shapes tiles for products of n_rows <= 16 rows.
class TileScope {
 public:
  explicit TileScope(int n_rows) {
    Config config = {};
    for (int slot = 0; slot < 2; ++slot) {
      config.shape(slot, n_rows, 64);
      config.shape(2 + slot, n_rows, kTileValues);
    }
    config.shape(4, kTileValues / 4, 64);
    // GCC 12 takes the instruction for one that reads 8 bytes: the rest must be written before it all the
    // same.
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    _tile_loadconfig(&config);
  }
  ~TileScope() { _tile_release(); }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  struct alignas(64) Config {
    uint8_t palette = 1;
    uint8_t start_row = 0;
    uint8_t reserved[14] = {};
    uint16_t row_bytes[16] = {};
    uint8_t n_rows[16] = {};
    void shape(int tile, int rows, int bytes) {
      row_bytes[tile] = static_cast<uint16_t>(bytes);
      n_rows[tile] = static_cast<uint8_t>(rows);
    }
  };
};

// Tile registers 0 and 1 hold the sums of the slots, 2 and 3 their rows, 4 the columns. The instructions hold
// the numbers as constants, hence the branches.

// Slices of 4 unsigned bytes of each of the 16 columns.
QUIRE_VEC_FN void load_columns(const std::byte* slices) { _tile_loadd(4, slices, 64); }

// Codes [n_rows][kTileValues].
template <int kSlot>
QUIRE_VEC_FN void load_rows(const int8_t* codes) {
  if constexpr (kSlot == 0) {
    _tile_loadd(2, codes, kTileValues);
  } else {
    _tile_loadd(3, codes, kTileValues);
  }
}

// Starts the product of the slot's rows with the columns.
template <int kSlot>
QUIRE_VEC_FN void multiply() {
  if constexpr (kSlot == 0) {
    _tile_zero(0);
    _tile_dpbsud(0, 2, 4);
  } else {
    _tile_zero(1);
    _tile_dpbsud(1, 3, 4);
  }
}

// sums [n_rows][16], exact, of the product started last in the slot.
template <int kSlot>
QUIRE_VEC_FN void store_product(int32_t* sums) {
  if constexpr (kSlot == 0) {
    _tile_stored(0, sums, 64);
  } else {
    _tile_stored(1, sums, 64);
  }
}

}  // namespace quire::kernels::QUIRE_ISA
