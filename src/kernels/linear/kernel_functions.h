// The entry points of one ISA's linear kernels, one per packed format (LinearKernel::run). For *.kern.cc
// files.
#pragma once

#include "kernels/linear.h"

namespace quire::kernels::QUIRE_ISA {

void run_f32(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_f16(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_bf16(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_q4_0(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_q4_1(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_q5_0(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_q5_1(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_q8_0(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_iq4_nl(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_mxfp4(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_q4_k(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_q5_k(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_q6_k(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_i8x16(const LinearArgs& args, int64_t group_begin, int64_t group_end);
void run_i8x16_offset(const LinearArgs& args, int64_t group_begin, int64_t group_end);

void quantize_rows(const QuantizeArgs& args, int64_t row_begin, int64_t row_end);

}  // namespace quire::kernels::QUIRE_ISA
