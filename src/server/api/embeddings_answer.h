// Answers of the routes for embeddings.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/answer/answer_writer.h"

namespace quire::server {

enum class EmbeddingForm : uint8_t { kOpenAi, kNative };
enum class EmbeddingEncoding : uint8_t { kFloat, kBase64 };  // base64: of little-endian f32

struct EmbeddingStyle {
  EmbeddingForm form = EmbeddingForm::kOpenAi;
  EmbeddingEncoding encoding = EmbeddingEncoding::kFloat;
  int32_t norm = 2;        // -1 none; 0 the largest value becomes 32760; p > 0: the p-norm becomes 1
  int64_t dimensions = 0;  // the first so many, normalised by themselves
};

// Sums run in ascending order in f64. A vector of zeros stays one.
std::vector<float> normalized(std::span<const float> state, int32_t norm);
std::string base64(std::span<const float> values);

std::unique_ptr<AnswerWriter> make_embeddings_writer(std::string model, const EmbeddingStyle& style,
                                                     size_t n_prompts, std::shared_ptr<Reply> reply);

}  // namespace quire::server
