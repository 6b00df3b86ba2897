// Hand-written scanners against the patterns they stand for, on random text.
#include "tokenizer/scanners.h"

#include <gtest/gtest.h>

#include "test_vocabs.h"
#include "tokenizer/pretokenizer.h"

namespace quire::tokenizer {
namespace {

using test::Garbage;
using test::random_text;

TEST(ScannersTest, EveryScannerEqualsItsPattern) {
  PreTokenizerScratch native_scratch, compiled_scratch;
  for (const NativeScanner& scanner : native_scanners()) {
    const PreTokenizerRow row{.names = {"test"}, .patterns = {scanner.pattern}};
    const PreTokenizer native(row), compiled(row, ScannerChoice::kCompiled);
    for (uint32_t seed = 0; seed < 300; ++seed) {
      const std::string text =
          random_text(seed, 1 + seed % 40, seed % 3 == 0 ? Garbage::kInvalidBytes : Garbage::kValidOnly);
      native.split(text, native_scratch);
      compiled.split(text, compiled_scratch);
      ASSERT_EQ(native_scratch.ends, compiled_scratch.ends) << scanner.pattern << "\n"
                                                            << seed << ": " << text;
    }
  }
}

// Small alphabets reach the corners of one pattern more often than mixed text does.
TEST(ScannersTest, EveryScannerEqualsItsPatternOnShortAlphabets) {
  const std::vector<std::vector<std::string>> alphabets = {
      {" ", "\n", "x"},           {"A", "a", "ʰ", "\u0301"},  {"1", "x", " ", "_"}, {"'", "S", "l", "L", "ſ"},
      {"!", "/", "\n", " ", "a"}, {"\u00A0", " ", "\r", "."}, {"\xFF", " ", "a"},   {"½", "1", "٣", "a"}};
  PreTokenizerScratch native_scratch, compiled_scratch;
  for (const NativeScanner& scanner : native_scanners()) {
    const PreTokenizerRow row{.names = {"test"}, .patterns = {scanner.pattern}};
    const PreTokenizer native(row), compiled(row, ScannerChoice::kCompiled);
    for (const auto& alphabet : alphabets) {
      const size_t n = alphabet.size();
      for (size_t code = 0; code < n * n * n * n * n; ++code) {
        std::string text;
        for (size_t i = 0, rest = code; i < 5; ++i, rest /= n) text += alphabet[rest % n];
        native.split(text, native_scratch);
        compiled.split(text, compiled_scratch);
        ASSERT_EQ(native_scratch.ends, compiled_scratch.ends) << scanner.pattern << "\n" << text;
      }
    }
  }
}

TEST(ScannersTest, PiecesCoverTheTextForEveryPreTokenizer) {
  PreTokenizerScratch scratch;
  for (const PreTokenizerRow& row : pre_tokenizer_table()) {
    const PreTokenizer pre(row);
    for (uint32_t seed = 0; seed < 60; ++seed) {
      const std::string text = random_text(seed, 30, Garbage::kInvalidBytes);
      pre.split(text, scratch);
      ASSERT_FALSE(scratch.ends.empty());
      size_t last = 0;
      for (const size_t end : scratch.ends) {
        ASSERT_GT(end, last) << row.names.front();
        last = end;
      }
      ASSERT_EQ(last, text.size()) << row.names.front();
    }
  }
}

TEST(PreTokenizerTableTest, NamesAreUnique) {
  std::vector<std::string_view> names;
  for (const PreTokenizerRow& row : pre_tokenizer_table())
    names.insert(names.end(), row.names.begin(), row.names.end());
  const size_t n = names.size();
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  EXPECT_EQ(names.size(), n);
  EXPECT_GT(n, 80u);
}

}  // namespace
}  // namespace quire::tokenizer
