// Command: one sub-command of the program, a thin main over the libraries.
//
// To add one:
//   1. Write src/cli/commands/NAME.cc with a class derived from Command and
//      `std::unique_ptr<Command> make_NAME_command() { return std::make_unique<NameCommand>(); }`,
//      and name the file (and the libraries it uses) in src/cli/CMakeLists.txt.
//   2. Add the line QUIRE_COMMAND(NAME) to command_list.inc; its order is the order in `quire --help`.
// Options are members, filled by parsing before run() is called. Results go through the Console, trouble
// comes back as an Error: run_program() prints its one line and turns its code into the exit code
// (exit_code.h). Commands that take a model use ModelOptions (model_options.h) and resolve_model()
// (model_folder.h), long work a ProgressBar (progress.h).
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace quire::cli {

class Console;

struct CommandInfo {
  std::string name;
  std::string summary;  // one line for `quire --help`
  std::string example;  // one or two command lines for `quire NAME --help`
};

class Command {
 public:
  virtual ~Command() = default;
  virtual CommandInfo info() const = 0;
  // Declares options and arguments on the command's own parser. --json, --quiet and --log-level are there
  // already.
  virtual void add_options(CLI::App& app) = 0;
  virtual Result<ExitCode> run(Console& console) = 0;
};

}  // namespace quire::cli
