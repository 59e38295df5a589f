// The pass of a plug-in as a transaction: on a copy, adopted only if it verifies, else reported and
// forgotten.
#include <algorithm>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/float_mode.h"
#include "graph/io.h"
#include "graph/new_attrs.h"
#include "graph/op_registry.h"
#include "graph/status_macros.h"
#include "graph/within_memory.h"
#include "optimizer_api/grappler_item.h"
#include "optimizer_api/plugin_optimizer.h"

namespace tenon {
namespace {

// A placeholder's `shape`; unknown for other nodes.
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

// What a pass may make of a graph, and what it may add to that, in nodes and in bytes.
constexpr size_t kMaxGrowth = 10;
constexpr size_t kMoreNodes = 1000;
constexpr size_t kMoreBytes = size_t{64} << 20;

absl::Status CheckGrowth(std::string_view what, size_t before, size_t after, size_t more) {
  if (after <= kMaxGrowth * before + more) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("its answer has ", after, " ", what, " where ",
                                                 before, " were: a pass may make ", kMaxGrowth,
                                                 " times as many of them, and ", more, " more"));
}

bool IsBuiltin(std::string_view op) {
  for (const absl::Span<const OpSpec> family : BuiltinOps()) {
    for (const OpSpec& spec : family) {
      if (spec.name == op) return true;
    }
  }
  return false;
}

// As TensorFlow gives a graph to its passes: with the attributes that a file may leave out.
Graph WithDefaults(const Graph& graph) {
  Graph full = graph;
  for (NodeId n = 0; n < full.num_node_ids(); ++n) {
    if (!full.alive(n) || full.kind(n).defaults.all().empty()) continue;
    NewAttrs attrs = AllAttrs(full, n);
    for (Graph::NewAttr& attr : CopyOf(full.kind(n).defaults.all()))
      attrs.push_back(std::move(attr));
    full.SetKind(n, full.op_name(n), std::move(attrs));
  }
  return full;
}

std::atomic<const std::string*> graph_in_pass{nullptr};

// While it lives, a plug-in works on the graph.
class WorkOnGraph {
 public:
  explicit WorkOnGraph(const std::string& graph) : outer_(graph_in_pass.exchange(&graph)) {}
  ~WorkOnGraph() { graph_in_pass.store(outer_); }
  WorkOnGraph(const WorkOnGraph&) = delete;
  WorkOnGraph& operator=(const WorkOnGraph&) = delete;

 private:
  const std::string* outer_;
};

class PluginPass : public FinalPass {
 public:
  PluginPass(std::string name, std::shared_ptr<const PluginOptimizer> optimizer, OptimizerItem item,
             const KernelOracle* kernels)
      : name_(std::move(name)),
        optimizer_(std::move(optimizer)),
        item_(std::move(item)),
        kernels_(*kernels) {}

  ~PluginPass() override {
    if (created_ && optimizer_->fns.destroy_func != nullptr) {
      WarnOf(Call("destroy_func", [&] { optimizer_->fns.destroy_func(object_); }));
    }
  }

  std::string name() const override { return name_; }

  absl::StatusOr<bool> Run(Graph& graph) override {
    absl::StatusOr<std::optional<Graph>> answer = Optimize(graph);
    if (!answer.ok()) {
      return absl::Status(answer.status().code(),
                          absl::StrCat(answer.status().message(), " (", optimizer_->plugin, ")"));
    }
    if (!answer->has_value()) return false;
    graph = **std::move(answer);
    return true;
  }

 private:
  template <typename Fn>
  absl::Status Call(const char* callback, Fn fn) {
    const FloatModeGuard float_mode(optimizer_->plugin);
    return CallPlugin(optimizer_->plugin.c_str(), callback, "", fn);
  }

  absl::Status EnsureCreated() {
    if (created_ || optimizer_->fns.create_func == nullptr) return absl::OkStatus();
    TENON_RETURN_IF_ERROR(Call("create_func", [&] { object_ = optimizer_->fns.create_func(); }));
    created_ = true;
    return absl::OkStatus();
  }

