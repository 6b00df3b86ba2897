// Files written by other programs, and the time a large vocabulary takes.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "gguf/gguf_file.h"
#include "gguf/gguf_writer.h"
#include "unit/gguf/temp_folder.h"

namespace quire {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

// Opens every .gguf below `folder`; returns how many there were.
size_t open_all(const std::string& folder) {
  size_t n = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".gguf") continue;
    ++n;
    const Result<GgufFile> file = GgufFile::open(entry.path().string());
    EXPECT_TRUE(file.ok()) << file.error().message;
    if (!file.ok()) continue;
    EXPECT_TRUE(file->metadata().get<std::string>("general.architecture").ok()) << entry.path();
    EXPECT_LE(file->data_bytes(), entry.file_size());
    // The directory accounts for the whole file: nothing but padding lies behind the last tensor.
    if (!file->tensors().empty()) {
      const TensorInfo& last = file->tensors().back();
      EXPECT_LT(entry.file_size() - (last.offset + last.view.bytes()), file->alignment()) << entry.path();
    }
  }
  return n;
}

TEST(RealFiles, OpenFromTestData) { EXPECT_GT(open_all(std::string(QUIRE_TEST_DATA) + "/gguf"), 0u); }

TEST(RealFiles, OpenFromTheOracle) {
  const std::string oracle = QUIRE_ORACLE_DIR;
  if (oracle.empty()) GTEST_SKIP() << "the oracle folder is not here";
  EXPECT_GT(open_all(oracle), 50u);
}

TEST(RealFiles, ALargeVocabularyLoadsInOnePass) {
  constexpr size_t kTokens = 256 * 1024;
  const TempFolder folder;
  const std::string path = folder.path("vocabulary.gguf");
  std::vector<std::string> words;
  std::vector<std::string_view> views;
  words.reserve(kTokens);
  for (size_t i = 0; i < kTokens; ++i) views.push_back(words.emplace_back(fmt::format("token-{}", i * 7919)));
  GgufHeader header;
  header.set_array<std::string_view>("tokenizer.ggml.tokens", views);
  header.set_array<float>("tokenizer.ggml.scores", std::vector<float>(kTokens, -1.0f));
  GgufWriter writer = GgufWriter::create(path, header).value();
  ASSERT_TRUE(writer.finish().ok());

  const auto start = std::chrono::steady_clock::now();
  const GgufFile file = GgufFile::open(path).value();
  const auto tokens = file.metadata().get_array<std::string_view>("tokenizer.ggml.tokens").value();
  const auto scores = file.metadata().get_array<float>("tokenizer.ggml.scores").value();
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds", std::to_string(elapsed.count()));
  EXPECT_EQ(tokens.size(), kTokens);
  EXPECT_EQ(tokens.back(), words.back());
  EXPECT_EQ(scores.size(), kTokens);
  // Around 5 ms; the bound only catches a pass that is no longer linear, also under a sanitizer.
  EXPECT_LT(elapsed.count(), 1000.0);
}

}  // namespace
}  // namespace quire
