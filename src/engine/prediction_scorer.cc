#include "engine/prediction_scorer.h"

#include <vector>

#include "sampling/log_softmax.h"

namespace quire {
namespace {

class PlainScorer final : public PredictionScorer {
 public:
  Status add(const Prediction& prediction) override {
    logprobs_.push_back(log_probability(prediction.logits, prediction.next));
    return {};
  }
  Result<TextScore> finish() override { return TextScore{.perplexity = perplexity_of(logprobs_)}; }

 private:
  std::vector<double> logprobs_;
};

class SavingScorer final : public PredictionScorer {
 public:
  explicit SavingScorer(LogitBaseWriter writer) : writer_(std::move(writer)) {}

  Status add(const Prediction& prediction) override {
    const BaseRow row = make_base_row(prediction.logits, prediction.next);
    logprobs_.push_back(row.next_logprob);
    return writer_.write(row);
  }
  Result<TextScore> finish() override {
    QUIRE_RETURN_IF_ERROR(writer_.finish());
    return TextScore{.perplexity = perplexity_of(logprobs_)};
  }

 private:
  LogitBaseWriter writer_;
  std::vector<double> logprobs_;
};

class ComparingScorer final : public PredictionScorer {
 public:
  explicit ComparingScorer(LogitBaseReader reader) : reader_(std::move(reader)) {}

  Status add(const Prediction& prediction) override {
    QUIRE_ASSIGN_OR_RETURN(const BaseRow* base, reader_.next());
    tokens_.logprob.push_back(log_probability(prediction.logits, prediction.next));
    tokens_.base_logprob.push_back(base->next_logprob);
    tokens_.divergence.push_back(divergence(*base, prediction.logits));
    tokens_.same_top.push_back(argmax_logit(prediction.logits) == base->top ? 1 : 0);
    return {};
  }
  Result<TextScore> finish() override {
    QUIRE_RETURN_IF_ERROR(reader_.finish());
    const BaseComparison comparison = summarize(tokens_);
    return TextScore{.perplexity = comparison.perplexity, .comparison = comparison};
  }

 private:
  LogitBaseReader reader_;
  ComparedTokens tokens_;
};

}  // namespace

std::unique_ptr<PredictionScorer> score_alone() { return std::make_unique<PlainScorer>(); }

std::unique_ptr<PredictionScorer> save_as_base(LogitBaseWriter writer) {
  return std::make_unique<SavingScorer>(std::move(writer));
}

std::unique_ptr<PredictionScorer> compare_with(LogitBaseReader reader) {
  return std::make_unique<ComparingScorer>(std::move(reader));
}

}  // namespace quire
