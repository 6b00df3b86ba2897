#include "server/api/embeddings_answer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/shortest_double.h"

namespace quire::server {
namespace {

static_assert(std::endian::native == std::endian::little);

double length_of(std::span<const float> state, int32_t norm) {
  constexpr double kLargest = 32760;  // as llama.cpp has it, for int16
  double sum = 0;
  for (const float value : state) {
    const double size = std::abs(double{value});
    sum = norm == 0 ? std::max(sum, size) : sum + std::pow(size, norm);
  }
  return norm == 0 ? sum / kLargest : std::pow(sum, 1.0 / norm);
}

class EmbeddingsWriter final : public AnswerCollector {
 public:
  EmbeddingsWriter(std::string model, const EmbeddingStyle& style, size_t n, std::shared_ptr<Reply> reply)
      : AnswerCollector(std::move(reply), n, ErrorStyle::kOpenAi), model_(std::move(model)), style_(style) {}

 private:
  Json body(const std::vector<CollectedChoice>& choices, const Accounting& accounting) const override {
    Json data = Json::array();
    for (size_t i = 0; i < choices.size(); ++i) {
      const std::span<const float> state = choices[i].state;
      const auto n = std::min(state.size(), static_cast<size_t>(style_.dimensions));
      Json vector = vector_json(normalized(state.first(n), style_.norm));
      if (style_.form == EmbeddingForm::kNative) {
        data.push_back({{"index", i}, {"embedding", Json::array({std::move(vector)})}});
      } else {
        data.push_back({{"object", "embedding"}, {"index", i}, {"embedding", std::move(vector)}});
      }
    }
    if (style_.form == EmbeddingForm::kNative) return data;
    return {{"object", "list"},
            {"model", model_},
            {"data", std::move(data)},
            {"usage",
             {{"prompt_tokens", accounting.prompt_tokens}, {"total_tokens", accounting.total_tokens()}}}};
  }

  Json vector_json(std::span<const float> values) const {
    if (style_.encoding == EmbeddingEncoding::kBase64) return base64(values);
    Json list = Json::array();
    for (const float value : values) list.push_back(shortest_double(value));
    return list;
  }

  std::string model_;
  EmbeddingStyle style_;
};

}  // namespace

std::vector<float> normalized(std::span<const float> state, int32_t norm) {
  std::vector<float> out(state.begin(), state.end());
  if (norm < 0) return out;
  const double length = length_of(state, norm);
  if (length > 0)
    std::ranges::transform(out, out.begin(), [&](float x) { return static_cast<float>(double{x} / length); });
  return out;
}

std::string base64(std::span<const float> values) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::span<const std::byte> bytes = std::as_bytes(values);
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? std::to_integer<uint32_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= n ? kAlphabet[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::unique_ptr<AnswerWriter> make_embeddings_writer(std::string model, const EmbeddingStyle& style,
                                                     size_t n_prompts, std::shared_ptr<Reply> reply) {
  return std::make_unique<EmbeddingsWriter>(std::move(model), style, n_prompts, std::move(reply));
}

}  // namespace quire::server
