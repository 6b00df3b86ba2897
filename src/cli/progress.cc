#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "cli/format.h"
#include "cli/standard_streams.h"

namespace quire::cli {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr std::string_view kEraseLine = "\r\x1b[K";

size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string amount(uint64_t count, ProgressUnit unit) {
  return unit == ProgressUnit::kBytes ? format_size(count) : fmt::format("{} tokens", count);
}

}  // namespace

std::string render_progress(std::string_view label, uint64_t done, uint64_t total, double seconds,
                            size_t columns, ProgressUnit unit) {
  done = std::min(done, total);
  const double part = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
  std::string tail = fmt::format(" {:3.0f}%  {} of {}", 100 * part, amount(done, unit), amount(total, unit));
  if (seconds > 0.2)
    tail += fmt::format(", {}/s", amount(static_cast<uint64_t>(static_cast<double>(done) / seconds), unit));

  constexpr size_t kMaxBar = 40;
  constexpr size_t kMinBar = 5;
  const size_t fixed = label.size() + tail.size() + 3;  // a space and the two brackets
  if (fixed + kMinBar > columns) return fmt::format("{}{}", label, tail).substr(0, columns);
  const size_t cells = std::min(kMaxBar, columns - fixed);
  const auto filled = static_cast<size_t>(part * static_cast<double>(cells));
  return fmt::format("{} [{}{}]{}", label, std::string(filled, '#'), std::string(cells - filled, ' '), tail);
}

ProgressBar::ProgressBar(bool draws, std::string label, uint64_t total, ProgressUnit unit)
    : draws_(draws),
      label_(std::move(label)),
      total_(total),
      unit_(unit),
      start_(Clock::now()),
      next_draw_(Clock::duration(kInterval).count()) {}  // work shorter than that shows no bar

ProgressBar::~ProgressBar() { finish(); }

void ProgressBar::finish() {
  const std::lock_guard lock(mutex_);
  if (drawn_) write_standard_error(kEraseLine);
  drawn_ = false;
}

void ProgressBar::update(uint64_t done) {
  if (!draws_) return;
  const Clock::duration now = Clock::now() - start_;
  Clock::rep due = next_draw_.load(std::memory_order_relaxed);
  // Whoever moves the time of the next drawing draws; the others go on with their work.
  if (now.count() < due || !next_draw_.compare_exchange_strong(due, (now + kInterval).count())) return;
  const std::lock_guard lock(mutex_);
  const double seconds = std::chrono::duration<double>(now).count();
  write_standard_error(std::string(kEraseLine) +
                       render_progress(label_, done, total_, seconds, terminal_columns() - 1, unit_));
  drawn_ = true;
}

}  // namespace quire::cli
