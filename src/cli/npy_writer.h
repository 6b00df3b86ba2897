// NpyWriter: a float32 matrix written to a .npy file row by row, so that it need not be in memory.
//
// The number of rows is stated first; finish() checks that as many came. A file that was not finished is
// removed. Owns the open file; one thread. Source: the NPY format, version 1.0.
//
//   QUIRE_ASSIGN_OR_RETURN(NpyWriter out, NpyWriter::create("logits.npy", n_rows, n_cols));
//   for (...) QUIRE_RETURN_IF_ERROR(out.write_row(row));
//   QUIRE_RETURN_IF_ERROR(out.finish());
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace quire::cli {

class NpyWriter {
 public:
  // Errors: kIo, naming the file.
  static Result<NpyWriter> create(const std::string& path, int64_t n_rows, int64_t n_cols);
  NpyWriter(NpyWriter&&) noexcept = default;
  NpyWriter& operator=(NpyWriter&&) = delete;
  ~NpyWriter();

  // `row` has n_cols values, and at most n_rows rows may come. Errors: kIo.
  Status write_row(std::span<const float> row);
  // All rows must have come. Errors: kIo.
  Status finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  NpyWriter(std::string path, std::FILE* file, int64_t n_rows, int64_t n_cols)
      : path_(std::move(path)), file_(file), rows_left_(n_rows), n_cols_(n_cols) {}
  Error io_error() const;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;  // null once finished or moved from
  int64_t rows_left_;
  int64_t n_cols_;
};

}  // namespace quire::cli
