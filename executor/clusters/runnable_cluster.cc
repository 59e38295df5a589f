#include "executor/clusters/runnable_cluster.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/clusters/cluster_check.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "plugin/kernels/kernel.h"

namespace tenon {
namespace {

using pjrt::BufferSpec;

// A cluster with so many programs, each of which ran less than so often, is not worth compiling any
// more. The numbers are TensorFlow's.
constexpr int64_t kMostClusterPrograms = 10;
constexpr int64_t kFewClusterRuns = 50;

// The state of a step that runs ordinary kernels.
struct OrdinaryStep {
  RunnableCluster* cluster;
  std::vector<BufferSpec> inputs;
};

absl::Status RunProgramStep(const void* state, const StepArgs& args) {
  const auto& program = *static_cast<const ClusterProgram*>(state);
  return program.cluster->RunProgram(program, args);
}

absl::Status RunOrdinaryStep(const void* state, const StepArgs& args) {
  const auto& step = *static_cast<const OrdinaryStep*>(state);
  return step.cluster->RunOrdinary(step.inputs, args);
}

// Shapes of all inputs, and the bytes of those that decide shapes.
std::string SignatureOfInputs(const Prepare& p, size_t num_constants) {
  std::string signature;
  for (int i = 0; i < p.num_inputs(); ++i) {
    absl::StrAppend(&signature, p.input_shape(i).ToString());
    if (static_cast<size_t>(i) >= num_constants) continue;
    if (const Tensor* value = p.input_value(i); value != nullptr)
      signature.append(static_cast<const char*>(value->data()), value->bytes());
  }
  return signature;
}

std::vector<BufferSpec> InputSpecsOf(const Prepare& p) {
  std::vector<BufferSpec> inputs;
  for (int i = 0; i < p.num_inputs(); ++i) inputs.push_back({p.input_type(i), p.input_shape(i)});
  return inputs;
}

// Whether the same may succeed another time.
bool MayPass(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status) ||
         absl::IsDeadlineExceeded(status);
}

// A view of memory that the caller keeps.
Tensor ViewOfMemory(const BufferSpec& spec, void* data) {
  return Tensor(spec.type, spec.shape,
                BufferRef::Adopt(tenon::Buffer::Wrap(data, spec.bytes(), nullptr, nullptr)));
}

}  // namespace

RunnableCluster::RunnableCluster(Cluster cluster, const ClusterOptions& options,
                                 WeightStore& weights, OrdinaryKernelsFactory ordinary)
    : cluster_(std::move(cluster)),
      options_(options),
      weights_(weights),
      make_ordinary_(std::move(ordinary)) {}

ClusterRuns RunnableCluster::runs() const {
  absl::MutexLock lock(&reason_mutex_);
  return {programs_made_, runs_, ordinary_runs_, reason_};
}

absl::Status RunnableCluster::Named(const absl::Status& status) const {
  return Annotate(status, absl::StrCat(cluster_.name, " on ", cluster_.device->short_name(), ": "));
}

void RunnableCluster::NoteReason(const absl::Status& why) {
  const absl::Status named = Named(why);
  {
    absl::MutexLock lock(&reason_mutex_);
    if (reason_ == why.message()) return;  // it was told
    reason_ = std::string(why.message());
  }
  WarnOf(Annotate(named, "", "; ordinary kernels run in its place"));
}

absl::Status RunnableCluster::Prepare(tenon::Prepare& p) {
  const Program program = ProgramFor(p);
  if (!program.ok()) return PrepareOrdinary(p, program.status());
  for (size_t i = 0; i < (*program)->num_results; ++i)
    p.set_output_shape(static_cast<int>(i), (*program)->results[i].shape);
  p.set_run(&RunProgramStep, *program);
  return absl::OkStatus();
}

RunnableCluster::Program RunnableCluster::ProgramFor(const tenon::Prepare& p) {
  const std::string signature = SignatureOfInputs(p, cluster_.constants.size());
  absl::MutexLock lock(&mutex_);
  const auto it = programs_.find(signature);
  if (it != programs_.end()) return it->second;
  const int64_t made = programs_made_;
  if (made >= kMostClusterPrograms && runs_ < made * kFewClusterRuns) {
    return absl::UnimplementedError(absl::StrCat("it was compiled for ", made,
                                                 " sets of shapes, which ran ", runs_.load(),
                                                 " times in all"));
  }
  Program program = MakeProgram(p);
  // The next run with these shapes may have the memory or the device that this one lacked.
  if (!MayPass(program.status())) programs_.emplace(signature, program);
  return program;
}

