// Resolves the inputs of nodes in a FunctionDef, which name results: "argument",
// "node:result:index", or "^node". A name without an index stands for all tensors of a list.

#include "graph/functions/body_sources.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/base/status_macros.h"

namespace tenon {

absl::Status BodySources::SetArgs(const OpDef& signature, const AttrSet& attrs,
                                  std::vector<NodeId> args) {
  args_ = std::move(args);
  TENON_ASSIGN_OR_RETURN(arg_ranges_, ArgRanges::Of(signature, attrs, signature.inputs));
  return absl::OkStatus();
}

NodeId BodySources::FindNode(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? kNoNode : it->second;
}

absl::Status BodySources::Append(std::string_view text, std::vector<Output>& out) const {
  std::string_view rest = text;
  const bool control = absl::ConsumePrefix(&rest, "^");
  const size_t colon = rest.find(':');
  const std::string_view name = rest.substr(0, colon);
  const std::string_view result = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
  if (const Range* arg = arg_ranges_.Find(name); arg != nullptr)
    return AppendArgs(*arg, control, result, text, out);
  const NodeId n = FindNode(name);
  if (n == kNoNode)
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' names no node and no argument of the function"));
  if (!control) return AppendResults(n, result, text, out);
  out.push_back({n, kControlPort});
  return absl::OkStatus();
}

absl::Status BodySources::AppendArgs(Range range, bool control, std::string_view index_text,
                                     std::string_view text, std::vector<Output>& out) const {
  int index = 0;
  if (!index_text.empty()) {
    if (!absl::SimpleAtoi(index_text, &index) || index < 0 || index >= range.second - range.first)
      return absl::InvalidArgumentError(absl::StrCat("'", text, "' names no such argument"));
    range = {range.first + index, range.first + index + 1};
  }
  for (int i = range.first; i < range.second; ++i)
    out.push_back({args_[i], control ? kControlPort : 0});
  return absl::OkStatus();
}

absl::Status BodySources::AppendResults(NodeId n, std::string_view result, std::string_view text,
                                        std::vector<Output>& out) const {
  const size_t colon = result.find(':');
  const std::string_view name = result.substr(0, colon);
  const OpDef& op = *graph_.op(n);
  auto ranges = result_ranges_.find(&graph_.kind(n));
  if (ranges == result_ranges_.end()) {
    TENON_ASSIGN_OR_RETURN(ArgRanges made,
                           ArgRanges::Of(op, WithDefaults(op, graph_.attrs(n)), op.outputs));
    ranges = result_ranges_.emplace(&graph_.kind(n), std::move(made)).first;
  }
  const Range* found = ranges->second.Find(name);
  if (found == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "': op ", op.name, " has no result '", name, "'"));
  Range range = *found;
  if (colon != result.npos) {
    int index = 0;
    if (!absl::SimpleAtoi(result.substr(colon + 1), &index) || index < 0 ||
        index >= range.second - range.first) {
      return absl::InvalidArgumentError(absl::StrCat("'", text, "': result '", name, "' of op ",
                                                     op.name, " has ", range.second - range.first,
                                                     " tensors"));
    }
    range = {range.first + index, range.first + index + 1};
  }
  for (int i = range.first; i < range.second; ++i) out.push_back({n, i});
  return absl::OkStatus();
}

absl::Status CheckInputs(const Graph& graph, NodeId n, absl::Span<const Output> inputs) {
  const TypeVector& wanted = graph.kind(n).types.inputs;
  if (inputs.size() != wanted.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has ", inputs.size(), " inputs where its op takes ", wanted.size()));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const DataType given = graph.output_type(inputs[i]);
    // A reference may be read as a value; a value cannot be written to.
    if (BaseType(given) == BaseType(wanted[i]) && (IsRef(given) || !IsRef(wanted[i]))) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "input ", i, " is ", DataTypeName(given), " where its op takes ", DataTypeName(wanted[i])));
  }
  return absl::OkStatus();
}

AttrSet WithDefaults(const OpDef& op, const AttrSet& attrs) {
  std::vector<Attr> all = attrs.all();
  for (const AttrDef& def : op.attrs) {
    if (def.has_default && attrs.Find(def.name) == nullptr)
      all.push_back({def.name, AttrValue(def.default_wire)});
  }
  std::sort(all.begin(), all.end(), [](const Attr& a, const Attr& b) { return a.name < b.name; });
  return AttrSet(std::move(all));
}

}  // namespace tenon
