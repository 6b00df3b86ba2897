// Rotary frequencies and magnitudes for every scaling, against those that transformers computes for the same
// settings (tests/data/models/rope.json, made by tools/make_model_cases.py).
#include "models/blocks/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gguf/gguf_file.h"
#include "models/gguf_weights.h"
#include "unit/gguf/temp_folder.h"
#include "unit/models/tiny_model.h"

namespace quire {
namespace {

using Json = nlohmann::json;
using testing::TempFolder;
using testing::TinyModel;

std::vector<Json> cases() {
  std::ifstream file(QUIRE_TEST_DATA "/models/rope.json");
  const Json json = Json::parse(file, nullptr, false);
  return json.is_array() ? json.get<std::vector<Json>>() : std::vector<Json>();
}

class Rope : public ::testing::TestWithParam<Json> {};

TEST_P(Rope, EqualsTheReference) {
  const Json& c = GetParam();
  TinyModel model;
  model.set("general.architecture", std::string("llama"));
  for (const auto& [key, value] : c.at("keys").items()) {
    if (value.is_string()) {
      model.set("llama." + key, value.get<std::string>());
    } else if (value.is_number_float()) {
      model.set("llama." + key, value.get<float>());
    } else {
      model.set("llama." + key, value.get<uint32_t>());
    }
  }
  for (const auto& [name, values] : c.at("tensors").items()) {
    model.add_tensor({.name = name,
                      .dims = {static_cast<int64_t>(values.size())},
                      .values = values.get<std::vector<float>>()});
  }
  const TempFolder folder;
  const GgufFile file = GgufFile::open(model.write(folder.path("rope.gguf"))).value();
  const GgufWeights weights(file);
  const graph::ProgramBuilder builder(weights, kernels::ActivationSetting::kInt8);
  const Result<graph::RopeSpec> rope =
      read_rope(Keys(file.metadata(), "llama"), c.at("d_head"), c.at("n_ctx_train"),
                {.ctx = c.at("ctx").get<int64_t>()}, builder);
  ASSERT_TRUE(rope.ok()) << rope.error().message;
  const auto inv_freq = c.at("inv_freq").get<std::vector<double>>();
  ASSERT_EQ(rope->inv_freq.size(), inv_freq.size());
  for (size_t i = 0; i < inv_freq.size(); ++i)
    EXPECT_NEAR(static_cast<double>(rope->inv_freq[i]) / inv_freq[i], 1, 2e-6) << "pair " << i;
  EXPECT_NEAR(static_cast<double>(rope->magnitude), c.at("magnitude").get<double>(), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Reference, Rope, ::testing::ValuesIn(cases()),
                         [](const auto& row) { return row.param.at("name").template get<std::string>(); });

TEST(RopeScaling, NothingToExtrapolateIsLinearScalingWithoutMagnitude) {
  RopeParams p{.n_rot = 64, .scaling = RopeScaling::kYarn, .factor = 4, .n_ctx_original = 2048};
  p.yarn_ext_factor = 0;
  RopeParams linear = p;
  linear.scaling = RopeScaling::kLinear;
  EXPECT_EQ(make_rope(p, {}).value(), make_rope(linear, {}).value());
}

TEST(RopeScaling, TheConfigurationsOwnFactorReplacesTheDefault) {
  RopeParams p{.n_rot = 64, .scaling = RopeScaling::kYarn, .factor = 4, .n_ctx_original = 2048};
  const float standard = make_rope(p, {}).value().magnitude;
  EXPECT_NEAR(standard, 1 + 0.1 * std::log(4.0), 1e-6);
  p.yarn_attn_factor = 1.5f;
  EXPECT_EQ(make_rope(p, {}).value().magnitude, 1.5f);
  p.attn_factor = 2;
  EXPECT_EQ(make_rope(p, {}).value().magnitude, 3.0f);
}

}  // namespace
}  // namespace quire
