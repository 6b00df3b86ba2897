#include "cli/chat/setting_table.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <system_error>

namespace quire::cli {
namespace {

struct Row {
  const char* name;
  Status (*set)(GenerationSettings&, std::string_view);
  std::string (*get)(const GenerationSettings&);
};

template <typename T>
Status parse(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  T parsed{};
  const auto [stop, error] = std::from_chars(text.data(), end, parsed);
  if (error != std::errc() || stop != end)
    return make_error(ErrorCode::kInvalidArgument, "'{}' is not a number that fits here", text);
  value = parsed;
  return {};
}

// The row of the field that `kField` picks from the settings.
template <auto kField>
constexpr Row row(const char* name) {
  return {.name = name,
          .set = [](GenerationSettings& s, std::string_view text) { return parse(text, kField(s)); },
          .get = [](const GenerationSettings& s) { return fmt::format("{}", kField(s)); }};
}

constexpr std::array kRows = {
    row<[](auto& s) -> auto& { return s.sampling.temperature; }>("temp"),
    row<[](auto& s) -> auto& { return s.sampling.top_k; }>("top-k"),
    row<[](auto& s) -> auto& { return s.sampling.top_p; }>("top-p"),
    row<[](auto& s) -> auto& { return s.sampling.min_p; }>("min-p"),
    row<[](auto& s) -> auto& { return s.sampling.typical_p; }>("typical"),
    row<[](auto& s) -> auto& { return s.sampling.repetition_penalty; }>("repeat-penalty"),
    row<[](auto& s) -> auto& { return s.sampling.frequency_penalty; }>("frequency-penalty"),
    row<[](auto& s) -> auto& { return s.sampling.presence_penalty; }>("presence-penalty"),
    row<[](auto& s) -> auto& { return s.seed; }>("seed"),
    row<[](auto& s) -> auto& { return s.max_tokens; }>("n"),
};

std::string names() {
  std::string all;
  for (const Row& entry : kRows) all += (all.empty() ? "" : ", ") + std::string(entry.name);
  return all;
}

}  // namespace

Status change_setting(GenerationSettings& settings, std::string_view name, std::string_view value) {
  for (const Row& entry : kRows) {
    if (entry.name != name) continue;
    GenerationSettings changed = settings;
    QUIRE_RETURN_IF_ERROR(entry.set(changed, value));
    QUIRE_RETURN_IF_ERROR(changed.sampling.validate(0));  // lists of tokens, which need the size, are not set
    if (changed.max_tokens < -1)
      return make_error(ErrorCode::kInvalidArgument, "n is {}, must be at least -1", changed.max_tokens);
    settings = changed;
    return {};
  }
  return make_error(ErrorCode::kInvalidArgument, "no setting '{}'; there are {}", name, names());
}

std::string describe_settings(const GenerationSettings& settings) {
  std::string all;
  for (const Row& entry : kRows)
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", entry.name, entry.get(settings));
  return all;
}

}  // namespace quire::cli
