#include "oracle/case.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace quire::oracle {
namespace {

using Json = nlohmann::ordered_json;

Result<Json> read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) return make_error(ErrorCode::kNotFound, "{}: cannot be read", path);
  Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) return make_error(ErrorCode::kCorrupt, "{}: not JSON", path);
  return json;
}

}  // namespace

std::vector<int32_t> Case::tokens() const {
  std::vector<int32_t> all = prompt;
  all.insert(all.end(), greedy.begin(), greedy.end() - 1);
  return all;
}

std::string case_folder(const std::string& name) {
  const std::string full = std::string(QUIRE_ORACLE_DIR) + "/" + name;
  if (!std::string(QUIRE_ORACLE_DIR).empty() && std::filesystem::exists(full + "/case.json")) return full;
  return std::string(QUIRE_TEST_DATA) + "/models/" + name;
}

Result<Case> load_case(const std::string& name, const std::string& file) {
  const std::string folder = case_folder(name);
  QUIRE_ASSIGN_OR_RETURN(const Json json, read_json(folder + "/case.json"));
  const std::string named = json.contains("model") ? json.at("model").get<std::string>() : "model-f32.gguf";
  Case c{.name = name, .model = folder + "/" + (file.empty() ? named : file)};
  if (json.contains("ctx")) c.ctx = json.at("ctx").get<int64_t>();
  c.prompt = json.at("tokens").get<std::vector<int32_t>>();
  c.greedy = json.at("greedy").get<std::vector<int32_t>>();
  c.logit_std = json.at("logit_std").get<double>();
  c.smallest_margin = json.at("greedy_margin_min").get<double>();
  QUIRE_ASSIGN_OR_RETURN(c.logits, read_npy(folder + "/logits.npy"));
  if (std::filesystem::exists(folder + "/hidden.npy")) {
    QUIRE_ASSIGN_OR_RETURN(c.hidden, read_npy(folder + "/hidden.npy"));
  }
  return c;
}

Result<Case> load_typed_case(const std::string& name, const std::string& type) {
  const std::string folder = case_folder(name);
  QUIRE_ASSIGN_OR_RETURN(const Json json, read_json(folder + "/case.json"));
  const Json& entry = json.at("types").at(type);
  Case c{.name = name + "/" + type, .model = folder + "/" + entry.at("file").get<std::string>()};
  c.prompt = json.at("tokens").get<std::vector<int32_t>>();
  c.greedy = entry.at("greedy").get<std::vector<int32_t>>();
  c.logit_std = entry.at("logit_std").get<double>();
  c.smallest_margin = entry.at("greedy_margin_min").get<double>();
  QUIRE_ASSIGN_OR_RETURN(c.logits, read_npy(folder + "/" + entry.at("logits").get<std::string>()));
  return c;
}

std::vector<std::string> case_types(const std::string& name) {
  std::vector<std::string> types;
  Result<Json> json = read_json(case_folder(name) + "/case.json");
  if (!json.ok()) return types;
  for (const auto& [type, entry] : json->at("types").items()) types.push_back(type);
  return types;
}

}  // namespace quire::oracle
