#include "engine/stop.h"

#include <algorithm>

namespace quire {

Status check_stop_strings(const std::vector<std::string>& stops) {
  for (const std::string& stop : stops) {
    if (stop.empty())
      return make_error(ErrorCode::kInvalidArgument, "a stop string is empty, expected some text");
  }
  return {};
}

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {}

size_t StopMatcher::earliest_match() const {
  size_t first = std::string::npos;
  for (const std::string& stop : stops_) first = std::min(first, held_.find(stop));
  return first;
}

size_t StopMatcher::earliest_partial() const {
  size_t first = held_.size();
  for (const std::string& stop : stops_) {
    const size_t longest = std::min(stop.size() - 1, held_.size());
    for (size_t begin = held_.size() - longest; begin < first; ++begin) {
      if (stop.starts_with(std::string_view(held_).substr(begin))) first = begin;
    }
  }
  return first;
}

std::string StopMatcher::push(std::string_view text) {
  if (matched_) return {};
  held_ += text;
  const size_t match = earliest_match();
  const size_t partial = earliest_partial();
  // A candidate that began before the match may still win; until it is decided the match is not final.
  const bool final_match = match != std::string::npos && match <= partial;
  std::string out = held_.substr(0, final_match ? match : partial);
  if (final_match) {
    matched_ = true;
    held_.clear();
  } else {
    held_.erase(0, partial);
  }
  return out;
}

std::string StopMatcher::finish() {
  const size_t match = earliest_match();
  if (match != std::string::npos) {
    matched_ = true;
    held_.resize(match);
  }
  std::string out = std::move(held_);
  held_.clear();
  return out;
}

}  // namespace quire
