#include "gguf/gguf_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/write_all.h"
#include "gguf/printable.h"

namespace quire {

Result<GgufWriter> GgufWriter::create(const std::string& path, const GgufHeader& header) {
  GgufWriter writer;
  QUIRE_ASSIGN_OR_RETURN(writer.layout_, header.layout());
  writer.path_ = path;
  writer.partial_path_ = path + ".partial";
  for (const GgufTensorSpec& tensor : header.tensors()) writer.names_.push_back(tensor.name);
  writer.fd_ = ::open(writer.partial_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (writer.fd_ < 0) return writer.io_error("create");
  QUIRE_RETURN_IF_ERROR(writer.write_all(writer.layout_.header));
  QUIRE_RETURN_IF_ERROR(writer.end_full_tensors());
  return writer;
}

GgufWriter::~GgufWriter() { discard(); }

GgufWriter::GgufWriter(GgufWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      partial_path_(std::move(other.partial_path_)),
      layout_(std::move(other.layout_)),
      names_(std::move(other.names_)),
      current_(other.current_),
      written_(other.written_) {}

GgufWriter& GgufWriter::operator=(GgufWriter&& other) noexcept {
  if (this != &other) {
    discard();
    fd_ = std::exchange(other.fd_, -1);
    path_ = std::move(other.path_);
    partial_path_ = std::move(other.partial_path_);
    layout_ = std::move(other.layout_);
    names_ = std::move(other.names_);
    current_ = other.current_;
    written_ = other.written_;
  }
  return *this;
}

Status GgufWriter::append(std::span<const std::byte> data) {
  if (data.empty()) return {};
  if (current_ == layout_.tensors.size()) {
    return make_error(ErrorCode::kInvalidArgument, "{}: {} bytes after the last tensor", path_, data.size());
  }
  const GgufLayout::Extent& extent = layout_.tensors[current_];
  const uint64_t room = extent.offset + extent.bytes - written_;
  if (data.size() > room) {
    return make_error(ErrorCode::kInvalidArgument, "{}: tensor '{}' takes {} more bytes, {} were given",
                      path_, printable(names_[current_]), room, data.size());
  }
  QUIRE_RETURN_IF_ERROR(write_all(data));
  written_ += data.size();
  return end_full_tensors();
}

Status GgufWriter::finish() {
  if (current_ != layout_.tensors.size()) {
    const GgufLayout::Extent& extent = layout_.tensors[current_];
    return make_error(ErrorCode::kInvalidArgument, "{}: tensor '{}' still lacks {} bytes", path_,
                      printable(names_[current_]), extent.offset + extent.bytes - written_);
  }
  if (::fsync(fd_) != 0) return io_error("flush");
  const int fd = std::exchange(fd_, -1);
  // From here on discard() would no longer remove the file, so failures do it themselves.
  if (::close(fd) != 0 || std::rename(partial_path_.c_str(), path_.c_str()) != 0) {
    Error error = io_error("finish");
    ::unlink(partial_path_.c_str());
    return error;
  }
  return {};
}

// Moves past every tensor that is complete (also those of no bytes), writing the padding behind it.
Status GgufWriter::end_full_tensors() {
  while (current_ < layout_.tensors.size()) {
    const GgufLayout::Extent& extent = layout_.tensors[current_];
    if (written_ < extent.offset + extent.bytes) break;
    ++current_;
    QUIRE_RETURN_IF_ERROR(
        pad_to(current_ < layout_.tensors.size() ? layout_.tensors[current_].offset : layout_.data_bytes));
  }
  return {};
}

Status GgufWriter::pad_to(uint64_t position) {
  static constexpr std::byte kZeros[4096] = {};
  while (written_ < position) {
    const size_t size = std::min<uint64_t>(position - written_, sizeof(kZeros));
    QUIRE_RETURN_IF_ERROR(write_all({kZeros, size}));
    written_ += size;
  }
  return {};
}

Status GgufWriter::write_all(std::span<const std::byte> data) {
  const WriteResult written =
      quire::write_all(fd_, {reinterpret_cast<const char*>(data.data()), data.size()});
  if (written.error == 0) return {};
  errno = written.error;
  return io_error("write");
}

Error GgufWriter::io_error(const char* action) const {
  return make_error(ErrorCode::kIo, "{}: cannot {}: {}", partial_path_, action, std::strerror(errno));
}

void GgufWriter::discard() {
  if (fd_ < 0) return;
  ::close(std::exchange(fd_, -1));
  ::unlink(partial_path_.c_str());
}

}  // namespace quire
