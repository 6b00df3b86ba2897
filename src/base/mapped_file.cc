#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace quire {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Error open_error(const std::string& path, int code) {
  if (code == ENOENT || code == ENOTDIR) return make_error(ErrorCode::kNotFound, "{}: no such file", path);
  return make_error(ErrorCode::kIo, "{}: cannot open: {}", path, std::strerror(code));
}

Status read_fully(const FileDescriptor& file, const std::string& path, std::byte* out, size_t size) {
  constexpr size_t kMaxPiece = size_t{1} << 30;
  size_t done = 0;
  while (done < size) {
    const ssize_t n =
        ::pread(file.get(), out + done, std::min(size - done, kMaxPiece), static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return make_error(ErrorCode::kIo, "{}: cannot read: {}", path, std::strerror(errno));
    if (n == 0) {
      return make_error(ErrorCode::kIo, "{}: ended after {} of {} bytes while being read", path, done, size);
    }
    done += static_cast<size_t>(n);
  }
  return {};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path, FileAccess access) {
  if (path.find('\0') != std::string::npos) {
    return make_error(ErrorCode::kInvalidArgument, "file name contains a zero byte");
  }
  // O_NONBLOCK: opening a pipe must report an error, not wait for a writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return open_error(path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return open_error(path, errno);
  if (S_ISDIR(info.st_mode)) {
    return make_error(ErrorCode::kInvalidArgument, "{}: is a directory, expected a file", path);
  }
  if (!S_ISREG(info.st_mode)) {
    return make_error(ErrorCode::kInvalidArgument, "{}: is not a regular file", path);
  }

  MappedFile result;
  result.path_ = path;
  result.access_ = access;
  result.size_ = static_cast<size_t>(info.st_size);
  if (result.size_ == 0) return result;

  if (access == FileAccess::kRead) {
    QUIRE_ASSIGN_OR_RETURN(result.buffer_, MemoryRegion::allocate(result.size_));
    QUIRE_RETURN_IF_ERROR(read_fully(file, path, result.buffer_.data(), result.size_));
    result.data_ = result.buffer_.data();
    return result;
  }
  void* mapped = ::mmap(nullptr, result.size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) {
    const int code = errno;
    result.size_ = 0;
    return make_error(code == ENOMEM ? ErrorCode::kResourceExhausted : ErrorCode::kIo,
                      "{}: cannot map {} bytes: {}", path, info.st_size, std::strerror(code));
  }
  result.data_ = static_cast<const std::byte*>(mapped);
  return result;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr && access_ == FileAccess::kMap) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      access_(other.access_),
      path_(std::move(other.path_)),
      buffer_(std::move(other.buffer_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  MappedFile taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  std::swap(access_, taken.access_);
  std::swap(path_, taken.path_);
  std::swap(buffer_, taken.buffer_);
  return *this;
}

void MappedFile::advise_will_need(size_t offset, size_t size) const {
  if (data_ == nullptr || access_ != FileAccess::kMap || offset >= size_) return;
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t end = offset + std::min(size, size_ - offset);
  const size_t first = offset / page * page;
  if (end > first) ::madvise(const_cast<std::byte*>(data_) + first, end - first, MADV_WILLNEED);
}

void MappedFile::advise_dont_need(size_t offset, size_t size) const {
  if (data_ == nullptr || access_ != FileAccess::kMap || offset >= size_) return;
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t end = offset + std::min(size, size_ - offset);
  // A page shared with the next range stays for it and goes when that one is dropped; the file's last page
  // has no next range.
  const size_t first = offset / page * page;
  const size_t last = end == size_ ? end : end / page * page;
  if (last > first) ::madvise(const_cast<std::byte*>(data_) + first, last - first, MADV_DONTNEED);
}

}  // namespace quire
