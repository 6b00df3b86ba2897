#include "engine/tokenizer_memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <filesystem>

#include "gguf/gguf_file.h"
#include "tokenizer/tokenizer.h"
#include "unit/engine/tiny_model.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define QUIRE_OTHER_HEAP 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define QUIRE_OTHER_HEAP 1
#endif

namespace quire {
namespace {

#if !defined(QUIRE_OTHER_HEAP)

double heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

struct Sizes {
  double planned = 0, held = 0;
};

// Zero when the file has no tokenizer that this program knows.
Sizes sizes_of(const std::string& path) {
  const Result<GgufFile> file = GgufFile::open(path);
  if (!file.ok()) return {};
  NullLogSink log;
  const double before = heap_bytes();
  const Result<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::load(file->metadata(), log);
  if (!tokenizer.ok()) return {};
  return {.planned = static_cast<double>(tokenizer_bytes(file->metadata())), .held = heap_bytes() - before};
}

TEST(TokenizerMemory, OfTinyVocabulariesIsSmall) {
  for (const char* name : {"llama/model-f32.gguf", "qwen2/model-f32.gguf"}) {
    const Sizes sizes = sizes_of(testing::model_path(name));
    ASSERT_GT(sizes.held, 0) << name;
    EXPECT_GT(sizes.planned, 384 * 40) << name;
    EXPECT_NEAR(sizes.planned, sizes.held, 256 << 10) << name;
  }
}

TEST(TokenizerMemory, OfRealVocabulariesIsWhatTheyHold) {
  const std::string folder = std::string(QUIRE_ORACLE_DIR) + "/vocab";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no vocabularies beside the repository";
  int n_compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".gguf") continue;
    const Sizes sizes = sizes_of(entry.path());
    if (sizes.held == 0) continue;
    EXPECT_NEAR(sizes.planned / sizes.held, 1, 0.15) << entry.path();
    ++n_compared;
  }
  EXPECT_GT(n_compared, 0);
}

#endif

TEST(TokenizerMemory, WithoutAVocabularyIsNothing) { EXPECT_EQ(tokenizer_bytes(Metadata()), 0u); }

}  // namespace
}  // namespace quire
