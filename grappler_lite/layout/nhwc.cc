#include "grappler_lite/layout/nhwc.h"

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "grappler_lite/remapping/contraction.h"

namespace tenon {
namespace {

constexpr std::string_view kTwin = "/nhwc";

// Whether `o` is a Transpose by `perm`, there in every run.
bool IsTranspose(const Sweep& s, Output o, const std::array<int64_t, 4>& perm) {
  const Graph& g = s.graph();
  if (g.op_name(o.node) != "Transpose" || s.fed(o.node) || !g.control_inputs(o.node).empty())
    return false;
  const std::optional<Tensor> value = s.ConstOf(g.data_inputs(o.node)[1], 4);
  if (!value || value->num_elements() != 4 || !IsInteger(value->dtype())) return false;
  for (int i = 0; i < 4; ++i) {
    if (value->IntAt(i) != perm[i]) return false;
  }
  return true;
}

std::vector<Graph::NewAttr> TransposeAttrs(DataType type) {
  return {{"T", attr::Type(type)}, {"Tperm", attr::Type(DataType::kInt32)}};
}

absl::StatusOr<NodeId> NewPerm(Graph& g, NodeId like, const std::array<int64_t, 4>& perm) {
  const std::vector<int32_t> values(perm.begin(), perm.end());
  return NewConst(g, like, "perm", Tensor::Of<int32_t>(DataType::kInt32, values, Shape({4})));
}

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
  const AttrValue* format = g.attr(n, "data_format");
  return format != nullptr && format->AsString().value_or("") == "NCHW";
}

Output NhwcSource(const Sweep& s, Output o, NodeId n) {
  const Graph& g = s.graph();
  const bool near = g.device(o.node) == g.device(n);
  return near && IsTranspose(s, o, kToNchw) ? g.data_inputs(o.node)[0] : Output{};
}

absl::StatusOr<Output> NhwcTwin(Sweep& s, Output o, NodeId n) {
  if (const Output source = NhwcSource(s, o, n); source.node != kNoNode) return source;
  Graph& g = s.graph();
  const std::string name =
      absl::StrCat(g.name(o.node), o.port == 0 ? "" : absl::StrCat("/", o.port), kTwin);
  const NodeId twin = g.FindNode(name);
  if (twin != kNoNode && g.data_inputs(twin).size() == 2 && g.data_inputs(twin)[0] == o &&
      IsTranspose(s, {twin, 0}, kToNhwc))
    return Output{twin, 0};
  TENON_ASSIGN_OR_RETURN(const NodeId perm, NewPerm(g, o.node, kToNhwc));
  const Output inputs[] = {o, {perm, 0}};
  TENON_ASSIGN_OR_RETURN(const NodeId made, g.AddNode(g.UniqueName(name), "Transpose", inputs,
                                                      TransposeAttrs(g.output_type(o)),
                                                      g.device(o.node), g.pos(o.node)));
  return Output{made, 0};
}

std::vector<Graph::NewAttr> NhwcAttrs(const Graph& g, NodeId n) {
  std::vector<Graph::NewAttr> attrs;
  for (const Attr& a : g.attrs(n).all()) {
    if (a.name == "data_format") continue;
    const absl::StatusOr<std::vector<int64_t>> list = a.value.AsIntList();
    const bool per_dimension = a.name == "strides" || a.name == "ksize" || a.name == "dilations" ||
                               a.name == "explicit_paddings";
    if (per_dimension && list.ok() && (list->size() == 4 || list->size() == 8)) {
      attrs.push_back({a.name, attr::IntList(Permuted(*list, static_cast<int>(list->size() / 4)))});
    } else {
      attrs.push_back({a.name, std::string(a.value.wire())});
    }
  }
  if (g.attr(n, "data_format") != nullptr) attrs.push_back({"data_format", attr::String("NHWC")});
  return attrs;
}

absl::Status BecomeTransposeOf(Sweep& s, NodeId n, std::vector<Graph::NewAttr> attrs,
                               std::span<const Output> inputs) {
  Graph& g = s.graph();
  const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  const DataType type = g.output_type({n, 0});
  TENON_ASSIGN_OR_RETURN(const NodeId perm, NewPerm(g, n, kToNchw));
  TENON_ASSIGN_OR_RETURN(const NodeId twin,
                         g.AddNode(g.UniqueName(absl::StrCat(g.name(n), "/last")), g.op_name(n),
                                   inputs, std::move(attrs), g.device(n), g.pos(n)));
  for (const Output& control : controls) g.AddControlInput(twin, control.node);
  const Output transposed[] = {{twin, 0}, {perm, 0}};
  g.SetKind(n, "Transpose", TransposeAttrs(type));
  g.SetInputs(n, transposed, {});
  return absl::OkStatus();
}

}  // namespace tenon
