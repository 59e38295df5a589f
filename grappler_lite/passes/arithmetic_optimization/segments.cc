// Sums over segments of rows that indices choose, as embeddings are looked up.
#include <vector>

#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

constexpr std::string_view kReductions =
    "SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN SparseSegmentSumWithNumSegments "
    "SparseSegmentMeanWithNumSegments SparseSegmentSqrtNWithNumSegments";

// Widened indices are what they were before.
bool RemoveCastOfIndices(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  constexpr std::pair<int, std::string_view> kIndices[] = {{1, "Tidx"}, {2, "Tsegmentids"}};
  for (const auto& [i, type] : kIndices) {
    const NodeId cast = Producer(s, n, i, {"Cast"});
    if (cast == kNoNode || g.input_type(cast, 0) != DataType::kInt32 ||
        g.input_type(n, i) != DataType::kInt64)
      continue;
    Sweep::Attrs attrs = OpAttrs(g, n);
    PutAttr(attrs, type, attr::Type(DataType::kInt32));
    const std::string_view op = g.op_name(n);
    if (!s.HasKernel(n, op, attrs) || !s.Allow()) continue;
    std::vector<Output> inputs(g.data_inputs(n).begin(), g.data_inputs(n).end());
    inputs[i] = g.data_inputs(cast)[0];
    s.Become(n, op, inputs, std::move(attrs));
    return true;
  }
  return false;
}

// Rows of `gather` along its first dimension.
bool TakesRows(const Sweep& s, NodeId gather) {
  const Graph& g = s.graph();
  if (g.op_name(gather) == "Gather") return true;
  const std::optional<Tensor> axis = s.ConstOf(g.data_inputs(gather)[2], 1);
  return axis && axis->num_elements() == 1 && IsInteger(axis->dtype()) && axis->IntAt(0) == 0 &&
         IntAttr(g, gather, "batch_dims") == 0;
}

// reduce(gather(x, unique(ids)), places) is reduce(x, ids): output 1 of Unique says for each id
// which of the unique ones it is, so that rows that are gathered and then found by place are just
// the rows of the ids.
bool LookUpAtOnce(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId gather = OwnProducer(s, n, 0, {"Gather", "GatherV2"});
  const NodeId unique = Producer(s, n, 1, {"Unique"});
  if (gather == kNoNode || unique == kNoNode || g.data_inputs(n)[1].port != 1 ||
      g.data_inputs(gather)[1] != Output{unique, 0} || !TakesRows(s, gather))
    return false;
  const Output ids = g.data_inputs(unique)[0];
  const DataType type = g.output_type({unique, 0});
  if (type != DataType::kInt32 && type != DataType::kInt64) return false;
  Sweep::Attrs attrs = OpAttrs(g, n);
  PutAttr(attrs, "Tidx", attr::Type(type));
  const std::string_view op = g.op_name(n);
  if (!s.HasKernel(n, op, attrs) || !s.Allow()) return false;
  std::vector<Output> inputs(g.data_inputs(n).begin(), g.data_inputs(n).end());
  inputs[0] = g.data_inputs(gather)[0];
  inputs[1] = ids;
  s.Become(n, op, inputs, std::move(attrs));
  return true;
}

constexpr Rewrite kSegmentsRewrites[] = {
    {"remove_cast_of_indices", Exactness::kExact, RemoveCastOfIndices, kReductions},
    {"look_up_at_once", Exactness::kExact, LookUpAtOnce, kReductions},
};

}  // namespace

std::span<const Rewrite> Segments() { return kSegmentsRewrites; }

}  // namespace tenon::arithmetic
