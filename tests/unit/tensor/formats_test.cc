// Every block format against stored blocks with known values (tests/data/quants).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tensor/element_type.h"

namespace quire {
namespace {

constexpr int64_t kSourceValues = 3 * 1024;

template <typename T>
std::vector<T> read_file(const std::string& name) {
  std::ifstream file(std::string(QUIRE_TEST_DATA "/quants/") + name, std::ios::binary | std::ios::ate);
  EXPECT_TRUE(file.good()) << name;
  std::vector<T> content(static_cast<size_t>(file.tellg()) / sizeof(T));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(content.data()),
            static_cast<std::streamsize>(content.size() * sizeof(T)));
  return content;
}

struct Case {
  std::string type;
  bool same_bytes;  // encoders must give the stored bytes
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.type; }

std::vector<Case> cases() {
  std::ifstream file(QUIRE_TEST_DATA "/quants/index.json");
  std::vector<Case> result;
  for (const auto& entry : nlohmann::json::parse(file)) {
    result.push_back({entry["type"], entry.value("gguf_quantizer_same_bytes", false)});
  }
  return result;
}

std::vector<Case> cases_with_same_bytes() {
  std::vector<Case> result = cases();
  std::erase_if(result, [](const Case& c) { return !c.same_bytes; });
  return result;
}

std::vector<Case> cases_with_codes() {
  std::vector<Case> result = cases();
  std::erase_if(result, [](const Case& c) { return c.type == "F16" || c.type == "BF16"; });
  return result;
}

// Bits, so that -0 and +0 differ.
::testing::AssertionResult same_bits(const std::vector<float>& got, const std::vector<float>& want) {
  if (got.size() != want.size())
    return ::testing::AssertionFailure() << got.size() << " values, want " << want.size();
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::bit_cast<uint32_t>(got[i]) != std::bit_cast<uint32_t>(want[i])) {
      return ::testing::AssertionFailure() << "value " << i << " is " << got[i] << ", want " << want[i];
    }
  }
  return ::testing::AssertionSuccess();
}

std::vector<float> decode(const ElementTypeInfo& info, const std::byte* blocks, size_t n_bytes) {
  const auto n_blocks = static_cast<int64_t>(n_bytes) / info.block_bytes;
  std::vector<float> values(static_cast<size_t>(n_blocks * info.block_elems));
  info.decode(blocks, values.data(), static_cast<int64_t>(values.size()));
  return values;
}

// The values again from codes, scales and offsets.
std::vector<float> decode_codes(const ElementTypeInfo& info, const std::byte* blocks, size_t n_bytes) {
  const size_t n = n_bytes / static_cast<size_t>(info.block_bytes) * static_cast<size_t>(info.block_elems);
  std::vector<int8_t> codes(n);
  std::vector<float> scales(n / kCodeGroup), offsets(info.has_offsets ? n / kCodeGroup : 0);
  info.unpack(blocks, Int8Codes{codes.data(), scales.data(), info.has_offsets ? offsets.data() : nullptr},
              static_cast<int64_t>(n));
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) {
    values[i] = scales[i / kCodeGroup] * static_cast<float>(codes[i]);
    if (info.has_offsets) values[i] += offsets[i / kCodeGroup];
  }
  return values;
}

class Formats : public ::testing::TestWithParam<Case> {
 protected:
  const ElementTypeInfo& info() const { return *find_element_type(GetParam().type); }
};

TEST_P(Formats, DecodeStoredBlocks) {
  const auto blocks = read_file<std::byte>(GetParam().type + ".bin");
  const auto want = read_file<float>(GetParam().type + ".f32");
  EXPECT_TRUE(same_bits(decode(info(), blocks.data(), blocks.size()), want));
}

TEST_P(Formats, DecodeAtAnyAddress) {
  const auto blocks = read_file<std::byte>(GetParam().type + ".bin");
  const auto want = read_file<float>(GetParam().type + ".f32");
  std::vector<std::byte> shifted(blocks.size() + 1);
  std::ranges::copy(blocks, shifted.begin() + 1);
  EXPECT_TRUE(same_bits(decode(info(), shifted.data() + 1, blocks.size()), want));
}

class FormatsWithCodes : public Formats {};

TEST_P(FormatsWithCodes, CodesReproduceValues) {
  const auto blocks = read_file<std::byte>(GetParam().type + ".bin");
  const auto want = read_file<float>(GetParam().type + ".f32");
  EXPECT_TRUE(same_bits(decode_codes(info(), blocks.data(), blocks.size()), want));
}

class FormatsWithEncoder : public Formats {};

TEST_P(FormatsWithEncoder, EncodeGivesTheStoredBytes) {
  ASSERT_NE(info().encode, nullptr);
  const auto source = read_file<float>("source.f32");
  const auto want = read_file<std::byte>(GetParam().type + ".bin");
  ASSERT_EQ(static_cast<int64_t>(source.size()), kSourceValues);
  const size_t n_bytes = row_bytes(info().type, kSourceValues).value();
  std::vector<std::byte> got(n_bytes);
  info().encode(source.data(), got.data(), kSourceValues);
  for (size_t i = 0; i < n_bytes; ++i) {
    ASSERT_EQ(got[i], want[i]) << "byte " << i % static_cast<size_t>(info().block_bytes) << " of block "
                               << i / static_cast<size_t>(info().block_bytes);
  }
}

std::string type_name(const ::testing::TestParamInfo<Case>& param) { return param.param.type; }

