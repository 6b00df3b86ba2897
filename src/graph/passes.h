// Fusion passes: rewrites of a program that change its speed and never its bits.
//
// Every pass has a name, an off switch (--off NAME) and a count of the places where it fired; `quire verify`
// lists them. Passes run once, after building and before planning. Pure functions on one program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/program.h"

namespace quire::graph {

struct PassInfo {
  const char* name;
  const char* about;  // one line for `quire verify --list`
};

// The passes in the order they run:
//   fuse-linear    linear layers that read values available at the same point become one op (q|k|v, gate|up):
//                  one division of work, one barrier
//   fuse-add-norm  a residual sum and the norm of it become one read of the row
std::span<const PassInfo> pass_list();

struct PassReport {
  std::string name;
  bool enabled = true;
  int fired = 0;  // how many ops were merged away
};

// Runs every pass that is not named in `off`. Names in `off` that are no pass are ignored here (the engine
// checks them).
std::vector<PassReport> run_passes(Program& program, std::span<const std::string> off);

}  // namespace quire::graph
