// Ways that go through the engine: requests among strangers, a prefix wanted by many at once, answers that
// run out of pages. Each owns an engine for its time. Pure functions of their arguments.
#pragma once

#include <memory>
#include <span>

#include "engine/scheduler.h"
#include "engine/verify/way.h"

namespace quire::verify {

// Every case among strangers that come as the engine lets them in, sampled on the way. Counts rows that did
// not have a step to themselves.
Result<WayResult> served_among_strangers(std::unique_ptr<Runner> runner, std::span<const Case> cases);

// Every case several times at once, with other endings: its prompt is computed by one of them. Counts
// requests that waited for it.
Result<WayResult> served_burst(std::unique_ptr<Runner> runner, std::span<const Case> cases);

// Every case beside strangers that take the pages it needs. Counts preemptions of the case that ended in
// computing it again, or, for kSpill, in bringing it back.
Result<WayResult> served_preempted(std::unique_ptr<Runner> runner, std::span<const Case> cases,
                                   Preemption preemption);
// Pages of a runner for it: enough to let all in, too few for all to end.
int64_t pages_for_preemption();

}  // namespace quire::verify
