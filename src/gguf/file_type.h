// Names of `general.file_type`, the id by which a file says which mix of tensor types it was made with.
//
// Informative only: the tensors' own types decide. Constant data, thread safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace quire {

// "Q4_K_M", "F16", ...; empty for an id that has no name. The flag "guessed" (1024) is ignored.
std::string_view file_type_name(uint32_t id);

}  // namespace quire
