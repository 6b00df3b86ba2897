// run_program(): the whole of `quire`: parses the command line, runs one command, reports, returns the exit
// code.
#pragma once

#include "cli/exit_code.h"

namespace quire::cli {

// Writes to the process's standard streams. Every failure is one line on standard error and an exit code.
ExitCode run_program(int argc, const char* const* argv);

}  // namespace quire::cli
