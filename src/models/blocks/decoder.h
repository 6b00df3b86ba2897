// A decoder-only model as a whole: embedding, layers that mix tokens and feed forward, head.
//
// Most families are this with different data: where the norms stand, what mixes the tokens of a layer,
// whether the feed-forward is one or a mixture of experts, and a few scalars. Appends to the builder; pure
// otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/function_ref.h"
#include "graph/builder.h"
#include "models/architecture.h"
#include "models/blocks/attention.h"
#include "models/blocks/decoder_params.h"
#include "models/blocks/head.h"
#include "models/blocks/moe.h"

namespace quire {

// Where a branch (attention, feed-forward) is normed: x += norm_out(branch(norm_in(x))).
enum class NormPlacement : uint8_t {
  kBefore,  // norm_in only: attn_norm, ffn_norm
  kAfter,   // norm_out only: post_attention_norm, post_ffw_norm
  kBoth,
};

// Which feed-forward a layer has after what mixes its tokens.
enum class Ffn : uint8_t { kGated, kNone };

// Which layers have experts, where the model has some.
enum class MoeLayers : uint8_t {
  kAfterDense,  // all but the first moe->n_dense
  kWithRouter,  // those that have a router in the file
};

struct DecoderSpec {
  NormPlacement norms = NormPlacement::kBefore;
  Ffn ffn = Ffn::kGated;
  kernels::Activation activation = kernels::Activation::kSilu;  // of the gate
  std::string ffn_norm = "ffn_norm";                            // name of the norm before the feed-forward
  std::optional<MoeSpec> moe = {};                              // the feed-forward of moe_layers
  MoeLayers moe_layers = MoeLayers::kAfterDense;
  float embedding_scale = 1;
  float residual_scale = 1;  // each branch is multiplied by it before it is added
  HeadSpec head = {};
};

// Tokens of the step -> logits [outputs, n_vocab]. `attention_of` gives the spec of layer il.
graph::Value decoder(graph::ProgramBuilder& b, const DecoderParams& p, const BuildOptions& options,
                     const DecoderSpec& spec, FunctionRef<AttentionSpec(int32_t il)> attention_of);

// The same for layers that mix tokens otherwise: from x [tokens, d_model], already normed, to what is added.
// `layer` is "blk.N".
using TokenMixer = FunctionRef<graph::Value(const std::string& layer, int32_t il, graph::Value x)>;
graph::Value decoder_of(graph::ProgramBuilder& b, const DecoderParams& p, const BuildOptions& options,
                        const DecoderSpec& spec, TokenMixer mix);

}  // namespace quire
