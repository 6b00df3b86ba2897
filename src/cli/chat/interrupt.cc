#include "cli/chat/interrupt.h"

#include <atomic>

namespace quire::cli {
namespace {

// A signal handler can reach nothing else; only InterruptGuard touches it.
std::atomic<bool> interrupt_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) { interrupt_flag.store(true, std::memory_order_relaxed); }

}  // namespace

InterruptGuard::InterruptGuard() {
  clear();
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &former_);
}

InterruptGuard::~InterruptGuard() { sigaction(SIGINT, &former_, nullptr); }

bool InterruptGuard::interrupted() const { return interrupt_flag.load(std::memory_order_relaxed); }

void InterruptGuard::clear() { interrupt_flag.store(false, std::memory_order_relaxed); }

}  // namespace quire::cli
