#include "cli/model_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "gguf/split_name.h"

namespace quire::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 4;  // deep enough for owner/model/file, and an end to any loop

std::string without_extension(const std::string& path) { return path.substr(0, path.size() - 5); }

uint64_t size_of(const std::string& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

// nullopt for later parts of a split file, which belong to the entry of the first.
std::optional<ModelEntry> make_entry(const std::string& folder, const std::string& path) {
  const std::string relative = fs::path(path).lexically_relative(folder).string();
  const std::optional<SplitName> split = parse_split_name(path);
  if (!split) return ModelEntry{.name = without_extension(relative), .path = path, .bytes = size_of(path)};
  if (split->index != 0) return std::nullopt;
  ModelEntry entry{.name = fs::path(split->prefix).lexically_relative(folder).string(), .path = path};
  for (uint32_t i = 0; i < split->count; ++i)
    entry.bytes += size_of(split_part_path(split->prefix, i, split->count));
  return entry;
}

std::string known_names(const std::vector<ModelEntry>& entries) {
  constexpr size_t kMaxNames = 8;
  std::string names;
  for (size_t i = 0; i < entries.size() && i < kMaxNames; ++i)
    names += (i == 0 ? "" : ", ") + entries[i].name;
  return entries.size() > kMaxNames ? names + ", ..." : names;
}

}  // namespace

Result<std::string> model_folder() {
  const char* quire_home = std::getenv("QUIRE_HOME");
  if (quire_home != nullptr && *quire_home != '\0') return (fs::path(quire_home) / "models").string();
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return (fs::path(home) / ".cache/quire/models").string();
  return make_error(ErrorCode::kNotFound, "no model folder: neither QUIRE_HOME nor HOME is set");
}

std::vector<ModelEntry> list_models(const std::string& folder) {
  std::vector<ModelEntry> entries;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it.depth() + 1 >= kMaxDepth) it.disable_recursion_pending();
    std::error_code ignored;
    if (it->path().extension() != ".gguf" || !it->is_regular_file(ignored)) continue;
    if (std::optional<ModelEntry> entry = make_entry(folder, it->path().string()))
      entries.push_back(*std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const ModelEntry& a, const ModelEntry& b) { return a.name < b.name; });
  return entries;
}

Result<std::string> resolve_model(const std::string& model) {
  if (model.empty()) return make_error(ErrorCode::kNotFound, "the name of the model is empty");
  std::error_code error;
  if (fs::exists(model, error)) return model;
  QUIRE_ASSIGN_OR_RETURN(const std::string folder, model_folder());
  const std::vector<ModelEntry> entries = list_models(folder);
  for (const ModelEntry& entry : entries) {
    if (entry.name == model || entry.name + ".gguf" == model) return entry.path;
  }
  return make_error(ErrorCode::kNotFound, "{}: no such file, and no model of that name in {} ({})", model,
                    folder,
                    entries.empty() ? "which holds no models" : "which holds " + known_names(entries));
}

}  // namespace quire::cli
