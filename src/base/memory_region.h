// MemoryRegion: the one kind of owner of large buffers (weights, KV pages, activation arena, logits).
//
// Anonymous, zero-filled, 64-byte aligned at least (2 MiB aligned when larger than that, with huge pages
// asked for), released by the destructor. A *dry* region reports the same size with nothing allocated:
// planning code runs unchanged and only the bytes differ. Move-only; data() is stable for the life of the
// region. Concurrent access to the bytes is the owner's business.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace quire {

enum class Allocation { kReal, kDry };

class MemoryRegion {
 public:
  // Errors: kResourceExhausted with the number of bytes asked for.
  static Result<MemoryRegion> allocate(size_t bytes, Allocation allocation = Allocation::kReal);

  MemoryRegion() = default;
  ~MemoryRegion();
  MemoryRegion(MemoryRegion&& other) noexcept;
  MemoryRegion& operator=(MemoryRegion&& other) noexcept;
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  // Touches every page of [offset, offset + bytes) so that later writes cannot fault; callable from several
  // threads on disjoint ranges. No-op for a dry region.
  void fault_in(size_t offset, size_t bytes) const;

  std::byte* data() const { return data_; }  // null for a dry or empty region
  size_t size() const { return size_; }      // bytes asked for, also when dry
  bool dry() const { return size_ != 0 && data_ == nullptr; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  size_t mapped_ = 0;  // bytes of address space held, >= size_
};

}  // namespace quire
