// Answers of POST /v1/completions: text_completion, as a whole or in events, with the legacy logprobs.
#pragma once

#include <memory>

#include "server/answer/answer_writer.h"
#include "server/api/answer_style.h"

namespace quire::server {

std::unique_ptr<AnswerWriter> make_text_writer(AnswerHead head, const AnswerStyle& style, size_t n_choices,
                                               std::shared_ptr<Reply> reply);

}  // namespace quire::server
