// One oracle case: a tiny model file with the tokens to feed and the logits a reference computed for them.
//
// Cases lie in tests/data/models; where the full oracle folder is present (QUIRE_ORACLE_DIR) it is used
// instead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "oracle/npy.h"

namespace quire::oracle {

struct Case {
  std::string name;   // "llama", "quant-dense/Q4_K"
  std::string model;  // path of the GGUF
  std::vector<int32_t> prompt;
  std::vector<int32_t> greedy;  // the ids that follow
  Array logits;                 // [n_prompt + n_greedy - 1, n_vocab]
  Array hidden;                 // [n_layer + 1, n_prompt, d_model], empty where there is none
  int64_t ctx = 256;            // the context to load it with, where that changes numbers (LongRoPE)
  double logit_std = 1;
  double smallest_margin = 0;  // least top-1 minus top-2 along the greedy path

  // Everything to feed: the prompt, then all greedy ids but the last.
  std::vector<int32_t> tokens() const;
};

// The folder of a case, in the full oracle if it is there.
std::string case_folder(const std::string& name);

// A case of one model; file is its GGUF inside the folder, by default the one that case.json names, else
// model-f32.gguf.
Result<Case> load_case(const std::string& name, const std::string& file = "");

// The cases of one model in many weight types: "Q4_K" of "quant-dense".
Result<Case> load_typed_case(const std::string& name, const std::string& type);
std::vector<std::string> case_types(const std::string& name);

}  // namespace quire::oracle
