#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/standard_streams.h"
#include "gguf/printable.h"

namespace quire::cli {

#define QUIRE_COMMAND(name) std::unique_ptr<Command> make_##name##_command();
#include "cli/command_list.inc"
#undef QUIRE_COMMAND

namespace {

constexpr const char* kVersion = QUIRE_VERSION;
constexpr size_t kMaxMessageBytes = 2000;

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
#define QUIRE_COMMAND(name) commands.push_back(make_##name##_command());
#include "cli/command_list.inc"
#undef QUIRE_COMMAND
  return commands;
}

// One line, whatever the message holds.
void print_error(std::string_view prefix, std::string_view message) {
  write_standard_error(fmt::format("{}: {}\n", prefix, printable(message, kMaxMessageBytes)));
}

struct Program {
  CLI::App app{"quire runs language models from GGUF files on this machine.", "quire"};
  CommonOptions common;
  std::vector<std::unique_ptr<Command>> commands = make_commands();
  std::vector<CLI::App*> parsers;  // one for each command

  Program() {
    app.get_formatter()->column_width(32);
    app.get_formatter()->label("SUBCOMMAND", "COMMAND");
    app.set_version_flag("--version", std::string("quire ") + kVersion);
    app.footer("Details of a command: quire COMMAND --help");
    for (const std::unique_ptr<Command>& command : commands) {
      const CommandInfo info = command->info();
      CLI::App* parser = app.add_subcommand(info.name, info.summary);
      parser->group("Commands");
      parser->footer("Example:\n" + info.example);
      command->add_options(*parser);
      add_common_options(*parser, common);
      parsers.push_back(parser);
    }
  }

  bool knows(std::string_view name) const {
    return std::any_of(parsers.begin(), parsers.end(),
                       [&](const CLI::App* p) { return p->get_name() == name; });
  }

  std::string command_names() const {
    std::string names;
    for (const CLI::App* parser : parsers) names += (names.empty() ? "" : ", ") + parser->get_name();
    return names;
  }

  // "quire inspect" once the command is known: what messages begin with.
  std::string prefix() const {
    for (const CLI::App* parser : parsers) {
      if (parser->parsed()) return "quire " + parser->get_name();
    }
    return "quire";
  }
};

ExitCode run_command(Command& command, const CommonOptions& options, const std::string& prefix) {
  Console console(options);
  Result<ExitCode> result = command.run(console);
  // What was printed before a failure is still wanted; a failure to print it counts only when there is no
  // other.
  const Status flushed = console.flush();
  const Error* error = !result.ok() ? &result.error() : !flushed.ok() ? &flushed.error() : nullptr;
  if (error == nullptr) return *result;
  print_error(prefix, error->message);
  return exit_code_for(error->code);
}

ExitCode parse_and_run(Program& program, int argc, const char* const* argv) {
  if (argc < 2) {
    write_standard_error(program.app.help());
    return ExitCode::kUsage;
  }
  if (argv[1][0] != '-' && !program.knows(argv[1])) {
    print_error("quire", fmt::format("no command '{}'; there are {}", argv[1], program.command_names()));
    return ExitCode::kUsage;
  }
  try {
    program.app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    // Help and version are "errors" of the parser with exit code 0, and print to standard output.
    if (e.get_exit_code() == 0) return program.app.exit(e) == 0 ? ExitCode::kDone : ExitCode::kFailed;
    print_error(program.prefix(), fmt::format("{} (see {} --help)", e.what(), program.prefix()));
    return ExitCode::kUsage;
  }
  for (size_t i = 0; i < program.parsers.size(); ++i) {
    if (program.parsers[i]->parsed())
      return run_command(*program.commands[i], program.common, program.prefix());
  }
  print_error("quire", fmt::format("no command given; there are {}", program.command_names()));
  return ExitCode::kUsage;
}

}  // namespace

ExitCode run_program(int argc, const char* const* argv) {
  try {
    Program program;
    return parse_and_run(program, argc, argv);
  } catch (const std::bad_alloc&) {
    print_error("quire", "out of memory");
    return ExitCode::kDoesNotFit;
  }
}

}  // namespace quire::cli
