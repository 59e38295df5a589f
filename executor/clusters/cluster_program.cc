#include "executor/clusters/cluster_program.h"

#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/passes/evaluator.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/kept_buffers.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {
namespace {

using pjrt::BufferSpec;
using pjrt::HostData;

// MLIR's parser names the place in a text as "-:LINE:COLUMN:".
NodeId NodeOfCompilerMessage(std::string_view message, const std::vector<NodeId>& line_nodes) {
  constexpr std::string_view kMark = "-:";
  for (size_t at = message.find(kMark); at != message.npos; at = message.find(kMark, at + 1)) {
    const std::string_view rest = message.substr(at + kMark.size());
    size_t line = 0;
    if (!absl::SimpleAtoi(rest.substr(0, rest.find(':')), &line)) continue;
    if (line >= 1 && line <= line_nodes.size()) return line_nodes[line - 1];
  }
  return kNoNode;
}

absl::Status AtNodeOfLine(const absl::Status& status, const Graph& graph,
                          const std::vector<NodeId>& line_nodes) {
  const NodeId n = NodeOfCompilerMessage(status.message(), line_nodes);
  if (n == kNoNode) return status;
  return Annotate(status, absl::StrCat("node '", graph.name(n), "' (", graph.op_name(n), "): "));
}

absl::StatusOr<std::vector<ClusterProgram::Parameter>> BindProgramParameters(
    const Cluster& cluster, const stablehlo::Program& program, pjrt::Client& client, size_t index,
    WeightStore& weights) {
  std::vector<ClusterProgram::Parameter> parameters;
  for (const stablehlo::Parameter& p : program.parameters) {
    ClusterProgram::Parameter bound{p.argument, nullptr, {p.dtype, p.shape}};
    if (p.argument < 0) {
      TENON_ASSIGN_OR_RETURN(bound.weight, weights.Get(cluster, client, index, p.weight, p.value));
    }
    parameters.push_back(std::move(bound));
  }
  return parameters;
}

// Staging memory costs a copy on the host, which for so many bytes is no faster than the plug-in's
// own way from memory that is not mapped.
constexpr size_t kMostStagedBytes = size_t{4} << 20;
constexpr size_t kStagedAlignment = 64;

// Gives each input and each result its place in staging memory.
void PlanStaging(ClusterProgram& program) {
  const auto place = [&](const BufferSpec& spec) {
    const size_t at = program.staged_bytes;
    program.staged_bytes += (spec.bytes() + kStagedAlignment - 1) & ~(kStagedAlignment - 1);
    return at;
  };
  for (ClusterProgram::Parameter& p : program.parameters)
    if (p.weight == nullptr) p.staged_at = place(p.spec);
  for (const BufferSpec& result : program.results)
    program.results_staged_at.push_back(place(result));
}

// What one run holds until it is over.
struct ClusterRun {
  pjrt::MappedMemory::Block staging;  // or nothing: copies use the caller's memory
  absl::InlinedVector<pjrt::Buffer, 8> uploads;
  absl::InlinedVector<pjrt::Event, 8> transfers;  // of `uploads`
  absl::InlinedVector<pjrt::abi::Buffer*, 32> arguments;
  absl::InlinedVector<pjrt::Buffer, 8> results;
  pjrt::Event done;
};

absl::Status UploadInputs(const ClusterProgram& program, const Cluster& cluster, void* const* in,
                          ClusterRun& run) {
  pjrt::Client& client = *program.client;
  for (const ClusterProgram::Parameter& p : program.parameters) {
    if (p.weight != nullptr) {
      run.arguments.push_back(p.weight->get());
      continue;
    }
    // A pointer to nothing may be null, which plug-ins need not take.
    static constexpr char kNothing = 0;
    const void* data = in[p.input] == nullptr ? &kNothing : in[p.input];
    if (run.staging && p.spec.bytes() > 0)
      data = std::memcpy(run.staging.data() + p.staged_at, data, p.spec.bytes());
    // The caller keeps its memory until the run is over, and so does `run`.
    TENON_ASSIGN_OR_RETURN(pjrt::Buffer buffer,
                           client.Upload(data, p.spec, program.index, HostData::kUntilBufferGone,
                                         &run.transfers.emplace_back(), cluster.name));
    run.arguments.push_back(buffer.get());
    run.uploads.push_back(std::move(buffer));
  }
  return absl::OkStatus();
}

using Where = ClusterProgram::Where;

absl::StatusOr<Where> FindWhere(const ClusterProgram& program, const Cluster& cluster,
                                const ClusterRun& run) {
  const Where known = program.where.load(std::memory_order_relaxed);
  if (known != Where::kUnknown) return known;
  Where where = Where::kHost;
  for (const pjrt::Buffer& result : run.results) {
    TENON_ASSIGN_OR_RETURN(const bool readable, result.IsHostReadable(cluster.name));
    if (!readable) where = Where::kDevice;
  }
  program.where.store(where, std::memory_order_relaxed);
  return where;
}

absl::Status CopyFromHost(const ClusterProgram& program, const Cluster& cluster,
                          absl::Span<void* const> targets, const ClusterRun& run) {
  for (size_t i = 0; i < targets.size(); ++i) {
    const size_t bytes = program.results[i].bytes();
    if (bytes == 0) continue;
    TENON_ASSIGN_OR_RETURN(const void* const data, run.results[i].Pointer(cluster.name));
    std::memcpy(targets[i], data, bytes);
  }
  return absl::OkStatus();
}

// Of two errors the one after which the plug-in may still use memory of the run.
void Join(absl::Status& status, const absl::Status& next) {
  if (absl::IsDeadlineExceeded(next) && !absl::IsDeadlineExceeded(status)) {
    status = next;
  } else {
    status.Update(next);
  }
}

// All copies are under way before the first is awaited.
absl::Status CopyFromDevice(const ClusterProgram& program, const Cluster& cluster,
                            absl::Span<void* const> targets, const ClusterRun& run) {
  absl::InlinedVector<pjrt::Event, 8> copies;
  absl::Status status;
  for (size_t i = 0; status.ok() && i < targets.size(); ++i) {
    const BufferSpec& spec = program.results[i];
    if (spec.bytes() == 0) continue;
    void* const to = run.staging ? run.staging.data() + program.results_staged_at[i] : targets[i];
    absl::StatusOr<pjrt::Event> copy =
        run.results[i].ToHost(to, spec.bytes(), spec.shape.rank(), cluster.name);
    status = copy.status();
    if (status.ok()) copies.push_back(*std::move(copy));
  }
  // Also after an error: the copies under way write to the caller's memory.
  const double timeout_s = program.client->timeout_s();
  for (pjrt::Event& copy : copies)
    Join(status, copy.Await(timeout_s, "a copy to the host", cluster.name));
  if (!run.staging || !status.ok()) return status;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (const size_t bytes = program.results[i].bytes(); bytes > 0)
      std::memcpy(targets[i], run.staging.data() + program.results_staged_at[i], bytes);
  }
  return status;
}

