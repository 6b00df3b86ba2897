// Probe texts of the tiny model cases, whose files carry little vocabularies of every kind.
#include <map>

#include "reference_files.h"

namespace quire::test {
namespace {

// Folders with a case.json and a model file: the full oracle, or the copies in tests/data.
std::vector<std::filesystem::path> case_dirs() {
  const std::filesystem::path oracle = QUIRE_ORACLE_DIR;
  const auto root = oracle.empty() ? std::filesystem::path(QUIRE_TEST_DATA) / "models" : oracle;
  std::vector<std::filesystem::path> dirs;
  if (!std::filesystem::is_directory(root)) return dirs;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (std::filesystem::exists(entry.path() / "case.json")) dirs.push_back(entry.path());
  }
  return dirs;
}

TEST(ModelCaseTest, ProbesGiveTheReferenceIds) {
  std::map<std::string, size_t> probes_by_model;
  for (const auto& dir : case_dirs()) {
    const auto model = dir / "model-f32.gguf";
    const auto description = nlohmann::json::parse(read_file(dir / "case.json"));
    if (!description.contains("probes") || !std::filesystem::exists(model)) continue;
    SCOPED_TRACE(dir.string());
    const auto tokenizer = load_tokenizer(model);
    ASSERT_NE(tokenizer, nullptr);
    for (const auto& probe : description.at("probes")) {
      const auto text = probe.at("text").get<std::string>();
      const auto expected = probe.value("peer_ids", probe.at("ids")).get<std::vector<TokenId>>();
      EXPECT_EQ(ids_of(*tokenizer, text, SpecialTokens::kParse, AddSpecial::kNo), expected) << probe.dump();
      ++probes_by_model[tokenizer->model() + "/" + tokenizer->pre()];
    }
  }
  if (probes_by_model.empty()) GTEST_SKIP() << "no model cases at hand";
  for (const auto& [model, n] : probes_by_model) RecordProperty(model, static_cast<int>(n));
  EXPECT_GE(probes_by_model.size(), 1u);
}

}  // namespace
}  // namespace quire::test
