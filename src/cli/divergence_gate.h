// Limits that a comparison with a base must keep, as scripts give them: "mean=1e-3,top=0.995".
//
//   QUIRE_ASSIGN_OR_RETURN(const DivergenceGate gate, DivergenceGate::parse("mean=1e-3,top=0.995"));
//   for (const GateResult& result : gate.check(comparison)) ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/divergence.h"

namespace quire::cli {

struct GateResult {
  std::string name;
  double found = 0;
  double limit = 0;
  bool at_least = false;  // the limit is a lower one
  bool passed = false;

  std::string text() const;  // "mean 2.1e-03, at most 1.0e-03"
};

class DivergenceGate {
 public:
  // Names: mean, median, p99, max (largest divergence allowed), top (smallest share allowed). Errors:
  // kInvalidArgument (unknown or repeated name, what is no number, nothing at all).
  static Result<DivergenceGate> parse(std::string_view text);

  std::vector<GateResult> check(const BaseComparison& comparison) const;

 private:
  struct Limit {
    std::string name;
    double value;
  };
  std::vector<Limit> limits_;
};

}  // namespace quire::cli
