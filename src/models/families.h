// The build functions of all families, one per file; architecture.cc lists them in its table.
#pragma once

#include "base/result.h"
#include "graph/builder.h"
#include "models/architecture.h"

namespace quire {

using BuildFn = Result<graph::Value>(const Metadata& metadata, const BuildOptions& options,
                                     graph::ProgramBuilder& builder);

BuildFn build_gemma2;
BuildFn build_gemma3;
BuildFn build_granite;
BuildFn build_llama;
BuildFn build_olmo2;
BuildFn build_phi3;
BuildFn build_qwen2;
BuildFn build_qwen3;

}  // namespace quire
