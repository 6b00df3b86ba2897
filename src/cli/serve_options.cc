#include "cli/serve_options.h"

#include <CLI/CLI.hpp>

#include "cli/size_option.h"

namespace quire::cli {
namespace {

void add_edge_options(CLI::App& app, server::EdgeOptions& edge) {
  constexpr const char* kGroup = "Server";
  app.add_option("--host", edge.host, "Address to listen on (default: 127.0.0.1)")
      ->type_name("ADDRESS")
      ->group(kGroup);
  app.add_option("--port", edge.port, "Port to listen on, 0 for any (default: 8080)")
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--unix-socket", edge.unix_socket, "Listen on this Unix socket too")
      ->type_name("PATH")
      ->group(kGroup);
  CLI::Option* const certificate =
      app.add_option("--tls-cert", edge.tls_certificate, "Speak TLS with this certificate chain (PEM)")
          ->type_name("FILE")
          ->group(kGroup);
  CLI::Option* const key = app.add_option("--tls-key", edge.tls_key, "The certificate's private key (PEM)")
                               ->type_name("FILE")
                               ->group(kGroup);
  certificate->needs(key);
  key->needs(certificate);
  app.add_option("--cors-origin", edge.cors_origin, "Let pages of this origin ask (\"*\": of any)")
      ->type_name("ORIGIN")
      ->group(kGroup);
  add_size(
      app, "--max-body", [&edge](uint64_t size) { edge.max_body_bytes = size; },
      "Largest request body (default: 16 MiB)")
      ->group(kGroup);
}

}  // namespace

void add_serve_options(CLI::App& app, ServeOptions& options) {
  constexpr const char* kGroup = "Server";
  server::ServerOptions& server = options.server;
  add_edge_options(app, server.edge);
  app.add_option("--alias", server.model_name, "Name of the model for clients (default: the file's own)")
      ->type_name("NAME")
      ->group(kGroup);
  app.add_option("--api-keys", server.api_keys, "File of tenants and their keys; read again on SIGHUP")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_option("--access-log", server.access_log, "JSON line for every request; \"-\" for standard error")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_option("--trace", server.trace, "Write a trace of steps, ops and requests, for ui.perfetto.dev")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_option_function<int64_t>(
         "--drain-seconds", [&server](int64_t seconds) { server.drain = std::chrono::seconds(seconds); },
         "For answers to finish after SIGTERM (default: 30)")
      ->check(CLI::Range(0, 86400).description(""))
      ->type_name("S")
      ->group(kGroup);
  app.add_option_function<int64_t>(
         "--request-timeout",
         [&server](int64_t seconds) { server.request_timeout = std::chrono::seconds(seconds); },
         "For a request to be answered, waiting included; 0 for any (default: 0)")
      ->check(CLI::Range(0, 31'536'000).description(""))
      ->type_name("S")
      ->group(kGroup);
  app.add_option("--max-queued", server.engine.max_queued, "Answers that may wait (default: 1024)")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N")
      ->group(kGroup);
  app.add_option_function<int64_t>(
         "--max-token-gap-ms",
         [&server](int64_t ms) { server.engine.max_token_gap = std::chrono::milliseconds(ms); },
         "Longest gap that prompts may cause in a stream; 0 for any (default: 100)")
      ->check(CLI::Range(0, 3'600'000).description(""))
      ->type_name("N")
      ->group(kGroup);
  app.add_flag("--fit", options.fit, "Choose context and sequences for the memory available now")
      ->group("Memory");
}

}  // namespace quire::cli
