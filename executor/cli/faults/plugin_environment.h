// Finds the variables of the environment that plug-ins read, for scripts that repeat what this
// process did.
#pragma once

#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace tenon::cli {

// The memory with the string literals of the loaded plug-ins and of the libraries in their folders.
// The views are valid while these libraries are loaded. Allocates memory.
std::vector<std::string_view> LiteralsOfPlugins();

// Takes the pieces of a text, in their order.
struct TextSink {
  void (*write)(void* to, std::string_view text);
  void* to;  // passed to `write`; borrowed
};

// Writes "export NAME='value'" for each variable that Tenon, TensorFlow's logging or a plug-in
// reads: its name begins with TENON_ or TF_CPP_, or is one of the literals. Looks at the first 2048
// variables. Walks through the literals once. Async-signal-safe.
void WriteEnvironment(absl::Span<const std::string_view> literals, TextSink sink);

}  // namespace tenon::cli
