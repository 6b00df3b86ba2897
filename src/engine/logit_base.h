// Files of base predictions: what a model said of every token of a text, for comparison with another run.
//
// Little endian, version 1:
//
//   8 bytes   "QUIRELPB"
//   u32       version
//   u32       n_vocab
//   u32       tokens of a window
//   u32       n_tokens, those of all windows
//   i32       [n_tokens] ids, windows one after the other (EvaluationText)
//   rows      one for every scored token, in order:
//     u32     top: the likeliest id
//     f32     ln probability of the token that came next
//     f32     ln probability of all tokens not kept, -inf when there are none
//     u32     n_kept
//     n_kept  times: LEB128 distance from the id before (the first from -1), then u16 code (BaseRow)
//
// About a fifth of the bytes of all logits as f16, since unlikely tokens are left out; divergence.h says what
// that costs. Writer and reader own their file; one thread each.
//
//   QUIRE_ASSIGN_OR_RETURN(LogitBaseWriter out, LogitBaseWriter::create(path, text, n_vocab));
//   for (...) QUIRE_RETURN_IF_ERROR(out.write(make_base_row(logits, next)));
//   QUIRE_RETURN_IF_ERROR(out.finish());
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "engine/divergence.h"
#include "engine/evaluation.h"

namespace quire {

class LogitBaseWriter {
 public:
  // Errors: kIo, naming the file; kInvalidArgument (a text of 2^32 tokens or more).
  static Result<LogitBaseWriter> create(const std::string& path, const EvaluationText& text, int64_t n_vocab);
  LogitBaseWriter(LogitBaseWriter&&) noexcept = default;
  LogitBaseWriter& operator=(LogitBaseWriter&&) = delete;
  ~LogitBaseWriter();  // removes a file that was not finished

  Status write(const BaseRow& row);
  // As many rows must have come as the text has scored tokens. Errors: kIo.
  Status finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  LogitBaseWriter(std::string path, std::FILE* file, int64_t rows)
      : path_(std::move(path)), file_(file), rows_left_(rows) {}
  Status flush_row();
  Error io_error() const;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;  // null once finished or moved from
  int64_t rows_left_;
  std::vector<unsigned char> bytes_;  // of a row
};

class LogitBaseReader {
 public:
  // Reads and checks everything but the rows. Errors: those of MappedFile::open; kCorrupt; kUnsupported
  // (version).
  static Result<LogitBaseReader> open(const std::string& path);

  int64_t n_vocab() const { return n_vocab_; }
  const EvaluationText& text() const { return text_; }

  // The next row, valid until the next call; there must be one. Errors: kCorrupt.
  Result<const BaseRow*> next();
  // Errors: kCorrupt when something follows the last row.
  Status finish() const;

 private:
  LogitBaseReader(MappedFile file, int64_t n_vocab, EvaluationText text, size_t at)
      : file_(std::move(file)),
        n_vocab_(n_vocab),
        text_(std::move(text)),
        rows_left_(text_.n_scored()),
        at_(at) {}

  MappedFile file_;
  int64_t n_vocab_;
  EvaluationText text_;
  int64_t rows_left_;
  size_t at_;  // offset of the next row
  BaseRow row_;
};

}  // namespace quire
