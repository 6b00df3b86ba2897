// The tokens a vocabulary singles out: end of generation, turns, fill in the middle, and the fix-ups around
// them.
//
// Works on a Vocab under construction (texts, types, index and ids from keys are set). Source: the
// conventions of the model families, found by token text where the file has no key.
#pragma once

#include "base/log.h"
#include "tokenizer/vocab.h"

namespace quire::tokenizer {

// Fills the roles that no key gave, from known token texts, and makes those tokens control tokens; then the
// end-of-generation set; then the families' exceptions. Logs types it overrides.
void resolve_special_tokens(Vocab& vocab, LogSink& log);

// Sets vocab.strip from the names of model and pre-tokenizer.
void resolve_strip_rules(Vocab& vocab, std::string_view model_name, std::string_view architecture,
                         std::string_view pre);

}  // namespace quire::tokenizer
