// Edge: HTTP/1.1 over TCP (inside TLS, if asked for) and Unix sockets. Reads requests, hands them to one
// handler, writes what it answers.
//
// Owns the listening sockets, the connections and one thread for them all. Bodies over the limit are refused
// before they are read (413). A client that sends a header or body too slowly, or reads an answer too slowly,
// is dropped; a client that leaves is noticed while its request is being answered. A handler's answers are
// written by the edge's thread, so a slow reader holds up nobody else.
//
//   QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<Edge> edge, Edge::listen({.port = 8080}, handler));
//   edge->run();    // until stop(); on the calling thread
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "server/http/message.h"

namespace quire::server {

struct EdgeOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 8080;          // 0 = any that is free
  std::string unix_socket = {};  // path; empty = none
  // PEM files; both empty = plain HTTP. The Unix socket is always plain.
  std::string tls_certificate = {}, tls_key = {};
  std::string cors_origin = {};  // Access-Control-Allow-Origin; empty = no such header
  uint64_t max_body_bytes = uint64_t{16} << 20;
  uint32_t max_header_bytes = 16 << 10;
  int32_t max_connections = 4096;
  std::chrono::milliseconds idle_timeout{75'000};  // between requests of one connection
  std::chrono::milliseconds header_timeout{
      10'000};  // from the first byte of a request to the end of its header
  std::chrono::milliseconds body_timeout{60'000};
  std::chrono::milliseconds write_timeout{30'000};  // without any byte taken by the client
  std::chrono::milliseconds ping_interval{15'000};  // a comment in silent event streams
};

enum class Signal : uint8_t { kStop, kReload };  // SIGINT or SIGTERM; SIGHUP

struct EdgeGauges {
  int32_t connections = 0;
  int32_t requests = 0;  // being answered
};

class Edge {
 public:
  // Errors: kInvalidArgument (no such address), kIo (port taken, no right to it, socket file in use), and
  // those of load_tls.
  static Result<std::unique_ptr<Edge>> listen(const EdgeOptions& options, HttpHandler handler, LogSink& log);
  ~Edge();

  uint16_t port() const;  // that is listened on
  // Serves until stop(). on_signal is called on this thread.
  void run(std::function<void(Signal)> on_signal);

  // On the thread of run(). Reads the certificate again, for connections from now on; an error changes
  // nothing.
  Status reload_tls();
  // Any thread. Answers end their connections from now on.
  void refuse_keep_alive();
  // Any thread. Drops every connection; run() returns.
  void stop();
  EdgeGauges gauges() const;  // any thread

 private:
  struct State;
  explicit Edge(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace quire::server
