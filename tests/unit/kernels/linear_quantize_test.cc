// Activation quantisation: every array of every tile, on every ISA, against a plain computation.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/kernel_table.h"
#include "kernels/linear/activation_layout.h"
#include "linear_cases.h"

namespace quire::kernels {
namespace {

struct Case {
  ActivationKind kind;
  int64_t m, k;
};

std::vector<std::byte> quantize(Isa isa, const Case& c, const std::vector<float>& x) {
  std::vector<std::byte> out(activation_bytes(c.kind, c.m, c.k), std::byte{0xa5});
  const QuantizeArgs args = {
      .kind = c.kind, .x = x.data(), .ld_x = c.k, .out = out.data(), .m = c.m, .k = c.k};
  for (int64_t r = c.m - 1; r >= 0; --r) kernel_table(isa).linear.quantize(args, r, r + 1);
  return out;
}

int sum(const QuantizedRow& row, int64_t first, int64_t n) {
  int total = 0;
  for (int64_t i = first; i < first + n; ++i) total += row.codes[static_cast<size_t>(i)];
  return total;
}

void expect_codes(const int8_t* codes, int64_t n_rows, int64_t m, const QuantizedRow& row, int64_t n_blocks) {
  for (int64_t i = 0; i < n_blocks * 32; ++i) {
    ASSERT_EQ(codes[(i / 32 * n_rows + m) * 32 + i % 32], row.codes[static_cast<size_t>(i)]) << "value " << i;
  }
}

void expect_q8x32_row(const Q8x32Tile& tile, int64_t m, const QuantizedRow& row, int64_t n_blocks) {
  expect_codes(tile.codes, tile.n_rows, m, row, n_blocks);
  for (int64_t b = 0; b < n_blocks; ++b) {
    const int64_t cell = b * tile.n_rows + m;
    const float scale = row.scales[static_cast<size_t>(b)];
    const int total = sum(row, 32 * b, 32);
    EXPECT_TRUE(same_value(tile.scales[cell], scale));
    EXPECT_TRUE(same_value(tile.scaled_sums[cell], scale * static_cast<float>(total)));
    EXPECT_EQ(tile.minus_8_sums[cell], -8 * total);
    EXPECT_EQ(tile.minus_16_sums[cell], -16 * total);
    EXPECT_EQ(tile.minus_128_sums[cell], -128 * total);
    for (int64_t half = 0; half < 2; ++half) {
      const int part = sum(row, 32 * b + 16 * half, 16);
      EXPECT_EQ(tile.half_sums[(2 * b + half) * tile.n_rows + m], -128 * part);
      EXPECT_TRUE(
          same_value(tile.scaled_halves[(2 * b + half) * tile.n_rows + m], scale * static_cast<float>(part)));
    }
  }
}

void expect_q8x256_row(const Q8x256Tile& tile, int64_t m, const QuantizedRow& row, int64_t n_blocks) {
  expect_codes(tile.codes, tile.n_rows, m, row, n_blocks);
  const int order[8] = {0, 2, 1, 3, 4, 6, 5, 7};
  for (int64_t s = 0; s < n_blocks / 8; ++s) {
    EXPECT_TRUE(same_value(tile.scales[s * tile.n_rows + m], row.scales[static_cast<size_t>(s)]));
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(tile.paired_sums[(s * tile.n_rows + m) * 8 + i], sum(row, 256 * s + 32 * order[i], 32));
    }
  }
  for (int64_t half = 0; half < 2 * n_blocks; ++half) {
    EXPECT_EQ(tile.minus_32_sums[half * tile.n_rows + m], -32 * sum(row, 16 * half, 16));
  }
}

void expect_tiles(const Case& c, const std::vector<float>& x) {
  const int64_t n_blocks = activation_blocks(c.kind, c.k);
  const RowTiles tiles = row_tiles(c.m);
  for (const Isa isa : supported_isas()) {
    SCOPED_TRACE(std::string(isa_name(isa)) + " m " + std::to_string(c.m) + " k " + std::to_string(c.k));
    const std::vector<std::byte> out = quantize(isa, c, x);
    for (int64_t t = 0; t < tiles.count; ++t) {
      const int64_t first = tile_begin(tiles, t), n_rows = tile_begin(tiles, t + 1) - first;
      const std::byte* tile = out.data() + first * activation_row_bytes(c.kind, c.k);
      for (int64_t m = 0; m < n_rows; ++m) {
        SCOPED_TRACE("row " + std::to_string(first + m));
        const QuantizedRow row = quantize_reference(c.kind, &x[static_cast<size_t>((first + m) * c.k)], c.k);
        if (c.kind == ActivationKind::kQ8x32) {
          expect_q8x32_row(q8x32_tile(tile, n_rows, n_blocks), m, row, n_blocks);
        } else {
          expect_q8x256_row(q8x256_tile(tile, n_rows, n_blocks), m, row, n_blocks);
        }
      }
    }
  }
}

TEST(LinearQuantizeTest, EveryArrayOfEveryTile) {
  for (const Case& c : {Case{ActivationKind::kQ8x32, 1, 32}, Case{ActivationKind::kQ8x32, 13, 96},
                        Case{ActivationKind::kQ8x32, 25, 64}, Case{ActivationKind::kQ8x256, 1, 256},
                        Case{ActivationKind::kQ8x256, 14, 512}}) {
    expect_tiles(c, random_rows(c.m, c.k, 21));
  }
}

TEST(LinearQuantizeTest, TailsArePaddedWithZeros) {
  for (const Case& c : {Case{ActivationKind::kQ8x32, 2, 1}, Case{ActivationKind::kQ8x32, 3, 47},
                        Case{ActivationKind::kQ8x256, 2, 32}, Case{ActivationKind::kQ8x256, 2, 300}}) {
    expect_tiles(c, random_rows(c.m, c.k, 22));
  }
}

TEST(LinearQuantizeTest, TiesGoToTheEvenCode) {
  // amax 127 makes codes the values themselves.
  std::vector<float> x(32, 0.0f);
  x[0] = 127.0f;
  for (size_t i = 1; i < 31; ++i) x[i] = static_cast<float>(i) - 15.5f;
  const QuantizedRow row = quantize_reference(ActivationKind::kQ8x32, x.data(), 32);
  ASSERT_EQ(row.codes[15], 0);  // -0.5
  ASSERT_EQ(row.codes[16], 0);  // 0.5
  ASSERT_EQ(row.codes[17], 2);  // 1.5
  ASSERT_EQ(row.codes[18], 2);  // 2.5
  expect_tiles({ActivationKind::kQ8x32, 1, 32}, x);
}

TEST(LinearQuantizeTest, ZeroTinyHugeAndNonFiniteBlocks) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {
      0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), 0x1p-101f, 0x1p-100f, infinity, -infinity,
      nan,  -nan,  std::numeric_limits<float>::max(),        -1.0f};
  for (const ActivationKind kind : {ActivationKind::kQ8x32, ActivationKind::kQ8x256}) {
    const int64_t k = 512;
    for (const float value : values) {
      for (const size_t place : {0u, 17u, 255u}) {
        std::vector<float> x(static_cast<size_t>(k), 0.0f);
        x[place] = value;
        x[300] = 1.0f;
        expect_tiles({kind, 1, k}, x);
      }
    }
  }
}

