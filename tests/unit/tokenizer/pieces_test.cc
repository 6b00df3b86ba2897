// Pieces of the pre-tokenizers against the Hugging Face tokenizers library
// (tests/data/tokenizer/pieces.json).
#include "reference_files.h"
#include "tokenizer/pretokenizer.h"

namespace quire::test {
namespace {

using tokenizer::PreTokenizer;
using tokenizer::PreTokenizerScratch;
using tokenizer::ScannerChoice;

TEST(PiecesTest, EqualAnIndependentImplementation) {
  const auto data =
      nlohmann::json::parse(read_file(std::filesystem::path(QUIRE_TEST_DATA) / "tokenizer" / "pieces.json"));
  const auto texts = data.at("texts").get<std::vector<std::string>>();
  for (const auto& [name, rows] : data.at("ends").items()) {
    const auto* row = tokenizer::find_pre_tokenizer(name);
    ASSERT_NE(row, nullptr) << name;
    const PreTokenizer native(*row), compiled(*row, ScannerChoice::kCompiled);
    PreTokenizerScratch scratch;
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto expected = rows.at(i).get<std::vector<size_t>>();
      native.split(texts[i], scratch);
      EXPECT_EQ(scratch.ends, expected) << name << ": " << nlohmann::json(texts[i]).dump();
      compiled.split(texts[i], scratch);
      EXPECT_EQ(scratch.ends, expected) << name << " (compiled): " << nlohmann::json(texts[i]).dump();
    }
  }
}

}  // namespace
}  // namespace quire::test
