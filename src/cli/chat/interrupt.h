// InterruptGuard: while one lives, SIGINT (Ctrl-C) sets a flag instead of ending the program.
//
// At most one at a time, made on the main thread; the former action comes back when it goes. interrupted()
// may be called from any thread. Blocking reads and writes return EINTR.
//
//   InterruptGuard interrupt;
//   while (!interrupt.interrupted()) step();
#pragma once

#include <csignal>

namespace quire::cli {

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool interrupted() const;
  void clear();

 private:
  struct sigaction former_ = {};
};

}  // namespace quire::cli
