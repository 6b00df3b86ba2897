#include "engine/verify/direct_ways.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "base/check.h"
#include "sampling/log_softmax.h"

namespace quire::verify {

PrefixScope DirectWays::fresh_scope() {
  Result<PrefixScope> scope = PrefixScope::create(fmt::format("way {}", n_scopes_++));
  QUIRE_CHECK(scope.ok());
  return *scope;
}

// The tokens that the sequence does not hold yet, `chunk` at a time.
Status DirectWays::feed_rest(SequenceId sequence, const Case& of, size_t chunk, Trace& trace) {
  auto begin = static_cast<size_t>(runner_.length(sequence));
  for (; begin < of.tokens.size(); begin += chunk) {
    const std::span<const int32_t> rest = std::span(of.tokens).subspan(begin);
    QUIRE_RETURN_IF_ERROR(feed(runner_, sequence, rest.first(std::min(chunk, rest.size())), trace));
  }
  return {};
}

Result<WayResult> DirectWays::chunks(size_t size) {
  WayResult result;
  for (const Case& of : cases_) {
    const int64_t steps = runner_.n_steps();
    QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, open());
    QUIRE_RETURN_IF_ERROR(feed_rest(sequence, of, size, result.traces.emplace_back()));
    runner_.close(sequence);
    // A whole sequence in one step is a way of its own.
    result.count += size >= of.tokens.size() ? 1 : runner_.n_steps() - steps - 1;
  }
  return result;
}

Result<WayResult> DirectWays::batch(int32_t n) {
  constexpr int64_t kStrangerLength = 24;  // before another takes its place
  WayResult result;
  const int64_t n_vocab = runner_.model().n_vocab();
  for (const Case& of : cases_) {
    Trace& trace = result.traces.emplace_back();
    QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, open());
    std::vector<SequenceId> strangers(static_cast<size_t>(n - 1));
    for (SequenceId& stranger : strangers) {
      QUIRE_ASSIGN_OR_RETURN(stranger, open());
    }
    const auto n_tokens = static_cast<int64_t>(of.tokens.size());
    for (uint32_t step = 0; runner_.length(sequence) < n_tokens; ++step) {
      // Ours is somewhere among them, with one to five tokens; they have one or two each.
      const int64_t begin = runner_.length(sequence);
      const auto ours = static_cast<size_t>(std::min<int64_t>(1 + step % 5, n_tokens - begin));
      const std::vector<int32_t> words = random_tokens(step, 2 * strangers.size(), n_vocab);
      std::vector<BatchItem> items;
      for (size_t i = 0; i < strangers.size(); ++i) {
        if (runner_.length(strangers[i]) >= kStrangerLength) {
          runner_.close(strangers[i]);
          QUIRE_ASSIGN_OR_RETURN(strangers[i], open());
        }
        const size_t n_words = 1 + (step + i) % 2;
        items.push_back({.sequence = strangers[i], .tokens = std::span(words).subspan(2 * i, n_words)});
        result.count += static_cast<int64_t>(n_words);
      }
      const size_t place = step % static_cast<size_t>(n);
      items.insert(items.begin() + static_cast<std::ptrdiff_t>(place),
                   {.sequence = sequence,
                    .tokens = std::span(of.tokens).subspan(static_cast<size_t>(begin), ours),
                    .logits = Logits::kAll});
      QUIRE_RETURN_IF_ERROR(runner_.step(items));
      for (size_t row = 0; row < ours; ++row) {
        trace.set(begin + static_cast<int64_t>(row), runner_.logits(static_cast<int64_t>(place + row)));
      }
    }
    runner_.close(sequence);
    for (const SequenceId stranger : strangers) runner_.close(stranger);
  }
  return result;
}

std::vector<int32_t> DirectWays::page_order(PageOrder order) const {
  std::vector<int32_t> pages(static_cast<size_t>(runner_.memory_module().group(0).pool().n_pages()));
  std::iota(pages.begin(), pages.end(), 0);
  std::minstd_rand random(3);
  switch (order) {
    case PageOrder::kAscending:
      break;
    case PageOrder::kReversed:
      std::ranges::reverse(pages);
      break;
    case PageOrder::kRandom:
      std::shuffle(pages.begin(), pages.end(), random);
      break;
    case PageOrder::kScattered:  // every third page, then the ones between
      std::ranges::stable_sort(pages, {}, [](int32_t page) { return page % 3; });
      break;
  }
  return pages;
}

Result<WayResult> DirectWays::pages(PageOrder order) {
  WayResult result;
  SequenceMemory& memory = runner_.memory_module();
  const bool expects_neighbours = order == PageOrder::kAscending;
  for (const Case& of : cases_) {
    memory.clear_cache();
    memory.order_free_pages(page_order(order));
    QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, open());
    QUIRE_RETURN_IF_ERROR(feed_rest(sequence, of, 40, result.traces.emplace_back()));
    for (int32_t g = 0; g < memory.n_groups(); ++g) {
      const PageGroup& group = memory.group(g);
      const int32_t end = group.end_page(sequence.index);
      for (int32_t i = group.first_page(sequence.index); i + 1 < end; ++i) {
        const bool neighbours = group.page(sequence.index, i + 1) == group.page(sequence.index, i) + 1;
        result.count += neighbours == expects_neighbours ? 1 : 0;
      }
    }
    runner_.close(sequence);
  }
  memory.clear_cache();
  return result;
}

