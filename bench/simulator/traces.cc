#include "traces.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

namespace quire::simulator {
namespace {

// Random arrivals on one clock.
class Source {
 public:
  explicit Source(double rate) : gap_(rate) {}
  EngineTime next_time() {
    seconds_ += gap_(random_);
    return std::chrono::duration_cast<EngineTime>(std::chrono::duration<double>(seconds_));
  }
  int32_t between(int32_t low, int32_t high) {
    return std::uniform_int_distribution<int32_t>(low, high)(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }
  double normal() { return std::normal_distribution<double>()(random_); }

 private:
  std::mt19937_64 random_{42};
  std::exponential_distribution<double> gap_;
  double seconds_ = 0;
};

Arrival chat(Source& source, EngineTime at) {
  return {.at = at,
          .n_prompt = source.between(128, 384),
          .n_answer = source.between(32, 96),
          .tenant = source.between(0, kTenants - 1)};
}

}  // namespace

std::vector<TraceKind> trace_kinds(double rate) {
  const auto source = [&] { return std::make_shared<Source>(rate); };
  std::vector<TraceKind> kinds;
  kinds.push_back({"poisson", "256 in, 64 out on average, random arrivals",
                   [s = source()](int64_t) { return chat(*s, s->next_time()); }});
  kinds.push_back({"burst", "128 at once every two minutes",
                   [s = source()](int64_t i) { return chat(*s, std::chrono::seconds(120 * (i / 128))); }});
  kinds.push_back({"long-among-chat", "one in fifty has a prompt of 6000 tokens", [s = source()](int64_t i) {
                     Arrival arrival = chat(*s, s->next_time());
                     if (i % 50 == 49) arrival.n_prompt = 6000;
                     return arrival;
                   }});
  kinds.push_back({"heavy-tail", "log-normal lengths, up to 6000 in and 1500 out", [s = source()](int64_t) {
                     Arrival arrival = chat(*s, s->next_time());
                     arrival.n_prompt =
                         std::clamp(static_cast<int32_t>(120 * std::exp(1.2 * s->normal())), 4, 6000);
                     arrival.n_answer =
                         std::clamp(static_cast<int32_t>(35 * std::exp(1.1 * s->normal())), 1, 1500);
                     return arrival;
                   }});
  kinds.push_back(
      {"shared-prefix", "one of eight system prompts of 1024 tokens, 32 to 96 own", [s = source()](int64_t) {
         Arrival arrival = chat(*s, s->next_time());
         arrival.n_shared = 1024;
         arrival.prefix = s->between(1, 8);
         arrival.n_prompt = 1024 + s->between(32, 96);
         return arrival;
       }});
  kinds.push_back({"cancels", "three in ten are given up", [s = source()](int64_t) {
                     Arrival arrival = chat(*s, s->next_time());
                     if (s->chance(0.3)) arrival.cancel_after = s->between(0, arrival.n_answer - 1);
                     return arrival;
                   }});
  kinds.push_back({"greedy-tenant", "nine in ten come from one tenant of four", [s = source()](int64_t) {
                     Arrival arrival = chat(*s, s->next_time());
                     if (s->chance(0.87)) arrival.tenant = 0;
                     return arrival;
                   }});
  return kinds;
}

}  // namespace quire::simulator
