// ChatFormat: conversations to prompt ids, with the template that the model ships.
//
// What the template writes may become control tokens; what messages say never does, whatever it spells: the
// two are tokenised apart. A begin token stands in front exactly once where the model asks for one, whether
// template or tokenizer writes it. Immutable after create(); thread safe. The tokenizer must outlive it.
//
//   QUIRE_ASSIGN_OR_RETURN(const ChatFormat chat, ChatFormat::create(tokenizer));
//   QUIRE_ASSIGN_OR_RETURN(auto ids, chat.prompt({.messages = {{.role = "user", .content = "Hi"}},
//                                                 .now = now}));
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizer/templates/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace quire {

// Where the template comes from.
enum class TemplateSource : uint8_t { kModel, kDefault };

class ChatFormat {
 public:
  // The model's first template, or ChatML when it has none. Errors: those of ChatTemplate::parse.
  static Result<ChatFormat> create(const Tokenizer& tokenizer);

  // render() and encode().
  Result<std::vector<TokenId>> prompt(TemplateInput input) const;

  // Fills the special token variables of `input` and renders. Errors: those of ChatTemplate::render (a
  // template that refuses the conversation: kInvalidArgument with its own words).
  Result<RenderedPrompt> render(TemplateInput input) const;
  // Ids of a rendered conversation, with `beginning` behind it: the text with which the answer is to begin.
  // Errors: those of Tokenizer::encode.
  Result<std::vector<TokenId>> encode(const RenderedPrompt& rendered, std::string_view beginning = {}) const;

  const ChatTemplate& chat_template() const { return template_; }
  TemplateSource source() const { return source_; }

 private:
  ChatFormat(const Tokenizer& tokenizer, ChatTemplate chat_template, TemplateSource source)
      : tokenizer_(&tokenizer), template_(std::move(chat_template)), source_(source) {}

  const Tokenizer* tokenizer_;
  ChatTemplate template_;
  TemplateSource source_;
};

// Ids of a prompt that is continued as it stands, without a template. Control tokens spelled in it are
// control tokens. Errors: those of Tokenizer::encode.
Result<std::vector<TokenId>> raw_prompt(const Tokenizer& tokenizer, std::string_view text);

}  // namespace quire
