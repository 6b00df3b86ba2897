// The fields about generation that all APIs share, read into what the engine understands.
//
// Every field is honoured, taken because it changes nothing, or refused by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/request.h"
#include "server/answer/choice_reader.h"
#include "server/api/answer_style.h"
#include "server/api/fields.h"
#include "server/api/served_model.h"

namespace quire::server {

struct GenerationAsk {
  GenerationSettings settings = {};  // with the seed that will be used
  int32_t n = 1;                     // choices for each prompt
  PromptReading reading = PromptReading::kNone;
  AnswerStyle style = {};
  int32_t top_logprobs = 0;
  bool share_prefix = true;
  std::string cache_salt = {};  // splits the trust domain further
  int64_t keep_last = -1;       // tokens of a prompt; -1 = all
  RenderSpecial special = RenderSpecial::kHide;
  StopText stop_text = StopText::kDrop;
};

// What "logprobs" means: chat has a flag beside top_logprobs, the text routes have a number.
enum class LogprobFields : uint8_t { kFlag, kNumber };

inline constexpr int32_t kMaxChoices = 128;
inline constexpr int32_t kMaxAskedLogprobs = 20;

// Marks what is wrong in `fields`.
GenerationAsk read_generation(Fields& fields, const ServedModel& model, LogprobFields logprobs);

// How the tokens of such an answer become text.
ReaderOptions reader_of(const GenerationAsk& ask);

// The parts of read_generation() that APIs with fields of their own use alone.
void read_sampling(Fields& fields, SamplingSettings& sampling);
void read_stops(Fields& fields, std::string_view name, std::vector<std::string>& stops);

}  // namespace quire::server
