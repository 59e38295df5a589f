// The pass of a plug-in as a transaction: on a copy, adopted only if it verifies, else reported and
// forgotten.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/float_mode.h"
#include "graph/io/io.h"
#include "graph/ir/new_attrs.h"
#include "optimizer_api/answer_checks.h"
#include "optimizer_api/body_ends.h"
#include "optimizer_api/grappler_item.h"
#include "optimizer_api/plugin_optimizer.h"

namespace tenon {
namespace {

// A copy with the default attributes that a file may leave out: passes see graphs so in TensorFlow,
// and read attributes without asking whether they are there.
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

// A graph that a plug-in works on. Passes on several threads overlap and end in any order, so each
// has an entry of its own. Entries are never freed, only used again: a signal handler may walk the
// list without a lock.
struct GraphInPass {
  std::atomic<const std::string*> graph{nullptr};  // null: no pass uses the entry
  GraphInPass* next = nullptr;
};
std::atomic<GraphInPass*> graphs_in_passes{nullptr};

// The graph of the innermost pass of this thread. Thread-local storage of this model is never
// allocated on first use, so a signal handler may read it.
[[gnu::tls_model("initial-exec")]] thread_local const std::string* graph_of_thread = nullptr;

// An entry for the graph that was free, or a new one at the head of the list.
GraphInPass* TakeEntry(const std::string& graph) {
  for (GraphInPass* entry = graphs_in_passes.load(); entry != nullptr; entry = entry->next) {
    const std::string* none = nullptr;
    if (entry->graph.compare_exchange_strong(none, &graph)) return entry;
  }
  auto* const entry = new GraphInPass;
  entry->graph.store(&graph);
  entry->next = graphs_in_passes.load();
  while (!graphs_in_passes.compare_exchange_weak(entry->next, entry)) {
  }
  return entry;
}

// Notes, for signal handlers and the watchdog, that a plug-in works on the graph while this object
// lives. Belongs to one thread.
class WorkOnGraph {
 public:
  explicit WorkOnGraph(const std::string& graph)
      : entry_(TakeEntry(graph)), outer_(std::exchange(graph_of_thread, &graph)) {}
  ~WorkOnGraph() {
    graph_of_thread = outer_;
    entry_->graph.store(nullptr);
  }
  WorkOnGraph(const WorkOnGraph&) = delete;
  WorkOnGraph& operator=(const WorkOnGraph&) = delete;

