# Tests of the linear layers; included by CMakeLists.txt of this folder.
quire_test(kernels_linear_test
  SOURCES linear_test.cc linear_hostile_test.cc linear_quantize_test.cc linear_cases.cc linear_reference.cc
  DEPS quire_kernels quire_tensor quire_base)
