// ElementType: every tensor type a GGUF file may hold, with its block layout and scalar decode/encode.
//
// A type's blocks are described in formats/<type>.h and read in formats/<type>.cc, one pair per format. This
// header is the way in for everybody but kernels that repack blocks, which read the block structs themselves.
// The table is constant data: thread safe, nothing to own.
//
//   const ElementTypeInfo& info = element_type_info(ElementType::kQ4_K);
//   info.decode(blocks, values, 256);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tensor/int8_codes.h"

namespace quire {

// Values are the type ids of the GGUF format; gaps are ids that were removed from it.
enum class ElementType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ8_1 = 9,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kQ8_K = 15,
  kIQ2_XXS = 16,
  kIQ2_XS = 17,
  kIQ3_XXS = 18,
  kIQ1_S = 19,
  kIQ4_NL = 20,
  kIQ3_S = 21,
  kIQ2_S = 22,
  kIQ4_XS = 23,
  kI8 = 24,
  kI16 = 25,
  kI32 = 26,
  kI64 = 27,
  kF64 = 28,
  kIQ1_M = 29,
  kBF16 = 30,
  kTQ1_0 = 34,
  kTQ2_0 = 35,
  kMXFP4 = 39,
  kNVFP4 = 40,
  kQ1_0 = 41,
  kQ2_0 = 42,
};

struct ElementTypeInfo {
  ElementType type;
  const char* name;     // as written in tools and messages: "Q4_K"
  int32_t block_elems;  // elements per block
  int32_t block_bytes;  // bytes per block
  // Decodes n_elems (a multiple of block_elems) values; bit-exact with the format's reference. Blocks may lie
  // at any address. Null for the integer types, which hold indices, not weights.
  void (*decode)(const std::byte* blocks, float* values, int64_t n_elems);
  // Encodes n_elems values by round-to-nearest without importance, byte-exact with the format's reference for
  // finite values (anything else gives some valid block); null where not provided.
  void (*encode)(const float* values, std::byte* blocks, int64_t n_elems);
  // Unpacks n_elems values to int8 codes with f32 scales and, for types with has_offsets, offsets, which give
  // the decoded values to the bit (int8_codes.h). Null for types that are not quantised: F32, F16, BF16, F64,
  // integers.
  void (*unpack)(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);
  bool has_offsets;  // a value can be scale * code + offset (Q4_1, Q5_1, Q2_K, Q4_K, Q5_K)
};

// The entry of a known type.
const ElementTypeInfo& element_type_info(ElementType type);

// The entry for a type id read from a file; null when the id is unknown or removed.
const ElementTypeInfo* find_element_type(uint32_t id);

// The entry with this name (case-insensitive, "Q4_K"); null when there is none.
const ElementTypeInfo* find_element_type(std::string_view name);

// All entries in id order.
std::span<const ElementTypeInfo> element_types();

// Why an id that find_element_type() does not know may occur: "removed from the format (Q4_2)", "a type of
// ik_llama.cpp (IQ4_KS)"; empty when nothing is known about it.
std::string_view describe_unknown_element_type(uint32_t id);

// Bytes of a row of n_elems values; nullopt when n_elems is negative or no multiple of the block, or on
// overflow.
std::optional<size_t> row_bytes(ElementType type, int64_t n_elems);

}  // namespace quire
