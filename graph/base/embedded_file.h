// Files that the library carries (cmake/TenonEmbed.cmake).
#pragma once

#include <string_view>

#include "absl/types/span.h"

namespace tenon {

struct EmbeddedFile {
  std::string_view path;  // relative to the embedded folder, with '/'
  std::string_view content;
};

// The files of plugin/template/, a small plug-in. Its name stands as sample, Sample and SAMPLE
// wherever a copy of the plug-in needs a name of its own. The span and the bytes live as long as
// the library.
absl::Span<const EmbeddedFile> PluginTemplate();

// The files of plugin/pjrt_reference/, a PJRT plug-in. A copy of its own has another namespace than
// pjref, macros that begin otherwise than with PJREF, and at their places the files below
// template/, where the name stands as in PluginTemplate(); template/version.h goes to face/.
absl::Span<const EmbeddedFile> PjrtTemplate();

}  // namespace tenon
