#include "cli/chat/history.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/utf8.h"

namespace quire::cli {
namespace {

constexpr int kOwnerOnly = 0600;

void write_file(const std::string& path, int flags, std::string_view bytes) {
  // Best effort: a chat must not fail because its history cannot be kept.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, kOwnerOnly);
  if (fd < 0) return;
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n <= 0) break;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  ::close(fd);
}

}  // namespace

std::string escape_history(std::string_view entry) {
  std::string line;
  for (const char c : entry) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\\') {
      line += "\\\\";
    } else {
      line += c;
    }
  }
  return line;
}

std::string unescape_history(std::string_view line) {
  std::string entry;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      ++i;
      entry += line[i] == 'n' ? '\n' : line[i];
    } else {
      entry += line[i];
    }
  }
  return entry;
}

History::History(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) read();
  shown_ = entries_.size();
}

void History::read() {
  std::ifstream file(path_, std::ios::binary);
  size_t n_lines = 0;
  for (std::string line; std::getline(file, line); ++n_lines) {
    if (!line.empty()) entries_.push_back(replace_invalid_utf8(unescape_history(line)));
  }
  file.close();
  if (entries_.size() > kMaxEntries) {
    entries_.erase(entries_.begin(), entries_.end() - static_cast<std::ptrdiff_t>(kMaxEntries));
  }
  // Rewritten only now and then: two programs doing so at once could lose each other's last lines.
  if (n_lines <= 2 * kMaxEntries) return;
  std::string whole;
  for (const std::string& entry : entries_) whole += escape_history(entry) + "\n";
  const std::string fresh = path_ + ".new";
  write_file(fresh, O_TRUNC, whole);
  std::rename(fresh.c_str(), path_.c_str());
}

void History::append_to_file(const std::string& entry) const {
  if (!path_.empty()) write_file(path_, O_APPEND, escape_history(entry) + "\n");
}

void History::add(const std::string& entry) {
  if (!entry.empty() && (entries_.empty() || entries_.back() != entry)) {
    entries_.push_back(entry);
    append_to_file(entry);
  }
  shown_ = entries_.size();
  draft_.clear();
}

const std::string* History::older(std::string_view draft) {
  if (shown_ == 0) return nullptr;
  if (shown_ == entries_.size()) draft_ = draft;
  return &entries_[--shown_];
}

const std::string* History::newer() {
  if (shown_ == entries_.size()) return nullptr;
  ++shown_;
  return shown_ == entries_.size() ? &draft_ : &entries_[shown_];
}

}  // namespace quire::cli
