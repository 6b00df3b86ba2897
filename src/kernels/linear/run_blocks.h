// The kernel of a quantised format: groups of weights against tiles of int8 activation rows. For *.kern.cc
// files.
//
// A Format describes how its packed stream (weight_layout.h) becomes blocks of 32 codes and terms:
//   static constexpr BlockLayout kLayout;
//   static constexpr int kUnitBlocks;       blocks of 32 that visit_unit takes at a time
//   static constexpr int kUnitHeaders;      headers among them
//   static constexpr TermKind kTerms;
//   static constexpr CodeRange kRange;
//   static const int32_t* start(const Q8x32Tile&);   what sums start at; not for types with offsets
//   template <typename Visit>
//   static void visit_unit(const std::byte* unit, int64_t n_blocks, const Visit& visit);
//       calls visit(Block, ...) for n_blocks blocks in ascending order, several at once where few rows profit
// and run_blocks<Format> is its LinearKernel::run. Up to kMaxRows rows unpack in registers, beside the dot
// products; more go by panels. By panels 9 to 12 rows of Q4_K and Q6_K read memory 6-50% slower; from the
// second-level cache Q4_0, Q4_1, Q4_K and Q8_0 were 9-26% slower, Q6_K as fast.
#pragma once

#include "kernels/linear/block_terms.h"
#include "kernels/linear/panel.h"
#include "kernels/linear/row_counts.h"
#include "kernels/vec/tiles.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// How a format's blocks follow each other in a group.
template <typename Format>
struct Stream {
  static constexpr int64_t kLayoutBlocks = int64_t{Format::kUnitHeaders} * Format::kLayout.blocks_per_header;
  static constexpr int64_t kFullUnitBytes = packed_bytes(Format::kLayout, kLayoutBlocks);
  static constexpr int64_t kBlockBytes = kFullUnitBytes / Format::kUnitBlocks;  // about

  // Bytes of n blocks of 32.
  static int64_t bytes(int64_t n_blocks) {
    constexpr int64_t kParts = Format::kUnitBlocks / kLayoutBlocks;
    return packed_bytes(Format::kLayout, n_blocks / kParts);
  }

  // visit_unit over blocks [0, n_blocks) from a header on.
  template <typename Visit>
  QUIRE_VEC_FN void visit(const std::byte* at, int64_t n_blocks, const Visit& each) {
    for (int64_t b = 0; b < n_blocks; b += Format::kUnitBlocks) {
      const int64_t left = n_blocks - b;
      Format::visit_unit(at, left < Format::kUnitBlocks ? left : Format::kUnitBlocks, each);
      at += kFullUnitBytes;
    }
  }
};

// The n_rows rows from `first` on, which are a tile.
static inline Q8x32Tile tile_at(const LinearArgs& args, int64_t first, int64_t n_rows) {
  return q8x32_tile(args.activations + first * activation_row_bytes(ActivationKind::kQ8x32, args.k), n_rows,
                    activation_blocks(args.k));
}

// What the kernel needs of a tile, from `block` on.
template <typename Format>
static inline RowActivations activations_at(const Q8x32Tile& tile, int64_t block) {
  const int64_t cell = block * tile.n_rows;
  RowActivations at = {.codes = tile.codes + cell * kActivationBlock,
                       .scales = tile.scales + cell,
                       .start = nullptr,
                       .sums = nullptr,
                       .tile_rows = tile.n_rows};
  if constexpr (Format::kTerms == TermKind::kScaleOffset) {
    at.sums = tile.sums + cell;
  } else if constexpr (Format::kTerms == TermKind::kTwoScalesOffsets) {
    at.sums = tile.half_sums + 2 * cell;
  } else {
    at.start = Format::start(tile) + n_scales(Format::kTerms) * cell;
  }
  return at;
}

// Whether an F32 is one register, of 32.
static constexpr bool kManyRegisters = alignof(F32) == 64;

// Up to this many rows two blocks are added at once, where a format offers two: the sums of both fit the
// registers. From the second-level cache 4 rows of Q4_0, Q4_1, Q5_0 and IQ4_NL ran 34-45% faster, but 6 rows
// of Q6_K 19% slower.
static constexpr int kRowsOfBlockPairs = kManyRegisters ? 4 : 0;

// How far ahead of a read its cache line is asked for: into the second-level cache, then into the first. A
// line on its way from memory to the first holds one of a dozen miss buffers all the while; with one distance
// of 4 KB Q4_K and Q6_K read at 81% of what the probe reads, with two at 91-95%.
static constexpr int64_t kFarAhead = 8192;
static constexpr int64_t kNearAhead = 3072;

// Asks for the lines of the stream's next kBytes, a few at a step: in one burst they would fill the buffers
// that the loads of the step need.
template <int64_t kBytes>
struct StreamAhead {
  const std::byte* now;
  template <int kStep>
  QUIRE_VEC_MEMBER void step() const {
    QUIRE_UNROLL for (int64_t line = kStep; line < (kBytes + 63) / 64; line += 8) {
      prefetch_far(now + kFarAhead + line * kSliceBytes);
      prefetch(now + kNearAhead + line * kSliceBytes);
    }
  }
};

