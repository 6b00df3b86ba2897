// What a plan says, made from headers only, is what a loaded model owns: row by row, to the byte.
#pragma once

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <memory>
#include <string>

#include "engine/memory_plan.h"
#include "engine/runner.h"

namespace quire::testing {

inline std::string text_of(const MemoryPlan& plan) {
  std::string text = fmt::format("{} x {}\n", plan.max_sequences, plan.max_context);
  for (const PlanRow& row : plan.rows)
    text += fmt::format("{} {} {} {}\n", row.kind, row.place, row.bytes, row.detail);
  return text;
}

// Plans and loads the model file `path`.
inline void expect_held_as_planned(const std::string& path, const EngineSettings& settings) {
  const Result<MemoryPlan> plan = Runner::plan(path, settings);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const Result<std::unique_ptr<Runner>> runner =
      Runner::load(path, settings, [](size_t, size_t) { return true; });
  ASSERT_TRUE(runner.ok()) << runner.error().message;
  EXPECT_EQ(text_of(*plan), text_of((*runner)->memory()));
}

}  // namespace quire::testing
