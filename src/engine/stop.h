// StopMatcher: ends a text at the first of several strings, and holds back what might still become one.
//
// The text released is the same however the text was cut into pieces: everything before the match that begins
// earliest. Only a tail that is a proper beginning of some stop string is held. A plain value; one text each.
//
//   StopMatcher stop({"\nUser:"});
//   send(stop.push(piece));
//   if (stop.matched()) ...
//   send(stop.finish());   // at the end of the text: what was held after all
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace quire {

class StopMatcher {
 public:
  // Empty strings must not be among them (see check_stop_strings).
  explicit StopMatcher(std::vector<std::string> stops);

  // The text that may be sent now. After a match: nothing more.
  std::string push(std::string_view text);
  // The text has ended: what was held, cut at a match that an earlier, longer candidate had kept open.
  std::string finish();
  bool matched() const { return matched_; }
  std::string_view held() const { return held_; }

 private:
  size_t earliest_match() const;    // npos when no stop string is in held_
  size_t earliest_partial() const;  // held_.size() when no tail of held_ begins a stop string

  std::vector<std::string> stops_;
  std::string held_;
  bool matched_ = false;
};

// Errors: kInvalidArgument for an empty string.
Status check_stop_strings(const std::vector<std::string>& stops);

}  // namespace quire
