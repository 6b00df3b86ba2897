#include "cli/chat/chat_session.h"

#include "cli/chat/answer_printer.h"
#include "cli/chat/conversation_file.h"
#include "cli/chat/setting_table.h"
#include "cli/chat/speed_line.h"
#include "cli/format.h"
#include "gguf/printable.h"

namespace quire::cli {
namespace {

constexpr size_t kMaxShown = 1000;  // bytes of a message of the system or a file name

}  // namespace

ChatSession::ChatSession(const ChatParts& parts, Conversation conversation, GenerationSettings settings,
                         LocalTime started)
    : parts_(parts),
      conversation_(std::move(conversation)),
      settings_(std::move(settings)),
      started_(started) {}

Status ChatSession::run(MessageReader& reader) {
  Next next = Next::kGoOn;
  while (next == Next::kGoOn) {
    QUIRE_ASSIGN_OR_RETURN(ReadResult read, reader.read());
    switch (read.event) {
      case ReadEvent::kMessage:
        next = handle(std::move(read.message));
        break;
      case ReadEvent::kInterrupt:
        parts_.remarks.note("Ctrl-C stops an answer; Ctrl-D or /exit leaves");
        break;
      case ReadEvent::kClose:
        next = Next::kLeave;
        break;
    }
  }
  if (totals_.answers > 0) parts_.remarks.note(totals_line(totals_));
  return {};
}

ChatSession::Next ChatSession::handle(std::string message) {
  if (message.find_first_not_of(" \t\r\n") == std::string::npos) return Next::kGoOn;
  if (!is_command(message)) {
    send(message.starts_with("//") ? message.substr(1) : std::move(message));
    return Next::kGoOn;
  }
  const Result<SlashCommand> parsed = parse_command(message);
  if (parsed.ok()) return command(*parsed);
  explain(parsed.error());
  return Next::kGoOn;
}

ChatSession::Next ChatSession::command(const SlashCommand& command) {
  switch (command.id) {
    case CommandId::kHelp:
      show_help();
      break;
    case CommandId::kClear:
      conversation_.clear();
      parts_.remarks.note("the conversation begins anew");
      break;
    case CommandId::kSystem:
      set_system(command.argument);
      break;
    case CommandId::kRegen:
      regenerate();
      break;
    case CommandId::kUndo:
      undo();
      break;
    case CommandId::kSet:
      set(command.argument);
      break;
    case CommandId::kStats:
      show_stats();
      break;
    case CommandId::kSave:
      save(command.argument);
      break;
    case CommandId::kLoad:
      load(command.argument);
      break;
    case CommandId::kExit:
      return Next::kLeave;
  }
  return Next::kGoOn;
}

void ChatSession::send(std::string message) {
  conversation_.add(Speaker::kUser, std::move(message));
  settings_.choice = 0;
  answer();
}

Result<GenerationResult> ChatSession::generate() {
  QUIRE_ASSIGN_OR_RETURN(const std::vector<TokenId> prompt,
                         parts_.format.prompt({.messages = conversation_.messages(), .now = started_}));
  AnswerPrinter printer(parts_.console, parts_.interrupt, AnswerForm::kStream);
  return parts_.model.generation->run(prompt, settings_, printer);
}

void ChatSession::answer() {
  parts_.interrupt.clear();
  const Result<GenerationResult> result = generate();
  if (!result.ok()) {
    conversation_.undo();
    explain(result.error());
    return;
  }
  if (result->text.empty() && result->finish_reason == FinishReason::kCancelled) {
    conversation_.undo();
    parts_.remarks.note("stopped before the answer began; the message was taken back");
    return;
  }
  if (!result->text.ends_with('\n')) parts_.console.write("\n");
  // A chat whose output cannot be written is over; its reader will say so when the program ends.
  (void)parts_.console.flush();
  conversation_.add(Speaker::kAssistant, result->text);
  totals_.add(*result);
  report(*result);
}

void ChatSession::report(const GenerationResult& result) {
  if (result.finish_reason == FinishReason::kCancelled) parts_.remarks.note("stopped; what there is stays");
  parts_.remarks.note(speed_line(result));
  const auto used = result.prompt_tokens + static_cast<int64_t>(result.tokens.size());
  if (used >= parts_.model.generation->ctx()) {
    parts_.remarks.show(
        fmt::format("The context of {} tokens is full: /clear begins anew, a larger --ctx holds more.",
                    parts_.model.generation->ctx()));
  }
}

void ChatSession::explain(const Error& error) {
  parts_.remarks.show(printable(error.message, kMaxShown));
  if (error.code == ErrorCode::kContextLength) {
    parts_.remarks.show(
        "The message was not sent. /clear begins anew, /undo takes back the last exchange, a larger --ctx "
        "holds more.");
  }
}

void ChatSession::show_help() {
  std::vector<std::vector<std::string>> rows;
  for (const CommandRow& row : command_rows())
    rows.push_back({fmt::format("{} {}", row.name, row.argument), row.about});
  parts_.remarks.show(
      format_table(rows, "ll") +
      "A backslash before Enter, or Alt-Enter, breaks the line. Ctrl-C stops an answer, the arrow keys\n"
      "bring back earlier messages, // begins a message with a slash.");
}

void ChatSession::show_stats() {
  const Generation& generation = *parts_.model.generation;
  parts_.remarks.show(fmt::format("{} messages, {} of {} tokens of the context in use",
                                  conversation_.n_turns(), generation.held().size(), generation.ctx()));
  parts_.remarks.show(totals_line(totals_));
  parts_.remarks.show(fmt::format(
      "{} of memory for the model, {} threads, {}", format_size(parts_.model.runner->memory().total_bytes()),
      parts_.model.runner->device().n_threads(), parts_.model.runner->device().isa()));
}

void ChatSession::set(std::string_view argument) {
  const size_t space = argument.find_first_of(" \t");
  const std::string_view name = argument.substr(0, space);
  const size_t value = space == std::string_view::npos ? space : argument.find_first_not_of(" \t", space);
  if (value != std::string_view::npos) {
    const Status changed = change_setting(settings_, name, argument.substr(value));
    if (!changed.ok()) return explain(changed.error());
  } else if (!name.empty()) {
    return explain(make_error(ErrorCode::kInvalidArgument, "/set needs NAME VALUE"));
  }
  parts_.remarks.show(describe_settings(settings_));
}

void ChatSession::set_system(std::string argument) {
  if (argument.empty()) {
    const std::string& system = conversation_.system();
    parts_.remarks.show(system.empty() ? "there is no system message" : system);
    return;
  }
  conversation_.set_system(std::move(argument));
  parts_.remarks.note("system message set; it stands before the whole conversation");
}

void ChatSession::regenerate() {
  std::string message = conversation_.undo();
  if (message.empty()) return parts_.remarks.show("there is no message to answer again");
  conversation_.add(Speaker::kUser, std::move(message));
  ++settings_.choice;
  answer();
}

void ChatSession::undo() {
  if (conversation_.undo().empty()) return parts_.remarks.show("there is nothing to take back");
  parts_.remarks.note(fmt::format("taken back; {} messages left", conversation_.n_turns()));
}

void ChatSession::save(const std::string& path) {
  const Status saved = save_conversation(path, conversation_);
  if (!saved.ok()) return explain(saved.error());
  parts_.remarks.note(fmt::format("saved to {}", printable(path, kMaxShown)));
}

void ChatSession::load(const std::string& path) {
  Result<Conversation> loaded = load_conversation(path);
  if (!loaded.ok()) return explain(loaded.error());
  conversation_ = std::move(*loaded);
  parts_.remarks.note(fmt::format("{} messages loaded", conversation_.n_turns()));
}

}  // namespace quire::cli
