// Panels: a stretch of a group's blocks, unpacked once to bytes and multiplied with every tile of rows. For
// *.kern.cc files.
//
// Unpacking codes costs a third of a block's time with 12 rows; a panel stays in the first-level cache while
// all rows of the call pass, so that many rows pay it once. A block of a panel is 8 slices of codes, then the
// scales [16], f32, then the offsets. The kernels over panels (panel.kern.cc) know kinds of terms, not
// formats.
#pragma once

#include "kernels/linear/block_terms.h"
#include "kernels/vec/tiles.h"

namespace quire::kernels::QUIRE_ISA {

static constexpr int kPanelBlocks = 24;  // at most

// Blocks of each panel but the last, which is about as long: whole units of 8 blocks (run_blocks.h).
static inline int64_t blocks_of_a_panel(int64_t n_blocks) {
  const int64_t panels = (n_blocks + kPanelBlocks - 1) / kPanelBlocks;
  return (n_blocks + 8 * panels - 1) / (8 * panels) * 8;
}

constexpr int panel_block_bytes(TermKind kind) {
  return (8 + n_scales(kind) + n_offsets(kind)) * kSliceBytes;
}

// Memory that will be read soon: its cache lines are asked for a few at a time between blocks.
struct ReadAhead {
  const std::byte* at;
  int64_t bytes;

  // Asks for the next n bytes at most.
  QUIRE_VEC_MEMBER void ask(int64_t n) {
    const int64_t now = n < bytes ? n : bytes;
    QUIRE_NO_UNROLL for (int64_t i = 0; i < now; i += 64) prefetch(at + i);
    at += now;
    bytes -= now;
  }
};

// Whether outputs start at zero, or at what earlier panels of the group left in `out`.
enum class PanelPlace { kFirst, kLater };

// Whether tile registers multiply (vec/tiles.h); then a TileScope lives.
enum class WithTiles { kNo, kYes };
// Kinds that tile registers can multiply: with two scales a product would have 16 values only, and vectors
// are faster.
constexpr bool has_tile_products(TermKind kind) { return kHasTiles && n_scales(kind) == 1; }

// One panel against tiles of equally many rows, which follow each other.
struct PanelCall {
  const std::byte* panel;
  int64_t n_blocks;
  PanelPlace place;
  RowActivations activations;  // of the first tile, at the panel's first block
  int64_t n_rows;              // of each tile
  int64_t n_tiles;
  int64_t tile_bytes;  // from what one tile has of an array to what the next has
  WithTiles with;
  ReadAhead ahead;
  float* out;  // first row of the first tile, first column of the group
  int64_t ld_out;
  int n_valid;  // columns, 1 .. 16
};

using PanelFn = void (*)(const PanelCall& call);

// The activations of tile t of a call.
template <TermKind kKind>
QUIRE_VEC_FN RowActivations activations_of_tile(const PanelCall& call, int64_t t) {
  const auto shifted = [&](auto* array) {
    return reinterpret_cast<decltype(array)>(reinterpret_cast<const std::byte*>(array) + t * call.tile_bytes);
  };
  RowActivations at = call.activations;
  at.codes = shifted(at.codes);
  at.scales = shifted(at.scales);
  if constexpr (n_offsets(kKind) > 0) {
    at.sums = shifted(at.sums);
  } else {
    at.start = shifted(at.start);
  }
  return at;
}

// The kernel over panels of one kind.
PanelFn panel_kernel(TermKind kind, CodeRange range);

// Stores a block at `to`, panel_block_bytes(kKind) long.
template <typename Body, TermKind kKind, int kStep = 0>
QUIRE_VEC_FN void store_panel_block(std::byte* to, const Body& body, const Terms<kKind>& terms) {
  if constexpr (kStep < 8) {
    bstore(to + kStep * kSliceBytes, body.template codes<kStep>());
    store_panel_block<Body, kKind, kStep + 1>(to, body, terms);
  } else {
    auto* lanes = reinterpret_cast<float*>(to + 8 * kSliceBytes);
    for (int i = 0; i < n_scales(kKind); ++i) store(lanes + i * kLanes, terms.scale[i]);
    if constexpr (n_offsets(kKind) > 0) {
      lanes += n_scales(kKind) * kLanes;
      for (int i = 0; i < n_offsets(kKind); ++i) store(lanes + i * kLanes, terms.offset[i]);
    }
  }
}

template <TermKind kKind>
QUIRE_VEC_FN Terms<kKind> load_panel_terms(const std::byte* block) {
  const auto* lanes = reinterpret_cast<const float*>(block + 8 * kSliceBytes);
  Terms<kKind> terms;
  for (int i = 0; i < n_scales(kKind); ++i) terms.scale[i] = load(lanes + i * kLanes);
  if constexpr (n_offsets(kKind) > 0) {
    lanes += n_scales(kKind) * kLanes;
    for (int i = 0; i < n_offsets(kKind); ++i) terms.offset[i] = load(lanes + i * kLanes);
  }
  return terms;
}

}  // namespace quire::kernels::QUIRE_ISA
