#include "models/blocks/decoder_params.h"

namespace quire {
namespace {

// Far above any model, low enough that products of a few of them stay inside int64.
constexpr int64_t kMaxLayers = 4096;
constexpr int64_t kMaxWidth = int64_t{1} << 22;
constexpr int64_t kMaxHeads = 65536;
constexpr int64_t kMaxHeadDim = 16384;
constexpr int64_t kMaxVocab = int64_t{1} << 28;
constexpr int64_t kMaxContext = int64_t{1} << 31;

}  // namespace

Result<DecoderParams> read_decoder_params(const Keys& keys) {
  QUIRE_ASSIGN_OR_RETURN(DecoderParams p, read_trunk_params(keys));
  QUIRE_ASSIGN_OR_RETURN(p.n_ff, keys.integer("feed_forward_length", 1, kMaxWidth));
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_head, keys.integer("attention.head_count", 1, kMaxHeads));
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_head_kv,
                         keys.integer_or("attention.head_count_kv", 1, kMaxHeads, n_head));
  return with_heads(keys, p, n_head_kv);
}

Result<DecoderParams> with_heads(const Keys& keys, const DecoderParams& trunk, int64_t n_head_kv) {
  DecoderParams p = trunk;
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_head, keys.integer("attention.head_count", 1, kMaxHeads));
  if (n_head % n_head_kv != 0) {
    return make_error(ErrorCode::kCorrupt, "{} is {}, expected a multiple of {} = {}",
                      keys.full("attention.head_count"), n_head, keys.full("attention.head_count_kv"),
                      n_head_kv);
  }
  int64_t d_head = p.d_model / n_head;
  if (!keys.contains("attention.key_length") && p.d_model % n_head != 0) {
    return make_error(ErrorCode::kCorrupt, "{} is {}, expected a multiple of {} = {} or the key {}",
                      keys.full("embedding_length"), p.d_model, keys.full("attention.head_count"), n_head,
                      keys.full("attention.key_length"));
  }
  QUIRE_ASSIGN_OR_RETURN(const int64_t d_k, keys.integer_or("attention.key_length", 1, kMaxHeadDim, d_head));
  QUIRE_ASSIGN_OR_RETURN(const int64_t d_v,
                         keys.integer_or("attention.value_length", 1, kMaxHeadDim, d_head));
  p.n_head = static_cast<int32_t>(n_head);
  p.n_head_kv = static_cast<int32_t>(n_head_kv);
  p.d_k = static_cast<int32_t>(d_k);
  p.d_v = static_cast<int32_t>(d_v);
  return p;
}

Result<DecoderParams> read_trunk_params(const Keys& keys) {
  DecoderParams p;
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_layer, keys.integer("block_count", 1, kMaxLayers));
  p.n_layer = static_cast<int32_t>(n_layer);
  QUIRE_ASSIGN_OR_RETURN(p.d_model, keys.integer("embedding_length", 1, kMaxWidth));
  QUIRE_ASSIGN_OR_RETURN(p.n_ctx_train, keys.integer("context_length", 1, kMaxContext));
  // nemotron_h's converter writes the key of the other norm.
  const bool other =
      !keys.contains("attention.layer_norm_rms_epsilon") && keys.contains("attention.layer_norm_epsilon");
  QUIRE_ASSIGN_OR_RETURN(
      p.norm_eps, keys.number(other ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon",
                              NumberRange::kNotNegative));

  // The vocabulary's size is that of the token list; vocab_size stands in where there is none.
  const Metadata::Value* tokens = keys.metadata().find("tokenizer.ggml.tokens");
  if (tokens != nullptr && tokens->type == ValueType::kArray) {
    p.n_vocab = static_cast<int64_t>(tokens->count);
    if (p.n_vocab < 1 || p.n_vocab > kMaxVocab) {
      return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.tokens has {} entries, expected 1 to {}",
                        p.n_vocab, kMaxVocab);
    }
  } else {
    QUIRE_ASSIGN_OR_RETURN(p.n_vocab, keys.integer("vocab_size", 1, kMaxVocab));
  }
  return p;
}

}  // namespace quire
