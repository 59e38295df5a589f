// The access to a Graph's functions and storage that code outside of the class needs.

#include "graph/ir/library_access.h"

#include <utility>

#include "graph/ir/graph_storage.h"
#include "graph/wire/merged_message.h"
#include "graph/wire/wire.h"

namespace tenon {

// A view of `wire`, which the graph's storage keeps.
FunctionEntry LibraryAccess::ReadFunction(std::string_view wire, SourcePos pos, Graph& graph) {
  FunctionEntry entry{{}, wire, nullptr, pos};
  MergedMessage pieces;
  WireReader reader(wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == 1 && f.type == WireType::kBytes) pieces.Add(f.bytes);
  }
  const std::string_view signature =
      pieces.Bytes([&graph](std::string_view bytes) { return graph.storage_->Copy(bytes); });
  WireReader fields(signature);
  while (fields.Next(&f)) {
    if (f.number == 1 && f.type == WireType::kBytes) entry.name = f.bytes;
  }
  if (absl::StatusOr<OpDef> op = OpDefFromWire(signature); op.ok())
    entry.signature = graph.storage_->Add(*std::move(op));
  return entry;
}

Graph LibraryAccess::Beside(const Graph& owner, std::shared_ptr<FunctionScope> functions) {
  Graph graph;
  graph.storage_->Share(std::move(functions));
  graph.versions_ = owner.versions_;
  graph.source_name_ = owner.source_name_;
  return graph;
}

void LibraryAccess::SetFunctions(Graph& graph, std::vector<FunctionEntry> functions) {
  graph.functions_ = std::move(functions);
  graph.function_by_name_.clear();
  for (size_t i = 0; i < graph.functions_.size(); ++i)
    graph.function_by_name_.try_emplace(graph.functions_[i].name, static_cast<int32_t>(i));
}

void LibraryAccess::PutFunction(Graph& graph, FunctionEntry function) {
  const auto [it, is_new] = graph.function_by_name_.try_emplace(
      function.name, static_cast<int32_t>(graph.functions_.size()));
  if (is_new) {
    graph.functions_.push_back(function);
  } else {
    // The new body keeps the place in the file at which errors point.
    function.pos = graph.functions_[it->second].pos;
    graph.functions_[it->second] = function;
  }
}

std::shared_ptr<FunctionScope> LibraryAccess::Shared(const Graph& graph) {
  return graph.storage_->functions();
}

std::string_view LibraryAccess::Keep(Graph& graph, std::string_view bytes) {
  return graph.storage_->Copy(bytes);
}

void LibraryAccess::ForgetKinds(Graph& graph, std::string_view op) {
  absl::erase_if(graph.kinds_, [op](const auto& kind) { return kind.second->op_name == op; });
}

void LibraryAccess::SetLibraryExtra(Graph& graph, std::string_view wire) {
  if (wire != graph.library_extra_) graph.library_extra_ = graph.storage_->Copy(wire);
}

void LibraryAccess::ShareKind(Graph& graph, NodeId n, const NodeKind& kind) {
  graph.nodes_[n].kind = &kind;
}

}  // namespace tenon
