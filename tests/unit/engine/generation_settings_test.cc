// What a file suggests for sampling.
#include "engine/generation_settings.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>

namespace quire {
namespace {

// Keeps the payloads that Metadata views.
class Keys {
 public:
  template <typename T>
  void add(const char* key, ValueType type, T value) {
    std::string& bytes = payloads_.emplace_back(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    ASSERT_TRUE(metadata_.insert(key, {.type = type, .bytes = bytes}).ok());
  }
  const Metadata& metadata() const { return metadata_; }

 private:
  std::deque<std::string> payloads_;
  Metadata metadata_{"test.gguf"};
};

TEST(SuggestedSamplingTest, DefaultsWithoutKeys) {
  const Result<SamplingSettings> settings = suggested_sampling(Metadata("test.gguf"));
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->temperature, SamplingSettings{}.temperature);
  EXPECT_EQ(settings->top_k, SamplingSettings{}.top_k);
}

TEST(SuggestedSamplingTest, KeysOfTheFile) {
  Keys keys;
  keys.add("general.sampling.temp", ValueType::kF32, 0.25f);
  keys.add("general.sampling.top_k", ValueType::kI32, int32_t{64});
  keys.add("general.sampling.penalty_repeat", ValueType::kF32, 1.5f);
  const Result<SamplingSettings> settings = suggested_sampling(keys.metadata());
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->temperature, 0.25f);
  EXPECT_EQ(settings->top_k, 64);
  EXPECT_EQ(settings->repetition_penalty, 1.5f);
  EXPECT_EQ(settings->top_p, SamplingSettings{}.top_p);
}

TEST(SuggestedSamplingTest, WrongTypesAndValuesAreErrors) {
  Keys type, value;
  type.add("general.sampling.temp", ValueType::kBool, uint8_t{1});
  value.add("general.sampling.top_p", ValueType::kF32, 7.0f);
  for (const Keys* keys : {&type, &value}) {
    const Result<SamplingSettings> settings = suggested_sampling(keys->metadata());
    ASSERT_FALSE(settings.ok());
    EXPECT_EQ(settings.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(settings.error().message.find("general.sampling."), std::string::npos);
  }
}

}  // namespace
}  // namespace quire
