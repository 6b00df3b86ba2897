// ClientConnection: one client, its requests one after the other, as a coroutine on the edge's thread.
//
// Internal to the edge: with its .cc and edge.cc the only place that sees Boost.Beast. Kept alive by its own
// coroutine; everything but wake() runs on the edge's thread.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <optional>
#include <tuple>

#include "server/http/connection_reply.h"
#include "server/http/edge.h"
#include "server/http/request_id.h"
#include "server/http/tls.h"

namespace quire::server {

// What all connections of an edge share.
struct EdgeShared {
  EdgeOptions options;
  HttpHandler handler;
  RequestIds ids;
  std::atomic<int32_t> n_connections{0};
  std::atomic<int32_t> n_requests{0};
  std::atomic<bool> closing{false};  // no keep-alive any more
};

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  using Protocol = boost::asio::generic::stream_protocol;

  // Speaks TLS when `tls` is not null.
  ClientConnection(Protocol::socket socket, TlsContext tls, std::shared_ptr<EdgeShared> shared);
  ~ClientConnection();

  boost::asio::awaitable<void> run();

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class Next : uint8_t { kRequest, kClose };

  boost::asio::awaitable<bool> shake_hands();
  boost::asio::awaitable<Next> serve_one();
  boost::asio::awaitable<bool> await_bytes();
  using ReadResult = std::tuple<boost::beast::error_code, size_t>;
  boost::asio::awaitable<ReadResult> read_some(boost::asio::mutable_buffer into);
  // Nothing when the connection is over; what was wrong with the request has been answered then.
  boost::asio::awaitable<std::optional<HttpRequest>> read_request();
  boost::asio::awaitable<bool> continue_if_asked();
  boost::asio::awaitable<void> refuse(boost::beast::error_code error);
  boost::asio::awaitable<bool> send_reply(ConnectionReply& reply);
  boost::asio::awaitable<bool> write_all(std::string_view bytes);
  boost::asio::awaitable<void> watch_client(std::shared_ptr<ConnectionReply> reply);
  boost::asio::awaitable<void> stop_watching();
  boost::asio::awaitable<void> linger();
  boost::asio::awaitable<void> close();

  // Asio's and Beast's operations, on the bytes that the client means: those inside TLS.
  template <typename Operation>
  auto on_stream(Operation operation) {
    return tls_ ? operation(*tls_) : operation(stream_);
  }
  // Sleeps until wake() or the time is over; true when woken.
  boost::asio::awaitable<bool> sleep(std::chrono::milliseconds time);
  void wake();        // any thread
  void note_woken();  // on the edge's thread

  HttpRequest to_request(Parser::value_type&& message);

  using Stream = boost::beast::basic_stream<Protocol>;
  Stream stream_;  // to the client; time limits are its
  std::optional<boost::asio::ssl::stream<Stream&>> tls_;
  boost::beast::flat_buffer buffer_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<EdgeShared> shared_;
  std::optional<Parser> parser_;
  ReplyFrame frame_;
  std::atomic<bool> wake_posted_{false};
  bool woken_ = false;
  bool watching_ = false;
  bool ended_ = false;  // the client sends nothing more
};

}  // namespace quire::server
