# Helpers that keep every folder's CMakeLists.txt to a few lines.
#
#   quire_module(NAME SOURCES a.cc b.cc DEPS quire_base ...)   one static library `quire_NAME` per src/ folder
#   quire_kernels(TARGET f.kern.cc ...)                        each file compiled once per ISA into TARGET
#   quire_test(NAME SOURCES a_test.cc DEPS ... [LABELS slow])  one GoogleTest program
#   quire_precompile(TARGET <a.h> <b.h>)               headers of libraries that most files of TARGET include
#   quire_fuzzer(NAME SOURCES f.cc DEPS ... [ON_DEMAND])       one libFuzzer program; ON_DEMAND: built only by name

add_library(quire_flags INTERFACE)
target_compile_options(quire_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror
  # The compiler never decides the rounding: a fused multiply-add is written out or does not happen.
  -ffp-contract=off)
target_include_directories(quire_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(QUIRE_SANITIZE)
  set(sanitizers -fsanitize=${QUIRE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(QUIRE_BUILD_FUZZ)
    # What is fuzzed parses; kernels have tests of their own under sanitizers, and compile slowly with them.
    list(APPEND sanitizers -fsanitize=fuzzer-no-link)
    set(sanitizers "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:QUIRE_KERNEL_ISA>>>:${sanitizers}>")
  endif()
  target_compile_options(quire_flags INTERFACE "${sanitizers}")
  target_link_options(quire_flags INTERFACE -fsanitize=${QUIRE_SANITIZE})
endif()

function(quire_module NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(quire_${NAME} STATIC ${ARG_SOURCES})
  target_link_libraries(quire_${NAME} PUBLIC quire_flags ${ARG_DEPS})
endfunction()

# Saves parsing a large library's header in every file. Each file still includes what it uses: the check that
# compiles every header alone (tests/checks) precompiles nothing.
function(quire_precompile TARGET)
  target_precompile_headers(${TARGET} PRIVATE ${ARGN})
  quire_stable_precompiled(${TARGET})
endfunction()
# Equal input gives an equal file, as compiler caches expect.
function(quire_stable_precompiled TARGET)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${TARGET} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# ISA name -> compiler flags. The name is also the namespace of the code compiled with it.
set(QUIRE_ISAS scalar avx2 avx512 avx512vnni)
# Tiles serve the linear layers; everything else of amx is avx512vnni's.
set(QUIRE_ALL_ISAS ${QUIRE_ISAS} amx)
set(QUIRE_ISA_FLAGS_scalar "")
set(QUIRE_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi2)
set(QUIRE_ISA_FLAGS_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c -mbmi2 -mprefer-vector-width=512)
set(QUIRE_ISA_FLAGS_avx512vnni ${QUIRE_ISA_FLAGS_avx512} -mavx512vnni)
set(QUIRE_ISA_FLAGS_amx ${QUIRE_ISA_FLAGS_avx512vnni} -mamx-tile -mamx-int8)

function(quire_isa_options TARGET ISA)
  string(TOUPPER ${ISA} ISA_UPPER)
  target_compile_definitions(${TARGET} PRIVATE QUIRE_ISA=${ISA} QUIRE_ISA_IS_${ISA_UPPER}=1)
  if(ISA STREQUAL amx)
    target_compile_definitions(${TARGET} PRIVATE QUIRE_ISA_IS_AVX512VNNI=1)
  endif()
  target_compile_options(${TARGET} PRIVATE ${QUIRE_ISA_FLAGS_${ISA}} -fno-exceptions -fno-rtti -fno-math-errno)
endfunction()

# Compiles each kernel source once per ISA of QUIRE_ISAS. The source sees QUIRE_ISA (a namespace name) and
# QUIRE_ISA_IS_<NAME>=1, and must export nothing but what lives in namespace quire::kernels::QUIRE_ISA.
function(quire_kernels TARGET)
  foreach(isa ${QUIRE_ISAS})
    quire_kernels_of(${isa} ${TARGET} ${ARGN})
  endforeach()
endfunction()

# The same for one ISA.
function(quire_kernels_of ISA TARGET)
  add_library(${TARGET}_${ISA} OBJECT ${ARGN})
  target_link_libraries(${TARGET}_${ISA} PRIVATE quire_flags quire_base quire_tensor)
  quire_isa_options(${TARGET}_${ISA} ${ISA})
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT QUIRE_SANITIZE)
    target_compile_options(${TARGET}_${ISA} PRIVATE -O3)
  endif()
  target_sources(${TARGET} PRIVATE $<TARGET_OBJECTS:${TARGET}_${ISA}>)
  # For the symbol check (tests/checks).
  set_target_properties(${TARGET}_${ISA} PROPERTIES QUIRE_KERNEL_ISA ${ISA})
  set_property(GLOBAL APPEND PROPERTY QUIRE_KERNEL_TARGETS ${TARGET}_${ISA})
endfunction()

# One precompiled GoogleTest for all tests: they are compiled alike.
function(quire_test_options TARGET)
  target_link_libraries(${TARGET} PRIVATE quire_flags fmt::fmt GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${TARGET} PRIVATE QUIRE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    QUIRE_ORACLE_DIR="${QUIRE_ORACLE_DIR}")
endfunction()
function(quire_test_precompiled)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/test_precompiled.cc CONTENT "")
  add_executable(quire_test_precompiled ${CMAKE_CURRENT_BINARY_DIR}/test_precompiled.cc)  # position independent as the tests are
  quire_test_options(quire_test_precompiled)
  quire_precompile(quire_test_precompiled <gtest/gtest.h> <gmock/gmock.h>)
endfunction()

function(quire_test NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS})
  quire_test_options(${NAME})
  target_precompile_headers(${NAME} REUSE_FROM quire_test_precompiled)
  quire_stable_precompiled(${NAME})
  gtest_discover_tests(${NAME} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}")
endfunction()

function(quire_fuzzer NAME)
  if(NOT QUIRE_BUILD_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "ON_DEMAND" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${NAME} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE quire_flags ${ARG_DEPS})
  target_link_options(${NAME} PRIVATE -fsanitize=fuzzer)
  if(NOT ARG_ON_DEMAND)
    add_dependencies(fuzzers ${NAME})
  endif()
endfunction()
