// Fitting a model into a number of bytes: which context and how many sequences a budget holds.
//
// Plans only, reading headers; nothing is allocated. Pure functions of the file and the settings.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "engine/memory_plan.h"
#include "engine/settings.h"

namespace quire {

// Whether fit_to_memory() may raise the number of sequences.
enum class FitParallel : uint8_t { kKeep, kChoose };

struct MemoryFit {
  EngineSettings settings;  // with ctx and max_sequences chosen
  MemoryPlan plan;          // of those settings, within the budget
  std::string reason;       // one line, for people
};

// Contexts are chosen in steps of this many tokens.
inline constexpr int64_t kFitContextStep = 256;
inline constexpr int32_t kMaxFitSequences = 64;

// The longest context, at most settings.ctx or what the model was trained for, that fits `budget` bytes with
// the settings' KV type; then, where FitParallel allows and the whole context fits, the most sequences.
// Errors: those of Runner::plan; kResourceExhausted when not even kFitContextStep tokens fit.
Result<MemoryFit> fit_to_memory(const std::string& path, const EngineSettings& settings, size_t budget,
                                FitParallel parallel);

// Errors: kResourceExhausted when `plan`, made of these settings, is over `budget` bytes, with each part and
// the option that would fit.
Status check_budget(const std::string& path, const EngineSettings& settings, const MemoryPlan& plan,
                    size_t budget);

}  // namespace quire
