#include "cli/chat/run_chat.h"

#include <filesystem>

#include "cli/chat/chat_session.h"
#include "cli/chat/local_clock.h"
#include "cli/chat/terminal.h"
#include "cli/format.h"
#include "cli/gguf_summary.h"
#include "cli/model_folder.h"
#include "gguf/printable.h"

namespace quire::cli {
namespace {

constexpr size_t kMaxName = 200;

void show_banner(const Remarks& remarks, const LoadedModel& model, const ChatFormat& format) {
  const GgufSummary summary = summarize(model.runner->model().file());
  remarks.note(fmt::format("{}{}{}{}: {} parameters, {}, {} of memory, context of {} tokens",
                           remarks.style().bold, printable(model.runner->model().name(), kMaxName),
                           remarks.style().reset, remarks.style().dim, format_count(summary.parameters),
                           summary.type, format_size(model.runner->memory().total_bytes()),
                           model.generation->ctx()));
  if (format.source() == TemplateSource::kDefault)
    remarks.note("the file has no chat template; using ChatML");
  remarks.note("/help lists the commands, Ctrl-D leaves");
}

// Empty when there is no folder to keep it in.
std::string history_path() {
  const Result<std::string> models = model_folder();
  if (!models.ok()) return {};
  const std::filesystem::path home = std::filesystem::path(*models).parent_path();
  std::error_code ignored;
  std::filesystem::create_directories(home, ignored);
  return (home / "history").string();
}

}  // namespace

Result<ExitCode> run_chat(Console& console, LoadedModel& model, const std::string& system,
                          const GenerationSettings& settings, InterruptGuard& interrupt) {
  QUIRE_ASSIGN_OR_RETURN(const ChatFormat format, ChatFormat::create(*model.tokenizer));
  Remarks remarks(terminal_style(), console.draws_progress() ? Verbosity::kNormal : Verbosity::kQuiet);
  show_banner(remarks, model, format);
  const std::unique_ptr<MessageReader> reader =
      Terminal::usable() ? make_editor_reader(remarks.style(), history_path()) : make_line_reader(interrupt);
  ChatSession session(
      {.console = console, .remarks = remarks, .model = model, .format = format, .interrupt = interrupt},
      Conversation(system), settings, local_time_now());
  QUIRE_RETURN_IF_ERROR(session.run(*reader));
  return ExitCode::kDone;
}

}  // namespace quire::cli
