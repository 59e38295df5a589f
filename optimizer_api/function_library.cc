// TF_FunctionLibraryDefinition: the ops that a graph may use, its functions among them.
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/c_api/abi_watch.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/io/io.h"
#include "graph/op_defs/op_registry.h"
#include "graph/wire/wire.h"
#include "graph/wire/wire_check.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

struct TF_FunctionLibraryDefinition {
  using Pool = tenon::Handles<TF_FunctionLibraryDefinition>;
  tenon::Graph graph;
};

namespace tenon {
namespace {

constexpr char kLibraryType[] = "TF_FunctionLibraryDefinition";

// A GraphDef of the functions alone; nullopt for bytes that are no GraphDef. Passes ask several
// times, for graphs with all their weights: nodes are checked and not copied.
std::optional<std::string> FunctionsOf(std::string_view graph) {
  constexpr uint32_t kNode = 1, kLibrary = 2;
  const int64_t max_depth = ImportLimits().max_depth;
  std::string functions;
  WireReader reader(graph);
  WireField f;
  while (reader.Next(&f)) {
    if (f.type != WireType::kBytes) continue;
    if (f.number == kNode && CheckWire(WireMessage::kNodeDef, f.bytes, {max_depth, 1}))
      return std::nullopt;
    if (f.number == kLibrary) functions.append(f.raw);
  }
  return reader.ok() ? std::optional(std::move(functions)) : std::nullopt;
}

absl::StatusOr<Graph> GraphOf(const TF_Buffer* bytes) {
  std::optional<std::string> functions;
  if (bytes != nullptr) functions = FunctionsOf(BufferBytes(*bytes));
  absl::StatusOr<Imported> imported = absl::InvalidArgumentError("no graph");
  if (functions.has_value())
    imported = ImportBinary(*std::move(functions), "<graph of the plug-in>");
  if (imported.ok()) return std::move(imported->graph);
  if (!absl::IsInvalidArgument(imported.status())) return imported.status();
  // TensorFlow's message, whatever is wrong with the bytes.
  return absl::InvalidArgumentError("Unparseable tensorflow.GraphDef proto");
}

absl::Status LookUp(const Graph& graph, std::string_view name, TF_Buffer* buffer) {
  if (const OpDef* op = graph.FindOp(name)) return FillBuffer(OpDefToWire(*op), buffer);
  return OpNotRegistered(name);
}

}  // namespace
}  // namespace tenon

extern "C" {

TF_FunctionLibraryDefinition* TF_NewFunctionLibraryDefinition(const TF_Buffer* graph_buf,
                                                              TF_Status* status) try {
  if (!tenon::api::NoneDeleted({{"graph_buf", graph_buf}}, status)) return nullptr;
  absl::StatusOr<tenon::Graph> graph = tenon::GraphOf(graph_buf);
  tenon::StatusToC(graph.status(), status);
  if (!graph.ok()) return nullptr;
  return tenon::NewForPlugin<TF_FunctionLibraryDefinition>(tenon::kLibraryType, *std::move(graph));
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_DeleteFunctionLibraryDefinition(TF_FunctionLibraryDefinition* fn_lib) {
  tenon::DeleteForPlugin(tenon::kLibraryType, fn_lib);
}

void TF_LookUpOpDef(TF_FunctionLibraryDefinition* fn_lib, const char* name, TF_Buffer* buf,
                    TF_Status* s) try {
  if (!tenon::api::AllGiven({{"fn_lib", fn_lib}, {"name", name}, {"buf", buf}}, s)) return;
  tenon::StatusToC(tenon::LookUp(fn_lib->graph, name, buf), s);
} catch (...) {
  tenon::WithoutMemory(s);
}

}  // extern "C"
