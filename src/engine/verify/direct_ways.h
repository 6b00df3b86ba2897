// Ways that differ in how steps are put together, by hand, on one runner: chunks, company, pages, prefixes,
// going back. Borrows the runner, all of whose sequences it uses; one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/verify/way.h"

namespace quire::verify {

class DirectWays {
 public:
  DirectWays(Runner& runner, std::span<const Case> cases) : runner_(runner), cases_(cases) {}

  // The sequences in steps of `size` tokens. Counts steps that were not the first.
  Result<WayResult> chunks(size_t size);
  // Each among n - 1 strangers, who come, go and change, in steps of all sizes. Counts strangers' rows.
  Result<WayResult> batch(int32_t n);
  // Pages taken in another order than ascending. Counts neighbours in a table that are none in memory, or,
  // for kAscending, those that are.
  enum class PageOrder : uint8_t { kAscending, kReversed, kRandom, kScattered };
  Result<WayResult> pages(PageOrder order);
  // What another sequence with the same beginning left. Counts positions that were not computed again.
  Result<WayResult> warm_prefix();
  // The same, ending within a page. Counts pages copied.
  Result<WayResult> partial_page();
  // A fork of a sequence, both going on. Counts pages copied.
  Result<WayResult> fork();
  // The largest logit as the vocabulary's layer found it, against that of the whole row. Counts rows; one
  // that differs has a wrong hash.
  Result<WayResult> argmax();
  // Too far, and back again. Counts positions taken back.
  Result<WayResult> truncate();

 private:
  PrefixScope fresh_scope();
  Result<SequenceId> open() { return runner_.memory_module().open(fresh_scope()); }
  std::vector<int32_t> page_order(PageOrder order) const;
  Status feed_rest(SequenceId sequence, const Case& of, size_t chunk, Trace& trace);

  Runner& runner_;
  std::span<const Case> cases_;
  int64_t n_scopes_ = 0;
};

}  // namespace quire::verify
