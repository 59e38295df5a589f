// Finds the variables of the environment that plug-ins read, for scripts that repeat what this
// process did.
#pragma once

#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace tenon::cli {

// Memory of the loaded plug-ins, and of the loaded libraries in the same folders, that has all
// their string literals, and much else. Each view is a segment of a library, not one literal. The
// views are valid while these libraries are loaded. Empty if there is no plug-in. Thread-safe.
// Calls Plugins() (loader.h), which calls into the plug-ins, and allocates memory: a signal handler
// must not call this function.
std::vector<std::string_view> LiteralsOfPlugins();

// Takes the pieces of a text, in their order. A piece is valid during the call of `write`.
struct TextSink {
  void (*write)(void* to, std::string_view text);
  void* to;  // passed to `write`; borrowed
};

// Writes the line "export NAME='value'" for each variable that Tenon, TensorFlow's logging or a
// plug-in may read, in the order of the environment. Tenon and TensorFlow's logging read a NAME
// that begins with TENON_ or TF_CPP_. A plug-in may read a NAME that `literals` have as a whole
// text. `literals` is what LiteralsOfPlugins returned. A text ends before a NUL, and begins behind
// the NUL before or where its view begins. "_" is never written. The value is quoted for a shell.
// Variables behind the first 2048 are left out. No other thread may change the environment
// meanwhile. Async-signal-safe if `sink.write` is. Needs 6 KiB of stack.
void WriteEnvironment(absl::Span<const std::string_view> literals, TextSink sink);

}  // namespace tenon::cli
