// GgufFile: a GGUF file (or all parts of a split one) opened for reading.
//
// Owns the mappings; metadata() and every TensorView point into them, so they live as long as the GgufFile
// (moving it keeps them valid). Immutable after open(): any thread may read. Knows the container only, no
// architecture. Nothing in the file is trusted: every count, length, offset and dimension is compared with
// the bytes that are there before it is used, and no memory is taken on the word of the file. Source: the
// GGUF format, versions 2 and 3, little-endian.
//
//   QUIRE_ASSIGN_OR_RETURN(GgufFile file, GgufFile::open("model.gguf"));
//   const TensorInfo* tensor = file.find_tensor("token_embd.weight");
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "gguf/metadata.h"
#include "tensor/tensor_view.h"

namespace quire {

struct TensorInfo {
  std::string name;
  TensorView view;      // data points into the mapping
  uint32_t part = 0;    // index of the split part that holds it
  uint64_t offset = 0;  // from the start of that part's file, bytes
};

struct GgufOptions {
  FileAccess access = FileAccess::kMap;
};

namespace gguf_internal {
struct GgufPart;
}

class GgufFile {
 public:
  // Opens `path` and, when it is part 1 of a split file, the other parts beside it.
  // Errors: those of MappedFile::open; kCorrupt with the file, the field, what was found and what was
  // expected; kUnsupported (version, byte order, a removed or foreign tensor type); kInvalidArgument (a later
  // part of a split file, or one whose name does not lead to the other parts); kNotFound (a part is missing).
  static Result<GgufFile> open(const std::string& path, const GgufOptions& options = {});
  // Parses bytes that the caller keeps alive (tests, fuzzing, embedded files), aligned to the file's
  // alignment if tensors are used in place; split files are refused. `name` stands for the path in messages;
  // n_parts() is 0.
  static Result<GgufFile> parse(std::span<const std::byte> bytes, std::string name);

  uint32_t version() const { return version_; }
  uint32_t alignment() const { return alignment_; }  // of the first part
  const std::string& path() const { return path_; }
  const Metadata& metadata() const {
    return metadata_;
  }  // of the first part, which holds all that concerns the model
  std::span<const TensorInfo> tensors() const { return tensors_; }
  const TensorInfo* find_tensor(std::string_view name) const;  // null when absent
  size_t n_parts() const { return files_.size(); }
  const MappedFile& part(size_t i) const { return files_[i]; }
  uint64_t data_bytes() const;  // sum of the tensors' bytes

 private:
  Status open_parts(uint32_t count, const GgufOptions& options);
  void take_first(gguf_internal::GgufPart part);
  Status index_tensors();

  uint32_t version_ = 3;
  uint32_t alignment_ = 32;
  std::string path_;
  Metadata metadata_;
  std::vector<MappedFile> files_;
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string_view, size_t>
      index_;  // keys are the names in tensors_, which never changes again
};

}  // namespace quire
