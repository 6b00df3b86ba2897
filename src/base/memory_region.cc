#include "base/memory_region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.h"

namespace quire {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

Error does_not_fit(size_t bytes, const char* reason) {
  return make_error(ErrorCode::kResourceExhausted, "cannot allocate {} bytes: {}", bytes, reason);
}

}  // namespace

Result<MemoryRegion> MemoryRegion::allocate(size_t bytes, Allocation allocation) {
  MemoryRegion region;
  region.size_ = bytes;
  if (allocation == Allocation::kDry || bytes == 0) return region;

  const size_t page = page_size();
  if (bytes > std::numeric_limits<size_t>::max() - page - kHugePage) {
    return does_not_fit(bytes, "more than the address space");
  }
  // The length is rounded to small pages only: a huge-page tail would hold memory that no plan counted.
  const size_t length = round_up(bytes, page);
  const bool huge = length >= kHugePage;
  const size_t slack = huge ? kHugePage : 0;
  void* mapped = mmap(nullptr, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return does_not_fit(bytes, std::strerror(errno));

  auto* start = static_cast<std::byte*>(mapped);
  if (huge) {
    const size_t head = (kHugePage - reinterpret_cast<uintptr_t>(start) % kHugePage) % kHugePage;
    if (head != 0) munmap(start, head);
    start += head;
    if (slack != head) munmap(start + length, slack - head);
    madvise(start, length, MADV_HUGEPAGE);  // a wish: kernels without huge pages serve small ones
  }
  region.data_ = start;
  region.mapped_ = length;
  return region;
}

MemoryRegion::~MemoryRegion() {
  if (data_ != nullptr) munmap(data_, mapped_);
}

MemoryRegion::MemoryRegion(MemoryRegion&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

MemoryRegion& MemoryRegion::operator=(MemoryRegion&& other) noexcept {
  MemoryRegion taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  std::swap(mapped_, taken.mapped_);
  return *this;
}

void MemoryRegion::fault_in(size_t offset, size_t bytes) const {
  QUIRE_CHECK(offset <= size_ && bytes <= size_ - offset);
  if (data_ == nullptr || bytes == 0) return;
  const size_t page = page_size();
#ifdef MADV_POPULATE_WRITE
  const size_t first = offset / page * page;
  if (madvise(data_ + first, offset + bytes - first, MADV_POPULATE_WRITE) == 0) return;
#endif
  // Kernels before 5.14: write one byte of each page back, inside the range only, so that neighbours may
  // work.
  for (size_t at = offset; at < offset + bytes; at = (at / page + 1) * page) {
    volatile std::byte* byte = data_ + at;
    *byte = *byte;
  }
}

}  // namespace quire
