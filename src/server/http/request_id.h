// RequestIds: a name for every request, in its answer and in the log.
//
// A client's own X-Request-Id is kept when it is short and plain; else a new one is made. One thread at a
// time.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace quire::server {

class RequestIds {
 public:
  RequestIds() : random_(std::random_device{}()) {}
  std::string choose(std::string_view asked);

 private:
  std::mt19937_64 random_;
};

}  // namespace quire::server
