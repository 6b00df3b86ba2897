// exp and log in f64 from plain additions and multiplications, so that a sample is the same with every C
// library.
//
// Library versions of exp differ between systems and even between processors (variants with fused
// multiply-add are picked at run time); a different last bit can pick a different token. These use IEEE
// operations only and are built with -ffp-contract=off. Relative error below 1e-15. Pure; thread safe.
#pragma once

#include <bit>
#include <cstdint>

namespace quire {

// e^x. At or below -708, and for NaN: 0, so that no denormal appears and excluded entries weigh nothing. x
// must not exceed 709.
inline double portable_exp(double x) {
  // Cody-Waite: x = n * ln 2 + r with |r| <= ln(2) / 2; the first part of ln 2 has few bits, so n times it is
  // exact.
  constexpr double kLn2High = 0x1.62e42feep-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kRounder = 0x1.8p52;  // adding it rounds to an integer and leaves that in the low bits
  const double clamped = x > -708.0 ? x : -708.0;
  const double shifted = clamped * kLog2E + kRounder;
  const double n = shifted - kRounder;
  const double r = (clamped - n * kLn2High) - n * kLn2Low;
  // Taylor series of degree 13; the next term is below 5e-18.
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // 2^n: n sits in the low bits of `shifted`; unsigned, since it may be negative.
  const uint64_t exponent = std::bit_cast<uint64_t>(shifted) + 1023;
  const double power = std::bit_cast<double>(exponent << 52);
  return x > -708.0 ? p * power : 0.0;
}

// Natural logarithm of a positive, normal, finite x.
inline double portable_log(double x) {
  constexpr double kLn2High = 0x1.62e42feep-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)): measure the exponent from sqrt(1/2).
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const uint64_t offset = bits - 0x3fe6a09e667f3bcdull;
  const auto e = static_cast<double>(static_cast<int64_t>(offset) >> 52);
  const auto m = std::bit_cast<double>(bits - (offset & 0xfff0000000000000ull));
  // log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172; the terms left out are below 1e-18.
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 1.0 / 23.0;
  p = p * z + 1.0 / 21.0;
  p = p * z + 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  const double log_m = 2.0 * s + 2.0 * s * z * p;
  return e * kLn2High + (log_m + e * kLn2Low);
}

}  // namespace quire
