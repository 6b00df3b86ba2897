// Server: the whole of `quire serve`: edge, API, tenants, metrics, log, and the model with its engine.
//
// The port is taken before the model is loaded, so that health tells the truth from the beginning and a port
// in use shows at once. SIGTERM or SIGINT: new answers are refused, those under way finish or are cut after
// `drain`, run() returns; a second signal cuts them at once. SIGHUP reads the key file and the
// certificate again.
//
//   QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<Server> server, Server::create(options, log));
//   QUIRE_RETURN_IF_ERROR(server->run(load, on_ready));   // on the main thread
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "engine/engine.h"
#include "server/http/edge.h"

namespace quire::server {

struct ServerOptions {
  EdgeOptions edge = {};
  EngineOptions engine = {};
  std::string model_name = {};  // what clients call it; empty = the file's own
  std::string api_keys = {};    // file; empty = no keys
  std::string access_log = {};  // file, "-" for standard error; empty = none
  std::string trace = {};       // file; empty = none
  std::chrono::seconds drain{30};
  std::chrono::seconds request_timeout{0};  // from a request to the end of its answer; 0 = any
  int n_workers = 2;
};

class Server {
 public:
  // Loads the model; returns kCancelled soon after keep_going() has become false.
  using Loader = std::function<Result<std::unique_ptr<Runner>>(const std::function<bool()>& keep_going)>;

  // Errors: those of Edge::listen, Tenants::load, AccessLog::open and TraceFile::create.
  static Result<std::unique_ptr<Server>> create(const ServerOptions& options, LogSink& log);
  ~Server();

  // Loads and serves until a signal ends it. on_ready is called once, on another thread, with the port.
  // Errors: those of loading (kCancelled when a signal interrupted it).
  Status run(const Loader& load, const std::function<void(uint16_t port)>& on_ready);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace quire::server
