// quire tokenize: text to token ids.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/format.h"
#include "cli/model_folder.h"
#include "cli/standard_input.h"
#include "gguf/gguf_file.h"
#include "gguf/printable.h"
#include "tokenizer/tokenizer.h"

namespace quire::cli {
namespace {

enum class Listing : uint8_t { kIds, kPieces };

class TokenizeCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "tokenize",
            .summary = "Turn text into token ids",
            .example =
                "  quire tokenize -m smollm2-135m-q4_1 -p \"Hello world\" --pieces\n"
                "  quire tokenize -m model.gguf --json < text.txt"};
  }

  void add_options(CLI::App& app) override {
    app.add_option("-m,--model", model_, "Model file, or a name from `quire models`")
        ->required()
        ->type_name("MODEL");
    app.add_option("-p,--prompt", text_, "The text (default: the bytes of standard input)")
        ->type_name("TEXT");
    app.add_flag_callback(
        "--no-special", [this] { special_ = SpecialTokens::kPlain; },
        "Text that spells a control token is only text");
    app.add_flag_callback(
        "--no-bos", [this] { add_ = AddSpecial::kNo; }, "No begin and end tokens around the text");
    app.add_flag_callback(
        "--pieces", [this] { listing_ = Listing::kPieces; }, "One token a line: its id and its text");
  }

  Result<ExitCode> run(Console& console) override {
    QUIRE_ASSIGN_OR_RETURN(const std::string path, resolve_model(model_));
    QUIRE_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(path));
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer,
                           Tokenizer::load(file.metadata(), console.log()));
    if (!text_) {
      QUIRE_ASSIGN_OR_RETURN(text_, read_standard_input(Tokenizer::kMaxText));
    }
    QUIRE_ASSIGN_OR_RETURN(const std::vector<TokenId> ids, tokenizer->encode(*text_, special_, add_));
    print(console, *tokenizer, ids);
    return ExitCode::kDone;
  }

 private:
  void print(Console& console, const Tokenizer& tokenizer, const std::vector<TokenId>& ids) const {
    const auto piece = [&](TokenId id) { return std::string(tokenizer.piece(id, RenderSpecial::kShow)); };
    if (console.json()) {
      Json pieces = Json::array();
      for (TokenId id : ids) pieces.push_back(piece(id));
      console.print_json({{"ids", ids}, {"pieces", std::move(pieces)}});
    } else if (listing_ == Listing::kPieces) {
      for (TokenId id : ids) console.print("{:>7}  '{}'\n", id, printable(piece(id), 1000));
    } else {
      console.print("{}\n", fmt::join(ids, " "));
    }
  }

  std::string model_;
  std::optional<std::string> text_;
  SpecialTokens special_ = SpecialTokens::kParse;
  AddSpecial add_ = AddSpecial::kYes;
  Listing listing_ = Listing::kIds;
};

}  // namespace

std::unique_ptr<Command> make_tokenize_command() { return std::make_unique<TokenizeCommand>(); }

}  // namespace quire::cli
