// The op table: the types and device types for which each op has a kernel.
#pragma once

#include <string>
#include <vector>

#include "executor/values/json.h"
#include "executor/values/text.h"

namespace tenon::cli {

// All kernels of one op on one device type from one source.
struct KernelRow {
  std::string op;
  std::string device_type;
  std::string plugin;  // path of the file; empty: built in
  // "T: f32 f64" or "T: any", one for each type attribute of the op; empty if the op is not known.
  // Each has the types of all kernels of the row together: not every combination of the types of
  // two attributes need have a kernel.
  std::vector<std::string> types;
  std::vector<std::string> notes;  // of the op, then arguments in host memory, labels, priorities
};

// The rows of all registered kernels, sorted by op, device type and plug-in.
std::vector<KernelRow> KernelRows();

// An array with an object for each row, with the names of its members as keys.
Json KernelsJson(const std::vector<KernelRow>& rows);
// A table of the rows without `plugin`.
std::string KernelsText(const std::vector<KernelRow>& rows, const Style& style);
// The same as a page in Markdown.
std::string KernelsMarkdown(const std::vector<KernelRow>& rows);

}  // namespace tenon::cli
