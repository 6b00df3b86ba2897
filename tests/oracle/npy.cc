#include "oracle/npy.h"

#include <cstring>

#include "base/mapped_file.h"

namespace quire::oracle {

Result<Array> read_npy(const std::string& path) {
  QUIRE_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY")) {
    return make_error(ErrorCode::kCorrupt, "{}: not a .npy file", path);
  }
  const size_t header_size =
      static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  const std::string_view header = bytes.substr(10, header_size);
  if (header.find("'<f4'") == std::string_view::npos ||
      header.find("'fortran_order': False") == std::string_view::npos) {
    return make_error(ErrorCode::kUnsupported, "{}: expected little-endian float32 in C order", path);
  }
  Array array;
  size_t count = 1;
  const size_t open = header.find('(');
  for (size_t i = open + 1; i < header.size() && header[i] != ')';) {
    if (header[i] < '0' || header[i] > '9') {
      ++i;
      continue;
    }
    int64_t dim = 0;
    for (; i < header.size() && header[i] >= '0' && header[i] <= '9'; ++i) dim = dim * 10 + (header[i] - '0');
    array.shape.push_back(dim);
    count *= static_cast<size_t>(dim);
  }
  if (array.shape.empty() || bytes.size() < 10 + header_size + count * sizeof(float)) {
    return make_error(ErrorCode::kCorrupt, "{}: too short for its shape", path);
  }
  array.values.resize(count);
  std::memcpy(array.values.data(), bytes.data() + 10 + header_size, count * sizeof(float));
  return array;
}

}  // namespace quire::oracle
