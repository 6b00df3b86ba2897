# The runner's memory: sharing, truncation, placement.
quire_test(engine_memory_test SOURCES model_fingerprint_test.cc shared_memory_test.cc DEPS quire_engine)
target_include_directories(engine_memory_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
