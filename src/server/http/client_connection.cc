#include "server/http/client_connection.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/read.hpp>

#include "base/check.h"
#include "server/http/error_body.h"

namespace quire::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
// Of what a client sends ahead while its request is being answered.
constexpr size_t kReadAhead = 64 << 10;
constexpr size_t kReadSize = 4 << 10;
constexpr std::chrono::milliseconds kLingerTime{2000};

struct Refusal {
  int status;
  std::string_view message;
};

// Nothing for errors of the connection, where nobody is left to be told.
std::optional<Refusal> refusal_of(beast::error_code error) {
  if (error == http::error::body_limit) return Refusal{413, "the body is larger than this server takes"};
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return Refusal{431, "the header is larger than this server takes"};
  if (error == http::error::end_of_stream || error == http::error::partial_message) return {};
  if (error.category() == make_error_code(http::error::bad_method).category())
    return Refusal{400, "the request is not HTTP/1.1"};
  return {};
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

ClientConnection::ClientConnection(Protocol::socket socket, TlsContext tls,
                                   std::shared_ptr<EdgeShared> shared)
    : stream_(std::move(socket)), timer_(stream_.get_executor()), shared_(std::move(shared)) {
  if (tls != nullptr) tls_.emplace(stream_, *tls);
  buffer_.max_size(shared_->options.max_header_bytes + kReadAhead);
  ++shared_->n_connections;
}

ClientConnection::~ClientConnection() { --shared_->n_connections; }

asio::awaitable<void> ClientConnection::run() {
  const auto self = shared_from_this();  // the coroutine keeps its connection
  if (!co_await shake_hands()) co_return;
  while (co_await serve_one() == Next::kRequest) {
  }
}

asio::awaitable<bool> ClientConnection::shake_hands() {
  if (!tls_) co_return true;
  stream_.expires_after(shared_->options.header_timeout);
  const auto [error] = co_await tls_->async_handshake(asio::ssl::stream_base::server, kNoThrow);
  co_return !error;
}

asio::awaitable<ClientConnection::Next> ClientConnection::serve_one() {
  if (!co_await await_bytes()) co_return Next::kClose;
  std::optional<HttpRequest> request = co_await read_request();
  if (!request) co_return Next::kClose;

  if (request->method == "OPTIONS") {
    ConnectionReply reply(frame_, [] {});
    reply.send(preflight_response(shared_->options.cors_origin));
    co_return co_await send_reply(reply) && !reply.closes() ? Next::kRequest : Next::kClose;
  }
  const auto reply = std::make_shared<ConnectionReply>(frame_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->wake();
  });
  ++shared_->n_requests;
  shared_->handler(std::move(*request), reply);
  stream_.expires_never();
  watching_ = true;
  asio::co_spawn(stream_.get_executor(), watch_client(reply), asio::detached);
  const bool sent = co_await send_reply(*reply);
  if (!sent) reply->client_left();
  co_await stop_watching();
  --shared_->n_requests;
  if (sent && !reply->closes() && !shared_->closing) co_return Next::kRequest;
  co_await close();
  co_return Next::kClose;
}

// Inside TLS the end is said, so that a client can tell it from a cut.
asio::awaitable<void> ClientConnection::close() {
  if (tls_) {
    stream_.expires_after(kLingerTime);
    co_await tls_->async_shutdown(kNoThrow);
  }
  beast::error_code ignored;
  stream_.socket().shutdown(asio::socket_base::shutdown_both, ignored);
}

auto ClientConnection::read_some(asio::mutable_buffer into) -> asio::awaitable<ReadResult> {
  return on_stream([&](auto& stream) { return stream.async_read_some(into, kNoThrow); });
}

asio::awaitable<bool> ClientConnection::await_bytes() {
  if (buffer_.size() > 0) co_return true;
  if (ended_) co_return false;  // an end is reported once: another read would wait for it in vain
  stream_.expires_after(shared_->options.idle_timeout);
  const auto [error, n] = co_await read_some(buffer_.prepare(kReadSize));
  buffer_.commit(n);
  co_return !error;
}

