#include "cli/chat/answer_printer.h"

#include <unistd.h>

#include "base/utf8.h"
#include "cli/standard_streams.h"

namespace quire::cli {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

std::string without_controls(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    text.remove_prefix(static_cast<size_t>(next.length));
    const char32_t c = next.code_point;
    const bool control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0);
    append_utf8(safe, control ? char32_t{0xFFFD} : c);
  }
  return safe;
}

AnswerPrinter::AnswerPrinter(Console& console, const InterruptGuard& interrupt, AnswerForm form)
    : console_(console), interrupt_(interrupt), form_(form), on_terminal_(::isatty(STDOUT_FILENO) == 1) {}

Flow AnswerPrinter::on_prompt(int64_t done, int64_t total) {
  // The last part erases the line, also when it is the only one.
  if (console_.draws_progress()) {
    const std::string line = done < total ? fmt::format("reading: {} of {} tokens", done, total) : "";
    write_standard_error(fmt::format("{}{}", kEraseLine, line));
  }
  return flow();
}

Flow AnswerPrinter::on_text(std::string_view text) {
  if (form_ == AnswerForm::kStream && !text.empty()) {
    console_.write(on_terminal_ ? without_controls(text) : std::string(text));
    // A reader that has gone away is no reason to go on computing.
    if (!console_.flush().ok()) return Flow::kCancel;
  }
  return flow();
}

}  // namespace quire::cli
