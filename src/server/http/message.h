// HttpRequest, HttpResponse and Reply: what passes between the HTTP edge and the handlers of requests.
//
// Plain data, and one interface that the edge implements for every request. Nothing here knows a socket, so
// that handlers can be tested without one.
//
//   void handle(HttpRequest request, std::shared_ptr<Reply> reply) {
//     reply->send({.status = 200, .body = "{}"});
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quire::server {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string id = {};      // unique per request; also in the answer's x-request-id
  std::string method = {};  // "GET"
  std::string path = {};    // "/v1/models", without the query
  std::string query = {};
  HttpHeaders headers = {};  // names in lower case
  std::string body = {};

  // The first header of this (lower-case) name; empty when there is none.
  std::string_view header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json; charset=utf-8";
  HttpHeaders headers = {};
  std::string body = {};
};

// What became of a reply, for the access log.
struct ReplyRecord {
  int status = 0;
  uint64_t bytes = 0;  // of bodies, handed over by the handler
  bool gone = false;   // the client left before the end
};

// The answer to one request: either send(), or begin(), write() any number of times, finish(). Every request
// must be answered, also when the client has gone; what is written then is dropped. May be used from any
// thread, by one at a time.
class Reply {
 public:
  virtual ~Reply() = default;
  virtual void send(HttpResponse response) = 0;
  // The body follows in pieces; `head.body` must be empty.
  virtual void begin(HttpResponse head) = 0;
  virtual void write(std::string_view bytes) = 0;
  virtual void finish() = 0;
  virtual bool gone() const = 0;
  // False when the client is behind and more should not be written now; watch() then tells when it should.
  virtual bool has_room() = 0;
  // `on_change` is called, on a thread of the edge, when the client has gone, and when it has caught up after
  // has_room() was false; it must return at once. Null ends that.
  virtual void watch(std::function<void()> on_change) = 0;
  virtual ReplyRecord record() const = 0;
};

// Called on a thread of the edge; must return soon.
using HttpHandler = std::function<void(HttpRequest request, std::shared_ptr<Reply> reply)>;

}  // namespace quire::server
