#include "attention_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

// exp and tanh are the project's own; one lane of the scalar vector layer defines them.
#define QUIRE_ISA scalar
#define QUIRE_ISA_IS_SCALAR 1
#include "kernels/vec/math.h"
#include "kernels/vec/vec.h"

namespace quire::kernels {
namespace {

float lane0(scalar::F32 x) {
  float lanes[kPageTokens];
  scalar::store(lanes, x);
  return lanes[0];
}
float exp_f32(float x) { return lane0(scalar::exp(scalar::set1(x))); }
float tanh_f32(float x) { return lane0(scalar::tanh(scalar::set1(x))); }

// One query against one KV head; both references walk these.
struct Row {
  int32_t token, head, head_kv;
  int32_t first_key;  // sees keys [first_key, token]
  const float* q;
};

template <typename Fn>
void for_each_row(const Case& c, const Inputs& in, Fn&& fn) {
  for (int32_t token = 0; token < c.n_tokens; ++token) {
    for (int32_t head = 0; head < c.n_head(); ++head) {
      fn(Row{.token = token,
             .head = head,
             .head_kv = head / c.group,
             .first_key = c.window > 0 ? std::max(0, token - c.window + 1) : 0,
             .q = in.q.data() + (int64_t{token} * c.n_head() + head) * c.d_k});
    }
  }
}

std::vector<float> rounded(KvType type, std::vector<float> values) {
  for (float& value : values) value = rounded_to(type, value);
  return values;
}

}  // namespace

std::vector<double> exact_attention(const Case& c, const Inputs& in) {
  const std::vector<float> keys = rounded(c.type, in.k);
  const std::vector<float> values = rounded(c.type, in.v);
  std::vector<double> out;
  for_each_row(c, in, [&](const Row& row) {
    std::vector<double> scores;
    double max_score = in.sinks.empty() ? -std::numeric_limits<double>::infinity() : in.sinks[row.head];
    for (int32_t key = row.first_key; key <= row.token; ++key) {
      const float* k = keys.data() + (int64_t{key} * c.n_head_kv + row.head_kv) * c.d_k;
      double score = 0;
      for (int32_t d = 0; d < c.d_k; ++d) score += double{row.q[d]} * k[d];
      score *= c.scale();
      if (c.softcap > 0) score = c.softcap * std::tanh(score / c.softcap);
      scores.push_back(score);
      max_score = std::max(max_score, score);
    }
    double sum = in.sinks.empty() ? 0 : std::exp(in.sinks[row.head] - max_score);
    for (double& score : scores) sum += score = std::exp(score - max_score);
    for (int32_t d = 0; d < c.d_v; ++d) {
      double value = 0;
      for (int32_t key = row.first_key; key <= row.token; ++key) {
        value += scores[static_cast<size_t>(key - row.first_key)] *
                 values[static_cast<size_t>((int64_t{key} * c.n_head_kv + row.head_kv) * c.d_v + d)];
      }
      out.push_back(value / sum);
    }
  });
  return out;
}

std::vector<float> ordered_attention(const Case& c, const Inputs& in) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> keys = rounded(c.type, in.k);
  const std::vector<float> values = rounded(c.type, in.v);
  std::vector<float> result;
  for_each_row(c, in, [&](const Row& row) {
    float max_all = -kInf;
    float sum_all = 0;
    std::vector<float> out_all(static_cast<size_t>(c.d_v), 0.0f);
    for (int32_t chunk = row.first_key / kChunkTokens; chunk <= row.token / kChunkTokens; ++chunk) {
      const int32_t base = chunk * kChunkTokens;
      const int32_t begin = std::max(row.first_key, base);
      const int32_t end = std::min(row.token + 1, base + kChunkTokens);

      std::array<float, kChunkTokens> weight = {};
      float max_chunk = -kInf;
      for (int32_t key = begin; key < end; ++key) {
        const float* k = keys.data() + (int64_t{key} * c.n_head_kv + row.head_kv) * c.d_k;
        float score = 0;
        for (int32_t d = 0; d < c.d_k; ++d) score = std::fma(row.q[d] * c.scale(), k[d], score);
        if (c.softcap > 0) score = c.softcap * tanh_f32(score * (1.0f / c.softcap));
        weight[static_cast<size_t>(key - base)] = score;
        max_chunk = std::max(max_chunk, score);
      }
      const float shift = max_chunk > -kInf ? max_chunk : 0.0f;
      for (int32_t key = begin; key < end; ++key) {
        float& w = weight[static_cast<size_t>(key - base)];
        w = exp_f32(w - shift);
      }
      std::array<float, kPageTokens> lanes;
      for (size_t i = 0; i < lanes.size(); ++i) {
        lanes[i] = (weight[i] + weight[i + 16]) + (weight[i + 32] + weight[i + 48]);
      }
      for (size_t half = 8; half >= 1; half /= 2) {
        for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
      }

      const float max_both = std::max(max_all, max_chunk);
      const float shift_both = max_both > -kInf ? max_both : 0.0f;
      const float keep = exp_f32(max_all - shift_both);
      const float take = exp_f32(max_chunk - shift_both);
      max_all = max_both;
      sum_all = std::fma(sum_all, keep, lanes[0] * take);
      for (int32_t d = 0; d < c.d_v; ++d) {
        float value = 0;
        for (int32_t key = begin; key < end; ++key) {
          value = std::fma(
              weight[static_cast<size_t>(key - base)],
              values[static_cast<size_t>((int64_t{key} * c.n_head_kv + row.head_kv) * c.d_v + d)], value);
        }
        float& total = out_all[static_cast<size_t>(d)];
        total = std::fma(total, keep, value * take);
      }
    }
    if (!in.sinks.empty()) {
      const float sink = in.sinks[static_cast<size_t>(row.head)];
      const float shift = std::max(max_all, sink);
      const float keep = exp_f32(max_all - shift);
      sum_all = std::fma(sum_all, keep, exp_f32(sink - shift));
      for (float& value : out_all) value *= keep;
    }
    for (const float value : out_all) result.push_back(value / sum_all);
  });
  return result;
}

}  // namespace quire::kernels
