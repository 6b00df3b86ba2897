// ServerMetrics: what Prometheus scrapes at /metrics. docs/operations.md lists the names.
//
// Counters and histograms are fed as requests end; gauges and the engine's own counters are read at the
// moment of a scrape. Thread safe.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"
#include "server/answer/accounting.h"

namespace quire::server {

struct ServerGauges {
  int32_t connections = 0;
  int32_t requests = 0;  // being answered
};

class ServerMetrics {
 public:
  ServerMetrics();
  ~ServerMetrics();

  // An HTTP request has ended; route: a path of the route table, or "other".
  void request_ended(const std::string& route, int status);
  // An answer has ended, however.
  void answer_ended(const Accounting& accounting);
  // Seconds between two deliveries of one stream.
  void observe_gap(double seconds);

  // Prometheus text format 0.0.4. `engine` is null while the model loads.
  std::string scrape(const EngineGauges* engine, const ServerGauges& server);
  // Known once the model is loaded.
  void set_memory(const MemoryPlan& plan);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace quire::server
