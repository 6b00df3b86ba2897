// Answers of POST /completion, in the shape that clients of llama.cpp's server read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/generation_settings.h"
#include "server/answer/answer_writer.h"
#include "server/api/answer_style.h"

namespace quire::server {

struct NativeHead {
  std::string model = {};
  GenerationSettings settings = {};
  std::vector<std::string> prompts = {};  // by choice
};

std::unique_ptr<AnswerWriter> make_native_writer(NativeHead head, const AnswerStyle& style,
                                                 std::shared_ptr<Reply> reply);

}  // namespace quire::server
