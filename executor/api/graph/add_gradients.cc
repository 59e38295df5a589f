// TF_AddGradients and TENON_AddGradients. What has a gradient, and which, is that of TensorFlow's
// Python. TF_AddGradients names nodes as TensorFlow does there, TENON_AddGradients as Python does.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/graph/edits.h"
#include "executor/api/graph/graph_mark.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/without_memory.h"
#include "graph/gradients/gradients.h"
#include "tenon/tenon_c.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

absl::StatusOr<std::vector<Output>> OutputsOf(const TF_Graph& graph,
                                              absl::Span<const TF_Output> outputs)
    ABSL_SHARED_LOCKS_REQUIRED(graph.mutex) {
  std::vector<Output> read;
  for (const TF_Output& output : outputs) {
    TENON_ASSIGN_OR_RETURN(const Output o, OutputOf(graph, output));
    read.push_back(o);
  }
  return read;
}

// "gradients", or "gradients_1" and so on: the first that is neither a name nor a prefix of names.
std::string FreePrefix(TF_Graph& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  std::string prefix = "gradients";
  for (int i = 1; IsTaken(graph, prefix); ++i) prefix = absl::StrCat("gradients_", i);
  return prefix;
}

absl::Status PrefixTaken(const Graph& graph, const std::string& prefix) {
  std::string_view taken;
  for (NodeId n = 0; n < graph.num_node_ids() && taken.empty(); ++n) {
    const std::string_view name = graph.name(n);
    if (name == prefix || absl::StartsWith(name, absl::StrCat(prefix, "/"))) taken = name;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "prefix [", prefix, "] conflicts with existing node in the graph named [", taken, "]"));
}

// Whether the operation is one of the graph, and has no output of this number.
bool LacksOutput(const TF_Graph& graph, TF_Output output) ABSL_SHARED_LOCKS_REQUIRED(graph.mutex) {
  return absl::IsOutOfRange(OutputOf(graph, output).status());
}

// Without `dx`, and where an entry has no operation, ones flow in.
absl::StatusOr<std::vector<Output>> GivenGradients(const TF_Graph& graph, const TF_Output* dx,
                                                   int ny) ABSL_SHARED_LOCKS_REQUIRED(graph.mutex) {
  std::vector<Output> given;
  for (int i = 0; dx != nullptr && i < ny; ++i) {
    if (dx[i].oper == nullptr) {
      given.emplace_back();
      continue;
    }
    const absl::StatusOr<Output> output = OutputOf(graph, dx[i]);
    if (absl::IsOutOfRange(output.status()))
      return absl::InvalidArgumentError(output.status().message());
    TENON_RETURN_IF_ERROR(output.status());
    given.push_back(*output);
  }
  return given;
}

// The outputs of `x` that there are. What there is not has no gradient, as in TensorFlow.
std::vector<TF_Output> OutputsThere(const TF_Graph& graph, absl::Span<const TF_Output> x)
    ABSL_SHARED_LOCKS_REQUIRED(graph.mutex) {
  std::vector<TF_Output> there(x.begin(), x.end());
  std::erase_if(there, [&](TF_Output output) ABSL_SHARED_LOCKS_REQUIRED(graph.mutex) {
    return LacksOutput(graph, output);
  });
  return there;
}

// The arguments of a call, as the caller gave them.
struct GradientArguments {
  TF_Graph* g;
  const char* prefix;
  const TF_Output* y;
  int ny;
  const TF_Output* x;
  int nx;
  const TF_Output* dx;
  TF_Operation* const* stops = nullptr;
  int num_stops = 0;
  bool as_in_cpp = false;  // GradientRequest::as_in_cpp
};

struct GradientCall {
  TF_Graph& graph;
  const char* prefix;
  absl::Span<const TF_Output> y, x;
  const TF_Output* dx;
  absl::Span<TF_Operation* const> stops;
  bool as_in_cpp;
};

// The first outputs of `stops`; operations without outputs are left out, as no gradient comes to
// them.
absl::StatusOr<std::vector<Output>> StopsOf(const TF_Graph& graph,
                                            absl::Span<TF_Operation* const> stops)
    ABSL_SHARED_LOCKS_REQUIRED(graph.mutex) {
  std::vector<Output> ends;
  for (TF_Operation* const stop : stops) {
    const absl::StatusOr<Output> output = OutputOf(graph, {stop, 0});
    if (absl::IsOutOfRange(output.status())) continue;
    TENON_RETURN_IF_ERROR(output.status());
    ends.push_back(*output);
  }
  return ends;
}

