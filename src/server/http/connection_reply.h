// ConnectionReply: the Reply of one request on one connection: bytes wait here until the connection sends
// them.
//
// Written by a handler's thread, emptied by the connection's; the lock covers single calls only.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "server/http/head.h"
#include "server/http/message.h"

namespace quire::server {

// What is common to the answers of one request.
struct ReplyFrame {
  std::string request_id = {};
  std::string cors_origin = {};
  Connection connection = Connection::kKeepAlive;
  bool chunked = true;    // false: an HTTP/1.0 client
  bool with_body = true;  // false: HEAD
};

class ConnectionReply final : public Reply {
 public:
  // `wake` tells the connection that there is something to send; called with no lock held.
  ConnectionReply(ReplyFrame frame, std::function<void()> wake)
      : frame_(std::move(frame)), wake_(std::move(wake)) {}

  void send(HttpResponse response) override;
  void begin(HttpResponse head) override;
  void write(std::string_view bytes) override;
  void finish() override;
  bool gone() const override;
  bool has_room() override;
  void watch(std::function<void()> on_change) override;
  ReplyRecord record() const override;

  // --- The connection's side ---
  enum class Phase : uint8_t { kSilent, kStreaming, kFinished };
  struct Batch {
    std::string bytes = {};
    Phase phase = Phase::kSilent;
  };
  Batch take();  // everything that waits to be sent
  void sent();   // the last batch is with the operating system
  void ping();   // a comment, if an event stream is under way
  void client_left();
  bool closes() const;  // the connection must end after this answer

 private:
  HeadOptions head_options(BodyFraming framing) const;
  void append_body(std::string_view bytes);

  const ReplyFrame frame_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::string waiting_;
  size_t in_flight_ = 0;      // bytes being sent
  bool awaits_room_ = false;  // the handler does
  Phase phase_ = Phase::kSilent;
  bool event_stream_ = false;
  ReplyRecord record_;
  std::function<void()> on_change_;
};

}  // namespace quire::server
