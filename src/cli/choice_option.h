// add_choice(): an option that takes one word of a closed list.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace quire::cli {

template <typename T>
using Choices = std::vector<std::pair<std::string, T>>;

// Sets `target` to the value of the word given; any other word is a usage error that lists the words.
// `about` should name them too. Returns the option for further settings.
template <typename T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& target, const std::string& about,
                        Choices<T> choices) {
  const auto choose = [&target, name, choices = std::move(choices)](const std::string& word) {
    std::string words;
    for (const auto& [text, value] : choices) {
      if (text == word) {
        target = value;
        return;
      }
      words += (words.empty() ? "" : ", ") + text;
    }
    throw CLI::ValidationError(name, "found '" + word + "', expected one of " + words);
  };
  return app.add_option_function<std::string>(name, choose, about);
}

}  // namespace quire::cli