TEST(LinearQuantizeTest, TilesCutRowsEvenly) {
  for (int64_t m = 1; m <= 100; ++m) {
    const RowTiles tiles = row_tiles(m);
    EXPECT_EQ(tile_begin(tiles, 0), 0);
    EXPECT_EQ(tile_begin(tiles, tiles.count), m);
    for (int64_t t = 0; t < tiles.count; ++t) {
      const int64_t rows = tile_begin(tiles, t + 1) - tile_begin(tiles, t);
      EXPECT_GE(rows, m / tiles.count);
      EXPECT_LE(rows, kTileRows);
      for (int64_t r = tile_begin(tiles, t); r < tile_begin(tiles, t + 1); ++r)
        EXPECT_EQ(tile_of_row(tiles, r), t);
    }
  }
}

TEST(LinearQuantizeTest, BytesGrowWithRowsOnly) {
  for (const ActivationKind kind : {ActivationKind::kF32, ActivationKind::kQ8x32, ActivationKind::kQ8x256}) {
    for (const int64_t k : {32, 256, 1536}) {
      for (int64_t m = 1; m < 40; ++m) {
        EXPECT_LE(activation_bytes(kind, m, k), activation_bytes(kind, m + 1, k));
        EXPECT_EQ(activation_bytes(kind, m, k) % 64, 0u);
      }
      EXPECT_EQ(activation_bytes(kind, 64, k), 64 * static_cast<size_t>(activation_row_bytes(kind, k)));
    }
  }
}

}  // namespace
}  // namespace quire::kernels
