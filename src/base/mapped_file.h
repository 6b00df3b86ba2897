// MappedFile: the bytes of a read-only file, mapped or read.
//
// Owns the mapping (or the buffer); views into bytes() are valid while the MappedFile lives, and stay valid
// when it is moved. Immutable after open(), so any number of threads may read it. A file that shrinks while
// mapped is outside what can be guarded (SIGBUS), as for every mapping; kRead copies instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/memory_region.h"
#include "base/result.h"

namespace quire {

enum class FileAccess { kMap, kRead };

class MappedFile {
 public:
  // Errors: kNotFound (no such file), kInvalidArgument (directory or not a regular file), kIo (permission,
  // read error), kResourceExhausted (no memory or address space for it). An empty file opens with an empty
  // span.
  static Result<MappedFile> open(const std::string& path, FileAccess access = FileAccess::kMap);

  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

  // Hints that [offset, offset + size) will be read soon (prefetch), or is no longer needed (drop: the pages
  // go back to the page cache and no longer count as resident). Both are no-ops for kRead.
  void advise_will_need(size_t offset, size_t size) const;
  void advise_dont_need(size_t offset, size_t size) const;

 private:
  const std::byte* data_ = nullptr;  // of the mapping, or of buffer_
  size_t size_ = 0;
  FileAccess access_ = FileAccess::kMap;
  std::string path_;
  MemoryRegion buffer_;  // holds the bytes for kRead
};

}  // namespace quire
