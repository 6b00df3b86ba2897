// What the engine's thread and the handles of its requests share. Internal to engine.cc and its handles.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/answer_stream.h"
#include "engine/engine.h"
#include "engine/live_request.h"

namespace quire {

// One request. The engine's thread owns the LiveRequest; the rest is what the other side may touch.
struct Engine::Job : LiveRequest {
  Job(Request&& asked, int64_t max_answer)
      : request(std::move(asked)),
        stream(max_answer, request.settings.top_logprobs, std::move(request.on_change)) {}

  Request request;
  AnswerStream stream;
  std::atomic<bool> cancelled{false};
  std::atomic<bool> paused{false};  // the reader must ring when it has read on
  EngineTime first_token{0};
};

struct Engine::Inbox {
  std::mutex mutex;
  std::condition_variable rung;
  std::vector<std::shared_ptr<Job>> arrivals;
  std::vector<int32_t> n_waiting;  // by tenant: arrived or queued
  int32_t n_waiting_total = 0;
  bool look_around = false;  // something was cancelled or read
  bool closed = false;       // no more requests
  bool abandoned = false;    // the engine is going: all is cancelled

  void ring() {
    {
      const std::lock_guard lock(mutex);
      look_around = true;
    }
    rung.notify_one();
  }
};

}  // namespace quire
