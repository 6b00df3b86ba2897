// The instruction sets kernels are compiled for, what this machine has, and the choice by name.
//
// Constant after start; thread safe. Every ISA gives the same bits (docs/numerics.md), so the choice is one
// of speed only; --isa forces it, and a forced ISA that the machine lacks is an error, never a silent
// fallback.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace quire {

// In order of preference, last is best.
enum class Isa { kScalar, kAvx2, kAvx512, kAvx512Vnni, kAmx };

const char* isa_name(Isa isa);  // "scalar", "avx2", "avx512", "avx512vnni", "amx"

// Whether this processor (and its operating system) can run `isa`.
bool isa_supported(Isa isa);

// All ISAs this machine can run, scalar first.
std::span<const Isa> supported_isas();

// "auto" -> the best supported one; otherwise the named one.
// Errors: kInvalidArgument (unknown name), kUnsupported (this machine lacks it; says what it has).
Result<Isa> choose_isa(std::string_view name);

}  // namespace quire
