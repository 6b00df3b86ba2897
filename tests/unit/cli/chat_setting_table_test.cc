// /set: names, values, and nothing changed by a wrong one.
#include "cli/chat/setting_table.h"

#include <gtest/gtest.h>

namespace quire::cli {
namespace {

TEST(SettingTableTest, Changes) {
  GenerationSettings settings;
  EXPECT_TRUE(change_setting(settings, "temp", "0").ok());
  EXPECT_TRUE(change_setting(settings, "top-k", "12").ok());
  EXPECT_TRUE(change_setting(settings, "seed", "18446744073709551615").ok());
  EXPECT_TRUE(change_setting(settings, "n", "-1").ok());
  EXPECT_EQ(settings.sampling.temperature, 0.0f);
  EXPECT_EQ(settings.sampling.top_k, 12);
  EXPECT_EQ(settings.seed, UINT64_MAX);
  const std::string all = describe_settings(settings);
  EXPECT_NE(all.find("top-k 12"), std::string::npos) << all;
  EXPECT_NE(all.find("seed 18446744073709551615"), std::string::npos) << all;
}

TEST(SettingTableTest, WrongValuesChangeNothing) {
  GenerationSettings settings;
  const std::string before = describe_settings(settings);
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"temp", "-1"},
                                                                                    {"temp", "hot"},
                                                                                    {"temp", "nan"},
                                                                                    {"top-k", "1.5"},
                                                                                    {"top-p", "2"},
                                                                                    {"seed", "-1"},
                                                                                    {"n", "-2"},
                                                                                    {"warmth", "1"}}) {
    const Status status = change_setting(settings, name, value);
    ASSERT_FALSE(status.ok()) << name << value;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(describe_settings(settings), before);
}

}  // namespace
}  // namespace quire::cli
