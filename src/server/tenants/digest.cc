#include "server/tenants/digest.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace quire::server {

Digest sha256(std::string_view text) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

std::string sha256_hex(std::string_view text, size_t n_hex) {
  std::string hex;
  for (const uint8_t byte : sha256(text)) hex += fmt::format("{:02x}", byte);
  hex.resize(n_hex);
  return hex;
}

bool equal_in_constant_time(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace quire::server
