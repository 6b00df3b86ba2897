// Two references for attention, written over plain arrays with no pages, tiles or vectors.
#pragma once

#include <vector>

#include "attention_case.h"

namespace quire::kernels {

// softmax(scale * q k) v in double precision, keys and values rounded to the storage type: [n_tokens, n_head,
// d_v].
std::vector<double> exact_attention(const Case& c, const Inputs& in);

// The same in f32 with the order of additions of docs/numerics.md, one row at a time: the bits every kernel
// gives.
std::vector<float> ordered_attention(const Case& c, const Inputs& in);

}  // namespace quire::kernels
