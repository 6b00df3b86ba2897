// Philox4x32-10: random numbers as a pure function of a counter and a key.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011. There is no
// state to carry, so a draw can be repeated, reordered or done speculatively and stays the same. Pure; thread
// safe.
//
//   double u = uniform_from(philox4x32({0, 0, 0, 0}, {seed_low, seed_high}));
#pragma once

#include <array>
#include <cstdint>

namespace quire {

using PhiloxBlock = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

// Four random words for this counter; ten rounds.
constexpr PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

// A number in [0, 1), a multiple of 2^-53, from the first two words.
constexpr double uniform_from(const PhiloxBlock& words) {
  const uint64_t bits = (static_cast<uint64_t>(words[1]) << 32) | words[0];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace quire
