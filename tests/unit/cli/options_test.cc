#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/common_options.h"
#include "cli/model_options.h"

namespace quire::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Parses `line` with all shared options; returns the parser's complaint, empty when there is none.
std::string parse(const std::string& line, ModelOptions& model, CommonOptions& common) {
  CLI::App app;
  add_model_options(app, model);
  add_common_options(app, common);
  try {
    app.parse(line, false);
  } catch (const CLI::ParseError& e) {
    return e.what();
  }
  return "";
}

TEST(Options, DefaultsAreTheEngines) {
  ModelOptions model;
  CommonOptions common;
  ASSERT_EQ(parse("-m x", model, common), "");
  EXPECT_EQ(model.model, "x");
  EXPECT_EQ(model.settings.ctx, EngineSettings().ctx);
  EXPECT_EQ(model.settings.isa, "auto");
  EXPECT_EQ(model.settings.kv_type, graph::KvType::kF16);
  EXPECT_FALSE(common.json);
  EXPECT_EQ(common.log_level, LogLevel::kInfo);
}

TEST(Options, AreParsedIntoSettings) {
  ModelOptions model;
  CommonOptions common;
  ASSERT_EQ(parse("--model x --ctx 4096 --threads 2 --isa avx2 --kv-type bf16 --activations f32 --off fuse-a "
                  "--off fuse-b --json -q --log-level debug",
                  model, common),
            "");
  EXPECT_EQ(model.settings.ctx, 4096);
  EXPECT_EQ(model.settings.threads, 2);
  EXPECT_EQ(model.settings.isa, "avx2");
  EXPECT_EQ(model.settings.kv_type, graph::KvType::kBF16);
  EXPECT_EQ(model.settings.activations, graph::ActivationSetting::kF32);
  EXPECT_THAT(model.settings.off, ElementsAre("fuse-a", "fuse-b"));
  EXPECT_TRUE(common.json);
  EXPECT_TRUE(common.quiet);
  EXPECT_EQ(common.log_level, LogLevel::kDebug);
}

TEST(Options, RefuseWhatIsNotInTheList) {
  ModelOptions model;
  CommonOptions common;
  EXPECT_THAT(parse("-m x --kv-type q8", model, common),
              HasSubstr("found 'q8', expected one of f16, bf16, f32"));
  EXPECT_THAT(parse("-m x --activations int4", model, common), HasSubstr("int8, f32"));
  EXPECT_THAT(parse("-m x --isa sse", model, common), HasSubstr("scalar"));
  EXPECT_THAT(parse("-m x --log-level loud", model, common), HasSubstr("debug, info, warning, error"));
  EXPECT_THAT(parse("-m x --ctx 0", model, common), HasSubstr("--ctx"));
  EXPECT_THAT(parse("-m x --threads -1", model, common), HasSubstr("--threads"));
  EXPECT_THAT(parse("-m x --ctx many", model, common), HasSubstr("--ctx"));
  EXPECT_THAT(parse("", model, common), HasSubstr("--model"));
}

}  // namespace
}  // namespace quire::cli
