#include "cli/chat/slash_command.h"

#include <array>

namespace quire::cli {
namespace {

constexpr std::array<CommandRow, 10> kRows = {{
    {CommandId::kHelp, "/help", "", "this list"},
    {CommandId::kClear, "/clear", "", "begin anew, keeping the system message"},
    {CommandId::kSystem, "/system", "[TEXT]", "set the system message, or show it"},
    {CommandId::kRegen, "/regen", "", "another answer to the last message"},
    {CommandId::kUndo, "/undo", "", "take back the last message and its answer"},
    {CommandId::kSet, "/set", "[NAME VALUE]", "change a setting (temp, top-k, seed, ...), or show all"},
    {CommandId::kStats, "/stats", "", "tokens in use, speed, memory"},
    {CommandId::kSave, "/save", "FILE", "write the conversation as JSON"},
    {CommandId::kLoad, "/load", "FILE", "go on with a saved conversation"},
    {CommandId::kExit, "/exit", "", "leave; so does Ctrl-D"},
}};

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

std::span<const CommandRow> command_rows() { return kRows; }

bool is_command(std::string_view message) { return message.starts_with('/') && !message.starts_with("//"); }

Result<SlashCommand> parse_command(std::string_view message) {
  const size_t end = message.find_first_of(" \t\n");
  const std::string_view name = message.substr(0, end);
  const std::string_view argument = end == std::string_view::npos ? "" : trim(message.substr(end));
  for (const CommandRow& row : kRows) {
    if (row.name != name) continue;
    const std::string_view expected = row.argument;
    if (expected.empty() && !argument.empty())
      return make_error(ErrorCode::kInvalidArgument, "{} takes nothing behind it", row.name);
    if (!expected.empty() && expected[0] != '[' && argument.empty())
      return make_error(ErrorCode::kInvalidArgument, "{} needs {}", row.name, expected);
    return SlashCommand{.id = row.id, .argument = std::string(argument)};
  }
  return make_error(ErrorCode::kInvalidArgument,
                    "no command {}; /help lists them, and // begins a message with a slash", name);
}

}  // namespace quire::cli
