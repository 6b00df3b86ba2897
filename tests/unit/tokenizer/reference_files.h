// Where the reference data and the models of the tokenizer tests lie. Pure functions.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "gguf/gguf_file.h"
#include "tokenizer/tokenizer.h"

namespace quire::test {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

// Folder of downloaded models: $QUIRE_HOME/models, or ~/.cache/quire/models.
inline std::filesystem::path models_dir() {
  if (const char* home = std::getenv("QUIRE_HOME")) return std::filesystem::path(home) / "models";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "" : home) / ".cache/quire/models";
}

inline std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path) {
  NullLogSink log;
  auto file = GgufFile::open(path.string());
  if (!file.ok()) {
    ADD_FAILURE() << file.error().message;
    return nullptr;
  }
  auto tokenizer = Tokenizer::load(file->metadata(), log);
  if (!tokenizer.ok()) {
    ADD_FAILURE() << path << ": " << tokenizer.error().message;
    return nullptr;
  }
  return std::move(*tokenizer);
}

inline std::vector<TokenId> ids_of(const Tokenizer& tokenizer, std::string_view text, SpecialTokens special,
                                   AddSpecial add) {
  auto ids = tokenizer.encode(text, special, add);
  if (!ids.ok()) {
    ADD_FAILURE() << ids.error().message;
    return {};
  }
  return std::move(*ids);
}

}  // namespace quire::test
