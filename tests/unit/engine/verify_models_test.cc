// Every model file of tests/data and of the oracle that the program can run: equal in every way of running.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/model.h"
#include "engine/verify/verification.h"

namespace quire::verify {
namespace {

// Paths of the GGUF files below the folders; those that no architecture takes are left out.
std::vector<std::string> model_files() {
  std::vector<std::string> paths;
  for (const std::string& folder :
       {std::string(QUIRE_TEST_DATA) + "/models", std::string(QUIRE_ORACLE_DIR)}) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string path = entry.path().string();
      if (path.ends_with(".gguf") && Model::open(path, {}).ok()) paths.push_back(path);
    }
  }
  std::ranges::sort(paths);
  return paths;
}

class EveryModel : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryModel, IsEqualInEveryWay) {
  const Result<VerifySummary> summary =
      run_verification(GetParam(), {.threads = 2}, Extent::kFull, [](const VerifyRow& row) {
        EXPECT_EQ(row.verdict, Verdict::kEqual) << row.way << ": " << row.different << " of " << row.compared
                                                << " differ, " << row.count << " " << row.counter;
        return true;
      });
  ASSERT_TRUE(summary.ok()) << (summary.ok() ? "" : summary.error().message);
  EXPECT_GT(summary->rows, 0);
}

INSTANTIATE_TEST_SUITE_P(Tiny, EveryModel, ::testing::ValuesIn(model_files()), [](const auto& info) {
  const std::filesystem::path path = info.param;
  std::string name = path.parent_path().filename().string() + "_" + path.stem().string() + "_" +
                     (info.param.starts_with(QUIRE_TEST_DATA) ? "data" : "oracle");
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

}  // namespace
}  // namespace quire::verify
