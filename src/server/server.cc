#include "server/server.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "engine/engine_trace.h"
#include "server/api/api.h"

namespace quire::server {
namespace {

// After answers were cut: for their last words to reach the clients.
constexpr std::chrono::milliseconds kLastWords{2000};
constexpr std::chrono::milliseconds kLook{10};

}  // namespace

struct Server::State {
  ServerOptions options;
  LogSink& log;
  std::unique_ptr<Edge> edge;
  std::unique_ptr<Tenants> tenants;
  std::unique_ptr<AccessLog> access_log;
  ServerMetrics metrics;
  std::unique_ptr<TraceFile> trace;  // null: none
  std::optional<RequestTrace> request_trace;
  std::optional<EngineTrace> engine_trace;
  std::unique_ptr<ServedModel> model;
  std::optional<WorkerPool> pool;
  std::optional<Api> api;

  std::atomic<bool> stopping{false};
  std::atomic<bool> hurried{false};  // a second signal
  std::thread stopper;

  State(const ServerOptions& asked, LogSink& sink) : options(asked), log(sink) {}

  // Of the model that is about to be served.
  void trace_engine(Runner& runner) {
    if (trace == nullptr) return;
    engine_trace.emplace(*trace, runner.model().program());
    runner.set_profiler(&*engine_trace);
    options.engine.events = &*engine_trace;
  }

  // Waits until no request is being answered.
  bool await_quiet(std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (edge->gauges().requests > 0) {
      if (std::chrono::steady_clock::now() >= end) return false;
      if (hurried && limit > kLastWords) return false;
      std::this_thread::sleep_for(kLook);
    }
    return true;
  }

  void shut_down() {
    if (!await_quiet(options.drain)) {
      api->cut_all();
      await_quiet(kLastWords);
    }
    edge->stop();
  }

  void hear(Signal signal) {
    if (signal == Signal::kReload) return reload();
    if (stopping.exchange(true)) {
      hurried = true;
      return;
    }
    quire::log(log, LogLevel::kInfo, "shutting down, for at most {} s", options.drain.count());
    api->refuse_new();
    edge->refuse_keep_alive();
    stopper = std::thread([this] { shut_down(); });
  }

  void reload() {
    if (!options.api_keys.empty())
      note(tenants->reload(), "read the API keys again", "the API keys stay as they were");
    if (!options.edge.tls_certificate.empty())
      note(edge->reload_tls(), "read the certificate again", "the certificate stays as it was");
  }

  void note(const Status& read, const char* done, const char* kept) {
    if (read.ok()) return quire::log(log, LogLevel::kInfo, "{}", done);
    quire::log(log, LogLevel::kError, "{}: {}", kept, read.error().message);
  }
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::create(const ServerOptions& options, LogSink& log) {
  auto state = std::make_unique<State>(options, log);
  if (options.api_keys.empty()) {
    state->tenants = std::make_unique<Tenants>();
  } else {
    QUIRE_ASSIGN_OR_RETURN(state->tenants, Tenants::load(options.api_keys));
    state->options.engine.n_tenants = Tenants::kMaxTenants;
  }
  QUIRE_ASSIGN_OR_RETURN(state->access_log, AccessLog::open(options.access_log, log));
  if (!options.trace.empty()) {
    QUIRE_ASSIGN_OR_RETURN(state->trace, TraceFile::create(options.trace, log));
    state->request_trace.emplace(*state->trace);
  }
  State* const raw = state.get();
  QUIRE_ASSIGN_OR_RETURN(state->edge, Edge::listen(
                                          options.edge,
                                          [raw](HttpRequest request, std::shared_ptr<Reply> reply) {
                                            raw->api->handle(std::move(request), std::move(reply));
                                          },
                                          log));
  state->pool.emplace(options.n_workers);
  std::optional<std::chrono::milliseconds> answer_time;
  if (options.request_timeout.count() > 0) answer_time = options.request_timeout;
  state->api.emplace(Api::Parts{.pool = *state->pool,
                                .tenants = *state->tenants,
                                .metrics = state->metrics,
                                .log = *state->access_log,
                                .trace = state->request_trace ? &*state->request_trace : nullptr,
                                .answer_time = answer_time,
                                .gauges = [raw] {
                                  const EdgeGauges gauges = raw->edge->gauges();
                                  return ServerGauges{gauges.connections, gauges.requests};
                                }});
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Status Server::run(const Loader& load, const std::function<void(uint16_t port)>& on_ready) {
  State& state = *state_;
  Status loaded;
  std::thread loader([&] {
    const auto load_and_serve = [&]() -> Status {
      QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<Runner> runner, load([&] { return !state.stopping.load(); }));
      state.trace_engine(*runner);
      QUIRE_ASSIGN_OR_RETURN(state.model, ServedModel::create(std::move(runner), state.options.engine,
                                                              state.options.model_name, state.log));
      state.metrics.set_memory(state.model->memory());
      state.api->serve(state.model.get());
      on_ready(state.edge->port());
      return {};
    };
    try {
      loaded = load_and_serve();
    } catch (const std::bad_alloc&) {
      loaded = make_error(ErrorCode::kResourceExhausted, "the memory does not suffice for the model");
    }
    if (!loaded.ok()) state.edge->stop();
  });
  state.edge->run([&](Signal signal) { state.hear(signal); });
  loader.join();
  if (state.stopper.joinable()) state.stopper.join();

  // Nothing new can come: first every answer ends, then the engine, then what they call.
  state.api->cut_all();
  if (state.model != nullptr) state.model->engine().drain();
  state.pool.reset();
  return loaded;
}

}  // namespace quire::server