asio::awaitable<std::optional<HttpRequest>> ClientConnection::read_request() {
  parser_.emplace();
  parser_->header_limit(shared_->options.max_header_bytes);
  parser_->body_limit(shared_->options.max_body_bytes);
  stream_.expires_after(shared_->options.header_timeout);
  const auto [header_error, n_header] = co_await on_stream(
      [&](auto& stream) { return http::async_read_header(stream, buffer_, *parser_, kNoThrow); });
  const bool keep_alive = !header_error && parser_->get().keep_alive() && !shared_->closing;
  const bool http_1_1 = parser_->get().version() >= 11;
  frame_ = {.request_id = shared_->ids.choose(parser_->get()["X-Request-Id"]),
            .cors_origin = shared_->options.cors_origin,
            .connection = keep_alive && http_1_1 ? Connection::kKeepAlive : Connection::kClose,
            .chunked = http_1_1,
            .with_body = parser_->get().method() != http::verb::head};
  if (header_error) {
    co_await refuse(header_error);
    co_return std::nullopt;
  }
  if (!co_await continue_if_asked()) co_return std::nullopt;
  stream_.expires_after(shared_->options.body_timeout);
  const auto [error, n] =
      co_await on_stream([&](auto& stream) { return http::async_read(stream, buffer_, *parser_, kNoThrow); });
  if (error) {
    co_await refuse(error);
    co_return std::nullopt;
  }
  co_return to_request(parser_->release());
}

asio::awaitable<bool> ClientConnection::continue_if_asked() {
  if (!beast::iequals(parser_->get()[http::field::expect], "100-continue")) co_return true;
  co_return co_await write_all("HTTP/1.1 100 Continue\r\n\r\n");
}

HttpRequest ClientConnection::to_request(Parser::value_type&& message) {
  HttpRequest request{.id = frame_.request_id};
  request.method = message.method() == http::verb::head ? "GET" : std::string(message.method_string());
  const std::string_view target = message.target();
  const size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  for (const auto& field : message) request.headers.emplace_back(lower(field.name_string()), field.value());
  request.body = std::move(message.body());
  return request;
}

// Says what is wrong with the request, and ends the connection.
asio::awaitable<void> ClientConnection::refuse(beast::error_code error) {
  const std::optional<Refusal> refusal = refusal_of(error);
  if (!refusal) co_return;
  frame_.connection = Connection::kClose;
  ConnectionReply reply(frame_, [] {});
  reply.send({.status = refusal->status, .body = plain_error_body(refusal->status, refusal->message)});
  if (co_await write_all(reply.take().bytes)) co_await linger();
}

// A connection closed over unread bytes is reset, and the client may lose the answer: reads them first.
asio::awaitable<void> ClientConnection::linger() {
  beast::error_code ignored;
  stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  stream_.expires_after(kLingerTime);
  std::string scratch(kReadAhead, '\0');
  for (;;) {  // bytes that nobody looks at: encrypted or not
    const auto [error, n] = co_await stream_.async_read_some(asio::buffer(scratch), kNoThrow);
    if (error) co_return;
  }
}

// Sends until the reply is finished. False: the client has gone, or takes nothing any more.
asio::awaitable<bool> ClientConnection::send_reply(ConnectionReply& reply) {
  for (;;) {
    const ConnectionReply::Batch batch = reply.take();
    if (!batch.bytes.empty()) {
      if (!co_await write_all(batch.bytes)) co_return false;
      reply.sent();
    }
    if (reply.gone()) co_return false;
    if (batch.phase == ConnectionReply::Phase::kFinished) co_return true;
    if (!co_await sleep(shared_->options.ping_interval)) reply.ping();
  }
}

asio::awaitable<bool> ClientConnection::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    stream_.expires_after(shared_->options.write_timeout);
    const auto [error, n] = co_await on_stream(
        [&](auto& stream) { return stream.async_write_some(asio::buffer(bytes), kNoThrow); });
    if (error) co_return false;
    bytes.remove_prefix(n);
  }
  co_return true;
}

// Reads ahead while a request is being answered: that is how the client's leaving shows.
asio::awaitable<void> ClientConnection::watch_client(std::shared_ptr<ConnectionReply> reply) {
  const auto self = shared_from_this();
  beast::error_code error;
  while (!error && buffer_.size() < kReadAhead) {
    size_t n = 0;
    std::tie(error, n) = co_await read_some(buffer_.prepare(kReadSize));
    buffer_.commit(n);
  }
  if (error && error != asio::error::operation_aborted) {
    ended_ = true;
    reply->client_left();
  }
  watching_ = false;
  note_woken();
}

asio::awaitable<void> ClientConnection::stop_watching() {
  while (watching_) {
    stream_.cancel();
    co_await sleep(std::chrono::milliseconds(100));
  }
}

asio::awaitable<bool> ClientConnection::sleep(std::chrono::milliseconds time) {
  if (!woken_) {
    timer_.expires_after(time);
    co_await timer_.async_wait(kNoThrow);
  }
  co_return std::exchange(woken_, false);
}

void ClientConnection::wake() {
  if (wake_posted_.exchange(true)) return;
  asio::post(stream_.get_executor(), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->wake_posted_ = false;
    self->note_woken();
  });
}

void ClientConnection::note_woken() {
  woken_ = true;
  timer_.cancel();
}

}  // namespace quire::server
