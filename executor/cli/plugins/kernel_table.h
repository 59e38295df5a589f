// The op table: which op runs for which types on which device types.
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
  std::string plugin;              // path; empty: built in
  std::vector<std::string> types;  // "T: f32 f64", one per type attribute of the op
  std::vector<std::string> notes;  // of the op, then host memory arguments, labels, priorities
};

// Sorted by op, then device type.
std::vector<KernelRow> KernelRows();

Json KernelsJson(const std::vector<KernelRow>& rows);
std::string KernelsText(const std::vector<KernelRow>& rows, const Style& style);
// A document of its own: docs/ops.md.
std::string KernelsMarkdown(const std::vector<KernelRow>& rows);

}  // namespace tenon::cli
