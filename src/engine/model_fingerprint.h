// A number that tells apart models whose keys and values must not be mixed. Pure; reads headers only.
#pragma once

#include <cstdint>

#include "engine/settings.h"
#include "gguf/gguf_file.h"

namespace quire {

// XXH3 over the headers of the file's parts (metadata and tensor directory) and the settings that change
// numbers: context, type of keys and values, activations. The weights themselves are not read.
uint64_t model_fingerprint(const GgufFile& file, int64_t ctx, const EngineSettings& settings);

}  // namespace quire
