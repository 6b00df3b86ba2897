// Tiny models of tests/data for tests of plans and measurements.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/runner.h"

namespace quire::testing {

inline std::string model_path(const std::string& name) {
  return std::string(QUIRE_TEST_DATA) + "/models/" + name;
}

// Null, with a failure noted, when it does not load.
inline std::unique_ptr<Runner> load(const std::string& name, const EngineSettings& settings) {
  Result<std::unique_ptr<Runner>> runner =
      Runner::load(model_path(name), settings, [](size_t, size_t) { return true; });
  EXPECT_TRUE(runner.ok()) << (runner.ok() ? "" : runner.error().message);
  return runner.ok() ? std::move(*runner) : nullptr;
}

}  // namespace quire::testing
