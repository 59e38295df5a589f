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

# tenon_embed_text(OUT HEADER NAMESPACE FOLDER FILES...): writes a C++ source that needs nothing of ours
# and defines NAMESPACE::SourceOf of the plug-in's HEADER, which gives a file's content by its name.
function(tenon_embed_text out header namespace folder)
  set(rows)
  foreach(file IN LISTS ARGN)
    file(READ "${folder}/${file}" content)
    string(APPEND rows "    {\"${file}\", R\"~~~(${content})~~~\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/${file}")
  endforeach()
  file(CONFIGURE OUTPUT "${out}" @ONLY CONTENT
[[#include "@header@"

#include <stdexcept>
#include <string>

namespace @namespace@ {

std::string_view SourceOf(std::string_view name) {
  struct File {
    std::string_view name, content;
  };
  static constexpr File kFiles[] = {
@rows@  };
  for (const File& file : kFiles) {
    if (file.name == name) return file.content;
  }
  throw std::logic_error("no source is named " + std::string(name));
}

}  // namespace @namespace@
]])
endfunction()
