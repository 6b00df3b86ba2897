#include "gguf/gguf_file.h"

#include <iterator>
#include <utility>

#include "gguf/part_reader.h"
#include "gguf/printable.h"
#include "gguf/split_name.h"

namespace quire {
namespace {

using gguf_internal::GgufPart;
using gguf_internal::read_part;

constexpr const char* kSplitNo = "split.no";
constexpr const char* kSplitCount = "split.count";
constexpr const char* kSplitTensors = "split.tensors.count";
constexpr uint32_t kMaxParts = 65535;  // the keys are u16 in the format

struct SplitInfo {
  uint32_t no = 0;     // from 0
  uint32_t count = 1;  // 1: not split
};

Result<SplitInfo> read_split_info(const Metadata& metadata, const std::string& path) {
  SplitInfo info;
  QUIRE_ASSIGN_OR_RETURN(info.no, metadata.get_or<uint32_t>(kSplitNo, 0));
  QUIRE_ASSIGN_OR_RETURN(info.count, metadata.get_or<uint32_t>(kSplitCount, 1));
  if (info.count == 0) info.count = 1;  // written by some tools for "not split"
  if (info.count > kMaxParts || info.no >= info.count) {
    return make_error(ErrorCode::kCorrupt,
                      "{}: keys '{}' and '{}': found {} of {}, expected a part from 0 up", path, kSplitNo,
                      kSplitCount, info.no, info.count);
  }
  return info;
}

}  // namespace

Result<GgufFile> GgufFile::open(const std::string& path, const GgufOptions& options) {
  GgufFile file;
  file.path_ = path;
  QUIRE_ASSIGN_OR_RETURN(MappedFile first, MappedFile::open(path, options.access));
  QUIRE_ASSIGN_OR_RETURN(GgufPart part, read_part(first.bytes(), path));
  file.files_.push_back(std::move(first));
  file.take_first(std::move(part));

  QUIRE_ASSIGN_OR_RETURN(const SplitInfo split, read_split_info(file.metadata_, path));
  if (split.no != 0) {
    const std::optional<std::string> prefix = split_prefix(path, split.no, split.count);
    return make_error(ErrorCode::kInvalidArgument, "{}: is part {} of {}; open part 1{}{}", path,
                      split.no + 1, split.count, prefix ? ": " : "",
                      prefix ? split_part_path(*prefix, 0, split.count) : "");
  }
  if (split.count > 1) QUIRE_RETURN_IF_ERROR(file.open_parts(split.count, options));
  QUIRE_RETURN_IF_ERROR(file.index_tensors());
  return file;
}

Result<GgufFile> GgufFile::parse(std::span<const std::byte> bytes, std::string name) {
  GgufFile file;
  file.path_ = std::move(name);
  QUIRE_ASSIGN_OR_RETURN(GgufPart part, read_part(bytes, file.path_));
  file.take_first(std::move(part));
  QUIRE_ASSIGN_OR_RETURN(const SplitInfo split, read_split_info(file.metadata_, file.path_));
  if (split.count > 1) {
    return make_error(ErrorCode::kUnsupported, "{}: is part {} of {}; a split file is opened by its path",
                      file.path_, split.no + 1, split.count);
  }
  QUIRE_RETURN_IF_ERROR(file.index_tensors());
  return file;
}

void GgufFile::take_first(GgufPart part) {
  version_ = part.version;
  alignment_ = part.alignment;
  metadata_ = std::move(part.metadata);
  tensors_ = std::move(part.tensors);
}

Status GgufFile::open_parts(uint32_t count, const GgufOptions& options) {
  const std::optional<std::string> prefix = split_prefix(path_, 0, count);
  if (!prefix) {
    return make_error(ErrorCode::kInvalidArgument, "{}: is part 1 of {}, so its name must end in '{}'", path_,
                      count, split_part_path("", 0, count));
  }
  for (uint32_t i = 1; i < count; ++i) {
    const std::string path = split_part_path(*prefix, i, count);
    QUIRE_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(path, options.access));
    QUIRE_ASSIGN_OR_RETURN(GgufPart part, read_part(mapped.bytes(), path));
    QUIRE_ASSIGN_OR_RETURN(const SplitInfo split, read_split_info(part.metadata, path));
    if (split.no != i || split.count != count) {
      return make_error(ErrorCode::kCorrupt, "{}: says it is part {} of {}, expected part {} of {}", path,
                        split.no + 1, split.count, i + 1, count);
    }
    for (TensorInfo& tensor : part.tensors) tensor.part = i;
    files_.push_back(std::move(mapped));
    std::move(part.tensors.begin(), part.tensors.end(), std::back_inserter(tensors_));
  }
  QUIRE_ASSIGN_OR_RETURN(const uint64_t expected, metadata_.get<uint64_t>(kSplitTensors));
  if (tensors_.size() != expected) {
    return make_error(ErrorCode::kCorrupt, "{}: key '{}': found {}, but the {} parts hold {} tensors", path_,
                      kSplitTensors, expected, count, tensors_.size());
  }
  return {};
}

Status GgufFile::index_tensors() {
  index_.reserve(tensors_.size());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (!index_.emplace(tensors_[i].name, i).second) {
      return make_error(ErrorCode::kCorrupt, "{}: tensor '{}': the name occurs twice", path_,
                        printable(tensors_[i].name));
    }
  }
  return {};
}

const TensorInfo* GgufFile::find_tensor(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? nullptr : &tensors_[it->second];
}

uint64_t GgufFile::data_bytes() const {
  uint64_t sum = 0;
  for (const TensorInfo& tensor : tensors_) sum += tensor.view.bytes();
  return sum;
}

}  // namespace quire
