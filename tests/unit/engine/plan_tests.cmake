# Memory plans, fitting and measurements.
quire_test(engine_plan_test
  SOURCES bench_profile_test.cc bench_run_test.cc bench_steps_test.cc memory_fit_test.cc memory_plan_test.cc
          op_cost_test.cc tokenizer_memory_test.cc
  DEPS quire_engine)
target_include_directories(engine_plan_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)

# Perplexity and divergence.
quire_test(engine_evaluation_test
  SOURCES divergence_test.cc evaluation_test.cc logit_base_test.cc
  DEPS quire_engine)
target_include_directories(engine_evaluation_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
