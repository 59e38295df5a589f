// What rewrites of layouts share: a node's images with channels last, attributes in that order, and
// the Transpose that gives the users of a node what they had.

#include "grappler_lite/passes/layout_optimizer/nhwc.h"

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/remapping/contraction.h"

namespace tenon {
namespace {

constexpr std::string_view kNhwcSuffix = "/nhwc";

NewAttrs TransposeAttrs(DataType type) {
  return {{"T", attr::Type(type)}, {"Tperm", attr::Type(DataType::kInt32)}};
}

absl::StatusOr<NodeId> NewPerm(Graph& g, NodeId like, const std::array<int64_t, 4>& perm) {
  const std::vector<int32_t> values(perm.begin(), perm.end());
  return NewConst(g, like, "perm", Tensor::Of<int32_t>(DataType::kInt32, values, Shape({4})));
}

// `each` is 1 for a list by dimension, 2 for explicit_paddings, which are pairs.
std::vector<int64_t> Permuted(const std::vector<int64_t>& list, int each) {
  std::vector<int64_t> permuted;
  for (int64_t from : kToNhwc) {
    for (int i = 0; i < each; ++i) permuted.push_back(list[from * each + i]);
  }
  return permuted;
}

}  // namespace

bool IsNchwOnCpu(const Graph& g, NodeId n) {
  const std::string_view device = g.device(n);
  if (!device.empty() && device.find("CPU") == std::string_view::npos) return false;
  return TextAttr(g, n, "data_format") == "NCHW";
}

Output NhwcSource(const Sweep& s, Output o, NodeId n) {
  const Graph& g = s.graph();
  if (g.device(o.node) != g.device(n)) return Output{};
  return TransposeArgument(s, o, kToNchw).value_or(Output{});
}

absl::StatusOr<Output> InNhwc(Sweep& s, Output o, NodeId n) {
  if (const Output source = NhwcSource(s, o, n); source.node != kNoNode) return source;
  Graph& g = s.graph();
  const std::string name =
      absl::StrCat(g.name(o.node), o.port == 0 ? "" : absl::StrCat("/", o.port), kNhwcSuffix);
  // Readers of `o` that come later in the sweep find the version by its name.
  const NodeId version = g.FindNode(name);
  if (version != kNoNode && TransposeArgument(s, {version, 0}, kToNhwc) == o)
    return Output{version, 0};
  TENON_ASSIGN_OR_RETURN(const NodeId perm, NewPerm(g, o.node, kToNhwc));
  const Output inputs[] = {o, {perm, 0}};
  TENON_ASSIGN_OR_RETURN(const NodeId made, g.AddNode(g.UniqueName(name), "Transpose", inputs,
                                                      TransposeAttrs(g.output_type(o)),
                                                      g.device(o.node), g.pos(o.node)));
  return Output{made, 0};
}

NewAttrs NhwcAttrs(const Graph& g, NodeId n) {
  NewAttrs attrs = AllAttrs(g, n);
  for (std::string_view name : {"strides", "ksize", "dilations", "explicit_paddings"}) {
    const AttrValue* value = g.attrs(n).Find(name);
    if (value == nullptr) continue;
    const absl::StatusOr<std::vector<int64_t>> list = value->AsIntList();
    if (list.ok() && (list->size() == 4 || list->size() == 8))
      PutAttr(attrs, name, attr::IntList(Permuted(*list, static_cast<int>(list->size() / 4))));
  }
  PutAttr(attrs, "data_format", attr::String("NHWC"));
  return attrs;
}

absl::Status BecomeTransposeOf(Sweep& s, NodeId n, NewAttrs attrs, std::span<const Output> inputs) {
  Graph& g = s.graph();
  const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  const DataType type = g.output_type({n, 0});
  TENON_ASSIGN_OR_RETURN(const NodeId perm, NewPerm(g, n, kToNchw));
  // Attributes that begin with '_' say something of the node of this name, and stay with n; but
  // _kernel chooses a kernel of the op.
  std::erase_if(attrs, [](const Graph::NewAttr& a) {
    return a.name.starts_with('_') && a.name != "_kernel";
  });
  TENON_ASSIGN_OR_RETURN(const NodeId version,
                         g.AddNode(g.UniqueName(absl::StrCat(g.name(n), "/last")), g.op_name(n),
                                   inputs, std::move(attrs), g.device(n), g.pos(n)));
  for (const Output& control : controls) g.AddControlInput(version, control.node);
  const Output transposed[] = {{version, 0}, {perm, 0}};
  g.BecomeOp(n, "Transpose", TransposeAttrs(type));
  g.SetInputs(n, transposed, {});
  return absl::OkStatus();
}

}  // namespace tenon
