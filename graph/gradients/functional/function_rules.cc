// Questions about functional nodes, and functions for them.
#include "graph/gradients/functional/function_rules.h"

#include <cctype>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/ir/new_attrs.h"

namespace tenon::gradients {

std::vector<TensorInfo> ArgumentInfos(const GradientScope& s, int first) {
  std::vector<TensorInfo> infos;
  for (int i = first; i < s.num_inputs(); ++i)
    infos.push_back(s.builder().shapes().info(s.x(i).output()));
  return infos;
}

std::vector<DataType> HandleTypes(const GradientScope& s, int first) {
  std::vector<DataType> types;
  for (int i = first; i < s.num_inputs(); ++i) {
    const Value x = s.x(i);
    types.push_back(x.dtype() == DataType::kResource ? TypeOfVariable(x) : DataType::kInvalid);
  }
  return types;
}

std::vector<int> WantedArguments(const GradientScope& s, int first) {
  std::vector<int> wanted;
  for (int i = first; i < s.num_inputs(); ++i) {
    if (CarriesGradient(s.x(i).dtype()) && s.wanted(i)) wanted.push_back(i - first);
  }
  return wanted;
}

absl::StatusOr<std::vector<DifferentiatedBody::Seed>> SeedsOf(GradientScope& s) {
  std::vector<DifferentiatedBody::Seed> seeds;
  for (int i = 0; i < s.num_outputs(); ++i) {
    if (!s.has_dy(i) || !CarriesGradient(s.y(i).dtype())) continue;
    if (s.y(i).dtype() == DataType::kResource)
      return absl::UnimplementedError(
          absl::StrCat("a handle of a variable as result ", i, ", of which there is a gradient"));
    const Value dy = s.dy(i);
    seeds.push_back({i, dy.dtype(), dy.shape()});
  }
  return seeds;
}

absl::Status CheckResults(const GradientScope& s, const DifferentiatedBody& body) {
  if (body.num_results() == s.num_outputs()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("function '", body.name(), "' gives ",
                                                 body.num_results(), " results, not ",
                                                 s.num_outputs()));
}

absl::StatusOr<std::string> FunctionIn(const GradientScope& s, std::string_view name) {
  const AttrValue* const attr = s.graph().attr(s.node(), name);
  if (attr == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("attribute '", name, "' is missing"));
  TENON_ASSIGN_OR_RETURN(const FuncAttr function, attr->AsFunc());
  return std::string(function.name);
}

NewAttrs KeptAttrs(const GradientScope& s) {
  NewAttrs attrs = AllAttrs(s.graph(), s.node());
  std::erase_if(attrs, [](const Graph::NewAttr& a) { return NumbersInputsOrOutputs(a.name); });
  return attrs;
}

std::string MoreTypes(std::span<const DataType> types, absl::Span<const DataType> more) {
  std::vector<DataType> all(types.begin(), types.end());
  all.insert(all.end(), more.begin(), more.end());
  return attr::TypeList(all);
}

absl::Status AppendOutputShapes(const GradientScope& s, absl::Span<const PartialShape> more,
                                NewAttrs& attrs) {
  const AttrValue* const attr = s.graph().attr(s.node(), "output_shapes");
  if (attr == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, attr->AsShapeList());
  if (shapes.empty()) return absl::OkStatus();
  shapes.insert(shapes.end(), more.begin(), more.end());
  PutAttr(attrs, "output_shapes", attr::ShapeList(shapes));
  return absl::OkStatus();
}

std::string PlainName(std::string_view prefix, std::string_view name) {
  std::string plain(prefix);
  for (const char c : name.substr(name.rfind('/') + 1)) {
    const auto letter = static_cast<unsigned char>(c);
    plain += std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : '_';
  }
  return plain;
}

absl::StatusOr<Output> CalledFunction::Add(std::string_view name, Value input) {
  TENON_ASSIGN_OR_RETURN(const NodeId n, function_.AddArgument(name, input.dtype()));
  inputs_.push_back(input);
  return Output{n, 0};
}

bool HasState(const Graph& graph) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && graph.op(n) != nullptr && graph.op(n)->is_stateful) return true;
  }
  return false;
}

}  // namespace tenon::gradients
