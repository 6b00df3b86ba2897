// POST /infill: what stands between a prefix and a suffix, for models with tokens for it.
//
// The prompt is built of control tokens and texts in the order of Bavarian et al., "Efficient Training of
// Language Models to Fill in the Middle", 2022: prefix, suffix, middle; files for context stand before, as
// the Qwen coder models have it: repository, then each file behind a separator.
#pragma once

#include "server/api/api_call.h"

namespace quire::server {

struct InfillParts {
  struct File {
    std::string name = {};
    std::string text = {};
  };
  std::string prefix = {};
  std::string suffix = {};
  std::string begun = {};  // of the middle
  std::vector<File> files = {};
};

// Ids of such a prompt, at most `room`: the files lose their beginning first, then the prefix its beginning
// and the suffix its end, which keep three quarters and one quarter. Errors: kNotSupported for a vocabulary
// without the tokens.
ApiResult<std::vector<int32_t>> infill_prompt(const Tokenizer& tokenizer, const InfillParts& parts,
                                              int64_t room);

ApiResult<AnswerJob> infill(const ApiCall& call);

}  // namespace quire::server
