#include "server/api/route_table.h"

#include <array>

#include "server/api/chat_route.h"
#include "server/api/embeddings_route.h"
#include "server/api/engine_route.h"
#include "server/api/infill_route.h"
#include "server/api/info_routes.h"
#include "server/api/messages_route.h"
#include "server/api/openapi.h"
#include "server/api/responses_route.h"
#include "server/api/text_route.h"

namespace quire::server {
namespace {

constexpr RouteDoc kModels{"The model", "", R"({"object": "string", "data": "array"})"};
constexpr RouteDoc kProps{"The model's settings", "",
                          R"({"default_generation_settings": "object", "total_slots": "integer"})"};
constexpr RouteDoc kSlots{"Sequences side by side", "", R"("array")"};
constexpr RouteDoc kEngine{"Whose each page of the pool is", "", R"("object")"};
constexpr RouteDoc kTokenize{"Ids of a text", R"({"content": "Hello"})",
                             R"({"tokens": "array", "count": "integer"})"};
constexpr RouteDoc kDetokenize{"The text of ids", R"({"tokens": [1, 2]})", R"({"content": "string"})"};
constexpr RouteDoc kTokenizerInfo{"The tokenizer", "",
                                  R"({"tokenizer_class": "string", "eos_token": "any"})"};
constexpr RouteDoc kTemplate{"Messages as a prompt",
                             R"({"messages": [{"role": "user", "content": "Hello"}]})",
                             R"({"prompt": "string"})"};
constexpr RouteDoc kChat{
    "Chat, as OpenAI has it",
    R"({"messages": [{"role": "assistant", "tool_calls": [{"id": "call1", "function": {"name": "f"}}]},
                     {"role": "tool", "content": "1", "tool_call_id": "call1"}],
        "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 4})",
    R"({"id": "string", "object": "string", "created": "integer", "model": "string", "choices": "array",
        "usage": "object"})",
    Streams::kYes};
constexpr RouteDoc kText{
    "Text completion, as OpenAI has it", R"({"prompt": "Hello", "stream": true, "stream_options": {}})",
    R"({"id": "string", "object": "string", "created": "integer", "model": "string", "choices": "array",
        "usage": "object"})",
    Streams::kYes};
// Several prompts: an array of such objects.
constexpr RouteDoc kNative{"Text completion, as llama.cpp's server has it",
                           R"({"prompt": "Hello", "stream": true, "stream_options": {}, "n_predict": 4})",
                           R"(["object", "array"])", Streams::kYes};
constexpr RouteDoc kInfill{"What stands between a prefix and a suffix",
                           R"({"input_prefix": "a = ", "input_suffix": "", "n_predict": 4,
                               "input_extra": [{"filename": "a.py", "text": ""}]})",
                           R"(["object", "array"])", Streams::kYes};
constexpr RouteDoc kEmbeddings{
    "Vectors of texts, as OpenAI has it", R"({"input": "Hello"})",
    R"({"object": "string", "data": "array", "model": "string", "usage": "object"})"};
constexpr RouteDoc kNativeEmbeddings{"Vectors of texts, as llama.cpp's server has it",
                                     R"({"content": "Hello"})", R"("array")"};
constexpr RouteDoc kRerank{"Not supported yet: 501", R"({"query": "a", "documents": ["b"]})", R"("object")"};
constexpr RouteDoc kResponses{
    "Responses, as OpenAI has it",
    R"({"input": "Hello", "stream": true, "stream_options": {}, "text": {}, "reasoning": {}, "max_output_tokens": 4})",
    R"({"id": "string", "object": "string", "status": "string", "output": "array", "usage": "object"})",
    Streams::kYes};
constexpr RouteDoc kMessages{
    "Messages, as Anthropic has it",
    R"({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4, "tool_choice": {}, "thinking": {"type": "disabled"}})",
    R"({"id": "string", "type": "string", "role": "string", "content": "array", "usage": "object"})",
    Streams::kYes};
constexpr RouteDoc kCount{
    "How many tokens such messages have",
    R"({"messages": [{"role": "user", "content": "Hello"}], "tool_choice": {}, "thinking": {"type": "disabled"}})",
    R"({"input_tokens": "integer"})"};
constexpr RouteDoc kChatCount{"How many tokens the prompt of such a chat has", kChat.example,
                              R"({"object": "string", "input_tokens": "integer"})"};
constexpr RouteDoc kResponsesCount{"How many tokens the prompt of such a response has", kResponses.example,
                                   R"({"object": "string", "input_tokens": "integer"})"};
constexpr RouteDoc kDescription{"This description", "", R"("object")"};

constexpr auto kRoutes = std::to_array<Route>({
    {"GET", "/v1/models", models, &kModels},
    {"GET", "/models", models, &kModels},
    {"GET", "/props", props, &kProps},
    {"GET", "/slots", slots, &kSlots},
    {"GET", "/engine", engine_state, &kEngine},
    {"GET", "/openapi.json", openapi, &kDescription},
    {"POST", "/tokenize", tokenize, &kTokenize},
    {"POST", "/detokenize", detokenize, &kDetokenize},
    {"GET", "/tokenizer_info", tokenizer_info, &kTokenizerInfo},
    {"POST", "/apply-template", apply_template, &kTemplate},
    {"POST", "/v1/chat/completions", chat_completions, &kChat},
    {"POST", "/chat/completions", chat_completions, &kChat},
    {"POST", "/v1/chat/completions/input_tokens", count_chat_tokens, &kChatCount},
    {"POST", "/v1/completions", text_completions, &kText},
    {"POST", "/completion", native_completions, &kNative},
    {"POST", "/completions", native_completions, &kNative},
    {"POST", "/infill", infill, &kInfill},
    {"POST", "/v1/embeddings", embeddings, &kEmbeddings},
    {"POST", "/embeddings", native_embeddings, &kNativeEmbeddings},
    {"POST", "/embedding", native_embeddings, &kNativeEmbeddings},
    {"POST", "/v1/rerank", rerank, &kRerank},
    {"POST", "/v1/reranking", rerank, &kRerank},
    {"POST", "/rerank", rerank, &kRerank},
    {"POST", "/reranking", rerank, &kRerank},
    {"POST", "/v1/responses", responses, &kResponses},
    {"POST", "/responses", responses, &kResponses},
    {"POST", "/v1/responses/input_tokens", count_response_tokens, &kResponsesCount},
    {"POST", "/v1/messages", messages, &kMessages, ErrorStyle::kAnthropic},
    {"POST", "/v1/messages/count_tokens", count_message_tokens, &kCount, ErrorStyle::kAnthropic},
});

}  // namespace

std::span<const Route> route_table() { return kRoutes; }

RouteMatch find_route(std::string_view method, std::string_view path) {
  RouteMatch match;
  for (const Route& route : kRoutes) {
    if (route.path != path) continue;
    match.path_known = true;
    if (route.method == method) match.route = &route;
  }
  return match;
}

}  // namespace quire::server
