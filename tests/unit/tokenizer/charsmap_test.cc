#include "tokenizer/charsmap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace quire::tokenizer {
namespace {

std::string blob_of(std::vector<uint32_t> units, std::string_view replacements) {
  const auto size = static_cast<uint32_t>(units.size() * sizeof(uint32_t));
  std::string blob(sizeof size + size, '\0');
  std::memcpy(blob.data(), &size, sizeof size);
  std::memcpy(blob.data() + sizeof size, units.data(), size);
  blob += replacements;
  return blob;
}

// A trie with the one entry "A" -> "xy": root base 0x100, so 'A' is unit 0x141; its base leads to the value
// unit 0x80.
std::string one_entry_blob() {
  std::vector<uint32_t> units(0x200, 0);
  units[0] = 0x100u << 10;
  units[0x100 ^ 'A'] = (static_cast<uint32_t>(0x100 ^ 'A' ^ 0x80) << 10) | (1u << 8) | 'A';
  units[0x80] = 3;  // offset of the replacement
  return blob_of(std::move(units), std::string_view("zz\0xy\0", 6));
}

TEST(CharsmapTest, ReplacesTheLongestPrefix) {
  const auto map = Charsmap::parse(one_entry_blob());
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->longest_prefix("ABC").length, 1u);
  EXPECT_EQ(map->longest_prefix("ABC").replacement, "xy");
  EXPECT_EQ(map->longest_prefix("BA").length, 0u);
  EXPECT_EQ(Charsmap().longest_prefix("A").length, 0u);
}

TEST(CharsmapTest, SizesThatDoNotFitAreErrors) {
  for (const std::string& blob : {std::string("\x01"),
                                  std::string("\xFF\xFF\xFF\xFF"
                                              "abcd"),
                                  std::string("\0\0\0\0", 4), std::string("\3\0\0\0abc", 7)}) {
    EXPECT_FALSE(Charsmap::parse(blob).ok());
  }
}

TEST(CharsmapTest, AnyBytesAreSurvived) {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint32_t> units(64);
    for (uint32_t& unit : units) unit = static_cast<uint32_t>(random());
    const std::string blob = blob_of(units, round % 2 == 0 ? "" : "abc");
    const auto map = Charsmap::parse(blob);
    ASSERT_TRUE(map.ok());
    for (int byte = 0; byte < 256; ++byte) {
      const std::string text(4, static_cast<char>(byte));
      EXPECT_LE(map->longest_prefix(text).length, text.size());
    }
  }
}

}  // namespace
}  // namespace quire::tokenizer
