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

// The files of plugin/pjrt_reference/, a PJRT plug-in. For a copy with a name of its own, replace
// pjref (the namespace) and PJREF (the start of macros) by that name, in small and in capital
// letters, and leave out "plugin/pjrt_reference/" in includes. In the files below template/ the
// name stands as in PluginTemplate(). In the copy they stand without "template/", and
// template/version.h is face/version.h. No other file of the list has one of these paths.
absl::Span<const EmbeddedFile> PjrtTemplate();

}  // namespace tenon