absl::StatusOr<GradientRequest> RequestOf(const GradientCall& call)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(call.graph.mutex) {
  GradientRequest request;
  request.as_in_cpp = call.as_in_cpp;
  // As in TensorFlow, whose nodes get other names then.
  if (call.prefix != nullptr && *call.prefix == '\0')
    return absl::InternalError("an empty prefix names no nodes; NULL lets one be chosen");
  TENON_ASSIGN_OR_RETURN(request.ys, OutputsOf(call.graph, call.y));
  TENON_ASSIGN_OR_RETURN(request.xs, OutputsOf(call.graph, OutputsThere(call.graph, call.x)));
  TENON_ASSIGN_OR_RETURN(request.grad_ys,
                         GivenGradients(call.graph, call.dx, static_cast<int>(call.y.size())));
  TENON_ASSIGN_OR_RETURN(request.stop_gradients, StopsOf(call.graph, call.stops));
  call.graph.prefixes.CatchUp(call.graph.graph);
  request.prefix = call.prefix == nullptr ? FreePrefix(call.graph) : call.prefix;
  if (!IsTaken(call.graph, request.prefix)) return request;
  return PrefixTaken(call.graph.graph, request.prefix);
}

absl::Status AddTo(const GradientCall& call, TF_Output* dy)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(call.graph.mutex) {
  TF_Graph& graph = call.graph;
  TENON_ASSIGN_OR_RETURN(const GradientRequest request, RequestOf(call));
  TENON_RETURN_IF_ERROR(CheckEdits(graph));
  KnowShapes(graph, graph.graph.num_node_ids());
  GraphMark before(graph);
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> gradients,
                         AddDenseGradients(graph.graph, graph.shapes, {}, request));
  NoteNewNodes(graph);
  before.Keep();
  auto gradient = gradients.begin();
  for (const TF_Output& x : call.x) {
    const Output found = LacksOutput(graph, x) ? Output() : *gradient++;
    *dy++ = found.node == kNoNode ? TF_Output{nullptr, -1} : OutputToC(graph, found);
  }
  return absl::OkStatus();
}

void AddGradients(const GradientArguments& a, TF_Status* status, TF_Output* dy) {
  if (!AllGiven({{"g", a.g}}, status) || !IsArray("y", a.y, a.ny, status) ||
      !IsArray("x", a.x, a.nx, status) || !IsArray("stops", a.stops, a.num_stops, status) ||
      !IsArray("dy", dy, a.nx, status))
    return;
  absl::MutexLock lock(&a.g->mutex);
  const GradientCall call{*a.g,
                          a.prefix,
                          absl::MakeConstSpan(a.y, a.ny),
                          absl::MakeConstSpan(a.x, a.nx),
                          a.dx,
                          absl::MakeConstSpan(a.stops, a.num_stops),
                          a.as_in_cpp};
  StatusToC(AddTo(call, dy), status);
}

}  // namespace
}  // namespace tenon::api

extern "C" {

void TENON_AddGradients(TF_Graph* g, const char* prefix, const TF_Output* y, int ny,
                        const TF_Output* x, int nx, const TF_Output* dx, TF_Operation* const* stops,
                        int num_stops, TF_Status* status, TF_Output* dy) try {
  tenon::api::AddGradients({g, prefix, y, ny, x, nx, dx, stops, num_stops}, status, dy);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_AddGradientsWithPrefix(TF_Graph* g, const char* prefix, TF_Output* y, int ny, TF_Output* x,
                               int nx, TF_Output* dx, TF_Status* status, TF_Output* dy) try {
  tenon::api::AddGradients({g, prefix, y, ny, x, nx, dx, nullptr, 0, true}, status, dy);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_AddGradients(TF_Graph* g, TF_Output* y, int ny, TF_Output* x, int nx, TF_Output* dx,
                     TF_Status* status, TF_Output* dy) try {
  TF_AddGradientsWithPrefix(g, nullptr, y, ny, x, nx, dx, status, dy);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
