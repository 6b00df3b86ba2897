#include "cli/chat/one_shot.h"

#include "cli/chat/answer_printer.h"
#include "cli/chat/local_clock.h"
#include "cli/chat/remarks.h"
#include "cli/chat/speed_line.h"
#include "engine/chat.h"

namespace quire::cli {
namespace {

Result<std::vector<TokenId>> prompt_ids(Console& console, const Tokenizer& tokenizer,
                                        const RunOptions& options, const std::string& prompt) {
  if (options.form == PromptForm::kRaw) return raw_prompt(tokenizer, prompt);
  QUIRE_ASSIGN_OR_RETURN(const ChatFormat chat, ChatFormat::create(tokenizer));
  if (chat.source() == TemplateSource::kDefault)
    log(console.log(), LogLevel::kWarning,
        "the model file has no chat template; using ChatML (--raw continues a text instead)");
  TemplateInput input{.now = local_time_now()};
  if (!options.system.empty()) input.messages.push_back({.role = "system", .content = options.system});
  input.messages.push_back({.role = "user", .content = prompt});
  return chat.prompt(std::move(input));
}

}  // namespace

Result<ExitCode> answer_once(Console& console, LoadedModel& model, const RunOptions& options,
                             const GenerationSettings& settings, const std::string& prompt,
                             const InterruptGuard& interrupt) {
  QUIRE_ASSIGN_OR_RETURN(const std::vector<TokenId> ids,
                         prompt_ids(console, *model.tokenizer, options, prompt));
  AnswerPrinter printer(console, interrupt, console.json() ? AnswerForm::kCollect : AnswerForm::kStream);
  QUIRE_ASSIGN_OR_RETURN(const GenerationResult answer, model.generation->run(ids, settings, printer));
  if (console.json()) {
    console.print_json({{"text", answer.text},
                        {"tokens", answer.tokens},
                        {"prompt_tokens", answer.prompt_tokens},
                        {"completion_tokens", answer.tokens.size()},
                        {"finish_reason", finish_reason_name(answer.finish_reason)},
                        {"prefill_tps", answer.prefill_tps()},
                        {"decode_tps", answer.decode_tps()},
                        {"seed", settings.seed}});
  } else {
    if (!answer.text.ends_with('\n')) console.write("\n");
    QUIRE_RETURN_IF_ERROR(console.flush());
    if (console.draws_progress()) Remarks(terminal_style(), Verbosity::kNormal).note(speed_line(answer));
  }
  return interrupt.interrupted() ? ExitCode::kInterrupted : ExitCode::kDone;
}

}  // namespace quire::cli