absl::Status DownloadResults(const ClusterProgram& program, const Cluster& cluster,
                             absl::Span<void* const> targets, ClusterRun& run) {
  const double timeout_s = program.client->timeout_s();
  TENON_ASSIGN_OR_RETURN(const Where where, FindWhere(program, cluster, run));
  if (where == Where::kHost) {
    TENON_RETURN_IF_ERROR(run.done.Await(timeout_s, "the run", cluster.name));
    return CopyFromHost(program, cluster, targets, run);
  }
  // The device copies behind the run: the host need not wait between the two.
  absl::Status status = CopyFromDevice(program, cluster, targets, run);
  Join(status, run.done.Await(timeout_s, "the run", cluster.name));
  // An argument that the program does not read may still be on its way. Where buffers lie in the
  // caller's memory, their transfers end with them.
  run.uploads.clear();
  for (pjrt::Event& transfer : run.transfers)
    Join(status, transfer.Await(timeout_s, "a transfer to the device", cluster.name));
  return status;
}

absl::Status ExecuteProgram(const ClusterProgram& program, const Cluster& cluster, void* const* in,
                            absl::Span<void* const> targets, ClusterRun& run) {
  TENON_RETURN_IF_ERROR(UploadInputs(program, cluster, in, run));
  run.results.resize(program.results.size());
  TENON_RETURN_IF_ERROR(program.executable->Execute(run.arguments, {}, absl::MakeSpan(run.results),
                                                    &run.done, cluster.name));
  return DownloadResults(program, cluster, targets, run);
}

