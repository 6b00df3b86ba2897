// The model folder: where files known by name are kept, and the way from what a user typed to a path.
//
// $QUIRE_HOME/models, by default ~/.cache/quire/models. A name is the path of a file below it without ".gguf"
// (a split file has the name of its parts without their numbers). Functions read the environment and the file
// system only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace quire::cli {

struct ModelEntry {
  std::string name;
  std::string path;    // of the first part
  uint64_t bytes = 0;  // of all parts
};

// Errors: kNotFound when neither QUIRE_HOME nor HOME is set.
Result<std::string> model_folder();

// What lies in `folder`, sorted by name; empty when the folder is not there.
std::vector<ModelEntry> list_models(const std::string& folder);

// The path for `model`: itself when there is such a file, else that of the model with this name.
// Errors: kNotFound, saying where was looked and which names there are.
Result<std::string> resolve_model(const std::string& model);

}  // namespace quire::cli
