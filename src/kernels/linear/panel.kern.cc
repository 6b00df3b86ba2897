#include "kernels/linear/panel.h"

#include "kernels/linear/row_counts.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

// Rows [row, row + kRows) of the tile.
template <TermKind kKind, CodeRange kRange, int kRows>
[[gnu::noinline]] void panel_rows(const PanelCall& call, int64_t row) {
  const RowActivations& all = call.activations;
  RowSums<kKind, kRange, kRows> sums({.codes = all.codes + row * kActivationBlock,
                                      .scales = all.scales + row,
                                      .start = n_offsets(kKind) > 0 ? nullptr : all.start + row,
                                      .sums = n_offsets(kKind) > 0 ? all.sums + row : nullptr,
                                      .tile_rows = all.tile_rows});
  float* out = call.out + row * call.ld_out;
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
    sums.acc[m] =
        call.place == PanelPlace::kFirst ? zero() : load_partial(out + m * call.ld_out, call.n_valid);
  }
  const std::byte* block = call.panel;
  const std::byte* ahead = call.ahead.at;
  const std::byte* const ahead_end = ahead + (row == 0 ? call.ahead.bytes : 0);
  const int64_t ahead_per_block = (call.ahead.bytes / call.n_blocks / 64 + 1) * 64;
  QUIRE_NO_UNROLL for (int64_t b = 0; b < call.n_blocks; ++b) {
    const std::byte* stop = ahead + ahead_per_block < ahead_end ? ahead + ahead_per_block : ahead_end;
    QUIRE_NO_UNROLL for (; ahead < stop; ahead += 64) prefetch(ahead);
    sums.add_block(ByteBody{block}, load_panel_terms<kKind>(block));
    end_of_block();
    block += panel_block_bytes(kKind);
  }
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
    store_partial(out + m * call.ld_out, sums.acc[m], call.n_valid);
  }
}

template <TermKind kKind, CodeRange kRange>
void panel_tile(const PanelCall& call) {
  for_row_pieces<kMaxRows>(0, call.n_rows,
                           [&]<int kRows>(int64_t row) { panel_rows<kKind, kRange, kRows>(call, row); });
}

}  // namespace

PanelFn panel_kernel(TermKind kind, CodeRange range) {
  const bool seven_bits = range == CodeRange::kSevenBits;
  switch (kind) {
    case TermKind::kScale:
      return seven_bits ? panel_tile<TermKind::kScale, CodeRange::kSevenBits>
                        : panel_tile<TermKind::kScale, CodeRange::kEightBits>;
    case TermKind::kTwoScales:
      return seven_bits ? panel_tile<TermKind::kTwoScales, CodeRange::kSevenBits>
                        : panel_tile<TermKind::kTwoScales, CodeRange::kEightBits>;
    // Codes above a minimum are 5 bits at most.
    case TermKind::kScaleOffset:
      return panel_tile<TermKind::kScaleOffset, CodeRange::kSevenBits>;
    case TermKind::kTwoScalesOffsets:
      return panel_tile<TermKind::kTwoScalesOffsets, CodeRange::kSevenBits>;
  }
  __builtin_unreachable();
}

}  // namespace quire::kernels::QUIRE_ISA
