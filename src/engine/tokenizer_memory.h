// How many bytes a tokenizer will hold, from the header of its file alone.
//
// An estimate: the tables whose sizes follow from the numbers of tokens and merges are counted as they are
// laid out (hash tables of a power of two slots, strings, offsets), the rest by what was measured per token.
// Within 5% of the heap that loading takes for vocabularies of 30 thousand to 262 thousand tokens; a tiny one
// has a few kB more than is said. Pure function.
#pragma once

#include <cstddef>

#include "gguf/metadata.h"

namespace quire {

// 0 when the file has no vocabulary.
size_t tokenizer_bytes(const Metadata& metadata);

}  // namespace quire
