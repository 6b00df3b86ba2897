#include "cli/chat/conversation.h"

#include <algorithm>
#include <iterator>

namespace quire::cli {
namespace {

constexpr const char* kSystem = "system";

const char* role_name(Speaker speaker) { return speaker == Speaker::kUser ? "user" : "assistant"; }

// The string member `name`, or null.
const std::string* find_text(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto member = object.find(name);
  return member == object.end() ? nullptr : member->get_ptr<const std::string*>();
}

}  // namespace

Result<Conversation> Conversation::from_json(std::string_view text) {
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) return make_error(ErrorCode::kCorrupt, "not JSON");
  const auto list = root.is_object() ? root.find("messages") : root.end();
  if (!root.is_object() || list == root.end() || !list->is_array())
    return make_error(ErrorCode::kCorrupt, "no list of \"messages\", expected what /save writes");
  Conversation conversation;
  size_t i = 0;
  for (const Json& item : *list) {
    const std::string* role = find_text(item, "role");
    const std::string* content = find_text(item, "content");
    if (role == nullptr || content == nullptr)
      return make_error(ErrorCode::kCorrupt, "message {} has no text in \"role\" and \"content\"", i);
    if (*role == kSystem && i == 0) {
      conversation.system_ = *content;
    } else if (*role == role_name(Speaker::kUser)) {
      conversation.add(Speaker::kUser, *content);
    } else if (*role == role_name(Speaker::kAssistant)) {
      conversation.add(Speaker::kAssistant, *content);
    } else {
      return make_error(ErrorCode::kCorrupt,
                        "message {} has role \"{}\", expected user or assistant, or system as the first", i,
                        *role);
    }
    ++i;
  }
  return conversation;
}

Json Conversation::to_json() const {
  Json list = Json::array();
  if (!system_.empty()) list.push_back({{"role", kSystem}, {"content", system_}});
  for (const Turn& turn : turns_) list.push_back({{"role", role_name(turn.speaker)}, {"content", turn.text}});
  return {{"messages", std::move(list)}};
}

std::string Conversation::undo() {
  const auto last = std::find_if(turns_.rbegin(), turns_.rend(),
                                 [](const Turn& turn) { return turn.speaker == Speaker::kUser; });
  if (last == turns_.rend()) return {};
  std::string text = std::move(last->text);
  turns_.erase(std::prev(last.base()), turns_.end());
  return text;
}

std::vector<ChatMessage> Conversation::messages() const {
  std::vector<ChatMessage> list;
  if (!system_.empty()) list.push_back({.role = kSystem, .content = system_});
  for (const Turn& turn : turns_) list.push_back({.role = role_name(turn.speaker), .content = turn.text});
  return list;
}

}  // namespace quire::cli
