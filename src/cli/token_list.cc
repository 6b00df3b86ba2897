#include "cli/token_list.h"

#include <charconv>

namespace quire::cli {

Result<std::vector<TokenId>> parse_token_ids(std::string_view text) {
  constexpr std::string_view kBetween = ", \t\r\n[]";
  constexpr size_t kMaxShown = 40;
  std::vector<TokenId> ids;
  for (size_t begin = 0; (begin = text.find_first_not_of(kBetween, begin)) != std::string_view::npos;) {
    const size_t end = std::min(text.size(), text.find_first_of(kBetween, begin));
    const std::string_view word = text.substr(begin, end - begin);
    TokenId id = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || stop != word.data() + word.size()) {
      return make_error(ErrorCode::kInvalidArgument, "'{}' is no token id", word.substr(0, kMaxShown));
    }
    ids.push_back(id);
    begin = end;
  }
  return ids;
}

}  // namespace quire::cli
