// AsString before StringToHashBucketFast becomes one node, which hashes the digits without a tensor
// of strings.

#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {
namespace {

// Those that TensorFlow's kernel takes.
bool IsHashed(DataType type) {
  return type == DataType::kInt8 || type == DataType::kInt16 || type == DataType::kInt32 ||
         type == DataType::kInt64;
}

// Whether AsString writes integers as they are hashed: plain digits.
bool WritesPlainDigits(const Graph& g, NodeId n) {
  const AttrValue* fill = g.attr(n, "fill");
  return IsHashed(g.output_type(g.data_inputs(n)[0])) && IntAttr(g, n, "precision") == -1 &&
         IntAttr(g, n, "width") == -1 && !BoolAttr(g, n, "scientific") &&
         !BoolAttr(g, n, "shortest") && (fill == nullptr || fill->AsString().value_or("?").empty());
}

}  // namespace

bool FuseHashBuckets(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const Output text = g.data_inputs(n)[0];
  if (!OpIs(g, text.node, {"AsString"}) || s.fed(text.node) || !OnlyFor(s, text, n) ||
      !g.control_inputs(text.node).empty() || !WritesPlainDigits(g, text.node))
    return false;
  const Output x = g.data_inputs(text.node)[0];
  const AttrValue* buckets = g.attr(n, "num_buckets");
  if (buckets == nullptr) return false;
  NewAttrs attrs = {{"T", attr::Type(g.output_type(x))},
                    {"num_buckets", std::string(buckets->wire())}};
  if (!s.HasKernel(n, "_TensorToHashBucketFast", attrs) || !s.Allow()) return false;
  s.Become(n, "_TensorToHashBucketFast", {&x, 1}, std::move(attrs));
  return true;
}

}  // namespace tenon
