// quire embed: the state that a model holds of a text, as one vector or one per token.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/shortest_double.h"
#include "cli/chat/interrupt.h"
#include "cli/choice_option.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/fed_tokens.h"
#include "cli/model_folder.h"
#include "cli/model_loading.h"
#include "cli/model_options.h"
#include "cli/npy_writer.h"
#include "cli/output_file.h"
#include "engine/pooling.h"
#include "engine/prompt_reading.h"
#include "gguf/printable.h"

namespace quire::cli {
namespace {

constexpr size_t kShown = 8;  // values of a row, for people

constexpr std::array<std::pair<const char*, Pooling>, 4> kPoolings = {
    {{"none", Pooling::kNone}, {"mean", Pooling::kMean}, {"cls", Pooling::kFirst}, {"last", Pooling::kLast}}};

const char* name_of(Pooling pooling) {
  return std::ranges::find(kPoolings, pooling, &std::pair<const char*, Pooling>::second)->first;
}

// Where the rows go: a .npy file, JSON lines or text. One row where states are pooled, else one a token.
class StateSink {
 public:
  static Result<StateSink> create(Console& console, const std::optional<std::string>& path, Pooling pooling,
                                  std::span<const TokenId> tokens, int64_t n_hidden) {
    StateSink sink(console, pooling, tokens);
    if (!path) return sink;
    sink.path_ = *path;
    sink.shape_ = {pooling == Pooling::kNone ? static_cast<int64_t>(tokens.size()) : 1, n_hidden};
    QUIRE_ASSIGN_OR_RETURN(NpyWriter writer, NpyWriter::create(*path, sink.shape_[0], n_hidden));
    sink.writer_.emplace(std::move(writer));
    return sink;
  }

  Status row(int64_t position, std::span<const float> values) {
    if (writer_) return writer_->write_row(values);
    const bool pooled = pooling_ != Pooling::kNone;
    if (console_.json()) {
      Json list = Json::array();
      for (const float value : values) list.push_back(shortest_double(value));
      Json line = pooled ? Json{{"pooling", name_of(pooling_)}, {"tokens", tokens_.size()}}
                         : Json{{"position", position}, {"token", tokens_[static_cast<size_t>(position)]}};
      line["embedding"] = std::move(list);
      console_.print_json(line);
      return {};
    }
    std::string line =
        pooled ? fmt::format("{} of {} tokens, {} values:", name_of(pooling_), tokens_.size(), values.size())
               : fmt::format("{:>5}  {:<8}", position, tokens_[static_cast<size_t>(position)]);
    for (const float value : values.first(std::min(kShown, values.size())))
      line += fmt::format(" {:.4f}", value);
    console_.print("{}{}\n", line, values.size() > kShown ? " ..." : "");
    return {};
  }

  Status finish() {
    if (!writer_) return {};
    QUIRE_RETURN_IF_ERROR(writer_->finish());
    if (console_.json()) {
      console_.print_json({{"out", path_}, {"shape", shape_}});
    } else {
      console_.print("{}: {} x {} float32\n", printable(path_, 1000), shape_[0], shape_[1]);
    }
    return {};
  }

 private:
  StateSink(Console& console, Pooling pooling, std::span<const TokenId> tokens)
      : console_(console), pooling_(pooling), tokens_(tokens) {}

  Console& console_;
  Pooling pooling_;
  std::span<const TokenId> tokens_;
  std::optional<NpyWriter> writer_;
  std::string path_;
  std::array<int64_t, 2> shape_ = {};
};

class EmbedCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "embed",
            .summary = "Compute the embedding of a text",
            .example =
                "  quire embed -m smollm2-135m-q4_1 -p \"The capital of France\" --pooling mean --json\n"
                "  quire embed -m model.gguf --tokens 1,2,3 --pooling none --out states.npy"};
  }

  void add_options(CLI::App& app) override {
    input_.add_options(app, model_.settings);
    add_choice<std::optional<Pooling>>(app, "--pooling", pooling_,
                                       "none, mean, cls or last (default: what the file asks for, else last)",
                                       {kPoolings.begin(), kPoolings.end()})
        ->type_name("HOW");
    app.add_option("--out", out_, "Write to this .npy file: float32 [1 or n_tokens, n_values]")
        ->type_name("FILE");
    add_model_options(app, model_);
  }

  Result<ExitCode> run(Console& console) override {
    QUIRE_ASSIGN_OR_RETURN(const std::string path, resolve_model(model_.model));
    EngineSettings settings = model_.settings;
    settings.prompt_rows = settings.max_batch_tokens;
    // What is wrong with the input is known from the headers, before the weights are loaded.
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, Model::open(path, settings));
    if (out_) QUIRE_RETURN_IF_ERROR(check_output(*out_, input_paths(model->file())));
    std::unique_ptr<Tokenizer> tokenizer;
    if (input_.from_text()) {
      QUIRE_ASSIGN_OR_RETURN(tokenizer, Tokenizer::load(model->file().metadata(), console.log()));
    }
    QUIRE_ASSIGN_OR_RETURN(const std::vector<TokenId> tokens, input_.read(tokenizer.get(), *model));
    Result<Pooling> pooling = pooling_ ? *pooling_ : pooling_of(*model);
    if (!pooling.ok()) return std::move(pooling).error();

    InterruptGuard interrupt;
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Runner> runner,
                           load_runner(console, path, settings, interrupt));
    QUIRE_ASSIGN_OR_RETURN(StateSink sink,
                           StateSink::create(console, out_, *pooling, tokens, model->n_hidden()));
    QUIRE_ASSIGN_OR_RETURN(const ExitCode fed, feed(*runner, tokens, *pooling, sink, interrupt));
    if (fed == ExitCode::kDone) QUIRE_RETURN_IF_ERROR(sink.finish());
    return fed;
  }

 private:
  static Result<ExitCode> feed(Runner& runner, std::span<const TokenId> tokens, Pooling pooling,
                               StateSink& sink, const InterruptGuard& interrupt) {
    if (pooling == Pooling::kNone) {
      return feed_rows(
          runner, tokens, RowOutput::kState, interrupt,
          [&](int64_t position, TokenId, int64_t row) { return sink.row(position, runner.state(row)); });
    }
    // The first token's state knows no other token.
    if (pooling == Pooling::kFirst) tokens = tokens.first(1);
    PromptRecord record(pooling == Pooling::kMean ? PromptReading::kMeanState : PromptReading::kLastState,
                        tokens, {.n_hidden = runner.model().n_hidden()});
    QUIRE_ASSIGN_OR_RETURN(const ExitCode fed,
                           feed_rows(runner, tokens, RowOutput::kState, interrupt,
                                     [&](int64_t position, TokenId, int64_t row) -> Status {
                                       if (record.wants(position))
                                         record.take_state(position, runner.state(row));
                                       return {};
                                     }));
    if (fed != ExitCode::kDone) return fed;
    record.taken(static_cast<int64_t>(tokens.size()));
    QUIRE_RETURN_IF_ERROR(sink.row(0, record.state()));
    return fed;
  }

  ModelOptions model_;
  FedTokens input_;
  std::optional<Pooling> pooling_;
  std::optional<std::string> out_;
};

}  // namespace

std::unique_ptr<Command> make_embed_command() { return std::make_unique<EmbedCommand>(); }

}  // namespace quire::cli
