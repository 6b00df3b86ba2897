// What paging and sharing are worth, in sequences and pages; and what the bookkeeping costs.
//
//   capacity_bench
//
// Capacity: sequences of 50 to 350 tokens (uniform) enter a pool of 512 pages of 16 until one does not fit;
// the mean over 1000 draws is set against reserving 2048 tokens for each. Sharing: pages held by 32 sequences
// of 1024 common and 32 own tokens. Cost: processor time of a decode step of 64 sequences, tables included.
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <random>
#include <utility>
#include <vector>

#include "memory/sequence_memory.h"

namespace {

using quire::SequenceId;
using quire::SequenceMemory;

// Nothing is computed, so the pages need no memory behind them.
SequenceMemory make_memory(int32_t n_pages, int32_t max_sequences, quire::PrefixCache prefix_cache) {
  auto memory = SequenceMemory::create({.needs = {quire::AttentionNeed{.n_head_kv = 1, .d_k = 64, .d_v = 64}},
                                        .n_pages = n_pages,
                                        .max_sequences = max_sequences,
                                        .max_positions = 2048,
                                        .max_step_tokens = 2048,
                                        .prefix_cache = prefix_cache,
                                        .allocation = quire::Allocation::kDry});
  return std::move(memory).value();
}

std::vector<int32_t> random_tokens(std::mt19937& random, int64_t n) {
  std::vector<int32_t> tokens(static_cast<size_t>(n));
  for (int32_t& token : tokens) token = static_cast<int32_t>(random() % 50000);
  return tokens;
}

bool run(SequenceMemory& memory, SequenceId sequence, std::span<const int32_t> tokens) {
  memory.begin_step();
  if (!memory.append(sequence, tokens).ok()) return false;
  memory.commit_step();
  return true;
}

void print_capacity() {
  constexpr int32_t kPages = 512;
  constexpr int kDraws = 1000;
  constexpr double kReserved = kPages * quire::kPagePositions / 2048.0;
  std::mt19937 random(1);
  std::uniform_int_distribution<int64_t> length(50, 350);
  SequenceMemory memory = make_memory(kPages, kPages, quire::PrefixCache::kOff);
  int64_t total = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<SequenceId> open;
    while (true) {
      open.push_back(memory.open().value());
      if (!run(memory, open.back(), random_tokens(random, length(random)))) break;
      ++total;
    }
    for (const SequenceId sequence : open) memory.close(sequence);
  }
  const double mean = static_cast<double>(total) / kDraws;
  fmt::print("capacity  {:.2f} sequences at once, reserving {:.0f}: {:.2f} x\n", mean, kReserved,
             mean / kReserved);
}

int32_t pages_of_burst(quire::PrefixCache prefix_cache) {
  std::mt19937 random(2);
  SequenceMemory memory = make_memory(4096, 32, prefix_cache);
  const std::vector<int32_t> common = random_tokens(random, 1024);
  for (int i = 0; i < 32; ++i) {
    std::vector<int32_t> prompt = common;
    const std::vector<int32_t> own = random_tokens(random, 32);
    prompt.insert(prompt.end(), own.begin(), own.end());
    const SequenceId sequence = memory.open().value();
    const int64_t shared = memory.attach(sequence, prompt);
    run(memory, sequence, std::span(prompt).subspan(static_cast<size_t>(shared)));
  }
  return memory.gauges().groups[0].held;
}

void print_sharing() {
  const int32_t alone = pages_of_burst(quire::PrefixCache::kOff);
  const int32_t shared = pages_of_burst(quire::PrefixCache::kOn);
  fmt::print("sharing   {} pages, {} without: 1/{:.1f}\n", shared, alone,
             static_cast<double>(alone) / shared);
}

double processor_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void print_cost() {
  constexpr int kSequences = 64;
  constexpr int kSteps = 1000;
  std::mt19937 random(3);
  SequenceMemory memory = make_memory(8192, kSequences, quire::PrefixCache::kOn);
  std::vector<SequenceId> open;
  for (int i = 0; i < kSequences; ++i) {
    open.push_back(memory.open().value());
    run(memory, open.back(), random_tokens(random, 128));
  }
  const std::vector<int32_t> tokens = random_tokens(random, kSteps * kSequences);
  const double start = processor_seconds();
  for (int step = 0; step < kSteps; ++step) {
    memory.begin_step();
    for (int i = 0; i < kSequences; ++i) {
      const auto token = std::span(tokens).subspan(static_cast<size_t>(step * kSequences + i), 1);
      if (!memory.append(open[static_cast<size_t>(i)], token).ok()) return;
    }
    memory.commit_step();
  }
  const double seconds = processor_seconds() - start;
  fmt::print("cost      {:.2f} us for a decode step of {} sequences\n", seconds / kSteps * 1e6, kSequences);
}

}  // namespace

int main() {
  print_capacity();
  print_sharing();
  print_cost();
}
