#include "cli/gguf_summary.h"

#include <algorithm>

#include "gguf/file_type.h"

namespace quire::cli {
namespace {

// Text that a summary can do without: absent and badly typed values count as empty.
std::string text_or_empty(const Metadata& metadata, std::string_view key) {
  Result<std::string> text = metadata.get<std::string>(key);
  return text.ok() ? *std::move(text) : std::string();
}

}  // namespace

GgufSummary summarize(const GgufFile& file) {
  const Metadata& metadata = file.metadata();
  GgufSummary summary{.architecture = text_or_empty(metadata, "general.architecture"),
                      .name = text_or_empty(metadata, "general.name")};
  for (size_t i = 0; i < file.n_parts(); ++i) summary.file_bytes += file.part(i).bytes().size();

  std::map<std::string, uint64_t> bytes_of_type;
  for (const TensorInfo& tensor : file.tensors()) {
    const std::string type = element_type_info(tensor.view.type).name;
    summary.parameters += static_cast<uint64_t>(tensor.view.n_elems());
    summary.tensor_types[type] += 1;
    bytes_of_type[type] += tensor.view.bytes();
  }

  if (const Result<uint32_t> id = metadata.get<uint32_t>("general.file_type"); id.ok()) {
    summary.type = file_type_name(*id);
  }
  if (summary.type.empty() && !bytes_of_type.empty()) {
    const auto largest = std::max_element(bytes_of_type.begin(), bytes_of_type.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    summary.type = largest->first;
  }
  return summary;
}

}  // namespace quire::cli
