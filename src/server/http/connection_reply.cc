#include "server/http/connection_reply.h"

#include <utility>

#include "base/check.h"

namespace quire::server {
namespace {

// With this many bytes not taken by the client it is behind.
constexpr size_t kMaxWaiting = 256 << 10;

}  // namespace

HeadOptions ConnectionReply::head_options(BodyFraming framing) const {
  return {.connection = frame_.connection,
          .framing = framing,
          .request_id = frame_.request_id,
          .cors_origin = frame_.cors_origin};
}

void ConnectionReply::send(HttpResponse response) {
  {
    const std::lock_guard lock(mutex_);
    QUIRE_CHECK(phase_ == Phase::kSilent);
    phase_ = Phase::kFinished;
    record_.status = response.status;
    record_.bytes = response.body.size();
    if (!record_.gone) {
      waiting_ = response_head(response, head_options(BodyFraming::kLength));
      if (frame_.with_body) waiting_ += response.body;
    }
  }
  wake_();
}

void ConnectionReply::begin(HttpResponse head) {
  {
    const std::lock_guard lock(mutex_);
    QUIRE_CHECK(phase_ == Phase::kSilent && head.body.empty());
    phase_ = Phase::kStreaming;
    event_stream_ = head.content_type.starts_with("text/event-stream");
    record_.status = head.status;
    if (!record_.gone) {
      waiting_ = response_head(
          head, head_options(frame_.chunked ? BodyFraming::kChunked : BodyFraming::kUntilClose));
    }
  }
  wake_();
}

void ConnectionReply::append_body(std::string_view bytes) {
  if (record_.gone || bytes.empty()) return;
  if (frame_.chunked) {
    append_chunk(waiting_, bytes);
  } else {
    waiting_ += bytes;
  }
}

void ConnectionReply::write(std::string_view bytes) {
  {
    const std::lock_guard lock(mutex_);
    QUIRE_CHECK(phase_ == Phase::kStreaming);
    record_.bytes += bytes.size();
    append_body(bytes);
  }
  wake_();
}

void ConnectionReply::finish() {
  {
    const std::lock_guard lock(mutex_);
    QUIRE_CHECK(phase_ == Phase::kStreaming);
    phase_ = Phase::kFinished;
    if (!record_.gone && frame_.chunked) waiting_ += kLastChunk;
  }
  wake_();
}

bool ConnectionReply::gone() const {
  const std::lock_guard lock(mutex_);
  return record_.gone;
}

bool ConnectionReply::has_room() {
  const std::lock_guard lock(mutex_);
  awaits_room_ = waiting_.size() + in_flight_ >= kMaxWaiting;
  return !awaits_room_;
}

void ConnectionReply::watch(std::function<void()> on_change) {
  const std::lock_guard lock(mutex_);
  std::swap(on_change_, on_change);
}

ReplyRecord ConnectionReply::record() const {
  const std::lock_guard lock(mutex_);
  return record_;
}

ConnectionReply::Batch ConnectionReply::take() {
  const std::lock_guard lock(mutex_);
  in_flight_ = waiting_.size();
  return {std::exchange(waiting_, {}), phase_};
}

void ConnectionReply::sent() {
  std::function<void()> on_change;
  {
    const std::lock_guard lock(mutex_);
    in_flight_ = 0;
    if (waiting_.empty() && std::exchange(awaits_room_, false)) on_change = on_change_;
  }
  if (on_change) on_change();
}

void ConnectionReply::ping() {
  const std::lock_guard lock(mutex_);
  if (event_stream_ && phase_ == Phase::kStreaming) append_body(":\n\n");
}

void ConnectionReply::client_left() {
  std::function<void()> on_change;
  {
    const std::lock_guard lock(mutex_);
    if (record_.gone || phase_ == Phase::kFinished) return;
    record_.gone = true;
    waiting_.clear();
    on_change = on_change_;
  }
  if (on_change) on_change();
}

bool ConnectionReply::closes() const {
  const std::lock_guard lock(mutex_);
  return record_.gone || frame_.connection == Connection::kClose;
}

}  // namespace quire::server
