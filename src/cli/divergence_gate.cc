#include "cli/divergence_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace quire::cli {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"mean", "median", "p99", "max", "top"};

double figure(const BaseComparison& comparison, std::string_view name) {
  const DivergenceSummary& divergence = comparison.divergence;
  if (name == "mean") return divergence.mean.mean;
  if (name == "median") return divergence.median;
  if (name == "p99") return divergence.p99;
  if (name == "max") return divergence.max;
  return comparison.same_top.mean;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

std::string GateResult::text() const {
  return fmt::format("{} {:.6g}, {} {:.6g}", name, found, at_least ? "at least" : "at most", limit);
}

Result<DivergenceGate> DivergenceGate::parse(std::string_view text) {
  DivergenceGate gate;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    const size_t equals = std::min(item.find('='), item.size());
    const std::string name(item.substr(0, equals));
    const std::optional<double> value = parse_number(item.substr(std::min(equals + 1, item.size())));
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end() || !value) {
      return make_error(ErrorCode::kInvalidArgument,
                        "found '{}', expected mean, median, p99, max or top, = and a number", item);
    }
    const auto same_name = [&](const Limit& limit) { return limit.name == name; };
    if (std::any_of(gate.limits_.begin(), gate.limits_.end(), same_name))
      return make_error(ErrorCode::kInvalidArgument, "'{}' is given twice", name);
    gate.limits_.push_back({.name = name, .value = *value});
    if (comma == text.size()) return gate;
    text.remove_prefix(comma + 1);
  }
}

std::vector<GateResult> DivergenceGate::check(const BaseComparison& comparison) const {
  std::vector<GateResult> results;
  for (const Limit& limit : limits_) {
    const double found = figure(comparison, limit.name);
    const bool at_least = limit.name == "top";
    results.push_back({.name = limit.name,
                       .found = found,
                       .limit = limit.value,
                       .at_least = at_least,
                       .passed = at_least ? found >= limit.value : found <= limit.value});
  }
  return results;
}

}  // namespace quire::cli
