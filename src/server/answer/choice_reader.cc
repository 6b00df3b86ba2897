#include "server/answer/choice_reader.h"

#include <algorithm>
#include <random>
#include <utility>

namespace quire::server {
namespace {

constexpr const char* kThinkOpen = "<think>";
constexpr const char* kThinkClose = "</think>";
constexpr std::string_view kWhiteSpace = " \t\r\n";

// What opens calls, and what closes one; no closing: the end of the answer does.
struct CallTags {
  const char* open = nullptr;
  const char* close = nullptr;
};

CallTags tags_of(ToolSyntax syntax) {
  switch (syntax) {
    case ToolSyntax::kHermes:
      return {"<tool_call>", "</tool_call>"};
    case ToolSyntax::kLlama3:
      return {"<|python_tag|>", nullptr};
    case ToolSyntax::kMistral:
      return {"[TOOL_CALLS]", nullptr};
    case ToolSyntax::kNone:
      break;
  }
  return {};
}

size_t leading_space(std::string_view text) {
  return std::min(text.find_first_not_of(kWhiteSpace), text.size());
}

size_t without_trailing_space(std::string_view text) { return text.find_last_not_of(kWhiteSpace) + 1; }

}  // namespace

ChoiceReader::ChoiceReader(const Tokenizer& tokenizer, ReaderOptions options)
    : tokenizer_(tokenizer), options_(std::move(options)), holder_(options_.stops, options_.stop_text) {
  if (!options_.begun_call.empty()) {
    enter(Mode::kCall);
    opening_ = options_.tools == ToolSyntax::kLlama3 ? "" : tags_of(options_.tools).open;
    call_text_ = options_.begun_call;
    return;
  }
  enter(options_.split_thinking && options_.begins_thinking ? Mode::kThinking : Mode::kContent);
}

void ChoiceReader::enter(Mode mode) {
  mode_ = mode;
  at_begin_ = true;
  const CallTags tags = tags_of(options_.tools);
  std::vector<std::string> markers;
  marker_leads_to_.clear();
  const auto watch = [&](const char* marker, Mode next) {
    if (marker == nullptr) return;
    markers.emplace_back(marker);
    marker_leads_to_.push_back(next);
  };
  switch (mode) {
    case Mode::kContent:
      if (options_.split_thinking) watch(kThinkOpen, Mode::kThinking);
      watch(tags.open, Mode::kCall);
      break;
    case Mode::kThinking:
      watch(kThinkClose, Mode::kContent);
      break;
    case Mode::kCall:
      watch(tags.close, Mode::kContent);
      break;
  }
  holder_.watch(std::move(markers));
}

void ChoiceReader::push(TokenDetail detail, std::vector<Delta>& out) {
  if (ended_) return;
  ++n_tokens_;
  if (mode_ == Mode::kThinking) ++n_thinking_;
  // A tag may be a control token, which text does not show.
  const std::string_view shown = tokenizer_.piece(detail.id, RenderSpecial::kShow);
  const CallTags tags = tags_of(options_.tools);
  const bool is_tag = (tags.open != nullptr && shown == tags.open) ||
                      (tags.close != nullptr && shown == tags.close) ||
                      (options_.split_thinking && (shown == kThinkOpen || shown == kThinkClose));
  detail.bytes = is_tag ? shown : tokenizer_.piece(detail.id, options_.special);
  holder_.push(std::move(detail));
  drain(out);
}

void ChoiceReader::finish(std::vector<Delta>& out) {
  if (ended_) return;
  holder_.end();
  drain(out);
  if (mode_ == Mode::kCall) end_call(CallEnd::kOpen, out);
  if (!spaces_.empty())
    emit(mode_ == Mode::kThinking ? DeltaKind::kReasoning : DeltaKind::kContent, std::exchange(spaces_, {}),
         {}, out);
  ended_ = true;
}

void ChoiceReader::drain(std::vector<Delta>& out) {
  for (TextHolder::Piece piece = holder_.take(); piece.any(); piece = holder_.take()) {
    text(std::move(piece.text), options_.details ? std::move(piece.tokens) : std::vector<TokenDetail>(), out);
    if (!piece.marker) continue;
    const Mode next = marker_leads_to_[*piece.marker];
    if (mode_ == Mode::kCall) {
      end_call(CallEnd::kClosed, out);
      if (ended_) return;
    } else if (next == Mode::kCall) {
      opening_ = tags_of(options_.tools).open;
    }
    spaces_.clear();
    after_tag_ = true;
    enter(next);
  }
  if (!holder_.stopped_by()) return;
  if (mode_ == Mode::kCall) end_call(CallEnd::kOpen, out);
  ended_ = true;
}

// A bare object at the very beginning is how Llama 3 calls.
bool ChoiceReader::looks_like_call() const {
  return options_.tools == ToolSyntax::kLlama3 && mode_ == Mode::kContent && !any_content_;
}

void ChoiceReader::text(std::string text, std::vector<TokenDetail> tokens, std::vector<Delta>& out) {
  if (mode_ == Mode::kContent && looks_like_call() && text.substr(leading_space(text)).starts_with('{')) {
    enter(Mode::kCall);
    opening_.clear();
  }
  if (mode_ == Mode::kCall) {
    call_text_ += text;
    std::ranges::move(tokens, std::back_inserter(call_tokens_));
    return;
  }
  if (at_begin_ && (after_tag_ || mode_ == Mode::kThinking)) text.erase(0, leading_space(text));
  if (!text.empty()) at_begin_ = false;
  if (options_.tools != ToolSyntax::kNone || mode_ == Mode::kThinking) {
    text.insert(0, std::exchange(spaces_, {}));
    const size_t n = without_trailing_space(text);
    spaces_ = text.substr(n);
    text.resize(n);
  }
  if (mode_ == Mode::kContent && !text.empty()) any_content_ = true;
  emit(mode_ == Mode::kThinking ? DeltaKind::kReasoning : DeltaKind::kContent, std::move(text),
       std::move(tokens), out);
}

void ChoiceReader::emit(DeltaKind kind, std::string text, std::vector<TokenDetail> tokens,
                        std::vector<Delta>& out) {
  if (text.empty() && tokens.empty()) return;
  out.push_back({.kind = kind, .text = std::move(text), .tokens = std::move(tokens)});
}

// What does not parse was no call, and is shown as it was written.
void ChoiceReader::end_call(CallEnd end, std::vector<Delta>& out) {
  std::string text = std::exchange(call_text_, {});
  std::vector<TokenDetail> tokens = std::exchange(call_tokens_, {});
  std::optional<std::vector<AnsweredCall>> calls = parse_tool_calls(options_.tools, text);
  if (!calls) {
    const char* const close = tags_of(options_.tools).close;
    text = opening_ + text + (end == CallEnd::kClosed ? close : "");
    any_content_ = true;
    emit(DeltaKind::kContent, std::move(text), std::move(tokens), out);
    return;
  }
  for (AnsweredCall& call : *calls) {
    call.id = call_id();
    ++n_calls_;
    out.push_back(
        {.kind = DeltaKind::kToolCall, .call = std::move(call), .tokens = std::exchange(tokens, {})});
    if (options_.tool_calls == ToolCallCount::kOne) {
      ended_ = true;
      return;
    }
  }
}

// Names a call for the client only; Mistral's template wants exactly nine letters and digits.
std::string ChoiceReader::call_id() const {
  constexpr std::string_view kAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string id = options_.tools == ToolSyntax::kMistral ? "" : options_.call_id_prefix;
  std::random_device random;
  for (const size_t end = id.size() + (id.empty() ? 9 : 24); id.size() < end;)
    id += kAlphabet[random() % kAlphabet.size()];
  return id;
}

}  // namespace quire::server
