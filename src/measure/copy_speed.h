// How fast one thread of this machine copies memory that its caches do not hold.
#pragma once

namespace quire {

// Bytes per second; the best of a few rounds over some megabytes, about ten milliseconds in all.
double measure_copy_speed();

}  // namespace quire
