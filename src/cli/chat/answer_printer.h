// AnswerPrinter: streams an answer to standard output while it is generated, and stops it on Ctrl-C.
//
// Long prompts show how far they are on standard error while they are read. On a terminal control characters
// in the answer are shown as U+FFFD: a model must not drive the terminal. One answer each; console and guard
// must outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/chat/interrupt.h"
#include "cli/console.h"
#include "engine/generation.h"

namespace quire::cli {

enum class AnswerForm : uint8_t { kStream, kCollect };

class AnswerPrinter final : public GenerationObserver {
 public:
  AnswerPrinter(Console& console, const InterruptGuard& interrupt, AnswerForm form);

  Flow on_prompt(int64_t done, int64_t total) override;
  Flow on_text(std::string_view text) override;

 private:
  Flow flow() const { return interrupt_.interrupted() ? Flow::kCancel : Flow::kContinue; }

  Console& console_;
  const InterruptGuard& interrupt_;
  AnswerForm form_;
  bool on_terminal_;
};

// `text` with control characters other than line breaks and tabs replaced by U+FFFD. Valid UTF-8 in and out.
std::string without_controls(std::string_view text);

}  // namespace quire::cli
