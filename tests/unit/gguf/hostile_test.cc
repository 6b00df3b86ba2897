// Files made to hurt: giant counts, wrong types, duplicates, odd alignments, impossible shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <ostream>

#include "gguf/gguf_file.h"
#include "unit/gguf/raw_gguf.h"

namespace quire {
namespace {

using ::testing::HasSubstr;
using testing::RawGguf;

constexpr uint32_t kF32 = 0;
constexpr uint32_t kQ4_0 = 2;

// One damaged file and the words its error must contain.
struct Case {
  std::string name;
  RawGguf file;
  std::vector<std::string> words;
  ErrorCode code = ErrorCode::kCorrupt;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class HostileFile : public ::testing::TestWithParam<Case> {};

int64_t peak_rss_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_P(HostileFile, IsRefusedQuicklyWithOneClearLine) {
  const int64_t rss_before = peak_rss_kib();
  const auto start = std::chrono::steady_clock::now();
  const Result<GgufFile> file = GgufFile::parse(GetParam().file.bytes(), "bad.gguf");
  const auto elapsed = std::chrono::steady_clock::now() - start;

  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, GetParam().code) << file.error().message;
  EXPECT_THAT(file.error().message, ::testing::StartsWith("bad.gguf: "));
  for (const std::string& word : GetParam().words) EXPECT_THAT(file.error().message, HasSubstr(word));
  EXPECT_EQ(file.error().message.find('\n'), std::string::npos) << file.error().message;
  EXPECT_LT(elapsed, std::chrono::milliseconds(100));
  EXPECT_LT(peak_rss_kib() - rss_before, 16 * 1024);
}

constexpr int64_t kHuge = int64_t{1} << 40;

std::vector<Case> giant_counts() {
  return {
      {"empty", RawGguf(), {"empty"}},
      {"magic_alone", RawGguf().text("GGUF"), {"version", "left"}},
      {"keys", RawGguf::with_counts(0, kHuge), {"key count", "1099511627776"}},
      {"keys_negative", RawGguf::with_counts(0, -1), {"key count", "-1"}},
      {"tensors", RawGguf::with_counts(kHuge, 0), {"tensor count", "1099511627776"}},
      {"tensors_negative", RawGguf::with_counts(INT64_MIN, 0), {"tensor count"}},
      {"key_length", RawGguf::with_counts(0, 1).value(kHuge).text("0123456789"), {"key 0", "name"}},
      {"string_length",
       RawGguf::with_counts(0, 1).key("general.name", ValueType::kString).value(kHuge),
       {"general.name", "string", "1099511627776"}},
      {"string_length_max",
       RawGguf::with_counts(0, 1).key("general.name", ValueType::kString).value(UINT64_MAX),
       {"general.name", "string"}},
      {"array_count",
       RawGguf::with_counts(0, 1).key("a.b", ValueType::kArray).array(ValueType::kU8, uint64_t{1} << 40),
       {"a.b", "array count", "1099511627776"}},
      {"array_count_that_overflows_bytes",
       RawGguf::with_counts(0, 1).key("a.b", ValueType::kArray).array(ValueType::kF64, uint64_t{1} << 61),
       {"a.b", "array count"}},
      {"string_array_count",
       RawGguf::with_counts(0, 1).key("a.b", ValueType::kArray).array(ValueType::kString, uint64_t{1} << 40),
       {"a.b", "array count"}},
      {"string_array_element",
       RawGguf::with_counts(0, 1)
           .key("a.b", ValueType::kArray)
           .array(ValueType::kString, 2)
           .string("x")
           .value(kHuge),
       {"a.b", "element 1"}},
      {"dimension_count",
       RawGguf::with_counts(1, 0).string("t").value(uint32_t{1u << 31}).text("0123456789abcdef"),
       {"tensor 't'", "dimension count", "2147483648"}},
      {"tensor_name_length",
       RawGguf::with_counts(1, 0).value(kHuge).text("0123456789abcdef01234567"),
       {"tensor 0"}},
  };
}

RawGguf with_alignment(ValueType type) { return RawGguf::with_counts(0, 1).key("general.alignment", type); }

std::vector<Case> bad_metadata() {
  return {
      {"alignment_0", with_alignment(ValueType::kU32).value(uint32_t{0}), {"general.alignment", "found 0"}},
      {"alignment_48",
       with_alignment(ValueType::kU32).value(uint32_t{48}),
       {"general.alignment", "48", "power of two"}},
      {"alignment_4", with_alignment(ValueType::kU32).value(uint32_t{4}), {"general.alignment", "found 4"}},
      {"alignment_i32", with_alignment(ValueType::kI32).value(int32_t{32}), {"general.alignment", "i32"}},
      {"alignment_string", with_alignment(ValueType::kString).string("32"), {"general.alignment", "string"}},
      {"alignment_array",
       with_alignment(ValueType::kArray).array(ValueType::kU32, 1).value(uint32_t{32}),
       {"general.alignment", "array"}},
      {"alignment_beyond_the_file",
       RawGguf::with_counts(1, 1)
           .key("general.alignment", ValueType::kU32)
           .value(uint32_t{1u << 31})
           .tensor("t", {8}, kF32, 0)
           .data(32),
       {"tensor 't'", "data"}},
      {"empty_key",
       RawGguf::with_counts(0, 1).key("", ValueType::kU8).value(uint8_t{1}).text("x"),
       {"empty key"}},
      {"duplicate_key",
       RawGguf::with_counts(0, 2)
           .key("a.b", ValueType::kU32)
           .value(uint32_t{1})
           .key("a.b", ValueType::kU32)
           .value(uint32_t{2}),
       {"a.b", "twice"}},
      {"nul_in_key",
       RawGguf::with_counts(0, 1).key(std::string_view("a\0b", 3), ValueType::kU8).value(uint8_t{1}),
       {"a\\x00b", "NUL"}},
      {"key_over_64k",
       RawGguf::with_counts(0, 1).key(std::string(70000, 'k'), ValueType::kU8).value(uint8_t{1}),
       {"key 0", "70000", "65535"}},
      {"key_with_line_break",
       RawGguf::with_counts(0, 1).key("a\n\x1b[2Jb", ValueType::kArray).array(ValueType::kArray, 1),
       {"a\\n\\x1b[2Jb"}},
      {"unknown_value_type", RawGguf::with_counts(0, 1).key("a.b", ValueType{13}).value(0), {"a.b", "13"}},
      {"nested_array",
       RawGguf::with_counts(0, 1).key("a.b", ValueType::kArray).array(ValueType::kArray, 1).value(0).value(0),
       {"a.b", "nested"}},
      {"unknown_element_type",
       RawGguf::with_counts(0, 1).key("a.b", ValueType::kArray).array(ValueType{99}, 1).value(0),
       {"a.b", "99"}},
      {"split_count_as_string",
       RawGguf::with_counts(0, 1).key("split.count", ValueType::kString).string("2"),
       {"split.count", "string"}},
      {"split_number_too_large",
       RawGguf::with_counts(0, 2)
           .key("split.no", ValueType::kU16)
           .value(uint16_t{2})
           .key("split.count", ValueType::kU16)
           .value(uint16_t{2}),
       {"split.no"}},
  };
}

std::vector<Case> bad_headers() {
  const auto magic = [](std::string_view m) {
    return RawGguf().text(m).value(uint32_t{3}).value(int64_t{0}).value(int64_t{0});
  };
  const auto version = [](uint32_t v) {
    return RawGguf().text("GGUF").value(v).value(int64_t{0}).value(int64_t{0});
  };
  return {
      {"magic", magic("GGML"), {"magic", "GGML", "GGUF"}},
      {"magic_binary",
       magic("\x7f"
             "ELF"),
       {"magic", "\\x7fELF"}},
      {"magic_swapped", magic("FUGG"), {"big-endian"}, ErrorCode::kUnsupported},
      {"magic_old", magic("tjgg"), {"before GGUF"}, ErrorCode::kUnsupported},
      {"version_0", version(0), {"version", "found 0"}, ErrorCode::kUnsupported},
      {"version_1", version(1), {"version", "found 1", "too old"}, ErrorCode::kUnsupported},
      {"version_4", version(4), {"version", "found 4"}, ErrorCode::kUnsupported},
      {"version_swapped", version(0x03000000), {"version", "big-endian"}, ErrorCode::kUnsupported},
  };
}

std::vector<Case> bad_tensors() {
  const auto one = [](std::string_view name, std::vector<int64_t> dims, uint32_t type, uint64_t offset) {
    return RawGguf::with_counts(1, 0).tensor(name, std::move(dims), type, offset).data(64);
  };
  return {
      {"duplicate_name",
       RawGguf::with_counts(2, 0).tensor("t", {8}, kF32, 0).tensor("t", {8}, kF32, 32).data(64),
       {"tensor 't'", "twice"}},
      {"empty_name", one("", {8}, kF32, 0), {"tensor 0", "empty"}},
      {"nul_in_name", one(std::string_view("a\0b", 3), {8}, kF32, 0), {"NUL"}},
      {"name_of_64_bytes", one(std::string(64, 'n'), {8}, kF32, 0), {"tensor 0", "64", "63"}},
      {"five_dimensions", one("t", {1, 1, 1, 1, 1}, kF32, 0), {"tensor 't'", "dimension count", "5"}},
      {"negative_dimension", one("t", {8, -1}, kF32, 0), {"tensor 't'", "dimension 1", "-1"}},
      {"elements_overflow", one("t", {kHuge, kHuge}, kF32, 0), {"tensor 't'", "overflow"}},
      {"bytes_overflow", one("t", {int64_t{1} << 62}, kF32, 0), {"tensor 't'"}},
      {"zero_hides_overflow", one("t", {0, kHuge, kHuge}, kF32, 0), {"tensor 't'", "overflow"}},
      {"row_not_whole_blocks", one("t", {33}, kQ4_0, 0), {"tensor 't'", "33", "multiple of 32", "Q4_0"}},
      {"removed_type", one("t", {32}, 4, 0), {"tensor 't'", "type", "4"}, ErrorCode::kUnsupported},
      {"foreign_type", one("t", {256}, 144, 0), {"tensor 't'", "144", "ik_llama"}, ErrorCode::kUnsupported},
      {"unknown_type", one("t", {256}, 4000000000, 0), {"tensor 't'", "4000000000"}, ErrorCode::kUnsupported},
      {"unaligned_offset", one("t", {8}, kF32, 4), {"tensor 't'", "offset", "found 4", "expected 0"}},
      {"offset_beyond_file", one("t", {8}, kF32, UINT64_MAX - 31), {"tensor 't'", "offset"}},
      {"gap",
       RawGguf::with_counts(2, 0).tensor("a", {8}, kF32, 0).tensor("b", {8}, kF32, 64).data(128),
       {"tensor 'b'", "found 64", "expected 32"}},
      {"data_missing", one("t", {17}, kF32, 0), {"tensor 't'", "68 bytes"}},
      {"data_far_too_large", one("t", {kHuge}, kF32, 0), {"tensor 't'", "data"}},
      {"empty_tensor_past_the_end",
       RawGguf::with_counts(1, 0).tensor("t", {0}, kF32, 0),
       {"tensor 't'", "data"}},
  };
}

const auto kCaseName = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(GiantCounts, HostileFile, ::testing::ValuesIn(giant_counts()), kCaseName);
INSTANTIATE_TEST_SUITE_P(Metadata, HostileFile, ::testing::ValuesIn(bad_metadata()), kCaseName);
INSTANTIATE_TEST_SUITE_P(Header, HostileFile, ::testing::ValuesIn(bad_headers()), kCaseName);
INSTANTIATE_TEST_SUITE_P(Tensors, HostileFile, ::testing::ValuesIn(bad_tensors()), kCaseName);

// The unharmed relatives of the cases above, so that no check refuses too much.
TEST(FriendlyFile, IsRead) {
  const RawGguf scalar_tensor = RawGguf::with_counts(1, 0).tensor("s", {}, kF32, 0).data(4);
  EXPECT_TRUE(GgufFile::parse(scalar_tensor.bytes(), "a").ok());
  const RawGguf no_final_padding = RawGguf::with_counts(1, 0).tensor("t", {3}, kF32, 0).data(12);
  EXPECT_TRUE(GgufFile::parse(no_final_padding.bytes(), "a").ok());
  const RawGguf wide = with_alignment(ValueType::kU32).value(uint32_t{4096});
  EXPECT_TRUE(GgufFile::parse(wide.bytes(), "a").ok());
  const RawGguf nothing = RawGguf::with_counts(0, 0);
  EXPECT_TRUE(GgufFile::parse(nothing.bytes(), "a").ok());
  const RawGguf version_2 = RawGguf().text("GGUF").value(uint32_t{2}).value(int64_t{0}).value(int64_t{0});
  EXPECT_TRUE(GgufFile::parse(version_2.bytes(), "a").ok());
  const RawGguf nul_in_text =
      RawGguf::with_counts(0, 1).key("a.b", ValueType::kString).string(std::string_view("x\0y", 3));
  const Result<GgufFile> file = GgufFile::parse(nul_in_text.bytes(), "a");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->metadata().get<std::string>("a.b").value(), std::string("x\0y", 3));
}

}  // namespace
}  // namespace quire
