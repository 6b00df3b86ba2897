// ChatSession: a conversation in the terminal: messages, answers and slash commands.
//
// Answers go to standard output, everything else to standard error. Nothing that a message, a model or a
// command does ends the session but /exit and the end of the input. One thread; everything passed in must
// outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/chat/conversation.h"
#include "cli/chat/interrupt.h"
#include "cli/chat/loaded_model.h"
#include "cli/chat/message_reader.h"
#include "cli/chat/remarks.h"
#include "cli/chat/slash_command.h"
#include "cli/chat/totals.h"
#include "cli/console.h"
#include "engine/chat.h"
#include "engine/generation.h"
#include "tokenizer/templates/clock.h"

namespace quire::cli {

struct ChatParts {
  Console& console;
  Remarks& remarks;
  LoadedModel& model;
  const ChatFormat& format;
  InterruptGuard& interrupt;
};

class ChatSession {
 public:
  // `started` is the time that templates see, the same for the whole conversation, so that what was read
  // before need not be read again.
  ChatSession(const ChatParts& parts, Conversation conversation, GenerationSettings settings,
              LocalTime started);

  // Until the user leaves. Errors: kIo from the reader.
  Status run(MessageReader& reader);

 private:
  enum class Next : uint8_t { kGoOn, kLeave };

  Next handle(std::string message);
  Next command(const SlashCommand& command);
  void send(std::string message);
  // Generates and records the answer to the conversation, whose last message is the user's.
  void answer();
  Result<GenerationResult> generate();
  void report(const GenerationResult& result);
  void explain(const Error& error);

  void show_help();
  void show_stats();
  void set(std::string_view argument);
  void set_system(std::string argument);
  void regenerate();
  void undo();
  void save(const std::string& path);
  void load(const std::string& path);

  ChatParts parts_;
  Conversation conversation_;
  GenerationSettings settings_;
  LocalTime started_;
  Totals totals_;
};

}  // namespace quire::cli
