// Options of every command that runs a model: -m and the settings of the engine.
#pragma once

#include <string>

#include "engine/settings.h"

namespace CLI {
class App;
}

namespace quire::cli {

struct ModelOptions {
  std::string model;  // as given: a path or a name; resolve_model() (model_folder.h) makes it a path
  EngineSettings settings;
};

// Adds -m, --ctx, --threads, --isa, --kv-type, --activations and --off to `app`; `options` must outlive the
// parsing. Defaults are what `options` holds at the time of the call. Values outside a closed list are usage
// errors.
void add_model_options(CLI::App& app, ModelOptions& options);

}  // namespace quire::cli
