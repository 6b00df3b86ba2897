// How the slices of a packed block (weight_layout.h) become the codes of its eight steps. For *.kern.cc
// files.
#pragma once

#include <cstddef>

#include "kernels/linear/weight_layout.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// Bits moved up (kBits > 0) or down; what crosses into the neighbouring byte is for the caller to mask.
template <int kBits>
QUIRE_VEC_FN B64 move_bits(B64 a) {
  if constexpr (kBits > 0) return bshift_left16<kBits>(a);
  if constexpr (kBits < 0) return bshift_right16<-kBits>(a);
  return a;
}

// 8 slices, slice s = step s.
struct ByteBody {
  const std::byte* slices;
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    return bload(slices + kStep * kSliceBytes);
  }
};

// 4 slices of nibbles: slice v, low = step v, high = step v + 4.
struct NibbleBody {
  const std::byte* slices;
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    return band(move_bits < kStep < 4 ? 0 : -4 > (bload(slices + kStep % 4 * kSliceBytes)), bset1(0x0f));
  }
};

// 1 slice of fifth bits (bit s = step s), 4 slices of nibbles.
struct FiveBitBody {
  const std::byte* slices;
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    const B64 fifth_bits = move_bits<4 - kStep>(bload(slices));
    return bor(NibbleBody{slices + kSliceBytes}.codes<kStep>(), band(fifth_bits, bset1(0x10)));
  }
};

// Nibbles of another body as indices into a table of 16 bytes.
template <typename Indices>
struct TableBody {
  Indices indices;
  const uint8_t* table;
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    return lookup16(indices.template codes<kStep>(), table);
  }
};

// The four bytes of each lane as floats, byte i to out[i], times `even` or `odd` as i is.
QUIRE_VEC_FN void scale_bytes(I32 bytes, F32 even, F32 odd, float (*out)[kLanes]) {
  const I32 byte = iset1(0xff);
  store(out[0], mul(to_f32(iand(bytes, byte)), even));
  store(out[1], mul(to_f32(iand(shift_right_logical<8>(bytes), byte)), odd));
  store(out[2], mul(to_f32(iand(shift_right_logical<16>(bytes), byte)), even));
  store(out[3], mul(to_f32(shift_right_logical<24>(bytes)), odd));
}
QUIRE_VEC_FN void scale_bytes(I32 bytes, F32 unit, float (*out)[kLanes]) {
  scale_bytes(bytes, unit, unit, out);
}

QUIRE_VEC_FN F32 f16_lanes(const std::byte* at) { return load_f16(reinterpret_cast<const uint16_t*>(at)); }

}  // namespace quire::kernels::QUIRE_ISA
