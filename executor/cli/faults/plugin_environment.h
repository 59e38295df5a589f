// Which variables of the environment plug-ins read, for scripts that do again what this process
// did.
#pragma once

#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace tenon::cli {

// Memory that holds the string literals of the loaded plug-ins, and of the libraries that lie in
// their folders. It stays while they are loaded.
std::vector<std::string_view> LiteralsOfPlugins();

// Takes pieces of a text, in order.
struct TextSink {
  void (*write)(void* to, std::string_view text);
  void* to;
};

// "export NAME=value" for each variable of the environment that Tenon, TensorFlow's logging or one
// of the plug-ins reads: those whose names begin with TENON_ or TF_CPP_, or are one of the
// literals. Goes through the literals once. Async-signal-safe.
void WriteEnvironment(absl::Span<const std::string_view> literals, TextSink sink);

}  // namespace tenon::cli
