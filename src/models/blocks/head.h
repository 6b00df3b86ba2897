// The end of a decoder: final norm and vocabulary projection of the rows whose logits are wanted.
//
// Appends to the builder; pure otherwise.
#pragma once

#include "graph/builder.h"
#include "models/architecture.h"
#include "models/blocks/decoder_params.h"

namespace quire {

struct HeadSpec {
  const char* norm = "output_norm";  // name of the final norm
  float logit_scale = 1;             // logits are multiplied by it
  float softcap = 0;                 // 0 = none
};

// x [outputs, d_model] -> logits [outputs, n_vocab]. Uses output.weight, or the token embedding where it is
// absent.
graph::Value lm_head(graph::ProgramBuilder& b, graph::Value x, const DecoderParams& p,
                     const BuildOptions& options, const HeadSpec& spec = {});

// Keeps a layer's input readable as "hidden.<layer>" when the options ask for it.
void tap_hidden(graph::ProgramBuilder& b, graph::Value x, int32_t layer, const BuildOptions& options);

}  // namespace quire
