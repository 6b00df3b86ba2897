// mamba2: layers with a state and nothing else, no attention and no feed-forward (Dao & Gu 2024,
// "Transformers are SSMs").
#include "models/blocks/mamba2.h"
#include "models/blocks/decoder.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_mamba2(const Metadata& metadata, const BuildOptions& options,
                                  graph::ProgramBuilder& b) {
  const Keys keys(metadata, "mamba2");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_trunk_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const Mamba2Params ssm, read_mamba2(keys));
  return decoder_of(b, p, options, {.ffn = Ffn::kNone},
                    [&](const std::string& layer, int32_t, graph::Value x) {
                      return mamba2_block(b, layer, x, p.d_model, ssm, p.norm_eps);
                    });
}

}  // namespace quire
