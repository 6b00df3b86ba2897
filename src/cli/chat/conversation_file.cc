#include "cli/chat/conversation_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace quire::cli {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;

}  // namespace

Status save_conversation(const std::string& path, const Conversation& conversation) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return make_error(ErrorCode::kIo, "cannot write {}: not a file", path);
  const std::string fresh = path + ".new";
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file << conversation.to_json().dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  file.close();
  if (file.fail() || std::rename(fresh.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(fresh.c_str());
    return make_error(ErrorCode::kIo, "cannot write {}: {}", path, std::strerror(error));
  }
  return {};
}

Result<Conversation> load_conversation(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return make_error(ErrorCode::kIo, "cannot read {}: {}", path, std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  while (file.read(buffer, sizeof buffer), file.gcount() > 0) {
    text.append(buffer, static_cast<size_t>(file.gcount()));
    if (text.size() > kMaxBytes)
      return make_error(ErrorCode::kResourceExhausted, "{} is longer than {} MiB", path, kMaxBytes >> 20);
  }
  if (file.bad()) return make_error(ErrorCode::kIo, "cannot read {}", path);
  Result<Conversation> conversation = Conversation::from_json(text);
  if (conversation.ok()) return conversation;
  return make_error(conversation.error().code, "{}: {}", path, conversation.error().message);
}

}  // namespace quire::cli
