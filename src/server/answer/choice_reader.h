// ChoiceReader: the tokens of one choice to deltas of text, thinking and tool calls.
//
// What it gives out depends on the tokens only, not on when they came. The tokenizer must outlive it. One
// thread at a time.
//
//   ChoiceReader reader(tokenizer, {.stops = {"\n"}});
//   reader.push({.id = token.id}, deltas);    // appends
//   if (reader.ended()) ...
//   reader.finish(deltas);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/answer/answer_format.h"
#include "server/answer/delta.h"
#include "server/answer/text_holder.h"
#include "tokenizer/tokenizer.h"

namespace quire::server {

enum class ToolCallCount : uint8_t { kAny, kOne };

struct ReaderOptions {
  std::vector<std::string> stops = {};
  bool split_thinking = false;           // into reasoning deltas
  bool begins_thinking = false;          // the prompt has opened <think>
  ToolSyntax tools = ToolSyntax::kNone;  // kNone: none are parsed
  ToolCallCount tool_calls = ToolCallCount::kAny;
  bool details = false;                          // whether deltas carry tokens
  RenderSpecial special = RenderSpecial::kHide;  // whether control tokens are text
  StopText stop_text = StopText::kDrop;
  // The answer begins inside a call, of which this was written already.
  std::string begun_call = {};
  std::string call_id_prefix = "call_";
};

class ChoiceReader {
 public:
  ChoiceReader(const Tokenizer& tokenizer, ReaderOptions options);

  // `detail`: id, and what else deltas should carry of the token; bytes are filled in.
  void push(TokenDetail detail, std::vector<Delta>& out);
  // The tokens have ended.
  void finish(std::vector<Delta>& out);
  // A stop string was met, or the one tool call that was allowed: further tokens are of no interest.
  bool ended() const { return ended_; }
  bool called_tools() const { return n_calls_ > 0; }
  const std::optional<std::string>& stopped_by() const { return holder_.stopped_by(); }
  int64_t n_tokens() const { return n_tokens_; }      // pushed
  int64_t n_thinking() const { return n_thinking_; }  // of them while thinking

 private:
  enum class Mode : uint8_t { kContent, kThinking, kCall };
  void enter(Mode mode);
  void drain(std::vector<Delta>& out);
  void text(std::string text, std::vector<TokenDetail> tokens, std::vector<Delta>& out);
  void emit(DeltaKind kind, std::string text, std::vector<TokenDetail> tokens, std::vector<Delta>& out);
  enum class CallEnd : uint8_t { kClosed, kOpen };
  void end_call(CallEnd end, std::vector<Delta>& out);
  bool looks_like_call() const;
  std::string call_id() const;

  const Tokenizer& tokenizer_;
  ReaderOptions options_;
  TextHolder holder_;
  Mode mode_ = Mode::kContent;
  std::vector<Mode> marker_leads_to_;  // by marker being watched for
  std::string opening_;                // of the call under way
  std::string call_text_;
  std::vector<TokenDetail> call_tokens_;
  std::string spaces_;    // white space that is dropped if a tag follows
  bool at_begin_ = true;  // of a mode: white space here is dropped after a tag
  bool after_tag_ = false;
  bool any_content_ = false;
  bool ended_ = false;
  int64_t n_tokens_ = 0, n_thinking_ = 0, n_calls_ = 0;
};

}  // namespace quire::server
