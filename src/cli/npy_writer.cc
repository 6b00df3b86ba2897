#include "cli/npy_writer.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/check.h"

namespace quire::cli {

Error NpyWriter::io_error() const {
  return make_error(ErrorCode::kIo, "{}: cannot write: {}", path_, std::strerror(errno));
}

Result<NpyWriter> NpyWriter::create(const std::string& path, int64_t n_rows, int64_t n_cols) {
  NpyWriter writer(path, std::fopen(path.c_str(), "wb"), n_rows, n_cols);
  if (writer.file_ == nullptr) return writer.io_error();
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", n_rows, n_cols);
  // Magic, version and length are 10 bytes; values begin at a multiple of 64.
  constexpr size_t kPrefix = 10;
  header.append((64 - (kPrefix + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  const char prefix[kPrefix] = {'\x93',
                                'N',
                                'U',
                                'M',
                                'P',
                                'Y',
                                1,
                                0,
                                static_cast<char>(header.size() & 0xff),
                                static_cast<char>(header.size() >> 8)};
  if (std::fwrite(prefix, 1, kPrefix, writer.file_.get()) != kPrefix ||
      std::fwrite(header.data(), 1, header.size(), writer.file_.get()) != header.size()) {
    return writer.io_error();
  }
  return writer;
}

NpyWriter::~NpyWriter() {
  if (file_ == nullptr) return;
  file_.reset();
  std::error_code error;
  if (std::filesystem::is_regular_file(path_, error)) std::filesystem::remove(path_, error);
}

Status NpyWriter::write_row(std::span<const float> row) {
  QUIRE_CHECK(rows_left_ > 0 && static_cast<int64_t>(row.size()) == n_cols_);
  --rows_left_;
  if (std::fwrite(row.data(), sizeof(float), row.size(), file_.get()) != row.size()) return io_error();
  return {};
}

Status NpyWriter::finish() {
  QUIRE_CHECK(rows_left_ == 0);
  if (std::fflush(file_.get()) != 0) return io_error();
  if (std::fclose(file_.release()) != 0) return io_error();
  return {};
}

}  // namespace quire::cli
