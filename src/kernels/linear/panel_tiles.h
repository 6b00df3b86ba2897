// Panels against tile registers: the dot products of a block and all rows of a tile in one instruction, then
// the arithmetic of RowSums::add_block, hence its bits. For panel.kern.cc.
//
// Sums leave the tile registers through memory. Three things go on at once, a few blocks apart: products are
// started, sums of earlier ones are stored, and those of still earlier ones, which have reached the cache by
// now, are added up. Next to tile instructions the processor multiplies vectors at half its rate, so adding
// up is the bound, and the tile instructions are dealt out among the rows to hide behind it.
#pragma once

#include "kernels/linear/panel.h"
#include "kernels/vec/opaque.h"
#include "kernels/vec/tiles.h"

namespace quire::kernels::QUIRE_ISA {

static_assert(kTileValues == kActivationBlock);

// A product takes as long for few rows as for many; below this, vectors are faster.
static constexpr int kLeastTileRows = 10;

// Sums of a product: of at most 16 rows with 16 columns.
static constexpr int kProductSums = 16 * kLanes;

// The tile instructions of a step, which is a block against one or two tiles of rows: the products started in
// the step before are stored, then those of the next block started. In portions, for the caller to spread.
template <int kTiles>
class TileProducts {
 public:
  static constexpr int kPortions = kTiles == 2 ? 7 : 4;

  QUIRE_VEC_MEMBER TileProducts(const PanelCall& call, int64_t block_bytes)
      : call_(call),
        weights_(call.panel),
        codes_(call.activations.codes),
        block_bytes_(block_bytes),
        codes_bytes_(call.activations.tile_rows * kActivationBlock),
        tile_bytes_(call.tile_bytes),
        blocks_left_(call.n_blocks),
        tiles_left_(call.n_tiles) {}

  // Sums go to `sums`, those of the second tile kProductSums behind those of the first.
  QUIRE_VEC_MEMBER void run(int portion, int32_t* sums) {
    switch (portion) {
      case 0:
        return store_product<0>(sums);
      case 1:
        return load_columns(weights_);
      case 2:
        return load_rows<0>(codes_);
      case 3:
        multiply<0>();
        return kTiles == 1 ? next() : void();
      case 4:
        return store_product<1>(sums + kProductSums);
      case 5:
        return load_rows<1>(codes_ + tile_bytes_);
      case 6:
        multiply<1>();
        return next();
      default:
        __builtin_unreachable();
    }
  }

 private:
  QUIRE_VEC_MEMBER void next() {
    weights_ += block_bytes_;
    codes_ += codes_bytes_;
    if (--blocks_left_ > 0) return;
    blocks_left_ = call_.n_blocks;
    weights_ = call_.panel;
    codes_ -= call_.n_blocks * codes_bytes_;
    tiles_left_ -= kTiles;
    // After the last tiles they are multiplied again, for nobody.
    if (tiles_left_ > 0) codes_ += kTiles * tile_bytes_;
  }

  const PanelCall& call_;
  const std::byte* weights_;
  const int8_t* codes_;
  const int64_t block_bytes_, codes_bytes_, tile_bytes_;
  int64_t blocks_left_, tiles_left_;
};

// What a row has of a block beside its codes, one number of each array per row.
struct RowTerms {
  const float* scales;
  const void* sums_or_start;
};

// The outputs of kTiles tiles of kRows rows.
template <TermKind kKind, int kTiles, int kRows>
struct TileOutputs {
  F32 acc[kTiles][kRows];

  QUIRE_VEC_MEMBER void load(const PanelCall& call, const float* out) {
    each([&](int t, int m) QUIRE_INLINE_LAMBDA {
      const float* row = out + (t * kRows + m) * call.ld_out;
      acc[t][m] = call.place == PanelPlace::kFirst ? zero() : load_partial(row, call.n_valid);
    });
  }
  QUIRE_VEC_MEMBER void store(const PanelCall& call, float* out) const {
    each([&](int t, int m) QUIRE_INLINE_LAMBDA {
      store_partial(out + (t * kRows + m) * call.ld_out, acc[t][m], call.n_valid);
    });
  }

  // Adds the sums of a block, a row at a time; before(i) comes before row i of all tiles.
  template <typename Before>
  QUIRE_VEC_MEMBER void add(const Terms<kKind>& terms, const int32_t* sums, const RowTerms (&rows)[kTiles],
                            const Before& before) {
    const F32 minus_bias = mul(terms.scale[0], set1(-kSumBias));
    each([&](int t, int m) QUIRE_INLINE_LAMBDA {
      before(t * kRows + m);
      const int32_t start =
          n_offsets(kKind) > 0 ? kSumBiasBits : static_cast<const int32_t*>(rows[t].sums_or_start)[m];
      const I32 sum = iadd(iload(sums + t * kProductSums + m * kLanes), iset1(start));
      F32 y = mul_add(f32_from_bits(sum), terms.scale[0], minus_bias);
      if constexpr (n_offsets(kKind) > 0) {
        y = mul_add(terms.offset[0], set1(static_cast<const float*>(rows[t].sums_or_start)[m]), y);
      }
      acc[t][m] = mul_add(y, set1(rows[t].scales[m]), acc[t][m]);
      opaque(acc[t][m]);  // else the compiler moves accumulators from register to register
    });
  }

