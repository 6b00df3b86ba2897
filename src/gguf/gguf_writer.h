// GgufWriter: streams a GGUF file to disk, header first, then the tensors' data in pieces of any size.
//
// Writes to "<path>.partial" and renames it on finish(), so a file under its own name is always complete; a
// writer that is destroyed before that removes what it wrote. Move-only, one thread at a time.
//
//   QUIRE_ASSIGN_OR_RETURN(GgufWriter writer, GgufWriter::create("out.gguf", header));
//   QUIRE_RETURN_IF_ERROR(writer.append(rows));  // in header order; padding between tensors is added
//   QUIRE_RETURN_IF_ERROR(writer.finish());
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "gguf/gguf_header.h"

namespace quire {

class GgufWriter {
 public:
  // Errors: those of GgufHeader::layout(); kIo with the path and the system's reason.
  static Result<GgufWriter> create(const std::string& path, const GgufHeader& header);

  ~GgufWriter();
  GgufWriter(GgufWriter&& other) noexcept;
  GgufWriter& operator=(GgufWriter&& other) noexcept;
  GgufWriter(const GgufWriter&) = delete;
  GgufWriter& operator=(const GgufWriter&) = delete;

  // The next bytes of the current tensor; the one after it becomes current when it is full.
  // Errors: kInvalidArgument when the tensor, or the file, has no room for them; kIo.
  Status append(std::span<const std::byte> data);
  // Pads, flushes to the disk and gives the file its name. Errors: kInvalidArgument when data is missing;
  // kIo.
  Status finish();

 private:
  GgufWriter() = default;
  Status write_all(std::span<const std::byte> data);
  Status pad_to(uint64_t position);
  Status end_full_tensors();
  Error io_error(const char* action) const;
  void discard();

  int fd_ = -1;
  std::string path_;
  std::string partial_path_;
  GgufLayout layout_;
  std::vector<std::string> names_;  // of the tensors, for messages
  size_t current_ = 0;              // tensor being written
  uint64_t written_ = 0;            // bytes of the data section on disk
};

}  // namespace quire
