// A plug-in may answer with any graph that verifies. These checks compare the answer with the graph
// that the plug-in was given: what a run feeds, fetches and places must still work.

#include "optimizer_api/answer_checks.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "graph/op_defs/op_registry.h"
#include "optimizer_api/grappler_item.h"

namespace tenon {
namespace {

// How far a graph may grow in one pass: the factor, and what may come on top, in nodes and in
// bytes. Far beyond what a rewrite needs, so that only a plug-in out of control meets a limit.
constexpr size_t kMaxGrowth = 10;
constexpr size_t kMoreNodes = 1000;
constexpr size_t kMoreBytes = size_t{64} << 20;

absl::Status CheckGrowth(std::string_view what, size_t before, size_t after, size_t more) {
  if (after <= kMaxGrowth * before + more) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("its answer has ", after, " ", what, " where ",
                                                 before, " were: a pass may make ", kMaxGrowth,
                                                 " times as many of them, and ", more, " more"));
}

// The attribute `shape` of a placeholder; an unknown shape for a node without it.
PartialShape DeclaredShape(const Graph& graph, NodeId n) {
  const AttrValue* attr = graph.attr(n, "shape");
  return attr == nullptr ? PartialShape() : attr->AsShape().value_or(PartialShape());
}

// Whether each shape that fits `other` fits `shape`.
bool TakesAll(const PartialShape& shape, const PartialShape& other) {
  if (!shape.known_rank()) return true;
  if (shape.rank() != other.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) != kUnknownDim && shape.dim(i) != other.dim(i)) return false;
  }
  return true;
}

class Checker {
 public:
  Checker(const Graph& before, const Graph& after, const OptimizerItem& item)
      : before_(before), after_(after), item_(item) {}

  // Checks that fetches, feeds and nodes to preserve are there, with the types that they had.
  absl::Status CheckEnds(std::string_view pass, std::string_view plugin) const {
    for (const std::string& fetch : item_.fetches)
      TENON_RETURN_IF_ERROR(CheckFetch(fetch, pass, plugin));
    for (const std::string& feed : item_.feeds) {
      const NodeId was = before_.FindNode(feed);
      if (was != kNoNode) TENON_RETURN_IF_ERROR(CheckFeed(was, after_.FindNode(feed)));
    }
    for (const std::string& name : NodesToPreserve({&before_, &item_})) {
      if (before_.FindNode(name) != kNoNode && after_.FindNode(name) == kNoNode) {
        return absl::InvalidArgumentError(
            absl::StrCat("node '", name, "', which is to be preserved, is gone"));
      }
    }
    return absl::OkStatus();
  }

  // A node must have a kernel where it stands, unless it had none there before; one without a
  // device is placed later.
  absl::Status CheckKernels(const KernelOracle& kernels) const {
    for (NodeId n = 0; n < after_.num_node_ids(); ++n) {
      if (!after_.alive(n) || after_.device(n).empty()) continue;
      if (kernels.HasKernel(after_.device(n), after_.op_name(n), after_.attrs(n))) continue;
      const NodeId was = before_.FindNode(after_.name(n));
      if (was != kNoNode && before_.op_name(was) == after_.op_name(n) &&
          before_.device(was) == after_.device(n) &&
          !kernels.HasKernel(before_.device(was), before_.op_name(was), before_.attrs(was)))
        continue;
      return absl::InvalidArgumentError(
          absl::StrCat("node '", after_.name(n), "' (", after_.op_name(n), ") stands on ",
                       after_.device(n), ", which does not exist or has no kernel for it"));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckFetch(const std::string& fetch, std::string_view pass,
                          std::string_view plugin) const {
    const auto gone = [&] {
      return absl::InvalidArgumentError(absl::StrCat("fetch '", fetch, "' is gone"));
    };
    // A node that is only run may have other outputs than before, or none.
    if (fetch.find(':') == fetch.npos)
      return after_.FindNode(fetch) == kNoNode ? gone() : absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(const Output was, before_.ParseOutput(fetch));
    const absl::StatusOr<Output> is = after_.ParseOutput(fetch);
    if (!is.ok() || is->port >= after_.num_outputs(is->node)) return gone();
    if (before_.output_type(was) != after_.output_type(*is)) {
      return absl::InvalidArgumentError(
          absl::StrCat("fetch '", fetch, "' became ", DataTypeName(after_.output_type(*is)),
                       ", it was ", DataTypeName(before_.output_type(was))));
    }
    // Passes of plug-ins exist to bring in the plug-in's own ops. A change from one built-in op to
    // another is unusual: it may be right or not.
    const std::string_view op = before_.op_name(was.node), now = after_.op_name(is->node);
    if (op != now && OpRegistry::Global().IsBuiltin(now)) {
      WarnOf(absl::InvalidArgumentError(absl::StrCat(
          "pass ", pass, ": fetch '", fetch, "' was computed by ", op, " and is by ", now,
          " now; --verify-each=numeric compares what they compute (", plugin, ")")));
    }
    return absl::OkStatus();
  }

  // Checks that every value that could be fed can still be fed.
  absl::Status CheckFeed(NodeId was, NodeId is) const {
    const std::string feed = absl::StrCat("feed '", before_.name(was), "' ");
    if (is == kNoNode || before_.op_name(was) != after_.op_name(is))
      return absl::InvalidArgumentError(absl::StrCat(feed, "is gone or has another op"));
    for (int port = 0; port < before_.num_outputs(was); ++port) {
      const DataType type = before_.output_type({was, port});
      if (port < after_.num_outputs(is) && after_.output_type({is, port}) == type) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(feed, "no longer takes ", DataTypeName(type), " at output ", port));
    }
    const PartialShape took = DeclaredShape(before_, was), takes = DeclaredShape(after_, is);
    if (TakesAll(takes, took)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(feed, "takes ", takes.ToString(), ", it took ", took.ToString()));
  }

  const Graph& before_;
  const Graph& after_;
  const OptimizerItem& item_;
};

}  // namespace

absl::Status CheckBytes(size_t before, size_t after) {
  return CheckGrowth("bytes", before, after, kMoreBytes);
}

absl::Status CheckAnswer(const Graph& before, const Graph& after, const OptimizerItem& item,
                         const KernelOracle& kernels, std::string_view pass,
                         std::string_view plugin) {
  // The growth comes first, so that the other checks walk a graph of bounded size.
  TENON_RETURN_IF_ERROR(CheckGrowth("nodes", static_cast<size_t>(before.num_nodes()),
                                    static_cast<size_t>(after.num_nodes()), kMoreNodes));
  const Checker checker(before, after, item);
  TENON_RETURN_IF_ERROR(checker.CheckEnds(pass, plugin));
  return checker.CheckKernels(kernels);
}

}  // namespace tenon
