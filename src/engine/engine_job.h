// What the engine's thread and the handles of its requests share. Internal to the engine.
#pragma once

#include <algorithm>
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
  struct Sizes {
    int64_t max_answer = 0;  // tokens
    int64_t max_unread = 0;  // of those
    int64_t n_hidden = 0;    // of the model
  };
  Job(Request&& asked, const Sizes& sizes, AnswerMemory::Share of_memory)
      : share(std::move(of_memory)),
        request(std::move(asked)),
        stream(sizes.max_unread, request.settings.top_logprobs, std::move(request.on_change)),
        read(request.reading, request.prompt,
             {.n_top = request.settings.top_logprobs, .n_hidden = sizes.n_hidden}),
        answers(sizes.max_answer > 0) {
    n_prompt = static_cast<int64_t>(request.prompt.size());
    max_tokens = n_prompt + std::max<int64_t>(sizes.max_answer, 1);
    tokens = std::move(request.prompt);
    tokens.reserve(static_cast<size_t>(max_tokens));
  }
  // That such a job takes, beside what the asker handed in.
  static size_t bytes(const Request& asked, const Sizes& sizes) {
    const int32_t n_top = asked.settings.top_logprobs;
    const size_t n_tokens = asked.prompt.size() + static_cast<size_t>(std::max<int64_t>(sizes.max_answer, 1));
    return sizeof(Job) + n_tokens * sizeof(int32_t) + AnswerStream::bytes(sizes.max_unread, n_top) +
           PromptRecord::bytes(asked.reading, asked.prompt.size(),
                               {.n_top = n_top, .n_hidden = sizes.n_hidden});
  }

  AnswerMemory::Share share;
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
  // By tenant: in the table's queue after the last round; and with a place in it, but not there yet.
  std::vector<int32_t> n_queued, n_entering;
  int32_t n_queued_total = 0, n_entering_total = 0;
  bool look_around = false;  // something was cancelled or read
  bool closed = false;       // no more requests
  bool abandoned = false;    // the engine is going: all is cancelled

  // With the mutex: nobody can come any more.
  bool is_shut() const { return closed && n_entering_total == 0; }

  // A place in the queue, which is taken by arrive() or given back by leave().
  Status enter(int32_t tenant, const EngineOptions& options);
  void leave(int32_t tenant);
  void arrive(std::shared_ptr<Job> job);
  void ring() {
    {
      const std::lock_guard lock(mutex);
      look_around = true;
    }
    rung.notify_one();
  }
};

}  // namespace quire
