#include "engine/model_fingerprint.h"

#include <gtest/gtest.h>

#include "unit/engine/tiny_model.h"

namespace quire {
namespace {

uint64_t fingerprint(const std::string& name, int64_t ctx, const EngineSettings& settings = {}) {
  const Result<GgufFile> file = GgufFile::open(testing::model_path(name));
  EXPECT_TRUE(file.ok());
  return model_fingerprint(*file, ctx, settings);
}

TEST(ModelFingerprint, FollowsTheFileAndWhatChangesNumbers) {
  const uint64_t base = fingerprint("llama/model-f32.gguf", 256);
  EXPECT_EQ(fingerprint("llama/model-f32.gguf", 256), base);
  EXPECT_EQ(fingerprint("llama/model-f32.gguf", 256, {.max_sequences = 7, .threads = 3}), base);
  EXPECT_NE(fingerprint("qwen2/model-f32.gguf", 256), base);
  EXPECT_NE(fingerprint("llama/model-f32.gguf", 257), base);
  EXPECT_NE(fingerprint("llama/model-f32.gguf", 256, {.kv_type = graph::KvType::kBF16}), base);
  EXPECT_NE(fingerprint("llama/model-f32.gguf", 256, {.activations = graph::ActivationSetting::kF32}), base);
}

}  // namespace
}  // namespace quire
