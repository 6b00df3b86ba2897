// quire perplexity: how well a model predicts a text, and how far its predictions are from saved ones.
#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>

#include "base/mapped_file.h"
#include "cli/chat/interrupt.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/divergence_gate.h"
#include "cli/model_folder.h"
#include "cli/model_loading.h"
#include "cli/model_options.h"
#include "cli/output_file.h"
#include "cli/perplexity_report.h"
#include "cli/progress.h"
#include "engine/evaluation.h"
#include "engine/logit_base.h"
#include "engine/prediction_scorer.h"
#include "tokenizer/tokenizer.h"

namespace quire::cli {
namespace {

constexpr int64_t kDefaultWindow = 512;
// Logits of a step are in memory together; the values do not depend on it.
constexpr int64_t kStepTokens = 128;

Result<std::vector<TokenId>> read_text(const Tokenizer& tokenizer, const std::string& path) {
  QUIRE_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  return tokenizer.encode(text, SpecialTokens::kPlain, AddSpecial::kNo);
}

class PerplexityCommand final : public Command {
 public:
  PerplexityCommand() {
    model_.settings.ctx = kDefaultWindow;
    model_.settings.max_batch_tokens = kStepTokens;
    model_.settings.max_outputs = kStepTokens;
  }

  CommandInfo info() const override {
    return {.name = "perplexity",
            .summary = "Measure how well a model predicts a text",
            .example =
                "  quire perplexity -m model.gguf -f text.txt --activations f32 --save-logits base.qlp\n"
                "  quire perplexity -m model.gguf -f text.txt --kld base.qlp --gate mean=1e-3,top=0.995"};
  }

  void add_options(CLI::App& app) override {
    app.add_option("-f,--file", file_, "Text to predict")->required()->type_name("TEXT");
    CLI::Option* save =
        app.add_option("--save-logits", save_, "Write the predictions to this file, as a base")
            ->type_name("FILE");
    CLI::Option* base = app.add_option("--kld", base_, "Compare with the predictions saved in this file")
                            ->type_name("FILE")
                            ->excludes(save);
    app.add_option("--gate", gate_text_,
                   "Exit with 4 past a limit: highest mean, median, p99, max divergence, lowest top")
        ->needs(base)
        ->type_name("mean=1e-3,top=0.995");
    add_model_options(app, model_);
    app.get_option("--ctx")->description("Tokens of a window (default: 512)");
    app.callback([this] {
      if (model_.settings.ctx < 2) throw CLI::ValidationError("--ctx", "a window has two tokens at least");
      if (!gate_text_) return;
      Result<DivergenceGate> gate = DivergenceGate::parse(*gate_text_);
      if (!gate.ok()) throw CLI::ValidationError("--gate", gate.error().message);
      gate_ = std::move(*gate);
    });
  }

  Result<ExitCode> run(Console& console) override {
    QUIRE_ASSIGN_OR_RETURN(const std::string path, resolve_model(model_.model));
    // What is wrong with the input is known from the headers, before the weights are loaded.
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, Model::open(path, model_.settings));
    if (save_) {
      std::vector<std::string> inputs = input_paths(model->file());
      inputs.push_back(file_);
      QUIRE_RETURN_IF_ERROR(check_output(*save_, inputs));
    }
    QUIRE_ASSIGN_OR_RETURN(const EvaluationText text, prepare(console, *model));
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<PredictionScorer> scorer,
                           make_scorer(text, model->n_vocab()));

    InterruptGuard interrupt;
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Runner> runner,
                           load_runner(console, path, model_.settings, interrupt));
    ProgressBar bar(console.draws_progress(), "Predicting", static_cast<uint64_t>(text.n_scored()),
                    ProgressUnit::kTokens);
    const auto start = std::chrono::steady_clock::now();
    QUIRE_RETURN_IF_ERROR(evaluate(
        *runner, text, [&](const Prediction& prediction) { return scorer->add(prediction); },
        [&](int64_t done) {
          bar.update(static_cast<uint64_t>(done));
          return !interrupt.interrupted();
        }));
    PerplexityReport report{.n_tokens = text.n_scored(), .window = text.window};
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    QUIRE_ASSIGN_OR_RETURN(report.score, scorer->finish());
    bar.finish();
    return conclude(console, report);
  }

 private:
  Result<EvaluationText> prepare(Console& console, const Model& model) const {
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer,
                           Tokenizer::load(model.file().metadata(), console.log()));
    QUIRE_ASSIGN_OR_RETURN(const std::vector<TokenId> ids, read_text(*tokenizer, file_));
    const TokenId begin = tokenizer->adds_bos() ? tokenizer->special(SpecialRole::kBos) : kNoToken;
    EvaluationText text = cut_text(ids, {.window = model.ctx(), .begin = begin});
    if (text.n_scored() > 0) return text;
    return make_error(ErrorCode::kInvalidArgument, "{}: found {} tokens of text, expected at least {}", file_,
                      ids.size(), begin == kNoToken ? 2 : 1);
  }

  Result<std::unique_ptr<PredictionScorer>> make_scorer(const EvaluationText& text, int64_t n_vocab) const {
    if (save_) {
      QUIRE_ASSIGN_OR_RETURN(LogitBaseWriter writer, LogitBaseWriter::create(*save_, text, n_vocab));
      return save_as_base(std::move(writer));
    }
    if (!base_) return score_alone();
    QUIRE_ASSIGN_OR_RETURN(LogitBaseReader reader, LogitBaseReader::open(*base_));
    if (reader.n_vocab() != n_vocab) {
      return make_error(ErrorCode::kInvalidArgument, "{}: made with a vocabulary of {}, the model has {}",
                        *base_, reader.n_vocab(), n_vocab);
    }
    if (reader.text().window != text.window) {
      return make_error(ErrorCode::kInvalidArgument, "{}: made with windows of {} tokens: give --ctx {}",
                        *base_, reader.text().window, reader.text().window);
    }
    if (reader.text().tokens != text.tokens) {
      return make_error(ErrorCode::kInvalidArgument, "{}: made from another text, or with another tokenizer",
                        *base_);
    }
    return compare_with(std::move(reader));
  }

  Result<ExitCode> conclude(Console& console, const PerplexityReport& report) const {
    std::vector<GateResult> gates;
    if (gate_) gates = gate_->check(*report.score.comparison);
    print(console, report, gates);
    std::string failures;
    for (const GateResult& gate : gates) {
      if (!gate.passed) failures += fmt::format("{}{}", failures.empty() ? "" : "; ", gate.text());
    }
    if (failures.empty()) return ExitCode::kDone;
    log(console.log(), LogLevel::kError, "the predictions differ from the base: {}", failures);
    return ExitCode::kDifference;
  }

  ModelOptions model_;
  std::string file_;
  std::optional<std::string> save_;
  std::optional<std::string> base_;
  std::optional<std::string> gate_text_;
  std::optional<DivergenceGate> gate_;
};

}  // namespace

std::unique_ptr<Command> make_perplexity_command() { return std::make_unique<PerplexityCommand>(); }

}  // namespace quire::cli
