// The build functions of all families, one per file; architecture.cc lists them in its table.
#pragma once

#include "base/result.h"
#include "graph/builder.h"
#include "models/architecture.h"

namespace quire {

using BuildFn = Result<graph::Value>(const Metadata& metadata, const BuildOptions& options,
                                     graph::ProgramBuilder& builder);

BuildFn build_deepseek2;
BuildFn build_falcon_h1;
BuildFn build_gemma2;
BuildFn build_gemma3;
BuildFn build_glm4;
BuildFn build_gpt_oss;
BuildFn build_granite;
BuildFn build_granitehybrid;
BuildFn build_granitemoe;
BuildFn build_jamba;
BuildFn build_lfm2;
BuildFn build_llama;
BuildFn build_mamba;
BuildFn build_mamba2;
BuildFn build_nemotron_h;
BuildFn build_olmo2;
BuildFn build_olmoe;
BuildFn build_phi3;
BuildFn build_qwen2;
BuildFn build_qwen2moe;
BuildFn build_qwen3;
BuildFn build_qwen35;
BuildFn build_qwen35moe;
BuildFn build_qwen3moe;
BuildFn build_qwen3next;

}  // namespace quire
