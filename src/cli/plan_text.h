// A memory plan as a table for people. Pure function.
#pragma once

#include <string>

#include "engine/memory_plan.h"

namespace quire::cli {

std::string plan_text(const MemoryPlan& plan);

}  // namespace quire::cli
