// Elementary functions on 16 lanes: polynomials over the vector layer, hence the same bits on every ISA.
//
// Each function states its largest error in units in the last place (ulp) against the true value;
// tests/unit/kernels measures it. NaN in, NaN out. For *.kern.cc files only, like vec.h.
#pragma once

#include "kernels/vec/math_activation.h"  // IWYU pragma: export
#include "kernels/vec/math_exp.h"         // IWYU pragma: export
#include "kernels/vec/math_log.h"         // IWYU pragma: export
#include "kernels/vec/math_pow.h"         // IWYU pragma: export
#include "kernels/vec/math_trig.h"        // IWYU pragma: export
