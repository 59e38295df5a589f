// TENON_ReadGraph and TENON_WriteGraph.
#include <string>
#include <utility>

#include "executor/api/base/arguments.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/io/io.h"
#include "tenon/tenon_c.h"

namespace tenon::api {
namespace {

absl::StatusOr<std::string> Read(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(const Imported imported, ImportFile(path));
  return ExportBinary(imported.graph);
}

absl::Status Write(std::string bytes, const std::string& path) {
  TENON_RETURN_IF_ERROR(CheckExportName(path));
  TENON_ASSIGN_OR_RETURN(const Imported imported, ImportBinary(std::move(bytes), "the GraphDef"));
  return ExportFile(imported.graph, path);
}

}  // namespace
}  // namespace tenon::api

extern "C" {

TF_Buffer* TENON_ReadGraph(const char* path, TF_Status* status) try {
  if (!tenon::api::AllGiven({{"path", path}}, status)) return nullptr;
  const absl::StatusOr<std::string> bytes = tenon::api::Read(path);
  tenon::StatusToC(bytes.status(), status);
  return bytes.ok() ? tenon::NewBuffer(*bytes) : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TENON_WriteGraph(const void* graph_def, size_t length, const char* path,
                      TF_Status* status) try {
  if (!tenon::api::AllGiven({{"path", path}}, status) ||
      !tenon::api::IsBytes("graph_def", graph_def, length, status))
    return;
  tenon::StatusToC(
      tenon::api::Write(std::string(static_cast<const char*>(graph_def), length), path), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
