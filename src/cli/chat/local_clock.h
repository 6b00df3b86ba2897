// local_time_now(): the wall clock, for templates that print the date.
#pragma once

#include "tokenizer/templates/clock.h"

namespace quire::cli {

LocalTime local_time_now();

}  // namespace quire::cli
