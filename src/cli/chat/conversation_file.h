// Conversations in files, for /save and /load.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/chat/conversation.h"

namespace quire::cli {

// Replaces the file as a whole or leaves it as it was. Errors: kIo.
Status save_conversation(const std::string& path, const Conversation& conversation);

// Errors: kIo, kResourceExhausted (longer than 64 MiB), kCorrupt.
Result<Conversation> load_conversation(const std::string& path);

}  // namespace quire::cli