 private:
  GraphInPass* const entry_;
  const std::string* const outer_;
};

// Bytes in pages of their own, outside of the heap.
class OwnPages {
 public:
  static absl::StatusOr<OwnPages> CopyOf(std::string_view bytes) {
    if (bytes.empty()) return OwnPages(nullptr, 0);
    void* data =
        mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return OutOfMemory();
    std::memcpy(data, bytes.data(), bytes.size());
    return OwnPages(data, bytes.size());
  }
  ~OwnPages() {
    if (data_ != nullptr) munmap(data_, size_);
  }
  OwnPages(OwnPages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  OwnPages& operator=(OwnPages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  OwnPages(void* data, size_t size) : data_(data), size_(size) {}

  void* data_;
  size_t size_;
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
    if (!answer.ok())
      return Annotate(answer.status(), "", absl::StrCat(" (", optimizer_->plugin, ")"));
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
    // Made at the first run, not in the constructor, so that a failure is an error of the run.
    if (created_ || optimizer_->fns.create_func == nullptr) return absl::OkStatus();
    TENON_RETURN_IF_ERROR(Call("create_func", [&] { object_ = optimizer_->fns.create_func(); }));
    created_ = true;
    return absl::OkStatus();
  }

  // The verified new graph; nullopt if the plug-in left the graph as it was.
  absl::StatusOr<std::optional<Graph>> Optimize(const Graph& graph) {
    TENON_RETURN_IF_ERROR(EnsureCreated());
    Graph shown = WithDefaults(graph);
    ShowEnds(shown, item_);
    TENON_ASSIGN_OR_RETURN(std::optional<Graph> answer, Ask(shown, ExportWithoutBodies(shown)));
    if (answer.has_value()) TENON_RETURN_IF_ERROR(HideEnds(graph, shown, item_, *answer));
    return answer;
  }

  absl::StatusOr<std::optional<Graph>> Ask(const Graph& before, std::string bytes) {
    // The host now relies on what the plug-in says, and on memory that the plug-in had: a fault
    // here is reported as the plug-in's.
    const CallbackScope answering(optimizer_->plugin.c_str(), "the answer of optimize_func");
    const std::string in = std::move(bytes);
    TENON_ASSIGN_OR_RETURN(const std::optional<OwnPages> out, CallOptimize(before, in));
    if (!out.has_value()) return std::nullopt;
    if (out->bytes().empty()) return absl::InvalidArgumentError("it answered with no graph at all");
    TENON_ASSIGN_OR_RETURN(Imported answer, WithinMemory([&] {
                             return ImportEdited(out->bytes(), "<answer of the plug-in's pass>",
                                                 before);
                           }));
    for (const Defect& defect : answer.defects) {
      // A node may ask to be beside a node that the pass has removed. It then asks for nothing.
      if (defect.code != DefectCode::kColocation) return absl::InvalidArgumentError(defect.message);
    }
    TENON_RETURN_IF_ERROR(
        CheckAnswer(before, answer.graph, item_, kernels_, name(), optimizer_->plugin));
    return std::optional<Graph>(std::move(answer.graph));
  }

  // The plug-in's bytes. nullopt if they are equal to `in`, or for ABORTED, the plug-in's word for
  // "not changed". The host does not use the heap between the answer and the deallocator: memory
  // that the plug-in has freed by mistake then still holds the answer, or its second release is
  // found, and no other owner's data is damaged.
  absl::StatusOr<std::optional<OwnPages>> CallOptimize(const Graph& graph, const std::string& in) {
    const TF_Buffer graph_in{in.data(), in.size(), nullptr};
    TF_Buffer graph_out{nullptr, 0, nullptr};
    const TF_GrapplerItem item{&graph, &item_};
    const WorkOnGraph work(in);
    CStatus status;
    absl::Status result = Call("optimize_func", [&] {
      optimizer_->fns.optimize_func(object_, &graph_in, &item, &graph_out, status.get());
    });
    if (result.ok()) result = status.ToStatus();
    std::optional<OwnPages> out;
    if (result.ok()) result = ReadAnswer(in, graph_out, out);
    if (graph_out.data_deallocator != nullptr) {
      WarnOf(Call("data_deallocator", [&] {
        graph_out.data_deallocator(const_cast<void*>(graph_out.data), graph_out.length);
      }));
    }
    if (absl::IsAborted(result)) return std::nullopt;
    TENON_RETURN_IF_ERROR(result);
    return out;
  }

  // Copies the answer out of the plug-in's buffer; leaves `out` empty if it is equal to `in`.
  // Address and length are the plug-in's word: the length is checked before the first byte is read.
  static absl::Status ReadAnswer(std::string_view in, const TF_Buffer& answer,
                                 std::optional<OwnPages>& out) {
    TENON_RETURN_IF_ERROR(CheckBytes(in.size(), answer.length));
    const std::string_view bytes = BufferBytes(answer);
    // Many passes answer with the graph that they were given: nothing need be imported then.
    if (bytes == in) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(out, OwnPages::CopyOf(bytes));
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

const std::string* GraphInPluginPass() {
  if (graph_of_thread != nullptr) return graph_of_thread;
  for (GraphInPass* entry = graphs_in_passes.load(); entry != nullptr; entry = entry->next) {
    if (const std::string* const graph = entry->graph.load()) return graph;
  }
  return nullptr;
}

}  // namespace tenon
