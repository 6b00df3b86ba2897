#include "kernels/linear/panel.h"

#include "kernels/linear/code_bodies.h"
#include "kernels/linear/panel_tiles.h"
#include "kernels/linear/row_counts.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

// Rows [row, row + kRows) of a tile. `ahead` is asked for meanwhile.
template <TermKind kKind, CodeRange kRange, int kRows>
[[gnu::noinline]] void panel_rows(const PanelCall& call, const RowActivations& tile, float* out, int64_t row,
                                  ReadAhead ahead) {
  RowSums<kKind, kRange, kRows> sums({.codes = tile.codes + row * kActivationBlock,
                                      .scales = tile.scales + row,
                                      .start = n_offsets(kKind) > 0 ? nullptr : tile.start + row,
                                      .sums = n_offsets(kKind) > 0 ? tile.sums + row : nullptr,
                                      .tile_rows = tile.tile_rows});
  out += row * call.ld_out;
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
    sums.acc[m] =
        call.place == PanelPlace::kFirst ? zero() : load_partial(out + m * call.ld_out, call.n_valid);
  }
  const std::byte* block = call.panel;
  const int64_t ahead_per_block = (ahead.bytes / call.n_blocks / 64 + 1) * 64;
  QUIRE_NO_UNROLL for (int64_t b = 0; b < call.n_blocks; ++b) {
    ahead.ask(ahead_per_block);
    sums.add_block(ByteBody{block}, load_panel_terms<kKind>(block));
    end_of_block();
    block += panel_block_bytes(kKind);
  }
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
    store_partial(out + m * call.ld_out, sums.acc[m], call.n_valid);
  }
}

template <TermKind kKind, CodeRange kRange>
void run_panel(const PanelCall& call) {
  if constexpr (has_tile_products(kKind)) {
    if (call.with == WithTiles::kYes && call.n_rows >= kLeastTileRows) return run_tile_products<kKind>(call);
  }
  const int64_t share = call.ahead.bytes / call.n_tiles;
  for (int64_t t = 0; t < call.n_tiles; ++t) {
    const RowActivations tile = activations_of_tile<kKind>(call, t);
    float* out = call.out + t * call.n_rows * call.ld_out;
    for_row_pieces<kMaxRows>(0, call.n_rows, [&]<int kRows>(int64_t row) {
      panel_rows<kKind, kRange, kRows>(call, tile, out, row,
                                       {call.ahead.at + t * share, row == 0 ? share : 0});
    });
  }
}

}  // namespace

PanelFn panel_kernel(TermKind kind, CodeRange range) {
  const bool seven_bits = range == CodeRange::kSevenBits;
  switch (kind) {
    case TermKind::kScale:
      return seven_bits ? run_panel<TermKind::kScale, CodeRange::kSevenBits>
                        : run_panel<TermKind::kScale, CodeRange::kEightBits>;
    case TermKind::kTwoScales:
      return seven_bits ? run_panel<TermKind::kTwoScales, CodeRange::kSevenBits>
                        : run_panel<TermKind::kTwoScales, CodeRange::kEightBits>;
    // Codes above a minimum are 5 bits at most.
    case TermKind::kScaleOffset:
      return run_panel<TermKind::kScaleOffset, CodeRange::kSevenBits>;
    case TermKind::kTwoScalesOffsets:
      return run_panel<TermKind::kTwoScalesOffsets, CodeRange::kSevenBits>;
  }
  __builtin_unreachable();
}

}  // namespace quire::kernels::QUIRE_ISA
