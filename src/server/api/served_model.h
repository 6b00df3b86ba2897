// ServedModel: the model behind the API, with what its file says about text. Immutable once made; thread
// safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "engine/chat.h"
#include "engine/engine.h"
#include "server/answer/answer_format.h"
#include "tokenizer/tokenizer.h"

namespace quire::server {

class ServedModel {
 public:
  // `name`: what clients call it; empty = the file's own. Errors: those of Tokenizer::load,
  // ChatFormat::create and Engine::create.
  static Result<std::unique_ptr<ServedModel>> create(std::unique_ptr<Runner> runner, EngineOptions options,
                                                     std::string name, LogSink& log);

  Engine& engine() const { return *engine_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const ChatFormat& chat() const { return *chat_; }
  const AnswerFormat& answers() const { return answers_; }
  const std::string& name() const { return name_; }
  const MemoryPlan& memory() const { return memory_; }  // as it was allocated
  int64_t created() const { return created_; }          // seconds since 1970: when it was loaded
  int64_t n_parameters() const { return n_parameters_; }
  int64_t file_bytes() const { return file_bytes_; }
  // What a request starts from: suggested by the file, with the tokens that must never be chosen.
  const SamplingSettings& sampling() const { return sampling_; }
  std::string_view template_source() const;

 private:
  ServedModel() = default;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::optional<ChatFormat> chat_;
  AnswerFormat answers_;
  std::string name_;
  MemoryPlan memory_;
  int64_t created_ = 0, n_parameters_ = 0, file_bytes_ = 0;
  SamplingSettings sampling_;
};

}  // namespace quire::server
