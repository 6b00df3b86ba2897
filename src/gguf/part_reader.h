// read_part(): the header, metadata and tensor directory of one GGUF file, checked field by field.
//
// Internal to gguf/. The result points into `bytes`. Source: the GGUF format, versions 2 and 3,
// little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "gguf/gguf_file.h"
#include "gguf/metadata.h"

namespace quire::gguf_internal {

struct GgufPart {
  uint32_t version = 3;
  uint32_t alignment = 32;
  Metadata metadata;
  std::vector<TensorInfo> tensors;  // in file order, which is also the order of their data
};

// Errors: kCorrupt, and kUnsupported for versions, byte orders and tensor types that are not read.
// Names of tensors are checked for form, not for being unique.
Result<GgufPart> read_part(std::span<const std::byte> bytes, const std::string& file);

}  // namespace quire::gguf_internal
