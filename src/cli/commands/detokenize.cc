// quire detokenize: token ids to text.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/model_folder.h"
#include "cli/standard_input.h"
#include "cli/token_list.h"
#include "gguf/gguf_file.h"
#include "tokenizer/tokenizer.h"

namespace quire::cli {
namespace {

constexpr size_t kMaxInput = size_t{256} << 20;

class DetokenizeCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "detokenize",
            .summary = "Turn token ids into text",
            .example =
                "  quire detokenize -m smollm2-135m-q4_1 19556 905\n"
                "  quire tokenize -m model.gguf < text.txt | quire detokenize -m model.gguf --no-bos"};
  }

  void add_options(CLI::App& app) override {
    app.add_option("-m,--model", model_, "Model file, or a name from `quire models`")
        ->required()
        ->type_name("MODEL");
    app.add_option("ID", words_, "Token ids (default: those on standard input)")->type_name("");
    app.add_option("--tokens", list_, "Token ids with commas between")->type_name("1,2,3");
    app.add_flag_callback(
        "--no-special", [this] { options_.special = RenderSpecial::kHide; }, "Leave control tokens out");
    app.add_flag_callback(
        "--no-bos", [this] { options_.edges = EdgeTokens::kRemove; },
        "Leave out a begin token in front and an end token at the end");
  }

  Result<ExitCode> run(Console& console) override {
    std::string text = list_;
    for (const std::string& word : words_) text += " " + word;
    QUIRE_ASSIGN_OR_RETURN(const std::string path, resolve_model(model_));
    QUIRE_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(path));
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer,
                           Tokenizer::load(file.metadata(), console.log()));
    if (text.empty()) {
      QUIRE_ASSIGN_OR_RETURN(text, read_standard_input(kMaxInput));
    }
    QUIRE_ASSIGN_OR_RETURN(const std::vector<TokenId> ids, parse_token_ids(text));
    QUIRE_ASSIGN_OR_RETURN(const std::string decoded, tokenizer->decode(ids, options_));
    if (console.json()) {
      console.print_json({{"text", decoded}});
      return ExitCode::kDone;
    }
    // The exact bytes for programs; a terminal wants its prompt on a new line.
    console.write(decoded);
    if (::isatty(STDOUT_FILENO) == 1) console.write("\n");
    return ExitCode::kDone;
  }

 private:
  std::string model_;
  std::vector<std::string> words_;
  std::string list_;
  DecodeOptions options_{.special = RenderSpecial::kShow};
};

}  // namespace

std::unique_ptr<Command> make_detokenize_command() { return std::make_unique<DetokenizeCommand>(); }

}  // namespace quire::cli
