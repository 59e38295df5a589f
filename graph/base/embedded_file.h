// Files that the library carries (cmake/TenonEmbed.cmake).
#pragma once

#include <string_view>

#include "absl/types/span.h"

namespace tenon {

struct EmbeddedFile {
  std::string_view path;  // relative, with '/'
  std::string_view content;
};

// plugin/template/: a small plug-in that is called sample, Sample and SAMPLE wherever its name
// stands.
absl::Span<const EmbeddedFile> PluginTemplate();

}  // namespace tenon
