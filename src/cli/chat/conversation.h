// Conversation: what was said so far, and its form as JSON.
//
// A plain value. Text is valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/console.h"
#include "tokenizer/templates/chat_template.h"

namespace quire::cli {

enum class Speaker : uint8_t { kUser, kAssistant };

class Conversation {
 public:
  explicit Conversation(std::string system = {}) : system_(std::move(system)) {}

  // {"messages":[{"role":"system|user|assistant","content":"..."}]}; a system message comes first. Errors:
  // kCorrupt, saying which message and why.
  static Result<Conversation> from_json(std::string_view text);
  Json to_json() const;

  const std::string& system() const { return system_; }
  void set_system(std::string text) { system_ = std::move(text); }
  void add(Speaker speaker, std::string text) { turns_.push_back({speaker, std::move(text)}); }
  // Forgets everything but the system message.
  void clear() { turns_.clear(); }
  // Takes back the last user message and what followed it, and returns that message; empty when there is
  // none.
  std::string undo();
  size_t n_turns() const { return turns_.size(); }

  std::vector<ChatMessage> messages() const;

 private:
  struct Turn {
    Speaker speaker;
    std::string text;
  };
  std::string system_;
  std::vector<Turn> turns_;
};

}  // namespace quire::cli
