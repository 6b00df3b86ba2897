#include "tensor/element_type.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "tensor/formats/iq1_m.h"
#include "tensor/formats/iq1_s.h"
#include "tensor/formats/iq2_s.h"
#include "tensor/formats/iq2_xs.h"
#include "tensor/formats/iq2_xxs.h"
#include "tensor/formats/iq3_s.h"
#include "tensor/formats/iq3_xxs.h"
#include "tensor/formats/iq4_nl.h"
#include "tensor/formats/iq4_xs.h"
#include "tensor/formats/mxfp4.h"
#include "tensor/formats/nvfp4.h"
#include "tensor/formats/plain.h"
#include "tensor/formats/q1_0.h"
#include "tensor/formats/q2_0.h"
#include "tensor/formats/q2_k.h"
#include "tensor/formats/q3_k.h"
#include "tensor/formats/q4_0.h"
#include "tensor/formats/q4_1.h"
#include "tensor/formats/q4_k.h"
#include "tensor/formats/q5_0.h"
#include "tensor/formats/q5_1.h"
#include "tensor/formats/q5_k.h"
#include "tensor/formats/q6_k.h"
#include "tensor/formats/q8_0.h"
#include "tensor/formats/q8_1.h"
#include "tensor/formats/q8_k.h"
#include "tensor/formats/tq1_0.h"
#include "tensor/formats/tq2_0.h"

