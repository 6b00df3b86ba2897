// Conversations: undo, and their form as JSON and files.
#include "cli/chat/conversation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cli/chat/conversation_file.h"

namespace quire::cli {
namespace {

Conversation sample() {
  Conversation conversation("Be brief.");
  conversation.add(Speaker::kUser, "Hi\n漢");
  conversation.add(Speaker::kAssistant, "Hello \"you\"");
  return conversation;
}

TEST(ConversationTest, Messages) {
  const std::vector<ChatMessage> messages = sample().messages();
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].role, "system");
  EXPECT_EQ(messages[1].role, "user");
  EXPECT_EQ(messages[2].role, "assistant");
  EXPECT_TRUE(Conversation().messages().empty());
}

TEST(ConversationTest, Undo) {
  Conversation conversation = sample();
  conversation.add(Speaker::kUser, "more");
  EXPECT_EQ(conversation.undo(), "more");
  EXPECT_EQ(conversation.undo(), "Hi\n漢");
  EXPECT_EQ(conversation.n_turns(), 0u);
  EXPECT_EQ(conversation.undo(), "");
  EXPECT_EQ(conversation.system(), "Be brief.");
}

TEST(ConversationTest, JsonThereAndBack) {
  const Json json = sample().to_json();
  const Result<Conversation> again = Conversation::from_json(json.dump());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->to_json(), json);
  EXPECT_EQ(json["messages"].size(), 3u);
}

TEST(ConversationTest, WrongJsonIsAnError) {
  for (const char* text :
       {"", "{", "[]", "3", "{}", R"({"messages":3})", R"({"messages":[3]})",
        R"({"messages":[{"role":"user"}]})", R"({"messages":[{"role":"user","content":[]}]})",
        R"({"messages":[{"role":"tool","content":"x"}]})",
        R"({"messages":[{"role":"user","content":"x"},{"role":"system","content":"y"}]})"}) {
    const Result<Conversation> result = Conversation::from_json(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  }
}

TEST(ConversationTest, Files) {
  std::string folder = testing::TempDir() + "/quire-chat-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/chat.json";
  ASSERT_TRUE(save_conversation(path, Conversation("old")).ok());
  ASSERT_TRUE(save_conversation(path, sample()).ok());
  const Result<Conversation> loaded = load_conversation(path);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->to_json(), sample().to_json());
  for (const std::string& bad : {folder, folder + "/no/such/file"}) {
    const Status saved = save_conversation(bad, sample());
    ASSERT_FALSE(saved.ok());
    EXPECT_NE(saved.error().message.find(bad), std::string::npos);
    EXPECT_FALSE(load_conversation(bad).ok());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace quire::cli
