// Budget: what one parse or render may spend. Every loop and every byte built is charged before it is done.
//
// One Budget per render, used by one thread. Exceeding it is a Failure with kResourceExhausted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tokenizer/templates/failure.h"

namespace quire::jinja {

class Budget {
 public:
  Budget(int64_t steps, size_t memory_bytes, int depth)
      : steps_(steps), memory_limit_(memory_bytes), depth_limit_(depth) {}

  void charge_steps(int64_t steps) {
    steps_ -= steps;
    if (steps_ < 0)
      fail(ErrorCode::kResourceExhausted, "the template runs for too long (step limit reached)");
  }

  // Bytes stay charged until the render ends, as the heap frees nothing before. Copying costs steps as well.
  void charge_memory(size_t bytes) {
    if (bytes > memory_limit_ - memory_used_) {
      fail(ErrorCode::kResourceExhausted, "the template needs more than {} MiB of memory",
           memory_limit_ >> 20);
    }
    memory_used_ += bytes;
    charge_steps(static_cast<int64_t>(bytes >> 6));
  }

  // Looking for something in `bytes` of text.
  void charge_search(size_t bytes) { charge_steps(static_cast<int64_t>(bytes >> 3)); }
  // Reading `bytes` of text once.
  void charge_scan(size_t bytes) { charge_steps(static_cast<int64_t>(bytes >> 6)); }

  void enter() {
    if (++depth_ > depth_limit_) {
      fail(ErrorCode::kResourceExhausted, "the template nests or recurses deeper than {} levels",
           depth_limit_);
    }
  }
  void leave() { --depth_; }

 private:
  int64_t steps_;
  size_t memory_limit_;
  size_t memory_used_ = 0;
  int depth_limit_;
  int depth_ = 0;
};

// One level of recursion for as long as it lives.
class DepthGuard {
 public:
  explicit DepthGuard(Budget& budget) : budget_(budget) { budget_.enter(); }
  ~DepthGuard() { budget_.leave(); }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  Budget& budget_;
};

}  // namespace quire::jinja
