// quire logits: the logits of every position of a sequence, for comparison with a reference.
#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>

#include "cli/chat/interrupt.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/fed_tokens.h"
#include "cli/model_folder.h"
#include "cli/model_loading.h"
#include "cli/model_options.h"
#include "cli/npy_writer.h"
#include "cli/output_file.h"
#include "cli/top_tokens.h"
#include "engine/runner.h"
#include "gguf/printable.h"
#include "tokenizer/tokenizer.h"

namespace quire::cli {
namespace {

constexpr size_t kTop = 5;

// A row of logits at a time, in the order of positions.
class LogitsSink {
 public:
  virtual ~LogitsSink() = default;
  virtual Status row(int64_t position, TokenId token, std::span<const float> logits) = 0;
  virtual Status finish() = 0;
};

class FileSink final : public LogitsSink {
 public:
  FileSink(Console& console, NpyWriter writer, std::string path, int64_t n_rows, int64_t n_cols)
      : console_(console),
        writer_(std::move(writer)),
        path_(std::move(path)),
        n_rows_(n_rows),
        n_cols_(n_cols) {}

  Status row(int64_t, TokenId, std::span<const float> logits) override { return writer_.write_row(logits); }
  Status finish() override {
    QUIRE_RETURN_IF_ERROR(writer_.finish());
    if (console_.json()) {
      console_.print_json({{"out", path_}, {"shape", {n_rows_, n_cols_}}});
    } else {
      console_.print("{}: {} x {} float32\n", printable(path_, 1000), n_rows_, n_cols_);
    }
    return {};
  }

 private:
  Console& console_;
  NpyWriter writer_;
  std::string path_;
  int64_t n_rows_, n_cols_;
};

class SummarySink final : public LogitsSink {
 public:
  // `tokenizer` is null when the model has no vocabulary.
  SummarySink(Console& console, const Tokenizer* tokenizer) : console_(console), tokenizer_(tokenizer) {}

  Status row(int64_t position, TokenId token, std::span<const float> logits) override {
    const std::vector<TopToken> top = top_tokens(logits, kTop);
    if (console_.json()) {
      Json list = Json::array();
      for (const TopToken& t : top)
        list.push_back({{"id", t.id}, {"piece", piece(t.id)}, {"logit", t.logit}, {"logprob", t.logprob}});
      console_.print_json({{"position", position}, {"token", token}, {"top", std::move(list)}});
      return {};
    }
    std::string line = fmt::format("{:>5}  {:<22}", position, text_of(token));
    for (const TopToken& t : top) line += fmt::format("  {} {:.3f}", text_of(t.id), t.logit);
    console_.print("{}\n", line);
    return {};
  }
  Status finish() override { return {}; }

 private:
  std::string piece(TokenId id) const {
    return tokenizer_ != nullptr && tokenizer_->valid(id)
               ? std::string(tokenizer_->piece(id, RenderSpecial::kShow))
               : "";
  }
  std::string text_of(TokenId id) const { return fmt::format("{} '{}'", id, printable(piece(id), 24)); }

  Console& console_;
  const Tokenizer* tokenizer_;
};

class LogitsCommand final : public Command {
 public:
  LogitsCommand() { model_.settings.kv_type = graph::KvType::kF32; }

  CommandInfo info() const override {
    return {.name = "logits",
            .summary = "Compute the logits of every position",
            .example =
                "  quire logits -m smollm2-135m-q4_1 -p \"The capital of France is\"\n"
                "  quire logits -m model.gguf --tokens 1,2,3 --out logits.npy"};
  }

  void add_options(CLI::App& app) override {
    input_.add_options(app, model_.settings);
    app.add_option("--out", out_, "Write all logits to this .npy file: float32 [n_tokens, n_vocab]")
        ->type_name("FILE");
    add_model_options(app, model_);
  }

  Result<ExitCode> run(Console& console) override {
    QUIRE_ASSIGN_OR_RETURN(const std::string path, resolve_model(model_.model));
    // What is wrong with the input is known from the headers, before the weights are loaded.
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, Model::open(path, model_.settings));
    if (out_) QUIRE_RETURN_IF_ERROR(check_output(*out_, input_paths(model->file())));
    std::unique_ptr<Tokenizer> tokenizer;
    if (input_.from_text() || !out_) {
      Result<std::unique_ptr<Tokenizer>> loaded = Tokenizer::load(model->file().metadata(), console.log());
      if (!loaded.ok() && input_.from_text()) return std::move(loaded).error();
      if (loaded.ok()) tokenizer = std::move(*loaded);
    }
    QUIRE_ASSIGN_OR_RETURN(const std::vector<TokenId> tokens, input_.read(tokenizer.get(), *model));

    InterruptGuard interrupt;
    EngineSettings settings = model_.settings;
    settings.max_outputs = settings.max_batch_tokens;
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Runner> runner,
                           load_runner(console, path, settings, interrupt));
    QUIRE_ASSIGN_OR_RETURN(
        const std::unique_ptr<LogitsSink> sink,
        make_sink(console, tokenizer.get(), static_cast<int64_t>(tokens.size()), model->n_vocab()));
    QUIRE_ASSIGN_OR_RETURN(const ExitCode fed, feed_rows(*runner, tokens, RowOutput::kLogits, interrupt,
                                                         [&](int64_t position, TokenId token, int64_t row) {
                                                           return sink->row(position, token,
                                                                            runner->logits(row));
                                                         }));
    if (fed == ExitCode::kDone) QUIRE_RETURN_IF_ERROR(sink->finish());
    return fed;
  }

 private:
  Result<std::unique_ptr<LogitsSink>> make_sink(Console& console, const Tokenizer* tokenizer,
                                                int64_t n_tokens, int64_t n_vocab) const {
    if (!out_) return std::unique_ptr<LogitsSink>(std::make_unique<SummarySink>(console, tokenizer));
    QUIRE_ASSIGN_OR_RETURN(NpyWriter writer, NpyWriter::create(*out_, n_tokens, n_vocab));
    return std::unique_ptr<LogitsSink>(
        std::make_unique<FileSink>(console, std::move(writer), *out_, n_tokens, n_vocab));
  }

  ModelOptions model_;
  FedTokens input_;
  std::optional<std::string> out_;
};

}  // namespace

std::unique_ptr<Command> make_logits_command() { return std::make_unique<LogitsCommand>(); }

}  // namespace quire::cli
