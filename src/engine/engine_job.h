// What the engine's thread and the handles of its requests share. Internal to the engine.
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
  Job(Request&& asked, int64_t max_answer, int64_t n_hidden)
      : request(std::move(asked)),
        stream(max_answer, request.settings.top_logprobs, std::move(request.on_change)),
        read(request.reading, request.prompt, {.n_top = request.settings.top_logprobs, .n_hidden = n_hidden}),
        answers(max_answer > 0) {}

  Request request;
  AnswerStream stream;
  PromptRecord read;
  bool answers;  // not only reads its prompt
  SamplingSettings
      not_to_end;  // until there are settings.min_tokens: those of the request, less what ends it

  const SamplingSettings& sampling() const {
    return n_answer() < request.settings.min_tokens ? not_to_end : request.settings.sampling;
  }
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
