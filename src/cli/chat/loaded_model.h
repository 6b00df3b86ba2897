// LoadedModel: what a chat needs of a model, in the order it must be taken down.
//
// Owns everything; one thread.
#pragma once

#include <memory>

#include "engine/generation.h"
#include "engine/runner.h"
#include "tokenizer/tokenizer.h"

namespace quire::cli {

struct LoadedModel {
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Runner> runner;
  std::unique_ptr<Generation> generation;
};

}  // namespace quire::cli
