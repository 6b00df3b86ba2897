quire_test(attention_test
  SOURCES attention_case.cc attention_reference.cc attention_test.cc
  DEPS quire_kernels)
