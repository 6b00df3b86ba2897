// edge_bench: everything of `quire serve` between the engine and the client, with an echo in place of the
// engine.
//
//   edge_bench [EVENTS]      every POST is answered with so many chat events (default 500); until SIGTERM
//
// One thread stands for the engine: it gives every stream a token, waits until the workers have made and
// written their events, and begins the next round at once. bench/server/edge.py asks and counts.
#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "server/api/chat_answer.h"
#include "server/http/edge.h"
#include "server/work/worker_pool.h"

namespace quire::server {
namespace {

// A round ends when the last of its streams says so.
class Round {
 public:
  void begin(size_t n) {
    const std::lock_guard lock(mutex_);
    open_ = n;
  }
  void done() {
    const std::lock_guard lock(mutex_);
    if (--open_ == 0) over_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    over_.wait(lock, [&] { return open_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  size_t open_ = 0;
};

class EchoTask final : public Task {
 public:
  EchoTask(std::shared_ptr<Reply> reply, int n_events, Round& round)
      : reply_(std::move(reply)),
        writer_(make_chat_writer({.id = "chatcmpl-echo", .model = "echo"}, {.delivery = Delivery::kStream}, 1,
                                 reply_)),
        n_left_(n_events),
        round_(round) {}

  void run() override {
    if (reply_->gone()) n_left_ = 0;
    if (n_left_ > 0 && reply_->has_room()) {
      writer_->delta(0, {.text = " word"});
      --n_left_;
    }
    if (n_left_ == 0) {
      writer_->choice_end(0, {});
      writer_->finish({});
    }
    round_.done();
  }
  bool ended() const { return n_left_ == 0; }  // between rounds

 private:
  std::shared_ptr<Reply> reply_;
  std::unique_ptr<AnswerWriter> writer_;
  int n_left_;
  Round& round_;
};

class Echo {
 public:
  explicit Echo(int n_events) : n_events_(n_events), thread_([this] { work(); }) {}
  ~Echo() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void answer(std::shared_ptr<Reply> reply) {
    {
      const std::lock_guard lock(mutex_);
      arrived_.push_back(std::make_shared<EchoTask>(std::move(reply), n_events_, round_));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    std::vector<std::shared_ptr<EchoTask>> streams;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ending_ || !arrived_.empty() || !streams.empty(); });
        if (ending_) return;
        streams.insert(streams.end(), arrived_.begin(), arrived_.end());
        arrived_.clear();
      }
      round_.begin(streams.size());
      for (const std::shared_ptr<EchoTask>& stream : streams) pool_.schedule(stream);
      round_.wait();
      std::erase_if(streams, [](const auto& stream) { return stream->ended(); });
    }
  }

  const int n_events_;
  Round round_;
  WorkerPool pool_{2};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<EchoTask>> arrived_;
  bool ending_ = false;
  std::thread thread_;
};

int serve(int n_events) {
  StderrLogSink log(LogLevel::kWarning);
  Echo echo(n_events);
  Result<std::unique_ptr<Edge>> edge = Edge::listen(
      {.port = 0}, [&](const HttpRequest&, std::shared_ptr<Reply> reply) { echo.answer(std::move(reply)); },
      log);
  if (!edge.ok()) {
    fmt::print(stderr, "edge_bench: {}\n", edge.error().message);
    return 1;
  }
  fmt::print("ready: http://127.0.0.1:{}\n", (*edge)->port());
  std::fflush(stdout);
  (*edge)->run([&](Signal) { (*edge)->stop(); });
  return 0;
}

}  // namespace
}  // namespace quire::server

int main(int argc, char** argv) { return quire::server::serve(argc > 1 ? std::atoi(argv[1]) : 500); }
