// answer_once(): one prompt, one answer, for scripts and pipes.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/chat/interrupt.h"
#include "cli/chat/loaded_model.h"
#include "cli/chat/run_options.h"
#include "cli/console.h"
#include "cli/exit_code.h"

namespace quire::cli {

// Streams the text of the answer to standard output, or prints it as one JSON object at the end. On Ctrl-C
// what there is stays printed and the result is kInterrupted. Errors: those of ChatFormat and Generation.
Result<ExitCode> answer_once(Console& console, LoadedModel& model, const RunOptions& options,
                             const GenerationSettings& settings, const std::string& prompt,
                             const InterruptGuard& interrupt);

}  // namespace quire::cli
