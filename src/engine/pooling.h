// Pooling: how the states at the tokens of a text become one vector, its embedding.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/model.h"

namespace quire {

enum class Pooling : uint8_t { kNone, kMean, kFirst, kLast };

// What the file asks for (`<architecture>.pooling_type`; source: enum llama_pooling_type of llama.cpp's
// llama.h); the last token where it asks for nothing, since there a causal model has seen all of the text.
// Errors: kUnsupported (a ranking head).
Result<Pooling> pooling_of(const Model& model);

}  // namespace quire
