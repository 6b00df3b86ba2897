#include "kernels/isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/kernel_table.h"

namespace quire {
namespace {

using testing::HasSubstr;

TEST(IsaTest, ScalarIsAlwaysThereAndFirst) {
  ASSERT_FALSE(supported_isas().empty());
  EXPECT_EQ(supported_isas().front(), Isa::kScalar);
}

TEST(IsaTest, SupportedOnesAscendInPreference) {
  for (size_t i = 1; i < supported_isas().size(); ++i)
    EXPECT_LT(supported_isas()[i - 1], supported_isas()[i]);
}

TEST(IsaTest, AutoIsTheBestOne) { EXPECT_EQ(choose_isa("auto").value(), supported_isas().back()); }

TEST(IsaTest, ANamedOneIsThatOneOrAnError) {
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni, Isa::kAmx}) {
    const Result<Isa> chosen = choose_isa(isa_name(isa));
    if (isa_supported(isa)) {
      EXPECT_EQ(chosen.value(), isa);
    } else {
      ASSERT_FALSE(chosen.ok());
      EXPECT_EQ(chosen.error().code, ErrorCode::kUnsupported);
      EXPECT_THAT(chosen.error().message, HasSubstr("scalar"));
    }
  }
}

TEST(IsaTest, AnUnknownNameIsAnError) {
  for (const char* name : {"", "AVX2", "avx", "neon"}) {
    const Result<Isa> chosen = choose_isa(name);
    ASSERT_FALSE(chosen.ok()) << name;
    EXPECT_EQ(chosen.error().code, ErrorCode::kInvalidArgument);
  }
}

// A forced ISA really runs its own code: the tables share no function.
TEST(KernelTableTest, EachIsaHasItsOwnFunctions) {
  std::set<void (*)()> functions;
  size_t expected = 0;
  for (Isa isa : supported_isas()) {
    const kernels::KernelTable& table = kernels::kernel_table(isa);
    EXPECT_EQ(table.isa, isa);
    const auto note = [&](auto* f) {
      ASSERT_NE(f, nullptr);
      functions.insert(reinterpret_cast<void (*)()>(f));
      ++expected;
    };
    note(table.linear.quantize);
    for (const kernels::LinearKernel& kernel : table.linear.kernels) {
      EXPECT_EQ(kernel.isa, isa) << kernel.name;
      EXPECT_THAT(kernel.name, testing::EndsWith(std::string("/") + isa_name(isa)));
      EXPECT_EQ(&kernels::linear_kernel(table, *kernel.format), &kernel);
    }
    if (isa == Isa::kAmx) continue;  // but for linear layers it is avx512vnni
    const kernels::RowOps& ops = table.rows;
    note(ops.rms_norm), note(ops.layer_norm), note(ops.add_rms_norm), note(ops.add), note(ops.add_bias);
    note(ops.scale), note(ops.softcap), note(ops.activation), note(ops.gated_activation);
    note(ops.rope_table), note(ops.rope), note(ops.argmax), note(ops.copy_rows);
    note(table.attention.store_kv), note(table.attention.attend);
  }
  EXPECT_EQ(functions.size(), expected);
}

}  // namespace
}  // namespace quire
