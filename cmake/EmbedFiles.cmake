# Writes OUTPUT, a C++ source with the bytes of every file of FOLDER, for src/server/web/page_files.h.
#   cmake -DFOLDER=... -DOUTPUT=... -P EmbedFiles.cmake
file(GLOB files ${FOLDER}/*)
set(rows "")
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  file(READ ${file} content)
  string(APPEND rows "    {\"${name}\", R\"embedded(${content})embedded\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"server/web/page_files.h\"

namespace quire::server {
namespace {

constexpr EmbeddedFile kFiles[] = {
${rows}};

}  // namespace

std::span<const EmbeddedFile> embedded_files() { return kFiles; }

}  // namespace quire::server
")
