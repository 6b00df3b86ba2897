#include "gguf/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "gguf/gguf_file.h"
#include "gguf/gguf_header.h"

namespace quire {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A header turned into bytes and read back.
class MetadataTest : public ::testing::Test {
 protected:
  const Metadata& read() {
    layout_ = header_.layout().value();
    file_.emplace(GgufFile::parse(layout_.header, "test.gguf").value());
    return file_->metadata();
  }

  GgufHeader header_;
  GgufLayout layout_;
  std::optional<GgufFile> file_;
};

template <typename T>
std::string message(const Result<T>& result) {
  return result.ok() ? "no error" : result.error().message;
}

TEST_F(MetadataTest, ScalarsOfEveryType) {
  header_.set("u8", uint8_t{255});
  header_.set("i8", int8_t{-128});
  header_.set("u16", uint16_t{65535});
  header_.set("i16", int16_t{-32768});
  header_.set("u32", uint32_t{4294967295u});
  header_.set("i32", std::numeric_limits<int32_t>::min());
  header_.set("u64", std::numeric_limits<uint64_t>::max());
  header_.set("i64", std::numeric_limits<int64_t>::min());
  header_.set("f32", 1.5f);
  header_.set("f64", 0.1);
  header_.set("bool", true);
  header_.set("string", "Hé");
  const Metadata& m = read();
  EXPECT_EQ(m.get<uint32_t>("u8").value(), 255u);
  EXPECT_EQ(m.get<int32_t>("i8").value(), -128);
  EXPECT_EQ(m.get<uint64_t>("u16").value(), 65535u);
  EXPECT_EQ(m.get<int64_t>("i16").value(), -32768);
  EXPECT_EQ(m.get<uint32_t>("u32").value(), 4294967295u);
  EXPECT_EQ(m.get<int32_t>("i32").value(), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(m.get<uint64_t>("u64").value(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(m.get<int64_t>("i64").value(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(m.get<float>("f32").value(), 1.5f);
  EXPECT_EQ(m.get<double>("f32").value(), 1.5);
  EXPECT_EQ(m.get<double>("f64").value(), 0.1);
  EXPECT_EQ(m.get<float>("f64").value(), 0.1f);
  EXPECT_TRUE(m.get<bool>("bool").value());
  EXPECT_EQ(m.get<std::string>("string").value(), "Hé");
  EXPECT_EQ(m.get<std::string_view>("string").value(), "Hé");
  EXPECT_EQ(m.keys().front(), "u8");
  EXPECT_EQ(m.keys().back(), "string");
  EXPECT_EQ(m.keys().size(), 12u);
}

TEST_F(MetadataTest, IntegersThatDoNotFitAreErrors) {
  header_.set("large", uint64_t{1} << 32);
  header_.set("negative", int32_t{-1});
  header_.set("double", 1e300);
  const Metadata& m = read();
  EXPECT_EQ(m.get<uint64_t>("large").value(), uint64_t{1} << 32);
  EXPECT_THAT(message(m.get<uint32_t>("large")),
              AllOf(HasSubstr("test.gguf"), HasSubstr("'large'"), HasSubstr("u32")));
  EXPECT_THAT(message(m.get<int32_t>("large")), HasSubstr("does not fit i32"));
  EXPECT_THAT(message(m.get<uint64_t>("negative")), HasSubstr("does not fit u64"));
  EXPECT_THAT(message(m.get<float>("double")), HasSubstr("does not fit f32"));
}

TEST_F(MetadataTest, WrongTypesNameKeyFoundAndExpected) {
  header_.set("heads", "32");
  header_.set("eps", uint32_t{1});
  header_.set("flag", uint8_t{1});
  header_.set_array<uint8_t>("scores", std::vector<uint8_t>{1, 2});
  const Metadata& m = read();
  EXPECT_THAT(message(m.get<uint32_t>("heads")), HasSubstr("key 'heads': found string, expected u32"));
  EXPECT_THAT(message(m.get<float>("eps")), HasSubstr("key 'eps': found u32, expected f32"));
  EXPECT_THAT(message(m.get<bool>("flag")), HasSubstr("key 'flag': found u8, expected bool"));
  EXPECT_THAT(message(m.get<uint32_t>("scores")), HasSubstr("found an array of 2 u8, expected u32"));
  EXPECT_THAT(message(m.get_array<float>("scores")),
              HasSubstr("key 'scores': found an array of 2 u8, expected an array of f32"));
  EXPECT_THAT(message(m.get_array<std::string>("scores")), HasSubstr("expected an array of string"));
  EXPECT_THAT(message(m.get_array<std::string>("heads")), HasSubstr("found string"));
  EXPECT_EQ(m.get<uint32_t>("heads").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(m.get<uint32_t>("absent").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(message(m.get_array<float>("absent")), AllOf(HasSubstr("'absent'"), HasSubstr("missing")));
}

TEST_F(MetadataTest, FallbackOnlyWhenAbsent) {
  header_.set("eps", "tiny");
  const Metadata& m = read();
  EXPECT_EQ(m.get_or<float>("absent", 2.0f).value(), 2.0f);
  EXPECT_FALSE(m.get_or<float>("eps", 2.0f).ok());
}

TEST_F(MetadataTest, Arrays) {
  header_.set_array<int16_t>("i16", std::vector<int16_t>{-1, 2, 300});
  header_.set_array<uint32_t>("none", {});
  header_.set_array<std::string_view>("words", std::vector<std::string_view>{"a", "", "ccc"});
  header_.set_array<bool>("flags", std::array<bool, 3>{true, false, true});
  const Metadata& m = read();
  EXPECT_THAT(m.get_array<int64_t>("i16").value(), ElementsAre(-1, 2, 300));
  EXPECT_THAT(message(m.get_array<uint32_t>("i16")), HasSubstr("element 0 does not fit u32"));
  EXPECT_TRUE(m.get_array<uint32_t>("none").value().empty());
  EXPECT_THAT(m.get_array<std::string>("words").value(), ElementsAre("a", "", "ccc"));
  EXPECT_THAT(m.get_array<std::string_view>("words").value(), ElementsAre("a", "", "ccc"));
  EXPECT_THAT(m.get_array<bool>("flags").value(), ElementsAre(true, false, true));
}

TEST_F(MetadataTest, PerLayerTakesScalarsAndArrays) {
  header_.set("scalar", uint32_t{8});
  header_.set_array<int32_t>("array", std::vector<int32_t>{1, 2, 3});
  const Metadata& m = read();
  EXPECT_THAT(m.get_per_layer<uint32_t>("scalar", 3).value(), ElementsAre(8, 8, 8));
  EXPECT_THAT(m.get_per_layer<uint32_t>("array", 2).value(), ElementsAre(1, 2));
  EXPECT_THAT(message(m.get_per_layer<uint32_t>("array", 4)),
              AllOf(HasSubstr("found 3"), HasSubstr("4 layers")));
  EXPECT_THAT(message(m.get_per_layer<uint32_t>("scalar", 100000)),
              AllOf(HasSubstr("'scalar'"), HasSubstr("100000")));
  EXPECT_EQ(m.get_per_layer<uint32_t>("absent", 2).error().code, ErrorCode::kNotFound);
}

TEST(Metadata, RefusesEmptyAndDuplicateKeys) {
  Metadata m;
  EXPECT_TRUE(m.insert("a", {}).ok());
  EXPECT_FALSE(m.insert("a", {}).ok());
  EXPECT_FALSE(m.insert("", {}).ok());
  EXPECT_EQ(m.keys().size(), 1u);
}

}  // namespace
}  // namespace quire