// A call of kRows rows, all of its only tile, against one group.
template <typename Format, int kRows>
[[gnu::noinline]] static void direct_rows(const LinearArgs& args, const Q8x32Tile& tile,
                                          const std::byte* weights, int64_t group) {
  // With 16 registers less is known, or the sums would spill: 4 rows of Q4_0 and Q8_0 lost 20-30%.
  constexpr int kKnownTileRows = kManyRegisters ? kRows : 0;
  RowSums<Format::kTerms, Format::kRange, kRows, kKnownTileRows> sums(activations_at<Format>(tile, 0));
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) sums.acc[m] = zero();
  const std::byte* now = weights;
  const auto add = [&](const auto&... blocks) QUIRE_INLINE_LAMBDA {
    constexpr int64_t kBytes = sizeof...(blocks) * Stream<Format>::kBlockBytes;
    sums.add_blocks(StreamAhead<kBytes>{now}, blocks...);
    end_of_block();
    now += kBytes;
  };
  Stream<Format>::visit(weights, activation_blocks(args.k), [&](const auto&... blocks) QUIRE_INLINE_LAMBDA {
    if constexpr (kRows <= kRowsOfBlockPairs) {
      add(blocks...);
    } else {
      (add(blocks), ...);
    }
  });
  const int n_valid = valid_columns(args, group);
  float* out = args.out + group * kGroupRows;
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) store_partial(out + m * args.ld_out, sums.acc[m], n_valid);
}

// The first n_blocks blocks of `weights`, which start with a header, to a panel.
template <typename Format>
[[gnu::noinline]] static void unpack_panel(const std::byte* weights, int64_t n_blocks, std::byte* panel) {
  Stream<Format>::visit(weights, n_blocks, [&](const auto&... blocks) QUIRE_INLINE_LAMBDA {
    const auto store = [&](const auto& block) QUIRE_INLINE_LAMBDA {
      store_panel_block(panel, block.body, block.terms);
      panel += panel_block_bytes(Format::kTerms);
    };
    (store(blocks), ...);
  });
}

// All tiles of rows against one group, panel by panel. Meanwhile the bytes of the next panel (or group) are
// asked for.
template <typename Format>
static void run_panels(const LinearArgs& args, const RowTiles& tiles, WithTiles with,
                       const std::byte* weights, int64_t group) {
  const PanelFn kernel = panel_kernel(Format::kTerms, Format::kRange);
  const int64_t n_blocks = activation_blocks(args.k);
  const int64_t row_bytes = activation_row_bytes(ActivationKind::kQ8x32, args.k);
  alignas(64) std::byte panel[kPanelBlocks * panel_block_bytes(Format::kTerms)];
  const int64_t panel_blocks = blocks_of_a_panel(n_blocks);
  for (int64_t first = 0; first < n_blocks; first += panel_blocks) {
    const int64_t n = n_blocks - first < panel_blocks ? n_blocks - first : panel_blocks;
    unpack_panel<Format>(weights, n, panel);
    weights += Stream<Format>::bytes(n);
    const int64_t share = Stream<Format>::bytes(n) / tiles.count;
    const auto run_tiles = [&](int64_t begin, int64_t end, int64_t n_rows) {
      if (begin == end) return;
      const int64_t row = tile_begin(tiles, begin);
      kernel({.panel = panel,
              .n_blocks = n,
              .place = first == 0 ? PanelPlace::kFirst : PanelPlace::kLater,
              .activations = activations_at<Format>(tile_at(args, row, n_rows), first),
              .n_rows = n_rows,
              .n_tiles = end - begin,
              .tile_bytes = n_rows * row_bytes,
              .with = with,
              .ahead = {weights + begin * share, (end - begin) * share},
              .out = args.out + row * args.ld_out + group * kGroupRows,
              .ld_out = args.ld_out,
              .n_valid = valid_columns(args, group)});
    };
    run_tiles(0, tiles.n_larger, tiles.rows + 1);
    run_tiles(tiles.n_larger, tiles.count, tiles.rows);
  }
}

template <typename Format>
static void run_blocks(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  const int64_t group_bytes = Stream<Format>::bytes(activation_blocks(args.k));
  if (args.m <= kMaxRows && compiled_for(static_cast<int>(args.m))) {
    const Q8x32Tile tile = tile_at(args, 0, args.m);
    for (int64_t group = group_begin; group < group_end; ++group) {
      run_piece<kMaxRows>(args.m, 0, [&]<int kRows>(int64_t) {
        direct_rows<Format, kRows>(args, tile, args.weights + group * group_bytes, group);
      });
    }
    return;
  }
  const RowTiles tiles = row_tiles(args.m);
  const auto run_groups = [&](WithTiles with) {
    for (int64_t group = group_begin; group < group_end; ++group) {
      run_panels<Format>(args, tiles, with, args.weights + group * group_bytes, group);
    }
  };
  if constexpr (has_tile_products(Format::kTerms)) {
    // One tile of rows alone gains nothing from tile registers.
    if (tiles.count > 1) {
      const TileScope scope(static_cast<int>(tile_begin(tiles, 1)));  // rows of the first tile, none has more
      return run_groups(WithTiles::kYes);
    }
  }
  run_groups(WithTiles::kNo);
}

}  // namespace quire::kernels::QUIRE_ISA