Result<WayResult> DirectWays::warm_prefix() {
  WayResult result;
  SequenceMemory& memory = runner_.memory_module();
  for (const Case& of : cases_) {
    const PrefixScope scope = fresh_scope();
    QUIRE_ASSIGN_OR_RETURN(const SequenceId first, memory.open(scope));
    memory.attach(first, of.prompt);
    Trace ignored;
    QUIRE_RETURN_IF_ERROR(feed(runner_, first, of.prompt, ignored));
    QUIRE_ASSIGN_OR_RETURN(const SequenceId second, memory.open(scope));
    result.count += memory.attach(second, of.prompt);  // while the first is alive
    QUIRE_RETURN_IF_ERROR(feed_rest(second, of, 16, result.traces.emplace_back()));
    runner_.close(first);
    runner_.close(second);
  }
  return result;
}

Result<WayResult> DirectWays::partial_page() {
  WayResult result;
  SequenceMemory& memory = runner_.memory_module();
  const int64_t copied = memory.gauges().pages_copied;
  for (const Case& of : cases_) {
    // Another prompt that parts from ours in the middle of its fourth page.
    std::vector<int32_t> other = of.prompt;
    for (size_t i = 3 * kPagePositions + 7; i < other.size(); ++i) other[i] = (other[i] + 1) % 3;
    const PrefixScope scope = fresh_scope();
    QUIRE_ASSIGN_OR_RETURN(const SequenceId first, memory.open(scope));
    Trace ignored;
    QUIRE_RETURN_IF_ERROR(feed(runner_, first, other, ignored));
    QUIRE_ASSIGN_OR_RETURN(const SequenceId second, memory.open(scope));
    memory.attach(second, of.prompt);
    QUIRE_RETURN_IF_ERROR(feed_rest(second, of, 16, result.traces.emplace_back()));
    runner_.close(first);
    runner_.close(second);
  }
  result.count = memory.gauges().pages_copied - copied;
  return result;
}

Result<WayResult> DirectWays::fork() {
  WayResult result;
  SequenceMemory& memory = runner_.memory_module();
  const auto copied = [&] {
    const MemoryGauges gauges = memory.gauges();
    return memory.states() == nullptr ? gauges.pages_copied : gauges.states.copied;
  };
  const int64_t copied_before = copied();
  for (const Case& of : cases_) {
    Trace& trace = result.traces.emplace_back();
    QUIRE_ASSIGN_OR_RETURN(const SequenceId source, open());
    QUIRE_RETURN_IF_ERROR(feed(runner_, source, std::span(of.tokens).first(of.prompt.size()), trace));
    QUIRE_ASSIGN_OR_RETURN(const SequenceId other, memory.fork(source));
    // The other one writes first, and something else.
    Trace ignored;
    QUIRE_RETURN_IF_ERROR(feed(runner_, other, random_tokens(9, 30, runner_.model().n_vocab()), ignored));
    QUIRE_RETURN_IF_ERROR(feed_rest(source, of, 5, trace));
    runner_.close(source);
    runner_.close(other);
  }
  result.count = copied() - copied_before;
  return result;
}

Result<WayResult> DirectWays::argmax() {
  WayResult result;
  const auto n_vocab = static_cast<int32_t>(runner_.model().n_vocab());
  for (const Case& of : cases_) {
    Trace& trace = result.traces.emplace_back();
    QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, open());
    const std::span<const int32_t> tokens(of.tokens);
    constexpr size_t kChunk = 40;
    for (size_t begin = 0; begin < tokens.size(); begin += kChunk) {
      // Every other step leaves the last ids of the vocabulary out, as models with padded rows do.
      const int32_t columns = begin / kChunk % 2 == 0 ? n_vocab : n_vocab - n_vocab / 3;
      const BatchItem item{.sequence = sequence,
                           .tokens = tokens.subspan(begin, std::min(kChunk, tokens.size() - begin)),
                           .logits = Logits::kAll};
      QUIRE_RETURN_IF_ERROR(runner_.step({&item, 1}, columns));
      for (int64_t row = 0; row < runner_.n_logits(); ++row) {
        const std::span<const float> logits = runner_.logits(row);
        const std::optional<int32_t> found = runner_.argmax(row);
        if (!found) continue;
        const auto position = static_cast<int64_t>(begin) + row;
        trace.set(position, logits);
        if (*found != argmax_logit(logits.first(static_cast<size_t>(columns))))
          trace.rows[static_cast<size_t>(position)] ^= 1;
        ++result.count;
      }
    }
    runner_.close(sequence);
  }
  return result;
}

Result<WayResult> DirectWays::truncate() {
  WayResult result;
  for (const Case& of : cases_) {
    QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, open());
    Trace ignored;
    const size_t kept = of.prompt.size() - 9;
    QUIRE_RETURN_IF_ERROR(feed(runner_, sequence, std::span(of.tokens).first(kept), ignored));
    QUIRE_RETURN_IF_ERROR(feed(runner_, sequence, random_tokens(8, 45, runner_.model().n_vocab()), ignored));
    const int64_t length = runner_.length(sequence);
    result.count += length - runner_.truncate(sequence, static_cast<int64_t>(kept));
    QUIRE_RETURN_IF_ERROR(feed_rest(sequence, of, 11, result.traces.emplace_back()));
    runner_.close(sequence);
  }
  return result;
}

}  // namespace quire::verify
