// Ids of tricky texts for three public models, against another engine (tests/data/tokenizer).
#include "reference_files.h"
#include "tokenizer/escaped_space.h"

namespace quire::test {
namespace {

class RealModelTest : public testing::TestWithParam<const char*> {};

TEST_P(RealModelTest, IdsEqualTheReference) {
  const auto model = models_dir() / (std::string(GetParam()) + ".gguf");
  if (!std::filesystem::exists(model)) GTEST_SKIP() << "model not downloaded: " << model;
  const auto rows = nlohmann::json::parse(
      read_file(std::filesystem::path(QUIRE_TEST_DATA) / "tokenizer" / (std::string(GetParam()) + ".json")));
  const auto tokenizer = load_tokenizer(model);
  ASSERT_NE(tokenizer, nullptr);
  size_t checked = 0;
  for (const auto& row : rows.at("cases")) {
    const auto text = row.at("text").get<std::string>();
    SCOPED_TRACE(row.at("tag").get<std::string>() + ": " + row.at("text").dump());
    const auto ids = row.at("ids").get<std::vector<TokenId>>();
    const auto plain = row.value("ids_plain", ids);
    const auto added = row.value("ids_added", ids);
    EXPECT_EQ(ids_of(*tokenizer, text, SpecialTokens::kParse, AddSpecial::kNo), ids);
    EXPECT_EQ(ids_of(*tokenizer, text, SpecialTokens::kPlain, AddSpecial::kNo), plain);
    EXPECT_EQ(ids_of(*tokenizer, text, SpecialTokens::kParse, AddSpecial::kYes), added);
    const auto back = tokenizer->decode(plain, {.special = RenderSpecial::kShow});
    ASSERT_TRUE(back.ok());
    // U+2581 is the space itself in such vocabularies.
    EXPECT_EQ(*back, tokenizer->model() == "llama" ? tokenizer::unescape_spaces(text) : text);
    ++checked;
  }
  EXPECT_GT(checked, 100u);
}

INSTANTIATE_TEST_SUITE_P(Models, RealModelTest,
                         testing::Values("smollm2-135m-q4_1", "qwen2.5-coder-1.5b-q4_k_m",
                                         "gemma3-270m-q4_k_m"),
                         [](const auto& row) {
                           std::string name = row.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace quire::test
