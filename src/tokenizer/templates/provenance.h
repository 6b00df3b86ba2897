// Origin: where a byte of a rendered prompt came from. PromptSegment: a run of bytes of one origin.
//
// Control tokens may be recognised in kTemplate bytes only; text that spells one inside kContent stays text.
#pragma once

#include <cstdint>
#include <string>

namespace quire {

enum class Origin : uint8_t {
  kTemplate,  // written by the template, its special token variables or a known role name
  kContent,   // derived from messages, tools or request variables
};

// Content wins: a byte derived from both is content.
constexpr Origin merge(Origin a, Origin b) {
  return a == Origin::kContent || b == Origin::kContent ? Origin::kContent : Origin::kTemplate;
}

struct PromptSegment {
  std::string text;
  Origin origin = Origin::kTemplate;
  bool operator==(const PromptSegment&) const = default;
};

}  // namespace quire
