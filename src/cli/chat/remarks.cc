#include "cli/chat/remarks.h"

#include <cstdio>

namespace quire::cli {

void Remarks::note(std::string_view text) const {
  if (verbosity_ == Verbosity::kQuiet) return;
  show(fmt::format("{}{}{}", style_.dim, text, style_.reset));
}

void Remarks::show(std::string_view text) const {
  fmt::print(stderr, "{}\n", text);
  std::fflush(stderr);
}

}  // namespace quire::cli
