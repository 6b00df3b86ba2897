// Answers of POST /v1/chat/completions: chat.completion, and chat.completion.chunk events.
#pragma once

#include <memory>

#include "server/answer/answer_writer.h"
#include "server/api/answer_style.h"

namespace quire::server {

std::unique_ptr<AnswerWriter> make_chat_writer(AnswerHead head, const AnswerStyle& style, size_t n_choices,
                                               std::shared_ptr<Reply> reply);

}  // namespace quire::server
