# tenon_embed(OUT NAME FOLDER FILES...): writes a C++ source that defines
# absl::Span<const EmbeddedFile> NAME(), the files of FOLDER with their names and contents
# (graph/base/embedded_file.h).
function(tenon_embed out name folder)
  set(rows)
  foreach(file IN LISTS ARGN)
    file(READ "${folder}/${file}" content)
    string(APPEND rows "    {\"${file}\", R\"~~~(${content})~~~\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/${file}")
  endforeach()
  file(CONFIGURE OUTPUT "${out}" @ONLY CONTENT
[[#include "graph/base/embedded_file.h"

namespace tenon {

absl::Span<const EmbeddedFile> @name@() {
  static constexpr EmbeddedFile kFiles[] = {
@rows@  };
  return kFiles;
}

}  // namespace tenon
]])
endfunction()
