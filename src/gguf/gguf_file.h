// GgufFile: a GGUF file (or all parts of a split one) opened for reading.
//
// Owns the mappings; metadata() and every TensorView point into them, so they live as long as the GgufFile.
// Immutable after open(): any thread may read. Knows the container only, no architecture. Nothing in the file is
// trusted: every count, length, offset and dimension is compared with the bytes that are there before it is used,
// and no memory is taken on the word of the file. Source: the GGUF format, versions 2 and 3, little-endian.
//
//   QUIRE_ASSIGN_OR_RETURN(GgufFile file, GgufFile::open("model.gguf"));
//   const TensorInfo* tensor = file.find_tensor("token_embd.weight");
#pragma once

#include <cstdint>
#include <memory>
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

class GgufFile {
 public:
  // Opens `path` and, when it is part 1 of a split file, the other parts beside it.
  // Errors: those of MappedFile::open; kCorrupt with the file, the field, what was found and what was expected;
  // kUnsupported (version, byte order, a removed or foreign tensor type).
  static Result<GgufFile> open(const std::string& path, const GgufOptions& options = {});
  // Parses bytes that the caller keeps alive (tests, fuzzing, embedded files); split files are refused.
  static Result<GgufFile> parse(std::span<const std::byte> bytes, std::string name);

  uint32_t version() const { return version_; }
  uint32_t alignment() const { return alignment_; }
  const std::string& path() const { return path_; }
  const Metadata& metadata() const { return metadata_; }
  std::span<const TensorInfo> tensors() const { return tensors_; }
  const TensorInfo* find_tensor(std::string_view name) const;  // null when absent
  size_t n_parts() const { return files_.size(); }
  const MappedFile& part(size_t i) const { return files_[i]; }
  uint64_t data_bytes() const;  // sum of the tensors' bytes

 private:
  uint32_t version_ = 3;
  uint32_t alignment_ = 32;
  std::string path_;
  Metadata metadata_;
  std::vector<MappedFile> files_;
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string_view, size_t> index_;  // keys point into a stable store of names
  std::vector<std::unique_ptr<std::string>> names_;
};

}  // namespace quire
