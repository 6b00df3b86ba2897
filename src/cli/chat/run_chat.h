// run_chat(): the chat in the terminal, from the banner to the summary.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/chat/interrupt.h"
#include "cli/chat/loaded_model.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "engine/generation_settings.h"

namespace quire::cli {

// Standard input must be a terminal. Errors: those of ChatFormat::create, kIo.
Result<ExitCode> run_chat(Console& console, LoadedModel& model, const std::string& system,
                          const GenerationSettings& settings, InterruptGuard& interrupt);

}  // namespace quire::cli
