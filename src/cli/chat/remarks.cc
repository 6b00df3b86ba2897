#include "cli/chat/remarks.h"

#include <fmt/format.h>

#include "cli/standard_streams.h"

namespace quire::cli {

void Remarks::note(std::string_view text) const {
  if (verbosity_ == Verbosity::kQuiet) return;
  show(fmt::format("{}{}{}", style_.dim, text, style_.reset));
}

void Remarks::show(std::string_view text) const { write_standard_error(fmt::format("{}\n", text)); }

}  // namespace quire::cli
