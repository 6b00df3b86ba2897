// Settings of a chat by name, as /set knows them.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/generation_settings.h"

namespace quire::cli {

// Changes one setting; its name is that of the option of `quire run` without dashes. Errors:
// kInvalidArgument (no such name, not a number, out of range); nothing has changed then.
Status change_setting(GenerationSettings& settings, std::string_view name, std::string_view value);

// "temp 0.8, top-k 40, ...": all of them.
std::string describe_settings(const GenerationSettings& settings);

}  // namespace quire::cli
