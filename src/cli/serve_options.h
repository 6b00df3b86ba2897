// Options of `quire serve` beside those of the model and its memory.
#pragma once

#include "server/server.h"

namespace CLI {
class App;
}

namespace quire::cli {

struct ServeOptions {
  server::ServerOptions server;
  bool fit = false;
};

// `options` must outlive the parsing. Defaults are what it holds at the time of the call.
void add_serve_options(CLI::App& app, ServeOptions& options);

}  // namespace quire::cli
