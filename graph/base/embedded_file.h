// Files that the library carries (cmake/TenonEmbed.cmake).
#pragma once

#include <string_view>

#include "absl/types/span.h"

namespace tenon {

struct EmbeddedFile {
  std::string_view path;  // relative, with '/'
  std::string_view content;
};

// The files of plugin/template/, a small plug-in. Its name stands as sample, Sample and SAMPLE
// wherever a copy needs a name of its own. The bytes live as long as the library.
absl::Span<const EmbeddedFile> PluginTemplate();

}  // namespace tenon