RunnableCluster::Program RunnableCluster::MakeProgram(const tenon::Prepare& p) {
  std::vector<stablehlo::Argument> inputs;
  for (int i = 0; i < p.num_inputs(); ++i) {
    const auto index = static_cast<size_t>(i);
    const bool constant = index < cluster_.constants.size();
    stablehlo::Argument& input = inputs.emplace_back();
    input.output = constant ? cluster_.constants[index]
                            : cluster_.arguments[index - cluster_.constants.size()];
    input.dtype = BaseType(p.input_type(i));
    input.shape = p.input_shape(i);
    if (const Tensor* value = constant ? p.input_value(i) : nullptr; value != nullptr)
      input.value = *value;
  }
  Program program = CompileCluster(cluster_, std::move(inputs), options_, weights_, this);
  if (program.ok()) ++programs_made_;
  return program;
}

absl::Status RunnableCluster::PrepareOrdinary(tenon::Prepare& p, const absl::Status& why) {
  if (options_.errors == XlaErrors::kFail) return Named(why);
  NoteReason(why);
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(&RunOrdinaryStep, std::make_shared<OrdinaryStep>(OrdinaryStep{this, InputSpecsOf(p)}));
  return absl::OkStatus();
}

absl::Status RunnableCluster::RunProgram(const ClusterProgram& program, const StepArgs& args) {
  if (program.wrong.load(std::memory_order_acquire)) {
    return options_.errors == XlaErrors::kFail ? Named(program.difference)
                                               : Replace(program, args, std::nullopt);
  }
  const stablehlo::Check* failed = nullptr;
  absl::Status status = RunCompiled(program, cluster_, args.in, args.out, &failed);
  if (status.ok() && failed == nullptr && options_.judge != nullptr &&
      !program.compared.exchange(true)) {
    status = CompareRun(program, args);
  }
  if (!status.ok()) {
    return options_.errors == XlaErrors::kFail ? Named(status) : Replace(program, args, status);
  }
  runs_.fetch_add(1, std::memory_order_relaxed);
  if (failed == nullptr) return absl::OkStatus();
  // Ordinary kernels find the exact words.
  TENON_RETURN_IF_ERROR(ComputeOrdinary(program.inputs, args.in).status());
  return {failed->code, absl::StrCat("node '", failed->name, "': ", failed->message)};
}

absl::Status RunnableCluster::CompareRun(const ClusterProgram& program, const StepArgs& args) {
  const absl::StatusOr<std::vector<Tensor>> want = ComputeOrdinary(program.inputs, args.in);
  if (!want.ok()) {
    program.compared = false;  // so that a later run is
    return want.status();
  }
  std::vector<Tensor> got, values;
  for (size_t i = 0; i < want->size(); ++i)
    got.push_back(ViewOfMemory(program.results[i], args.out[i]));
  std::optional<std::string> difference = FirstDifference(cluster_, *want, got, options_);
  if (!difference) return absl::OkStatus();
  for (size_t i = 0; i < program.inputs.size(); ++i)
    values.push_back(ViewOfMemory(program.inputs[i], args.in[i]));
  const auto node = FindWrongNode(cluster_, program.arguments, values, options_, make_ordinary_);
  program.difference = absl::InternalError(absl::StrCat(
      "its program computes other numbers than ordinary kernels, of result ", *difference,
      node.ok() && *node ? absl::StrCat("; the first wrong node is ", **node) : ""));
  program.wrong.store(true, std::memory_order_release);
  return program.difference;
}

absl::Status RunnableCluster::Replace(const ClusterProgram& program, const StepArgs& args,
                                      const std::optional<absl::Status>& why) {
  if (why) NoteReason(*why);
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> results,
                         ComputeOrdinary(program.inputs, args.in));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].bytes() != program.results[i].bytes()) {
      return Named(absl::InternalError(absl::StrCat(
          "result ", i, " of ordinary kernels has the shape ", results[i].shape().ToString(),
          ", the program's ", program.results[i].shape.ToString())));
    }
    if (results[i].bytes() > 0) std::memcpy(args.out[i], results[i].data(), results[i].bytes());
  }
  return absl::OkStatus();
}

absl::Status RunnableCluster::RunOrdinary(absl::Span<const BufferSpec> inputs,
                                          const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> results, ComputeOrdinary(inputs, args.in));
  for (size_t i = 0; i < results.size(); ++i)
    args.run_state->SetOutput(static_cast<int>(i), std::move(results[i]));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> RunnableCluster::ComputeOrdinary(
    absl::Span<const BufferSpec> inputs, void* const* in) {
  OrdinaryKernels* ordinary;
  {
    absl::MutexLock lock(&ordinary_mutex_);
    if (ordinary_ == nullptr) {
      TENON_ASSIGN_OR_RETURN(ordinary_, make_ordinary_(cluster_));
    }
    ordinary = ordinary_.get();
  }
  ordinary_runs_.fetch_add(1, std::memory_order_relaxed);
  std::vector<Tensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) values.push_back(ViewOfMemory(inputs[i], in[i]));
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> results, ordinary->Run(values));
  // A result may be an input handed through, whose memory is the caller's.
  for (Tensor& result : results) {
    if (result.buffer()->owned()) continue;
    TENON_ASSIGN_OR_RETURN(result, result.Copy());
  }
  return results;
}

}  // namespace tenon
