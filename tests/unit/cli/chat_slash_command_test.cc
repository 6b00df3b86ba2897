// Slash commands: which lines are commands, and which commands are complete.
#include "cli/chat/slash_command.h"

#include <gtest/gtest.h>

namespace quire::cli {
namespace {

TEST(SlashCommandTest, WhatIsACommand) {
  EXPECT_TRUE(is_command("/help"));
  EXPECT_TRUE(is_command("/nonsense"));
  EXPECT_FALSE(is_command("//help"));
  EXPECT_FALSE(is_command(" /help"));
  EXPECT_FALSE(is_command("help"));
  EXPECT_FALSE(is_command(""));
}

TEST(SlashCommandTest, EveryRowParses) {
  for (const CommandRow& row : command_rows()) {
    const bool takes = row.argument[0] != '\0', needs = takes && row.argument[0] != '[';
    const Result<SlashCommand> bare = parse_command(row.name);
    EXPECT_EQ(bare.ok(), !needs) << row.name;
    const Result<SlashCommand> with = parse_command(std::string(row.name) + "  some text \n");
    EXPECT_EQ(with.ok(), takes) << row.name;
    if (with.ok()) {
      EXPECT_EQ(with->id, row.id);
      EXPECT_EQ(with->argument, "some text");
    }
  }
}

TEST(SlashCommandTest, UnknownOnesAreNamed) {
  const Result<SlashCommand> result = parse_command("/frob it");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("/frob"), std::string::npos);
}

}  // namespace
}  // namespace quire::cli