  // The verified new graph, or nothing when the plug-in left it as it was.
  absl::StatusOr<std::optional<Graph>> Optimize(const Graph& graph) {
    TENON_RETURN_IF_ERROR(EnsureCreated());
    const Graph before = WithDefaults(graph);
    const std::string in = ExportBinary(before);
    TENON_ASSIGN_OR_RETURN(std::optional<std::string> out, CallOptimize(before, in));
    if (!out || *out == in) return std::nullopt;
    if (out->empty()) return absl::InvalidArgumentError("it answered with no graph at all");
    TENON_RETURN_IF_ERROR(CheckGrowth("bytes", in.size(), out->size(), kMoreBytes));
    TENON_ASSIGN_OR_RETURN(Imported answer,
                           ImportBinary(*std::move(out), "<answer of the plug-in's pass>"));
    for (const Defect& defect : answer.defects) {
      if (!defect.in_function || !MayBeUnused(defect))
        return absl::InvalidArgumentError(defect.message);
    }
    TENON_RETURN_IF_ERROR(CheckGrowth("nodes", static_cast<size_t>(before.num_nodes()),
                                      static_cast<size_t>(answer.graph.num_nodes()), kMoreNodes));
    TENON_RETURN_IF_ERROR(CheckFetchesAndFeeds(before, answer.graph));
    for (const std::string& name : NodesToPreserve({&before, &item_})) {
      if (before.FindNode(name) != kNoNode && answer.graph.FindNode(name) == kNoNode)
        return absl::InvalidArgumentError(
            absl::StrCat("node '", name, "', which is to be preserved, is gone"));
    }
    TENON_RETURN_IF_ERROR(CheckKernels(before, answer.graph));
    answer.graph.InheritPositions(before);
    return std::optional<Graph>(std::move(answer.graph));
  }

  // The plug-in's bytes; nothing for ABORTED, its word for "not changed".
  absl::StatusOr<std::optional<std::string>> CallOptimize(const Graph& graph,
                                                          const std::string& in) {
    const TF_Buffer graph_in{in.data(), in.size(), nullptr};
    TF_Buffer graph_out{nullptr, 0, nullptr};
    const TF_GrapplerItem item{&graph, &item_};
    const WorkOnGraph work(in);
    CStatus status;
    absl::Status result = Call("optimize_func", [&] {
      optimizer_->fns.optimize_func(object_, &graph_in, &item, &graph_out, status.get());
    });
    if (result.ok()) result = status.ToStatus();
    std::string out;
    if (result.ok()) result = CopyAnswer(graph_out, out);
    if (graph_out.data_deallocator != nullptr) {
      WarnOf(Call("data_deallocator", [&] {
        graph_out.data_deallocator(const_cast<void*>(graph_out.data), graph_out.length);
      }));
    }
    if (absl::IsAborted(result)) return std::nullopt;
    TENON_RETURN_IF_ERROR(result);
    return std::optional<std::string>(std::move(out));
  }

  // Where the bytes lie and how many they are is the plug-in's word.
  absl::Status CopyAnswer(const TF_Buffer& answer, std::string& bytes) {
    const CallbackScope reading(optimizer_->plugin.c_str(), "the answer of optimize_func");
    if (answer.length > static_cast<uint64_t>(ImportLimits().max_file_bytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("its answer is ", answer.length, " bytes long, more than any graph"));
    }
    return WithinMemory([&] {
      bytes = BufferBytes(answer);
      return absl::OkStatus();
    });
  }

  // What callers hold on to is still there, with the types that it had.
  absl::Status CheckFetchesAndFeeds(const Graph& before, const Graph& after) const {
    for (const std::string& fetch : item_.fetches) {
      TENON_ASSIGN_OR_RETURN(const Output was, before.ParseOutput(fetch));
      const absl::StatusOr<Output> is = after.ParseOutput(fetch);
      if (!is.ok() || is->port >= after.num_outputs(is->node))
        return absl::InvalidArgumentError(absl::StrCat("fetch '", fetch, "' is gone"));
      if (!was.is_control() && before.output_type(was) != after.output_type(*is)) {
        return absl::InvalidArgumentError(
            absl::StrCat("fetch '", fetch, "' became ", DataTypeName(after.output_type(*is)),
                         ", it was ", DataTypeName(before.output_type(was))));
      }
      if (!was.is_control())
        TellOfOtherOp(fetch, before.op_name(was.node), after.op_name(is->node));
    }
    for (const std::string& feed : item_.feeds) {
      const NodeId was = before.FindNode(feed);
      if (was != kNoNode)
        TENON_RETURN_IF_ERROR(CheckFeed(before, was, after, after.FindNode(feed)));
    }
    return absl::OkStatus();
  }