namespace quire {
namespace {

constexpr ElementTypeInfo kTypes[] = {
    {ElementType::kF32, "F32", 1, 4, decode_f32, encode_f32, nullptr, false},
    {ElementType::kF16, "F16", 1, 2, decode_f16, encode_f16, nullptr, false},
    {ElementType::kQ4_0, "Q4_0", 32, sizeof(BlockQ4_0), decode_q4_0, encode_q4_0, unpack_q4_0, false},
    {ElementType::kQ4_1, "Q4_1", 32, sizeof(BlockQ4_1), decode_q4_1, encode_q4_1, unpack_q4_1, true},
    {ElementType::kQ5_0, "Q5_0", 32, sizeof(BlockQ5_0), decode_q5_0, encode_q5_0, unpack_q5_0, false},
    {ElementType::kQ5_1, "Q5_1", 32, sizeof(BlockQ5_1), decode_q5_1, encode_q5_1, unpack_q5_1, true},
    {ElementType::kQ8_0, "Q8_0", 32, sizeof(BlockQ8_0), decode_q8_0, encode_q8_0, unpack_q8_0, false},
    {ElementType::kQ8_1, "Q8_1", 32, sizeof(BlockQ8_1), decode_q8_1, nullptr, unpack_q8_1, false},
    {ElementType::kQ2_K, "Q2_K", 256, sizeof(BlockQ2_K), decode_q2_k, nullptr, unpack_q2_k, true},
    {ElementType::kQ3_K, "Q3_K", 256, sizeof(BlockQ3_K), decode_q3_k, nullptr, unpack_q3_k, false},
    {ElementType::kQ4_K, "Q4_K", 256, sizeof(BlockQ4_K), decode_q4_k, nullptr, unpack_q4_k, true},
    {ElementType::kQ5_K, "Q5_K", 256, sizeof(BlockQ5_K), decode_q5_k, nullptr, unpack_q5_k, true},
    {ElementType::kQ6_K, "Q6_K", 256, sizeof(BlockQ6_K), decode_q6_k, nullptr, unpack_q6_k, false},
    {ElementType::kQ8_K, "Q8_K", 256, sizeof(BlockQ8_K), decode_q8_k, nullptr, unpack_q8_k, false},
    {ElementType::kIQ2_XXS, "IQ2_XXS", 256, sizeof(BlockIQ2_XXS), decode_iq2_xxs, nullptr, unpack_iq2_xxs,
     false},
    {ElementType::kIQ2_XS, "IQ2_XS", 256, sizeof(BlockIQ2_XS), decode_iq2_xs, nullptr, unpack_iq2_xs, false},
    {ElementType::kIQ3_XXS, "IQ3_XXS", 256, sizeof(BlockIQ3_XXS), decode_iq3_xxs, nullptr, unpack_iq3_xxs,
     false},
    {ElementType::kIQ1_S, "IQ1_S", 256, sizeof(BlockIQ1_S), decode_iq1_s, nullptr, unpack_iq1_s, false},
    {ElementType::kIQ4_NL, "IQ4_NL", 32, sizeof(BlockIQ4_NL), decode_iq4_nl, nullptr, unpack_iq4_nl, false},
    {ElementType::kIQ3_S, "IQ3_S", 256, sizeof(BlockIQ3_S), decode_iq3_s, nullptr, unpack_iq3_s, false},
    {ElementType::kIQ2_S, "IQ2_S", 256, sizeof(BlockIQ2_S), decode_iq2_s, nullptr, unpack_iq2_s, false},
    {ElementType::kIQ4_XS, "IQ4_XS", 256, sizeof(BlockIQ4_XS), decode_iq4_xs, nullptr, unpack_iq4_xs, false},
    {ElementType::kI8, "I8", 1, 1, nullptr, nullptr, nullptr, false},
    {ElementType::kI16, "I16", 1, 2, nullptr, nullptr, nullptr, false},
    {ElementType::kI32, "I32", 1, 4, nullptr, nullptr, nullptr, false},
    {ElementType::kI64, "I64", 1, 8, nullptr, nullptr, nullptr, false},
    {ElementType::kF64, "F64", 1, 8, decode_f64, nullptr, nullptr, false},
    {ElementType::kIQ1_M, "IQ1_M", 256, sizeof(BlockIQ1_M), decode_iq1_m, nullptr, unpack_iq1_m, false},
    {ElementType::kBF16, "BF16", 1, 2, decode_bf16, encode_bf16, nullptr, false},
    {ElementType::kTQ1_0, "TQ1_0", 256, sizeof(BlockTQ1_0), decode_tq1_0, encode_tq1_0, unpack_tq1_0, false},
    {ElementType::kTQ2_0, "TQ2_0", 256, sizeof(BlockTQ2_0), decode_tq2_0, encode_tq2_0, unpack_tq2_0, false},
    {ElementType::kMXFP4, "MXFP4", 32, sizeof(BlockMXFP4), decode_mxfp4, encode_mxfp4, unpack_mxfp4, false},
    {ElementType::kNVFP4, "NVFP4", 64, sizeof(BlockNVFP4), decode_nvfp4, nullptr, unpack_nvfp4, false},
    {ElementType::kQ1_0, "Q1_0", 128, sizeof(BlockQ1_0), decode_q1_0, nullptr, unpack_q1_0, false},
    {ElementType::kQ2_0, "Q2_0", 64, sizeof(BlockQ2_0), decode_q2_0, nullptr, unpack_q2_0, false},
};

constexpr uint32_t kIdEnd = 43;

// Position in kTypes for every id below kIdEnd; -1 for the gaps.
constexpr std::array<int8_t, kIdEnd> make_index() {
  std::array<int8_t, kIdEnd> index{};
  for (int8_t& position : index) position = -1;
  int8_t position = 0;
  for (const ElementTypeInfo& info : kTypes) index[static_cast<uint32_t>(info.type)] = position++;
  return index;
}
constexpr std::array<int8_t, kIdEnd> kIndex = make_index();

struct UnknownType {
  uint32_t id;
  std::string_view what;
};

// Ids that appear in files of other programs or of the past. Where a removed id was given a new meaning by a
// fork, both are named.
constexpr UnknownType kUnknownTypes[] = {
    {4, "removed from the format (Q4_2)"},
    {5, "removed from the format (Q4_3)"},
    {31, "removed from the format (Q4_0_4_4)"},
    {32, "removed from the format (Q4_0_4_8)"},
    {33, "removed from the format (Q4_0_8_8)"},
    {36, "removed from the format (IQ4_NL_4_4), or a type of ik_llama.cpp (I2_S)"},
    {37, "removed from the format (IQ4_NL_4_8)"},
    {38, "removed from the format (IQ4_NL_8_8)"},
    {133, "a type of ik_llama.cpp (Q6_0)"},
    {134, "a type of ik_llama.cpp (IQ1_BN)"},
    {135, "a type of ik_llama.cpp (IQ2_BN)"},
    {137, "a type of ik_llama.cpp (IQ2_K)"},
    {138, "a type of ik_llama.cpp (IQ3_K)"},
    {139, "a type of ik_llama.cpp (IQ4_K)"},
    {140, "a type of ik_llama.cpp (IQ5_K)"},
    {141, "a type of ik_llama.cpp (IQ6_K)"},
    {144, "a type of ik_llama.cpp (IQ4_KS)"},
    {145, "a type of ik_llama.cpp (IQ2_KS)"},
    {146, "a type of ik_llama.cpp (IQ4_KSS)"},
    {152, "a type of ik_llama.cpp (IQ5_KS)"},
    {153, "a type of ik_llama.cpp (IQ2_KT)"},
    {154, "a type of ik_llama.cpp (IQ3_KT)"},
    {155, "a type of ik_llama.cpp (IQ4_KT)"},
    {156, "a type of ik_llama.cpp (IQ3_KS)"},
    {157, "a type of ik_llama.cpp (IQ2_KL)"},
    {158, "a type of ik_llama.cpp (IQ1_KT)"},
};

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

const ElementTypeInfo& element_type_info(ElementType type) {
  const ElementTypeInfo* info = find_element_type(static_cast<uint32_t>(type));
  QUIRE_CHECK(info != nullptr);
  return *info;
}

const ElementTypeInfo* find_element_type(uint32_t id) {
  if (id >= kIdEnd || kIndex[id] < 0) return nullptr;
  return &kTypes[kIndex[id]];
}

const ElementTypeInfo* find_element_type(std::string_view name) {
  for (const ElementTypeInfo& info : kTypes) {
    if (equal_ignoring_case(name, info.name)) return &info;
  }
  return nullptr;
}

std::span<const ElementTypeInfo> element_types() { return kTypes; }

std::string_view describe_unknown_element_type(uint32_t id) {
  for (const UnknownType& unknown : kUnknownTypes) {
    if (unknown.id == id) return unknown.what;
  }
  if ((id >= 97 && id <= 99) || (id >= 147 && id <= 151)) return "an activation format of ik_llama.cpp";
  if (id >= 202 && id < 400) return "a row-interleaved type of ik_llama.cpp";
  return {};
}

std::optional<size_t> row_bytes(ElementType type, int64_t n_elems) {
  const ElementTypeInfo& info = element_type_info(type);
  if (n_elems < 0 || n_elems % info.block_elems != 0) return std::nullopt;
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(n_elems / info.block_elems),
                             static_cast<size_t>(info.block_bytes), &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

}  // namespace quire