INSTANTIATE_TEST_SUITE_P(All, Formats, ::testing::ValuesIn(cases()), type_name);
INSTANTIATE_TEST_SUITE_P(All, FormatsWithCodes, ::testing::ValuesIn(cases_with_codes()), type_name);
INSTANTIATE_TEST_SUITE_P(All, FormatsWithEncoder, ::testing::ValuesIn(cases_with_same_bytes()), type_name);

TEST(FormatsTogether, EveryStoredQuantisedTypeIsTested) {
  std::vector<std::string> stored;
  for (const Case& c : cases()) stored.push_back(c.type);
  for (const ElementTypeInfo& info : element_types()) {
    if (info.unpack == nullptr || info.type == ElementType::kQ8_1 || info.type == ElementType::kQ8_K)
      continue;
    EXPECT_NE(std::ranges::find(stored, info.name), stored.end()) << info.name;
  }
}

// The two activation formats are in no weight file, so their values come from the layout: d, then codes.
TEST(FormatsTogether, ActivationFormatsDecode) {
  std::vector<std::byte> q8_1(36);
  q8_1[1] = std::byte{0x38};  // d = 0.5
  q8_1[3] = std::byte{0x7b};  // s, not part of a value
  for (int i = 0; i < 32; ++i) q8_1[static_cast<size_t>(4 + i)] = static_cast<std::byte>(i - 16);
  const auto values = decode(element_type_info(ElementType::kQ8_1), q8_1.data(), q8_1.size());
  for (int i = 0; i < 32; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], 0.5f * static_cast<float>(i - 16));

  std::vector<std::byte> q8_k(292);
  const float d = -0.25f;
  std::memcpy(q8_k.data(), &d, sizeof(d));
  for (int i = 0; i < 256; ++i) q8_k[static_cast<size_t>(4 + i)] = static_cast<std::byte>(i - 128);
  const auto values_k = decode(element_type_info(ElementType::kQ8_K), q8_k.data(), q8_k.size());
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(values_k[static_cast<size_t>(i)], -0.25f * static_cast<float>(i - 128));
}

// Files are not trusted: blocks of any bits decode without undefined behaviour, and codes still agree with
// values.
TEST(FormatsTogether, AnyBitsDecode) {
  std::mt19937 random(1);
  for (const ElementTypeInfo& info : element_types()) {
    if (info.unpack == nullptr) continue;
    std::vector<std::byte> blocks(static_cast<size_t>(info.block_bytes) * 64);
    for (std::byte& b : blocks) b = static_cast<std::byte>(random());
    const auto values = decode(info, blocks.data(), blocks.size());
    const auto again = decode_codes(info, blocks.data(), blocks.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) {
        EXPECT_TRUE(std::isnan(again[i])) << info.name;
      } else {
        EXPECT_EQ(std::bit_cast<uint32_t>(values[i]), std::bit_cast<uint32_t>(again[i])) << info.name;
      }
    }
  }
}

// Encoding what cannot be represented is defined, and tiny or huge finite values lose no more than the format
// must.
TEST(FormatsTogether, EncodersTakeAnyValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float extremes[] = {0.0f,  -0.0f,    1e-45f,   -1e-39f,   1.2e-38f,
                            3e38f, -3.4e38f, infinity, -infinity, nan};
  for (const ElementTypeInfo& info : element_types()) {
    if (info.encode == nullptr) continue;
    const auto n = static_cast<size_t>(info.block_elems);
    std::vector<std::byte> block(static_cast<size_t>(info.block_bytes));
    std::vector<float> back(n);
    for (const float extreme : extremes) {
      std::vector<float> values(n, 1.0f);
      values[n / 2] = extreme;
      info.encode(values.data(), block.data(), info.block_elems);
      info.decode(block.data(), back.data(), info.block_elems);
      std::ranges::fill(values, extreme);
      info.encode(values.data(), block.data(), info.block_elems);
      info.decode(block.data(), back.data(), info.block_elems);
      if (std::fabs(extreme) < 1e-30f) {
        for (const float value : back) EXPECT_LE(std::fabs(value), 2e-38f) << info.name << " of " << extreme;
      }
    }
  }
}

// An encoded value is never further from the original than one step of its block.
TEST(FormatsTogether, EncodersAreNear) {
  const auto source = read_file<float>("source.f32");
  const auto first_row = std::vector<float>(source.begin(), source.begin() + 1024);  // bell shaped
  const std::pair<ElementType, float> steps[] = {
      {ElementType::kQ4_0, 1.0f / 8},  {ElementType::kQ4_1, 2.0f / 15},  {ElementType::kQ5_0, 1.0f / 16},
      {ElementType::kQ5_1, 2.0f / 31}, {ElementType::kQ8_0, 1.0f / 127}, {ElementType::kTQ1_0, 1.0f},
      {ElementType::kTQ2_0, 1.0f},
  };
  for (const auto& [type, step] : steps) {
    const ElementTypeInfo& info = element_type_info(type);
    std::vector<std::byte> blocks(row_bytes(type, 1024).value());
    info.encode(first_row.data(), blocks.data(), 1024);
    const auto back = decode(info, blocks.data(), blocks.size());
    const auto n = static_cast<size_t>(info.block_elems);
    for (size_t start = 0; start < 1024; start += n) {
      float amax = 0;
      for (size_t i = 0; i < n; ++i) amax = std::max(amax, std::fabs(first_row[start + i]));
      for (size_t i = 0; i < n; ++i) {
        // Q4_0 and Q5_0 have no code for the value opposite to the extreme: one step instead of half a one.
        EXPECT_LE(std::fabs(back[start + i] - first_row[start + i]), 1.01f * step * amax) << info.name;
      }
    }
  }
}

}  // namespace
}  // namespace quire
