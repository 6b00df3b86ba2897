// Architecture: one entry per model family that the program can run, and the table of them.
//
// An architecture is one small file that reads its keys, names its tensors and writes its forward pass down
// with a ProgramBuilder; docs/adding-a-model.md walks through one. Families that differ by data share a file.
// Constant data and pure functions; thread safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "gguf/metadata.h"
#include "graph/builder.h"

namespace quire {

// What building depends on besides the file. Part of the model's fingerprint where it changes numbers (ctx).
struct BuildOptions {
  int64_t ctx = 0;          // longest sequence, tokens; chooses long or short rope factors
  bool tap_hidden = false;  // keep the input of every layer and the normed output readable ("hidden.N")
};

struct Architecture {
  std::string_view name;   // general.architecture
  std::string_view about;  // families it covers, for people
  // Appends the forward pass and returns its logits [outputs, n_vocab]. Errors: missing or bad keys
  // (kCorrupt), features of the family that are not built yet (kUnsupported). Missing tensors surface in
  // ProgramBuilder::finish.
  Result<graph::Value> (*build)(const Metadata& metadata, const BuildOptions& options,
                                graph::ProgramBuilder& builder);
};

// Every architecture, in alphabetical order.
std::span<const Architecture> architectures();

// Errors: kUnsupported naming the architecture and those there are.
Result<const Architecture*> find_architecture(std::string_view name);

}  // namespace quire
