// Verification: runs the same sequences in every way the program has, and compares the bits of their logits.
//
// The reference is each sequence alone, its prompt in one step, then token by token. A way is one row of the
// result: how many rows of logits were compared, how many differ, and a count that proves the way was really
// taken (pages that are not neighbours, positions shared, times preempted); a row whose count is zero has
// failed, whatever it compared. Loads the model several times, one after the other; one thread (besides the
// engine's own).
//
//   const auto report = [&](const VerifyRow& row) { print(row); return true; };
//   QUIRE_ASSIGN_OR_RETURN(const VerifySummary summary, run_verification(path, settings, {}, report));
#pragma once

#include <cstdint>
#include <string>

#include "base/function_ref.h"
#include "base/result.h"
#include "engine/settings.h"

namespace quire::verify {

enum class Verdict : uint8_t { kEqual, kDifferent, kNotTaken };
const char* verdict_name(Verdict verdict);  // "equal", "different", "not taken"

struct VerifyRow {
  std::string way = {};      // "batch 32", "isa avx2"
  std::string counter = {};  // what `count` counts
  int64_t count = 0;
  int64_t compared = 0, different = 0;  // rows of logits and sampled tokens
  uint64_t hash = 0;                    // of the rows of logits this way computed
  Verdict verdict = Verdict::kEqual;
};

enum class Extent : uint8_t {
  kQuick,  // the ways that differ most, two sequences
  kFull,   // every way, four longer sequences
};

struct VerifySummary {
  int64_t rows = 0, failed = 0;
};

// Called after every way; false ends with kCancelled.
using OnRow = FunctionRef<bool(const VerifyRow&)>;

// settings: numerics (KV type, activations) and the base of everything else; context, sequences and pages are
// chosen here. Errors: those of Runner::load; kCancelled.
Result<VerifySummary> run_verification(const std::string& path, const EngineSettings& settings, Extent extent,
                                       OnRow on_row);

}  // namespace quire::verify
