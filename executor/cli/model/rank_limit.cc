#include "executor/cli/model/rank_limit.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/tensor/tensor_proto.h"

namespace tenon::cli {
namespace {

// The rank of a shape or tensor; -1 for other attributes, for unknown ranks and for malformed ones,
// which verification reports.
int64_t RankOf(const AttrValue& value) {
  if (value.kind() == AttrKind::kShape) {
    const auto shape = value.AsShape();
    return shape.ok() ? shape->rank() : -1;
  }
  if (value.kind() != AttrKind::kTensor) return -1;
  const auto wire = value.AsTensorWire();
  if (!wire.ok()) return -1;
  const auto header = TensorHeaderFromWire(*wire);
  return header.ok() ? header->shape.rank() : -1;
}

}  // namespace

void AddRankDefects(int64_t max_rank, Imported& imported) {
  const Graph& graph = imported.graph;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    for (const Attr& attr : graph.attrs(n).all()) {
      const int64_t rank = RankOf(attr.value);
      if (rank <= max_rank) continue;
      imported.defects.push_back(
          {DefectCode::kLimit, graph.Locate(n), std::string(graph.name(n)),
           absl::StrCat("attribute '", attr.name, "' of node '", graph.name(n), "' (",
                        graph.op_name(n), ") has rank ", rank, "; --max-rank allows ", max_rank)});
    }
  }
}

}  // namespace tenon::cli
