# The engine's thread and what it stands on.
quire_test(scheduler_test
  SOURCES request_table_test.cc scheduler_test.cc step_cost_test.cc
  DEPS quire_engine)
quire_test(engine_answers_test
  SOURCES answer_stream_test.cc engine_soak_test.cc engine_test.cc prompt_reading_test.cc
  DEPS quire_engine)
# The same with twenty times as many requests.
quire_test(engine_soak_slow_test SOURCES engine_soak_test.cc DEPS quire_engine LABELS slow)
target_compile_definitions(engine_soak_slow_test PRIVATE QUIRE_SOAK_REQUESTS=3000)
quire_test(served_bench_test
  SOURCES served_bench_test.cc
  DEPS quire_engine)
# On its own: it replaces operator new.
quire_test(engine_allocation_test
  SOURCES engine_allocation_test.cc
  DEPS quire_engine)
quire_test(verify_test
  SOURCES verify_test.cc
  DEPS quire_engine)
quire_test(verify_models_test
  SOURCES verify_models_test.cc
  DEPS quire_engine LABELS slow)
