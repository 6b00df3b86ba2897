// Vocabulary-only files with texts and ids (only where the full oracle is at hand).
#include "reference_files.h"

namespace quire::test {
namespace {

std::vector<std::string> split_texts(const std::string& all) {
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::vector<std::string> texts;
  size_t at = 0;
  for (size_t end; (end = all.find(separator, at)) != std::string::npos; at = end + separator.size()) {
    texts.push_back(all.substr(at, end - at));
  }
  return texts;
}

std::vector<TokenId> parse_ids(const std::string& line) {
  std::istringstream in(line);
  std::vector<TokenId> ids;
  for (TokenId id; in >> id;) ids.push_back(id);
  return ids;
}

class VocabFileTest : public testing::TestWithParam<const char*> {};

TEST_P(VocabFileTest, IdsEqualTheReference) {
  const std::filesystem::path oracle = QUIRE_ORACLE_DIR;
  if (oracle.empty()) GTEST_SKIP() << "no oracle folder";
  const auto base = oracle / "vocab" / (std::string("ggml-vocab-") + GetParam() + ".gguf");
  const auto tokenizer = load_tokenizer(base);
  ASSERT_NE(tokenizer, nullptr);
  const auto texts = split_texts(read_file(base.string() + ".inp"));
  std::istringstream out(read_file(base.string() + ".out"));
  ASSERT_GT(texts.size(), 40u);
  for (const std::string& text : texts) {
    std::string line;
    ASSERT_TRUE(std::getline(out, line));
    EXPECT_EQ(ids_of(*tokenizer, text, SpecialTokens::kPlain, AddSpecial::kNo), parse_ids(line)) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, VocabFileTest,
                         testing::Values("bert-bge", "deepseek-coder", "llama-spm", "phi-3"),
                         [](const auto& row) {
                           std::string name = row.param;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace quire::test
