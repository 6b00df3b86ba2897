#include "server/http/edge.h"

#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <optional>

#include "server/http/client_connection.h"
#include "server/http/error_body.h"
#include "server/http/tls.h"

namespace quire::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;
using Local = asio::local::stream_protocol;

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
// After a failed accept, as when all file descriptors are in use.
constexpr std::chrono::milliseconds kAcceptPause{50};

Result<Tcp::endpoint> resolve(asio::io_context& io, const EdgeOptions& options) {
  error_code error;
  Tcp::resolver resolver(io);
  const auto found =
      resolver.resolve(options.host, std::to_string(options.port), Tcp::resolver::passive, error);
  if (error || found.empty()) {
    return make_error(ErrorCode::kInvalidArgument, "'{}' is no address of this machine", options.host);
  }
  return found.begin()->endpoint();
}

Result<Tcp::acceptor> listen_tcp(asio::io_context& io, const EdgeOptions& options) {
  QUIRE_ASSIGN_OR_RETURN(const Tcp::endpoint endpoint, resolve(io, options));
  Tcp::acceptor acceptor(io);
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return acceptor;
  if (error == asio::error::address_in_use) {
    return make_error(ErrorCode::kIo,
                      "port {} of {} is in use by another program; choose another with --port", options.port,
                      options.host);
  }
  return make_error(ErrorCode::kIo, "cannot listen on port {} of {}: {}", options.port, options.host,
                    error.message());
}

Result<Local::acceptor> listen_local(asio::io_context& io, const std::string& path) {
  if (path.size() >= sizeof(sockaddr_un{}.sun_path)) {
    return make_error(ErrorCode::kInvalidArgument, "the path of the socket is longer than {} bytes",
                      sizeof(sockaddr_un{}.sun_path) - 1);
  }
  const Local::endpoint endpoint(path);
  error_code error;
  Local::acceptor acceptor(io);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.bind(endpoint, error);
  if (error == asio::error::address_in_use) {
    // A server that was killed leaves its socket behind; a living one answers.
    Local::socket probe(io);
    error_code refused;
    probe.connect(endpoint, refused);
    if (refused == asio::error::connection_refused && ::unlink(path.c_str()) == 0) {
      acceptor.bind(endpoint, error);
    }
  }
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return acceptor;
  return make_error(ErrorCode::kIo, "cannot listen on socket {}: {}", path, error.message());
}

// One write without waiting: who is refused here gets no more of our time.
template <typename Socket>
void turn_away(Socket& socket) {
  const HttpResponse response{.status = 503, .body = plain_error_body(503, "too many connections")};
  const std::string text = response_head(response, {.connection = Connection::kClose}) + response.body;
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.send(asio::buffer(text), 0, ignored);
}

}  // namespace

struct Edge::State {
  asio::io_context io{1};
  std::optional<Tcp::acceptor> tcp;
  std::optional<Local::acceptor> local;
  TlsContext tls;  // null: plain HTTP
  asio::signal_set signals{io};
  std::shared_ptr<EdgeShared> shared = std::make_shared<EdgeShared>();
  std::function<void(Signal)> on_signal;
  LogSink* log = nullptr;

  ~State() {
    if (local) ::unlink(shared->options.unix_socket.c_str());
  }

  template <typename Acceptor>
  asio::awaitable<void> accept_all(Acceptor& acceptor) {
    for (;;) {
      auto [error, socket] = co_await acceptor.async_accept(kNoThrow);
      if (error) {
        quire::log(*log, LogLevel::kWarning, "cannot accept a connection: {}", error.message());
        asio::steady_timer pause(io, kAcceptPause);
        co_await pause.async_wait(kNoThrow);
        continue;
      }
      constexpr bool kTcp = std::is_same_v<Acceptor, Tcp::acceptor>;
      const TlsContext its_tls = kTcp ? tls : nullptr;
      if (shared->n_connections >= shared->options.max_connections) {
        if (its_tls == nullptr) turn_away(socket);
        continue;
      }
      if constexpr (kTcp) {
        error_code ignored;
        socket.set_option(Tcp::no_delay(true), ignored);
      }
      const auto connection = std::make_shared<ClientConnection>(
          ClientConnection::Protocol::socket(std::move(socket)), its_tls, shared);
      asio::co_spawn(io, connection->run(), asio::detached);
    }
  }

  asio::awaitable<void> hear_signals() {
    for (;;) {
      const auto [error, number] = co_await signals.async_wait(kNoThrow);
      if (error) co_return;
      on_signal(number == SIGHUP ? Signal::kReload : Signal::kStop);
    }
  }
};

Edge::Edge(std::unique_ptr<State> state) : state_(std::move(state)) {}
Edge::~Edge() = default;

Result<std::unique_ptr<Edge>> Edge::listen(const EdgeOptions& options, HttpHandler handler, LogSink& log) {
  auto state = std::make_unique<State>();
  state->shared->options = options;
  state->shared->handler = std::move(handler);
  state->log = &log;
  if (!options.tls_certificate.empty()) {
    QUIRE_ASSIGN_OR_RETURN(state->tls, load_tls(options.tls_certificate, options.tls_key));
  }
  QUIRE_ASSIGN_OR_RETURN(state->tcp, listen_tcp(state->io, options));
  if (!options.unix_socket.empty()) {
    QUIRE_ASSIGN_OR_RETURN(state->local, listen_local(state->io, options.unix_socket));
  }
  return std::unique_ptr<Edge>(new Edge(std::move(state)));
}

uint16_t Edge::port() const { return state_->tcp->local_endpoint().port(); }

void Edge::run(std::function<void(Signal)> on_signal) {
  State& state = *state_;
  state.on_signal = std::move(on_signal);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) state.signals.add(number);
  asio::co_spawn(state.io, state.hear_signals(), asio::detached);
  asio::co_spawn(state.io, state.accept_all(*state.tcp), asio::detached);
  if (state.local) asio::co_spawn(state.io, state.accept_all(*state.local), asio::detached);
  state.io.run();
}

Status Edge::reload_tls() {
  if (state_->tls == nullptr) return {};
  const EdgeOptions& options = state_->shared->options;
  QUIRE_ASSIGN_OR_RETURN(state_->tls, load_tls(options.tls_certificate, options.tls_key));
  return {};
}

void Edge::refuse_keep_alive() { state_->shared->closing = true; }

void Edge::stop() { state_->io.stop(); }

EdgeGauges Edge::gauges() const {
  return {.connections = state_->shared->n_connections, .requests = state_->shared->n_requests};
}

}  // namespace quire::server
