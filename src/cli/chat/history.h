// History: the messages typed before, to go back to with the arrow keys; kept in a file between runs.
//
// The file has one entry per line, oldest first, with \n and \\ for line breaks and backslashes, and is
// readable by its owner only. Entries are appended as they come, so that a run that ends badly loses none.
// One thread; several programs may append at once.
//
//   History history(path);            // an empty path: remembers for this run only
//   history.add("Hello");
//   const std::string* older = history.older("draft");
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quire::cli {

class History {
 public:
  static constexpr size_t kMaxEntries = 1000;

  // Reads what is there; a file that is missing or cannot be read counts as empty.
  explicit History(std::string path);

  // Remembers an entry unless it is empty or repeats the last one, and ends browsing.
  void add(const std::string& entry);

  // Browsing: the entry before (after) the one shown, null at the end. The first step back keeps `draft`, the
  // last step forward gives it back.
  const std::string* older(std::string_view draft);
  const std::string* newer();

  size_t size() const { return entries_.size(); }

 private:
  void read();
  void append_to_file(const std::string& entry) const;

  std::string path_;
  std::vector<std::string> entries_;
  size_t shown_;  // entries_.size(): the draft
  std::string draft_;
};

std::string escape_history(std::string_view entry);
std::string unescape_history(std::string_view line);

}  // namespace quire::cli