// After an error: the plug-in may still read the caller's memory, which ends with the run.
void AwaitTransfers(const ClusterProgram& program, const Cluster& cluster, ClusterRun& run,
                    absl::Status& status) {
  run.uploads.clear();
  const double timeout_s = program.client->timeout_s();
  for (pjrt::Event& transfer : run.transfers)
    Join(status, transfer.Await(timeout_s, "a transfer to the device", cluster.name));
  // A copy that was not over in time may still write.
  run.staging.Abandon();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const pjrt::Buffer>> WeightStore::Get(const Cluster& cluster,
                                                                     pjrt::Client& client,
                                                                     size_t index, NodeId node,
                                                                     const Tensor& value) {
  const Key key(&client, index, node);
  if (node != kNoNode) {
    absl::MutexLock lock(&mutex_);
    const auto it = buffers_.find(key);
    if (it != buffers_.end()) return it->second;
  }
  absl::StatusOr<pjrt::Buffer> buffer =
      client.Upload(value.data(), {value.dtype(), value.shape()}, index, HostData::kUntilUploaded,
                    nullptr, cluster.name);
  if (absl::IsDeadlineExceeded(buffer.status())) KeepForEver(value.buffer());  // it may be read yet
  TENON_RETURN_IF_ERROR(buffer.status());
  cluster.graph->DropPages(value);
  auto shared = std::make_shared<const pjrt::Buffer>(*std::move(buffer));
  if (node == kNoNode) return shared;
  absl::MutexLock lock(&mutex_);
  const auto [it, is_new] = buffers_.emplace(key, std::move(shared));
  if (is_new) bytes_ += static_cast<int64_t>(value.bytes());
  return it->second;
}

int64_t WeightStore::bytes() const {
  absl::MutexLock lock(&mutex_);
  return bytes_;
}

absl::StatusOr<ProgramTarget> TargetOf(const Cluster& cluster, const ClusterOptions& options) {
  ProgramTarget target;
  TENON_ASSIGN_OR_RETURN(target.client, cluster.device->ProgramClient());
  TENON_ASSIGN_OR_RETURN(target.index, cluster.device->IndexIn(*target.client));
  target.client->set_timeout_s(options.timeout_s);
  target.client->set_program_folder(options.program_cache.empty()
                                        ? PolicyOfEnvironment().persistent_cache_directory
                                        : options.program_cache);
  return target;
}

absl::StatusOr<stablehlo::Program> LowerCluster(const Cluster& cluster,
                                                absl::Span<const stablehlo::Argument> inputs,
                                                const ClusterOptions& options, bool trace) {
  CpuEvaluator evaluator(KernelRegistry::Global());
  stablehlo::LoweringRequest request;
  request.graph = cluster.graph.get();
  request.nodes = cluster.nodes;
  request.arguments = inputs;
  request.results = cluster.results;
  request.evaluator = &evaluator;
  request.allow_tf32 = options.allow_tf32;
  request.trace = trace;
  return stablehlo::Lower(request);
}

absl::StatusOr<std::shared_ptr<const ClusterProgram>> CompileCluster(
    const Cluster& cluster, const stablehlo::Program& lowered, const ProgramTarget& target,
    WeightStore& weights) {
  auto program = std::make_shared<ClusterProgram>();
  for (const stablehlo::Result& result : lowered.results)
    program->results.push_back({result.dtype, result.shape});
  program->num_results = cluster.results.size();
  program->checks = lowered.checks;
  program->client = target.client;
  program->index = target.index;
  TENON_ASSIGN_OR_RETURN(
      program->parameters,
      BindProgramParameters(cluster, lowered, *program->client, program->index, weights));
  PlanStaging(*program);
  absl::StatusOr<std::shared_ptr<pjrt::Executable>> executable =
      program->client->Compile(lowered.text, program->index, program->results, cluster.name);
  if (!executable.ok())
    return AtNodeOfLine(executable.status(), *cluster.graph, lowered.line_nodes);
  program->executable = *std::move(executable);
  return program;
}

absl::Status RunCompiled(const ClusterProgram& program, const Cluster& cluster, void* const* in,
                         void* const* out, const stablehlo::Check** failed, bool* in_use) {
  ClusterRun run;
  // Where programs leave their results to the host, inputs need no copy either.
  if (program.where.load(std::memory_order_relaxed) == Where::kDevice &&
      program.staged_bytes <= kMostStagedBytes)
    run.staging = program.client->mapped_memory().Take(program.staged_bytes);
  absl::InlinedVector<void*, 8> targets(out, out + program.num_results);
  // In a buffer, so that they can outlive the call.
  const size_t num_flags = program.checks.size();
  BufferRef flags;
  if (num_flags > 0) {
    flags = BufferRef::Adopt(Buffer::Allocate(num_flags));
    if (!flags) return absl::ResourceExhaustedError("no memory for the checks of a cluster");
  }
  unsigned char* const is_met =
      num_flags > 0 ? static_cast<unsigned char*>(flags->data()) : nullptr;
  for (size_t i = 0; i < num_flags; ++i) targets.push_back(&is_met[i]);
  if (absl::Status status = ExecuteProgram(program, cluster, in, targets, run); !status.ok()) {
    const bool is_staged = static_cast<bool>(run.staging);
    AwaitTransfers(program, cluster, run, status);
    *in_use = !is_staged && absl::IsDeadlineExceeded(status);
    if (*in_use) KeepForEver(std::move(flags));
    return status;
  }
  for (size_t i = 0; i < num_flags && *failed == nullptr; ++i) {
    if (is_met[i] == 0) *failed = &program.checks[i];
  }
  return absl::OkStatus();
}

}  // namespace tenon
