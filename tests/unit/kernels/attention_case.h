// Attention test cases: random inputs for one layer, and a run of the kernels over paged memory.
//
// A Case describes the layer, Inputs hold one sequence of n_tokens. run_attention() plays the engine: it
// stores and attends piece by piece (a prompt in chunks, or token by token) with pages laid out as asked, and
// returns [n_tokens, n_head, d_v].
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/attention.h"

namespace quire::kernels {

struct Case {
  const char* name;
  int32_t n_head_kv, group, d_k, d_v;
  int32_t n_tokens;
  int32_t window = 0;
  float softcap = 0;
  bool sinks = false;
  KvForm form = KvForm::kKeysAndValues;
  KvType type = KvType::kF16;

  int32_t n_head() const { return n_head_kv * group; }
  KvLayout layout() const {
    return {.type = type, .form = form, .n_head_kv = n_head_kv, .d_k = d_k, .d_v = d_v};
  }
  // Near 1 / sqrt(d_k), and no power of two.
  float scale() const { return 1.1f / std::sqrt(static_cast<float>(d_k)); }
};

struct Inputs {
  std::vector<float> q;      // [n_tokens, n_head, d_k]
  std::vector<float> k;      // [n_tokens, n_head_kv, d_k]
  std::vector<float> v;      // [n_tokens, n_head_kv, d_v]; of latent keys the first values of k
  std::vector<float> sinks;  // [n_head] or empty
};

// The same inputs for the same case, normally distributed.
Inputs make_inputs(const Case& c);

enum class PageOrder { kAscending, kReversed, kScattered };

struct RunOptions {
  std::vector<int32_t> pieces;  // tokens per step; the last one repeats
  PageOrder order = PageOrder::kAscending;
  int32_t tile_rows = 0;    // tokens per tile; 0 = what the kernel asks for
  uint8_t fill = 0xff;      // what memory holds before it is written; 0xff is NaN in every storage type
  size_t gap_bytes = 0;     // between pages, filled the same
  int32_t part_chunks = 0;  // chunks computed apart and merged afterwards; 0 = all at once
};

std::vector<float> run_attention(const AttentionOps& ops, const Case& c, const Inputs& in,
                                 const RunOptions& options);

// A pool with one sequence in it, for tests that look at pages themselves.
struct PagedSequence {
  KvLayout layout;
  size_t page_stride = 0;
  std::vector<std::byte> pages;
  std::vector<int32_t> table;  // exactly the pages of the sequence

  PagedSequence(const Case& c, const RunOptions& options);
  int64_t slot(int32_t position) const;
  void store(const AttentionOps& ops, const Case& c, const Inputs& in, int32_t begin, int32_t end);
  // Attends tokens [begin, end) in one step and writes their rows of `out` [n_tokens, n_head, d_v].
  void attend(const AttentionOps& ops, const Case& c, const Inputs& in, int32_t begin, int32_t end,
              const RunOptions& options, std::vector<float>& out) const;
  // Overwrites K and V of one position, all heads.
  void fill_position(int32_t position, uint8_t byte);
};

// The value as the storage type holds it.
float rounded_to(KvType type, float value);

const char* kv_type_name(KvType type);

}  // namespace quire::kernels
