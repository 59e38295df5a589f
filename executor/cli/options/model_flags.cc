#include "executor/cli/options/model_flags.h"

namespace tenon::cli {

void ModelFlags::DeclareSignature(Declarer& d) {
  d.Group(FlagGroup::kState);
  d.Text("--signature", signature, "NAME",
         "of a SavedModel: its arguments and results are NAMEs then (default serving_default)");
}

void ModelFlags::DeclareLimits(Declarer& d) {
  d.Group(FlagGroup::kLimits);
  d.Integer("--max-nodes", limits.max_nodes, "N", "of a graph", 0);
  d.Integer("--max-const-bytes", limits.max_const_bytes, "N", "of one constant", 0);
  d.Integer("--max-depth", limits.max_depth, "N", "of nested messages", 1);
  d.Integer("--max-rank", max_rank, "N", "of a constant or a declared shape", 0);
}

}  // namespace tenon::cli
