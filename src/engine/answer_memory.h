// AnswerMemory: the bytes that all requests of an engine may take together, and each one's share of them.
//
// How long an answer may become, and what is told beside each token, is the asker's choice: a share is taken
// before anything is allocated, and goes back when nobody needs the request any more. Shares may outlive the
// engine. Any thread.
//
//   QUIRE_ASSIGN_OR_RETURN(AnswerMemory::Share share, memory->take(bytes));
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/result.h"

namespace quire {

class AnswerMemory : public std::enable_shared_from_this<AnswerMemory> {
 public:
  class Share {
   public:
    Share(Share&& other) noexcept : memory_(std::move(other.memory_)), bytes_(other.bytes_) {}
    Share& operator=(Share&&) = delete;
    ~Share() {
      if (memory_ != nullptr) memory_->used_ -= bytes_;
    }

   private:
    friend class AnswerMemory;
    Share(std::shared_ptr<AnswerMemory> memory, size_t bytes) : memory_(std::move(memory)), bytes_(bytes) {}
    std::shared_ptr<AnswerMemory> memory_;
    size_t bytes_;
  };

  explicit AnswerMemory(size_t limit) : limit_(limit) {}  // 0 = any

  // Errors: kResourceExhausted (others have too much of it now), kInvalidArgument (it is more than all).
  Result<Share> take(size_t bytes);
  size_t used() const { return used_.load(); }

 private:
  const size_t limit_;
  std::atomic<size_t> used_{0};
};

}  // namespace quire
