// GgufSummary: what a GGUF file is, in a few words and numbers; shared by `inspect` and `models`.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gguf/gguf_file.h"

namespace quire::cli {

struct GgufSummary {
  std::string architecture;  // empty when the file does not say
  std::string name;          // general.name, or empty
  std::string type = {};     // "Q4_K_M": what the file says, else the type with the most bytes
  uint64_t parameters = 0;   // elements of all tensors
  uint64_t file_bytes = 0;   // of all parts
  std::map<std::string, uint64_t> tensor_types = {};  // tensors of each type
};

GgufSummary summarize(const GgufFile& file);

}  // namespace quire::cli
