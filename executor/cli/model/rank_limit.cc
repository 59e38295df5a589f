#include "executor/cli/model/rank_limit.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/functions/function_body.h"
#include "graph/tensor/tensor_proto.h"

namespace tenon::cli {
namespace {

int64_t RankOfTensor(std::string_view wire) {
  const auto header = TensorHeaderFromWire(wire);
  return header.ok() ? header->shape.rank() : -1;
}

int64_t RankOfList(const AttrValue& value) {
  int64_t most = -1;
  if (value.list_kind() == AttrKind::kShape) {
    for (const PartialShape& shape : value.AsShapeList().value_or(std::vector<PartialShape>()))
      most = std::max<int64_t>(most, shape.rank());
  } else if (value.list_kind() == AttrKind::kTensor) {
    for (const std::string_view wire :
         value.AsTensorWireList().value_or(std::vector<std::string_view>()))
      most = std::max(most, RankOfTensor(wire));
  }
  return most;
}

// The rank of a shape or tensor, and the highest rank of a list of them; -1 for other attributes,
// for unknown ranks and for malformed ones, which verification reports.
int64_t RankOf(const AttrValue& value) {
  switch (value.kind()) {
    case AttrKind::kShape:
      return value.AsShape().value_or(PartialShape()).rank();
    case AttrKind::kTensor:
      return RankOfTensor(value.AsTensorWire().value_or(std::string_view()));
    case AttrKind::kList:
      return RankOfList(value);
    default:
      return -1;
  }
}

// Finds the attributes of a node of a rank above `max_rank` and adds a defect for each. `defect`
// says where the node is; its message is what stands before that of the attribute.
void AddDefects(const std::vector<Attr>& attrs, std::string_view op, int64_t max_rank,
                const Defect& defect, std::vector<Defect>& defects) {
  for (const Attr& attr : attrs) {
    const int64_t rank = RankOf(attr.value);
    if (rank <= max_rank) continue;
    defects.push_back(defect);
    absl::StrAppend(&defects.back().message, "attribute '", attr.name, "' of node '", defect.node,
                    "' (", op, ") has rank ", rank, "; --max-rank allows ", max_rank);
  }
}

}  // namespace

void AddRankDefects(int64_t max_rank, Imported& imported) {
  const Graph& graph = imported.graph;
  std::vector<Defect>& defects = imported.defects;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    const Defect of_node{DefectCode::kLimit, graph.Locate(n), std::string(graph.name(n)), ""};
    AddDefects(graph.attrs(n).all(), graph.op_name(n), max_rank, of_node, defects);
  }
  for (const FunctionEntry& function : graph.functions()) {
    Defect of_body{DefectCode::kLimit, graph.Locate(function.pos), "",
                   absl::StrCat("function '", function.name, "': "), /*in_function=*/true};
    for (const BodyNode& node : ParseFunctionBody(graph, function).nodes) {
      of_body.node = node.name;
      AddDefects(node.attrs().all(), node.op_name(), max_rank, of_body, defects);
    }
  }
}

}  // namespace tenon::cli
