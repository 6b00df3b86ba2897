// Tiny models of tests/data for tests of plans and measurements.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "engine/runner.h"

namespace quire::testing {

inline std::string model_path(const std::string& name) {
  return std::string(QUIRE_TEST_DATA) + "/models/" + name;
}

// The model file in a folder of tests/data/models.
inline std::string model_file(const std::string& folder) {
  const std::string f32 = folder + "/model-f32.gguf";
  return std::filesystem::exists(model_path(f32)) ? f32 : folder + "/model-f16.gguf";
}

// Null, with a failure noted, when it does not load.
inline std::unique_ptr<Runner> load(const std::string& name, const EngineSettings& settings) {
  Result<std::unique_ptr<Runner>> runner =
      Runner::load(model_path(name), settings, [](size_t, size_t) { return true; });
  EXPECT_TRUE(runner.ok()) << (runner.ok() ? "" : runner.error().message);
  return runner.ok() ? std::move(*runner) : nullptr;
}

}  // namespace quire::testing