 private:
  template <typename Visit>
  QUIRE_VEC_MEMBER static void each(const Visit& visit) {
    QUIRE_UNROLL for (int t = 0; t < kTiles; ++t) {
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) visit(t, m);
    }
  }
};

// A call with a multiple of kTiles tiles.
template <TermKind kKind, int kTiles, int kRows>
[[gnu::noinline]] static void stream_tiles(const PanelCall& call) {
  // Steps between storing a product and adding it: a store from a tile takes some 100 cycles to be seen.
  constexpr uint64_t kAhead = kTiles == 2 ? 2 : 4, kRing = 2 * kAhead;
  alignas(64) int32_t ring[kRing][kTiles * kProductSums];
  using Products = TileProducts<kTiles>;
  Products products(call, panel_block_bytes(kKind));
  // The first step stores what nobody started, and the second stores over it.
  for (uint64_t step = 0; step <= kAhead; ++step) {
    QUIRE_UNROLL for (int i = 0; i < Products::kPortions; ++i) {
      products.run(i, ring[step == 0 ? 0 : step - 1]);
    }
  }

  uint64_t step = 0;
  ReadAhead ahead = call.ahead;
  const int64_t ahead_per_step = (kTiles * ahead.bytes / (call.n_tiles * call.n_blocks) / 64 + 1) * 64;
  QUIRE_NO_UNROLL for (int64_t tile = 0; tile < call.n_tiles; tile += kTiles) {
    float* const out = call.out + tile * kRows * call.ld_out;
    TileOutputs<kKind, kTiles, kRows> outputs;
    outputs.load(call, out);
    // Arrays of the first tile; those of the second lie tile_bytes further.
    const RowActivations first = activations_of_tile<kKind>(call, tile);
    const auto* scales = reinterpret_cast<const std::byte*>(first.scales);
    const auto* others = reinterpret_cast<const std::byte*>(first.sums);
    if constexpr (n_offsets(kKind) == 0) others = reinterpret_cast<const std::byte*>(first.start);
    const std::byte* block = call.panel;
    QUIRE_NO_UNROLL for (int64_t b = 0; b < call.n_blocks; ++b, ++step) {
      ahead.ask(ahead_per_step);
      // Registers of their own for these addresses: an instruction with two would be split.
      RowTerms rows[kTiles];
      QUIRE_UNROLL for (int t = 0; t < kTiles; ++t) {
        rows[t] = {opaque_pointer(reinterpret_cast<const float*>(scales + t * call.tile_bytes)),
                   opaque_pointer(others + t * call.tile_bytes)};
      }
      const int32_t* finished = opaque_pointer(ring[step % kRing]);
      int32_t* stored = ring[(step + kAhead) % kRing];
      outputs.add(load_panel_terms<kKind>(block), finished, rows, [&](int row) QUIRE_INLINE_LAMBDA {
        QUIRE_UNROLL for (int i = 0; i < Products::kPortions; ++i) {
          if (i * kTiles * kRows / Products::kPortions == row) products.run(i, stored);
        }
      });
      block += panel_block_bytes(kKind);
      scales += first.tile_rows * sizeof(float);
      others += first.tile_rows * sizeof(float);
    }
    outputs.store(call, out);
  }
}

// Tiles by pairs, then the last one if it is left over.
template <TermKind kKind, int kRows = kTileRows>
static void run_tile_products(const PanelCall& call) {
  if constexpr (kRows < kLeastTileRows) {
    __builtin_unreachable();
  } else {
    if (call.n_rows != kRows) return run_tile_products<kKind, kRows - 1>(call);
    PanelCall pairs = call, last = call;
    last.n_tiles = call.n_tiles % 2;
    pairs.n_tiles -= last.n_tiles;
    if (pairs.n_tiles > 0) {
      stream_tiles<kKind, 2, kRows>(pairs);
      last.activations = activations_of_tile<kKind>(call, pairs.n_tiles);
      last.out += pairs.n_tiles * kRows * call.ld_out;
      last.ahead.bytes = 0;  // has been asked for
    }
    if (last.n_tiles > 0) stream_tiles<kKind, 1, kRows>(last);
  }
}

}  // namespace quire::kernels::QUIRE_ISA
