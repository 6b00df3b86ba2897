// What is made of the predictions for a text: its perplexity, a base for later, or a comparison with one.
//
// A scorer takes every prediction of an EvaluationText in order, then finish(). One thread.
//
//   const std::unique_ptr<PredictionScorer> scorer = compare_with(std::move(reader));
//   QUIRE_RETURN_IF_ERROR(evaluate(runner, text, [&](const Prediction& p) { return scorer->add(p); },
//   progress)); QUIRE_ASSIGN_OR_RETURN(const TextScore score, scorer->finish());
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "engine/divergence.h"
#include "engine/evaluation.h"
#include "engine/logit_base.h"

namespace quire {

struct TextScore {
  Perplexity perplexity{};
  std::optional<BaseComparison> comparison{};  // with a base
};

class PredictionScorer {
 public:
  virtual ~PredictionScorer() = default;
  virtual Status add(const Prediction& prediction) = 0;
  // At least one prediction must have come.
  virtual Result<TextScore> finish() = 0;
};

std::unique_ptr<PredictionScorer> score_alone();
// Errors of add and finish: those of the writer.
std::unique_ptr<PredictionScorer> save_as_base(LogitBaseWriter writer);
// The base must be of the same text and vocabulary. Errors of add and finish: those of the reader.
std::unique_ptr<PredictionScorer> compare_with(LogitBaseReader reader);

}  // namespace quire
