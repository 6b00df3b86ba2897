#include "models/architecture.h"

#include <array>
#include <string>

#include "models/families.h"

namespace quire {
namespace {

constexpr std::array<Architecture, 25> kArchitectures = {{
    {"deepseek2", "DeepSeek V2, V3 and R1, Kimi K2", build_deepseek2},
    {"falcon-h1", "Falcon-H1", build_falcon_h1},
    {"gemma2", "Gemma 2", build_gemma2},
    {"gemma3", "Gemma 3 (text)", build_gemma3},
    {"glm4", "GLM-4 (0414)", build_glm4},
    {"gpt-oss", "gpt-oss", build_gpt_oss},
    {"granite", "Granite 3 dense", build_granite},
    {"granitehybrid", "Granite 4 with states", build_granitehybrid},
    {"granitemoe", "Granite 3 with experts", build_granitemoe},
    {"jamba", "Jamba", build_jamba},
    {"lfm2", "LFM 2 dense", build_lfm2},
    {"llama", "Llama 1-3, Mistral, Mixtral, SmolLM 1-2 and other models in llama form", build_llama},
    {"mamba", "Mamba 1, Falcon Mamba", build_mamba},
    {"mamba2", "Mamba 2", build_mamba2},
    {"nemotron_h", "Nemotron-H", build_nemotron_h},
    {"olmo2", "OLMo 2 and 3", build_olmo2},
    {"olmoe", "OLMoE", build_olmoe},
    {"phi3", "Phi-3, Phi-3.5 and Phi-4 mini", build_phi3},
    {"qwen2", "Qwen 2 and 2.5", build_qwen2},
    {"qwen2moe", "Qwen 1.5 and 2 with experts", build_qwen2moe},
    {"qwen3", "Qwen 3 dense", build_qwen3},
    {"qwen35", "Qwen 3.5 dense (text)", build_qwen35},
    {"qwen35moe", "Qwen 3.5 with experts (text)", build_qwen35moe},
    {"qwen3moe", "Qwen 3 with experts", build_qwen3moe},
    {"qwen3next", "Qwen3-Next", build_qwen3next},
}};

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

Result<const Architecture*> find_architecture(std::string_view name) {
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return &architecture;
    known += known.empty() ? "" : ", ";
    known += architecture.name;
  }
  return make_error(ErrorCode::kUnsupported, "architecture \"{}\" is not supported; supported are {}", name,
                    known);
}

}  // namespace quire
