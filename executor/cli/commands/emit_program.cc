#include "executor/cli/commands/emit_program.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/tensors/sink.h"
#include "executor/compile/passes/evaluator.h"
#include "executor/stablehlo/lower.h"
#include "graph/base/file_writer.h"
#include "graph/base/status_macros.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon::cli {
namespace {

absl::StatusOr<Shape> ParseDims(std::string_view flag, std::string_view text) {
  Dims dims;
  if (!text.empty()) {
    for (const std::string_view part : absl::StrSplit(text, 'x')) {
      int64_t dim = 0;
      if (!absl::SimpleAtoi(part, &dim))
        return UsageError(absl::StrCat("--shape ", flag, ": '", part, "' is no size"));
      dims.push_back(dim);
    }
  }
  const absl::StatusOr<Shape> shape = Shape::Make(dims);
  if (!shape.ok())
    return UsageError(absl::StrCat("--shape ", flag, ": ", shape.status().message()));
  return *shape;
}

using GivenShapes = absl::flat_hash_map<std::string, Shape>;

// The shapes of --shape by the name of the tensor in the graph.
absl::StatusOr<GivenShapes> ParseShapes(const Names& names, const EmitFlags& flags) {
  GivenShapes given;
  for (const std::string& flag : flags.shapes) {
    const size_t at = flag.rfind('=');
    if (at == std::string::npos)
      return UsageError(absl::StrCat("--shape ", flag, ": give NAME=DIMS, such as x=8x128"));
    TENON_ASSIGN_OR_RETURN(const Output from, names.Argument("--shape", flag.substr(0, at)));
    TENON_ASSIGN_OR_RETURN(const Shape shape,
                           ParseDims(flag, std::string_view(flag).substr(at + 1)));
    given[names.graph().OutputName(from)] = shape;
  }
  return given;
}

// What is known of the shape, with 1 for the rest.
Shape WithOnes(const PartialShape& known, bool* guessed) {
  Shape shape;
  for (const int64_t dim : known.dims()) {
    *guessed |= dim == kUnknownDim;
    shape.push_back(dim == kUnknownDim ? 1 : dim);
  }
  *guessed |= !known.known_rank();
  return shape;
}

// The arguments of the program, and a line on each whose shape was a guess.
absl::StatusOr<std::vector<stablehlo::Argument>> ArgumentsOf(const Graph& graph, const Names& names,
                                                             const Endpoints& ends,
                                                             const EmitFlags& flags,
                                                             std::string* notes) {
  TENON_ASSIGN_OR_RETURN(const GivenShapes given, ParseShapes(names, flags));
  std::vector<stablehlo::Argument> arguments;
  for (const std::string& feed : ends.feeds) {
    const absl::StatusOr<Output> from = graph.ParseOutput(feed);
    // A feed that no result needs is not in the optimized graph.
    if (!from.ok()) continue;
    TENON_ASSIGN_OR_RETURN(const Output before, names.graph().ParseOutput(feed));
    const PartialShape known = HintFor(names.graph(), before).shape;
    bool guessed = false;
    Shape shape = WithOnes(known, &guessed);
    if (const auto it = given.find(names.graph().OutputName(before)); it != given.end()) {
      if (!known.CompatibleWith(it->second))
        return UsageError(absl::StrCat("--shape: '", feed, "' has shape ", known.ToString(),
                                       ", not ", it->second.ToString()));
      shape = it->second;
    } else if (guessed) {
      absl::StrAppend(notes, feed, " is taken as ", shape.ToString(),
                      "; --shape NAME=DIMS says otherwise\n");
    }
    arguments.push_back({.output = *from, .dtype = graph.output_type(*from), .shape = shape});
  }
  return arguments;
}

// The weights' names in the program.
std::string WeightName(int index) { return absl::StrCat("w", index); }

// "a/b.npz" beside the program "a/b.mlir".
std::string WeightsPath(std::string_view program) {
  return absl::StrCat(absl::StripSuffix(program, ".mlir"), ".npz");
}

// Writes the elements of the weights, without which nobody can run the program. Returns how many
// there are.
absl::StatusOr<int> WriteWeights(const stablehlo::Program& program, const std::string& path) {
  std::vector<SinkTensor> weights;
  for (const stablehlo::Parameter& p : program.parameters) {
    if (p.argument >= 0) continue;
    weights.push_back(
        {{WeightName(static_cast<int>(weights.size())), absl::StrCat("@", path)}, p.value});
  }
  TENON_RETURN_IF_ERROR(WriteSinks(weights));
  return static_cast<int>(weights.size());
}

Json ParametersJson(const stablehlo::Program& program, const Graph& graph,
                    absl::Span<const stablehlo::Argument> arguments) {
  Json list = Json::Array();
  int weights = 0;
  for (const stablehlo::Parameter& p : program.parameters) {
    std::string name;
    if (p.argument >= 0) {
      name = graph.OutputName(arguments[p.argument].output);
    } else {
      const std::string in_program = WeightName(weights++);
      name = p.weight == kNoNode ? in_program : std::string(graph.name(p.weight));
    }
    Json json = Json::Object();
    json.Set("name", name)
        .Set("kind", p.argument >= 0 ? "argument" : "weight")
        .Set("dtype", DataTypeName(p.dtype))
        .Set("shape", p.shape.ToString());
    list.Push(std::move(json));
  }
  return list;
}

Json ChecksJson(const stablehlo::Program& program) {
  Json list = Json::Array();
  for (const stablehlo::Check& check : program.checks) {
    Json json = Json::Object();
    json.Set("node", check.name).Set("message", check.message);
    list.Push(std::move(json));
  }
  return list;
}

}  // namespace

absl::Status EmitProgram(const Graph& graph, const Names& names, const Endpoints& ends,
                         const EmitFlags& flags, const std::string& path, Invocation& invocation) {
  std::string notes;
  TENON_ASSIGN_OR_RETURN(const std::vector<stablehlo::Argument> arguments,
                         ArgumentsOf(graph, names, ends, flags, &notes));
  std::vector<Output> results;
  for (const std::string& fetch : ends.fetches) {
    TENON_ASSIGN_OR_RETURN(const Output result, graph.ParseOutput(fetch));
    if (!result.is_control()) results.push_back(result);
  }
  CpuEvaluator evaluator(KernelRegistry::Global());
  TENON_ASSIGN_OR_RETURN(const stablehlo::Program program,
                         stablehlo::Lower({.graph = &graph,
                                           .arguments = arguments,
                                           .results = results,
                                           .evaluator = &evaluator,
                                           .node_names = true}));
  std::string written = "; add -o OUT.mlir to write it";
  if (!path.empty()) {
    TENON_RETURN_IF_ERROR(WriteFile(path, program.text));
    const std::string weights_path = WeightsPath(path);
    TENON_ASSIGN_OR_RETURN(const int weights, WriteWeights(program, weights_path));
    written = absl::StrCat(", written to ", path);
    if (weights > 0)
      absl::StrAppend(&written, ", and ", Plural(weights, "weight"), " to ", weights_path);
  }
  invocation.doc.Set("emitted", path.empty() ? Json() : Json(path))
      .Set("parameters", ParametersJson(program, graph, arguments))
      .Set("checks", ChecksJson(program));
  absl::StrAppend(
      &invocation.text, notes, "StableHLO of ", Plural(program.line_nodes.size(), "line"), " with ",
      Plural(program.parameters.size(), "parameter"), ", ", Plural(results.size(), "result"),
      " and ", Plural(program.checks.size(), "check"), written, "\n");
  return absl::OkStatus();
}

}  // namespace tenon::cli
