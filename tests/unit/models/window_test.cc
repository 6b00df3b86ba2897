#include "models/blocks/window.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "gguf/gguf_file.h"
#include "gguf/gguf_writer.h"
#include "unit/gguf/temp_folder.h"

namespace quire {
namespace {

using testing::TempFolder;

constexpr int32_t kLayers = 7;

// The layers' windows as a string: 'w' windowed, '.' full.
std::string layers(const GgufHeader& header, const WindowDefaults& defaults) {
  const TempFolder folder;
  EXPECT_TRUE(GgufWriter::create(folder.path("m.gguf"), header).value().finish().ok());
  const GgufFile file = GgufFile::open(folder.path("m.gguf")).value();
  const Result<WindowParams> windows = read_windows(Keys(file.metadata(), "gemma3"), kLayers, defaults);
  if (!windows.ok()) return windows.error().message;
  std::string text;
  for (int32_t il = 0; il < kLayers; ++il) {
    text += windows->of(il) > 0 ? 'w' : '.';
    EXPECT_TRUE(windows->of(il) == 0 || windows->of(il) == windows->positions);
  }
  return text;
}

constexpr const char* kWindow = "gemma3.attention.sliding_window";
constexpr const char* kPattern = "gemma3.attention.sliding_window_pattern";

TEST(Windows, TheLastOfEachPeriodIsFull) {
  GgufHeader header;
  EXPECT_EQ(layers(header, {.positions = 8, .period = 3}), "ww.ww.w");
  header.set(kPattern, uint32_t{2});
  EXPECT_EQ(layers(header, {.positions = 8, .period = 3}), "w.w.w.w");
  header.set(kPattern, uint32_t{1});
  EXPECT_EQ(layers(header, {.positions = 8, .period = 3}), ".......");
  header.set(kPattern, uint32_t{0});
  EXPECT_EQ(layers(header, {.positions = 8, .period = 3}), "wwwwwww");
}

TEST(Windows, APatternMayNameEachLayer) {
  GgufHeader header;
  const bool pattern[] = {false, true, true, false, true, false, false};
  header.set_array(kPattern, std::span<const bool>(pattern));
  EXPECT_EQ(layers(header, {.positions = 8, .period = 3}), ".ww.w..");
  header.set_array(kPattern, std::span<const bool>(pattern).first(6));
  EXPECT_NE(layers(header, {.positions = 8, .period = 3}).find("6 values"), std::string::npos);
}

TEST(Windows, WithoutAWindowEveryLayerIsFull) {
  GgufHeader header;
  header.set(kPattern, uint32_t{4});
  EXPECT_EQ(layers(header, {}), ".......");
  header.set(kWindow, uint32_t{3});
  EXPECT_EQ(layers(header, {}), "www.www");
}

}  // namespace
}  // namespace quire
