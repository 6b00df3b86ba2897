// Files that a command writes, told apart from those it reads: an output that is the mapped model would empty
// it under the program, and be lost.
//
//   QUIRE_RETURN_IF_ERROR(check_output(*out_, input_paths(model->file())));
//
// Functions read the file system only.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "gguf/gguf_file.h"

namespace quire::cli {

// The paths of all parts of a model.
std::vector<std::string> input_paths(const GgufFile& file);

// Errors: kInvalidArgument when `output` is one of the inputs, by whatever path or link.
Status check_output(const std::string& output, std::span<const std::string> inputs);

}  // namespace quire::cli
