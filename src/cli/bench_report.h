// BenchReport: the rows of `quire bench` as they come: a table for people, JSON lines for scripts.
//
// Writes to the console it borrows; one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "engine/bench_run.h"
#include "engine/served_bench.h"
#include "measure/machine_limits.h"

namespace quire::cli {

// "pp512", "tg128".
std::string test_name(const SpeedTest& test);

class BenchReport {
 public:
  // With limits, rows also say what fraction of them was reached.
  BenchReport(Console& console, std::optional<MachineLimits> limits) : console_(console), limits_(limits) {}

  // The model, the settings and the limits; before any row.
  void begin(const Runner& runner);
  void row(const SpeedTest& test, const SpeedResult& result);
  void served(const ServedTest& test, const ServedResult& result);
  void mixed(const MixedTest& test, const MixedResult& result);
  void profile(const SpeedTest& test, const std::vector<ProfileRow>& rows);

 private:
  struct Reached {
    double compute = 0, memory = 0;  // fractions of the limits
  };
  Reached reached(const graph::OpCost& cost, double seconds) const;
  void table_header();

  Console& console_;
  std::optional<MachineLimits> limits_;
  bool header_due_ = true;  // before the next row of the table
};

}  // namespace quire::cli
