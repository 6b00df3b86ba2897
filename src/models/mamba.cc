// mamba: layers with a state for every channel and nothing else (Gu & Dao 2023, "Mamba"); Falcon Mamba is the
// same with norms on what selects.
#include "models/blocks/mamba.h"
#include "models/blocks/decoder.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_mamba(const Metadata& metadata, const BuildOptions& options,
                                 graph::ProgramBuilder& b) {
  const Keys keys(metadata, "mamba");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_trunk_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const MambaParams ssm, read_mamba(keys));
  return decoder_of(b, p, options, {.ffn = Ffn::kNone},
                    [&](const std::string& layer, int32_t, graph::Value x) {
                      return mamba_block(b, layer, x, p.d_model, ssm, p.norm_eps);
                    });
}

}  // namespace quire
