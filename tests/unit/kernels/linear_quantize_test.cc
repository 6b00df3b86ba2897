// Activation quantisation: every array of every tile, on every ISA, against a plain computation.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/kernel_table.h"
#include "kernels/linear/activation_layout.h"
#include "linear_cases.h"

namespace quire::kernels {
namespace {

constexpr ActivationKind kKind = ActivationKind::kQ8x32;

struct Case {
  int64_t m, k;
};

// The tiles of m rows, or of 2m when there are two planes; rows are written one at a time, the last one
// first.
std::vector<std::byte> quantize(Isa isa, const Case& c, const std::vector<float>& x,
                                ActivationPlanes planes) {
  const int64_t n_rows = planes == ActivationPlanes::kTwo ? 2 * c.m : c.m;
  std::vector<std::byte> out(activation_bytes(kKind, n_rows, c.k), std::byte{0xa5});
  const QuantizeArgs args = {
      .planes = planes, .x = x.data(), .ld_x = c.k, .out = out.data(), .m = c.m, .k = c.k};
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
    EXPECT_EQ(tile.sums[cell], static_cast<float>(total));
    EXPECT_EQ(tile.start_8[cell], kSumBiasBits - 8 * total);
    EXPECT_EQ(tile.start_16[cell], kSumBiasBits - 16 * total);
    EXPECT_EQ(tile.start_128[cell], kSumBiasBits - 128 * total);
    for (int64_t half = 0; half < 2; ++half) {
      const int part = sum(row, 32 * b + 16 * half, 16);
      const int64_t half_cell = (2 * b + half) * tile.n_rows + m;
      EXPECT_EQ(tile.half_sums[half_cell], static_cast<float>(part));
      EXPECT_EQ(tile.start_32_halves[half_cell], kSumBiasBits - 32 * part);
      EXPECT_EQ(tile.start_128_halves[half_cell], kSumBiasBits - 128 * part);
    }
  }
}

// What the codes of a row leave over.
std::vector<float> left_over(const QuantizedRow& row, const std::vector<float>& x) {
  std::vector<float> rest(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    rest[i] = std::fma(-static_cast<float>(row.codes[i]), row.scales[i / 32], x[i]);
  }
  return rest;
}

void expect_tiles(const Case& c, const std::vector<float>& x, ActivationPlanes planes) {
  const int64_t n_blocks = activation_blocks(c.k);
  const int64_t n_all = planes == ActivationPlanes::kTwo ? 2 * c.m : c.m;
  const RowTiles tiles = row_tiles(n_all);
  for (const Isa isa : supported_isas()) {
    SCOPED_TRACE(std::string(isa_name(isa)) + " m " + std::to_string(c.m) + " k " + std::to_string(c.k));
    const std::vector<std::byte> out = quantize(isa, c, x, planes);
    for (int64_t r = 0; r < n_all; ++r) {
      SCOPED_TRACE("row " + std::to_string(r));
      const int64_t t = tile_of_row(tiles, r);
      const int64_t first = tile_begin(tiles, t), n_rows = tile_begin(tiles, t + 1) - first;
      const std::byte* tile = out.data() + first * activation_row_bytes(kKind, c.k);
      const float* values = &x[static_cast<size_t>(r % c.m * c.k)];
      QuantizedRow row = quantize_reference(values, c.k);
      if (r >= c.m) row = quantize_reference(left_over(row, {values, values + c.k}).data(), c.k);
      expect_q8x32_row(q8x32_tile(tile, n_rows, n_blocks), r - first, row, n_blocks);
    }
  }
}

void expect_tiles(const Case& c, const std::vector<float>& x) {
  expect_tiles(c, x, ActivationPlanes::kOne);
  expect_tiles(c, x, ActivationPlanes::kTwo);
}

TEST(LinearQuantizeTest, EveryArrayOfEveryTile) {
  for (const Case& c : {Case{1, 32}, Case{13, 96}, Case{25, 64}, Case{14, 512}}) {
    expect_tiles(c, random_rows(c.m, c.k, 21));
  }
}

TEST(LinearQuantizeTest, TailsArePaddedWithZeros) {
  for (const Case& c : {Case{2, 1}, Case{3, 47}, Case{2, 300}}) expect_tiles(c, random_rows(c.m, c.k, 22));
}

// Rows in stretches that begin and end anywhere in tiles, of a part of the columns at a time.
TEST(LinearQuantizeTest, RowsAndColumnsTogetherGiveTheSameTiles) {
  const Case c = {.m = 41, .k = 1000};
  const std::vector<float> x = random_rows(c.m, c.k, 23);
  for (const Isa isa : supported_isas()) {
    for (const ActivationPlanes planes : {ActivationPlanes::kOne, ActivationPlanes::kTwo}) {
      const std::vector<std::byte> one_at_a_time = quantize(isa, c, x, planes);
      for (const int64_t rows : {2, 5, 9, 12, 17, 41}) {
        for (const int64_t blocks : {1, 3, 21, 32}) {
          SCOPED_TRACE(std::string(isa_name(isa)) + " rows " + std::to_string(rows) + " blocks " +
                       std::to_string(blocks));
          std::vector<std::byte> out(one_at_a_time.size(), std::byte{0xa5});
          for (int64_t column = 0; column < c.k; column += 32 * blocks) {
            const QuantizeArgs args = {.planes = planes,
                                       .x = x.data() + column,
                                       .ld_x = c.k,
                                       .out = out.data(),
                                       .m = c.m,
                                       .k = c.k,
                                       .block_begin = column / 32,
                                       .n_columns = std::min(c.k - column, 32 * blocks)};
            for (int64_t r = 0; r < c.m; r += rows) {
              kernel_table(isa).linear.quantize(args, r, std::min(c.m, r + rows));
            }
          }
          EXPECT_TRUE(out == one_at_a_time);
        }
      }
    }
  }
}

TEST(LinearQuantizeTest, TwoPlanesCarryFifteenBits) {
  const Case c = {1, 64};
  const std::vector<float> x = random_rows(c.m, c.k, 23);
  const QuantizedRow first = quantize_reference(x.data(), c.k);
  const std::vector<float> rest = left_over(first, x);
  const QuantizedRow second = quantize_reference(rest.data(), c.k);
  for (size_t i = 0; i < x.size(); ++i) {
    const float sum = static_cast<float>(first.codes[i]) * first.scales[i / 32] +
                      static_cast<float>(second.codes[i]) * second.scales[i / 32];
    EXPECT_LE(std::fabs(sum - x[i]), first.scales[i / 32] / 2 / 127 + 1e-6f * std::fabs(x[i])) << i;
  }
}

TEST(LinearQuantizeTest, TiesGoToTheEvenCode) {
  // amax 127 makes codes the values themselves.
  std::vector<float> x(32, 0.0f);
  x[0] = 127.0f;
  for (size_t i = 1; i < 31; ++i) x[i] = static_cast<float>(i) - 15.5f;
  const QuantizedRow row = quantize_reference(x.data(), 32);
  ASSERT_EQ(row.codes[15], 0);  // -0.5
  ASSERT_EQ(row.codes[16], 0);  // 0.5
  ASSERT_EQ(row.codes[17], 2);  // 1.5
  ASSERT_EQ(row.codes[18], 2);  // 2.5
  expect_tiles({1, 32}, x);
}

TEST(LinearQuantizeTest, ZeroTinyHugeAndNonFiniteBlocks) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {
      0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), 0x1p-101f, 0x1p-100f, infinity, -infinity,
      nan,  -nan,  std::numeric_limits<float>::max(),        -1.0f};
  const int64_t k = 512;
  for (const float value : values) {
    for (const size_t place : {0u, 17u, 255u}) {
      std::vector<float> x(static_cast<size_t>(k), 0.0f);
      x[place] = value;
      x[300] = 1.0f;
      expect_tiles({1, k}, x);
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
  for (const ActivationKind kind : {ActivationKind::kF32, ActivationKind::kQ8x32}) {
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
