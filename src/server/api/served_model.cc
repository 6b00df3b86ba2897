#include "server/api/served_model.h"

#include <chrono>

namespace quire::server {

Result<std::unique_ptr<ServedModel>> ServedModel::create(std::unique_ptr<Runner> runner,
                                                         EngineOptions options, std::string name,
                                                         LogSink& log) {
  std::unique_ptr<ServedModel> served(new ServedModel);
  const Model& model = runner->model();
  const Metadata& metadata = model.file().metadata();
  QUIRE_ASSIGN_OR_RETURN(served->tokenizer_, Tokenizer::load(metadata, log));
  const Tokenizer& tokenizer = *served->tokenizer_;
  QUIRE_ASSIGN_OR_RETURN(served->chat_, ChatFormat::create(tokenizer));
  if (served->chat_->source() == TemplateSource::kDefault)
    quire::log(log, LogLevel::kWarning, "the model file has no chat template; chats use ChatML");
  served->answers_ = answer_format_of(served->template_source());
  served->name_ = name.empty() ? model.name() : std::move(name);
  served->created_ =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  for (const TensorInfo& tensor : model.file().tensors()) served->n_parameters_ += tensor.view.n_elems();
  served->file_bytes_ = static_cast<int64_t>(model.file().data_bytes());

  const auto n_vocab =
      static_cast<int32_t>(std::min<int64_t>(model.n_vocab(), static_cast<int64_t>(tokenizer.n_vocab())));
  QUIRE_ASSIGN_OR_RETURN(served->sampling_, suggested_sampling(metadata));
  for (const TokenId id : tokenizer.suppressed()) {
    if (id < n_vocab) served->sampling_.suppress.push_back(id);
  }
  served->memory_ = runner->memory();
  options.n_vocab = n_vocab;
  options.end_tokens.assign(tokenizer.end_of_generation().begin(), tokenizer.end_of_generation().end());
  QUIRE_ASSIGN_OR_RETURN(served->engine_, Engine::create(std::move(runner), options));
  return served;
}

std::string_view ServedModel::template_source() const {
  const auto sources = tokenizer_->chat_templates();
  return sources.empty() ? std::string_view() : std::string_view(sources[0].source);
}

}  // namespace quire::server
