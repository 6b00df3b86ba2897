// Loading a model with a progress bar, interruptible.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/chat/interrupt.h"
#include "cli/console.h"
#include "engine/runner.h"

namespace quire::cli {

// Errors: those of Runner::load; kCancelled after Ctrl-C.
Result<std::unique_ptr<Runner>> load_runner(Console& console, const std::string& path,
                                            const EngineSettings& settings, const InterruptGuard& interrupt);

}  // namespace quire::cli
