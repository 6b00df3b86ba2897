// SHA-256, for secrets and for names that must not collide. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace quire::server {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::string_view text);
// The first n_hex digits of the digest.
std::string sha256_hex(std::string_view text, size_t n_hex);
// In a time that does not depend on where the two differ.
bool equal_in_constant_time(const Digest& a, const Digest& b);

}  // namespace quire::server
