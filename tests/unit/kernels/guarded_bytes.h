// Memory that ends where a page begins that may not be touched: a read or write past it ends the test, in
// vector, tile and masked instructions alike, which sanitizers do not all see.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace quire::kernels {

class GuardedBytes {
 public:
  // n bytes, zeros; n a multiple of 64 makes data() a multiple of 64 too.
  explicit GuardedBytes(size_t n) : size_(n) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t usable = (n + page - 1) / page * page;
    mapped_ = usable + page;
    void* p = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(p, MAP_FAILED);
    begin_ = static_cast<std::byte*>(p);
    end_ = begin_ + usable;
    EXPECT_EQ(mprotect(end_, page, PROT_NONE), 0);
  }
  ~GuardedBytes() { munmap(begin_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  std::byte* data() const { return end_ - size_; }

  // The last n elements before the guard, n * sizeof(T) at most the size.
  template <typename T>
  T* last(size_t n) const {
    return reinterpret_cast<T*>(end_) - n;
  }

 private:
  size_t size_, mapped_ = 0;
  std::byte* begin_ = nullptr;
  std::byte* end_ = nullptr;
};

}  // namespace quire::kernels
