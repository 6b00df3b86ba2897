#include "engine/answer_memory.h"

#include "base/quantity_text.h"

namespace quire {

Result<AnswerMemory::Share> AnswerMemory::take(size_t bytes) {
  if (limit_ != 0 && bytes > limit_) {
    return make_error(ErrorCode::kInvalidArgument,
                      "the request may need {}, and all requests together have {}: ask for fewer tokens or "
                      "fewer log-probabilities",
                      format_size(bytes), format_size(limit_));
  }
  const size_t before = used_.fetch_add(bytes);
  Share share(shared_from_this(), bytes);
  if (limit_ != 0 && before + bytes > limit_) {
    return make_error(
        ErrorCode::kResourceExhausted,
        "the request may need {}, and {} of the {} for all requests are in use; try again later",
        format_size(bytes), format_size(before), format_size(limit_));
  }
  return share;
}

}  // namespace quire