  // An op of the plug-in's own is what a pass is for. Another one of ours may do the same, or not.
  void TellOfOtherOp(std::string_view fetch, std::string_view was, std::string_view is) const {
    if (was == is || !IsBuiltin(is)) return;
    WarnOf(absl::InvalidArgumentError(absl::StrCat(
        "pass ", name(), ": fetch '", fetch, "' was computed by ", was, " and is by ", is,
        " now; --verify-each=numeric compares what they compute (", optimizer_->plugin, ")")));
  }

  // Every value that could be fed can still be fed.
  static absl::Status CheckFeed(const Graph& before, NodeId was, const Graph& after, NodeId is) {
    const std::string feed = absl::StrCat("feed '", before.name(was), "' ");
    if (is == kNoNode || before.op_name(was) != after.op_name(is))
      return absl::InvalidArgumentError(absl::StrCat(feed, "is gone or has another op"));
    for (int port = 0; port < before.num_outputs(was); ++port) {
      const DataType type = before.output_type({was, port});
      if (port < after.num_outputs(is) && after.output_type({is, port}) == type) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(feed, "no longer takes ", DataTypeName(type), " at output ", port));
    }
    const PartialShape took = DeclaredShape(before, was), takes = DeclaredShape(after, is);
    if (TakesAll(takes, took)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(feed, "takes ", takes.ToString(), ", it took ", took.ToString()));
  }

  // A node that the plug-in made or moved must have a kernel where it stands; one without a device
  // is placed later.
  absl::Status CheckKernels(const Graph& before, const Graph& after) const {
    for (NodeId n = 0; n < after.num_node_ids(); ++n) {
      if (!after.alive(n) || after.device(n).empty()) continue;
      const NodeId was = before.FindNode(after.name(n));
      if (was != kNoNode && before.op_name(was) == after.op_name(n) &&
          before.device(was) == after.device(n))
        continue;
      if (kernels_.HasKernel(after.device(n), after.op_name(n), after.attrs(n))) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("node '", after.name(n), "' (", after.op_name(n), ") stands on ",
                       after.device(n), ", which does not exist or has no kernel for it"));
    }
    return absl::OkStatus();
  }

  const std::string name_;
  std::shared_ptr<const PluginOptimizer> optimizer_;
  OptimizerItem item_;
  const KernelOracle& kernels_;
  void* object_ = nullptr;
  bool created_ = false;
};

}  // namespace

std::vector<std::string> NamesOfPasses(
    absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers) {
  const auto file_of = [](const PluginOptimizer& o) {
    return o.plugin.substr(o.plugin.rfind('/') + 1);
  };
  std::vector<std::string> names;
  for (const auto& o : optimizers) {
    const auto count = [&](auto same) {
      return std::count_if(optimizers.begin(), optimizers.end(), [&](const auto& other) {
        return other->device_type == o->device_type && same(*other);
      });
    };
    const bool alone = count([](const PluginOptimizer&) { return true; }) == 1;
    const bool file_alone =
        count([&](const PluginOptimizer& other) { return file_of(other) == file_of(*o); }) == 1;
    names.push_back(absl::StrCat("plugin:", o->device_type, alone ? "" : ":",
                                 alone        ? ""
                                 : file_alone ? file_of(*o)
                                              : o->plugin));
  }
  return names;
}

std::unique_ptr<FinalPass> MakePluginPass(std::string name,
                                          std::shared_ptr<const PluginOptimizer> optimizer,
                                          OptimizerItem item, const KernelOracle* kernels) {
  return std::make_unique<PluginPass>(std::move(name), std::move(optimizer), std::move(item),
                                      kernels);
}

const std::string* GraphInPluginPass() { return graph_in_pass.load(); }

}  // namespace tenon
