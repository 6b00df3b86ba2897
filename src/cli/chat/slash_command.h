// Slash commands of the chat: their table, and the way from a line to one of them.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace quire::cli {

enum class CommandId : uint8_t { kHelp, kClear, kSystem, kRegen, kUndo, kSet, kStats, kSave, kLoad, kExit };

struct CommandRow {
  CommandId id;
  const char* name;      // with its slash
  const char* argument;  // "" when there is none
  const char* about;
};
std::span<const CommandRow> command_rows();

struct SlashCommand {
  CommandId id;
  std::string argument;  // without space around it
};

// Whether a message is a command: it begins with a slash, but not with two.
bool is_command(std::string_view message);

// Errors: kInvalidArgument (no such command, an argument missing or too many).
Result<SlashCommand> parse_command(std::string_view message);

}  // namespace quire::cli
