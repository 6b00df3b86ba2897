#include "cli/output_file.h"

#include <filesystem>
#include <system_error>

namespace quire::cli {

std::vector<std::string> input_paths(const GgufFile& file) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < file.n_parts(); ++i) paths.push_back(file.part(i).path());
  return paths;
}

Status check_output(const std::string& output, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;  // a file that is not there is none of the inputs
    if (!std::filesystem::equivalent(output, input, error)) continue;
    return make_error(ErrorCode::kInvalidArgument,
                      "{}: is a file that is read here, expected another one to write to", output);
  }
  return {};
}

}  // namespace quire::cli
