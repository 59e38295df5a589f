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

// A cluster that was compiled so many times, for programs that ran less than so often each on
// average, is not worth compiling any more. The numbers are TensorFlow's.
constexpr int64_t kMostClusterPrograms = 10;
constexpr int64_t kFewClusterRuns = 50;
constexpr size_t kMostClusterSteps = 1024;

// The state of a step that runs ordinary kernels.
struct OrdinaryStep {
  RunnableCluster* cluster;
  std::vector<BufferSpec> inputs;
};

absl::Status RunProgramStep(const void* state, const StepArgs& args) {
  const auto& step = *static_cast<const ClusterStep*>(state);
  return step.cluster->RunStep(step, args);
}

absl::Status RunOrdinaryStep(const void* state, const StepArgs& args) {
  const auto& step = *static_cast<const OrdinaryStep*>(state);
  return step.cluster->RunOrdinary(step.inputs, args);
}

std::vector<BufferSpec> SpecsOf(absl::Span<const stablehlo::Argument> inputs) {
  std::vector<BufferSpec> specs;
  for (const stablehlo::Argument& input : inputs) specs.push_back({input.dtype, input.shape});
  return specs;
}

std::vector<BufferSpec> ResultSpecs(const stablehlo::Program& program, size_t count) {
  std::vector<BufferSpec> specs;
  for (size_t i = 0; i < count; ++i)
    specs.push_back({program.results[i].dtype, program.results[i].shape});
  return specs;
}

// What is compared with other programs. Constants of the graph are known by their nodes.
stablehlo::Program OutlineOf(const stablehlo::Program& program) {
  stablehlo::Program outline;
  outline.results = program.results;
  if (program.trace == nullptr) return outline;
  outline.checks = program.checks;
  outline.trace = program.trace;
  outline.parameters = program.parameters;
  for (stablehlo::Parameter& p : outline.parameters) {
    if (p.weight != kNoNode) p.value = Tensor();
  }
  return outline;
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

// Whether a program that was compiled on another thread may be made at another try.
bool FailedForNow(const ProgramFuture& future) {
  const ProgramFuture::Program* const program = future.Get();
  return program != nullptr && MayPass(program->status());
}

// A view of memory that the caller keeps.
Tensor ViewOfMemory(const BufferSpec& spec, void* data) {
  return Tensor(spec.type, spec.shape,
                BufferRef::Adopt(tenon::Buffer::Wrap(data, spec.bytes(), nullptr, nullptr)));
}

}  // namespace

RunnableCluster::RunnableCluster(Cluster cluster, const ClusterOptions& options,
                                 ClusterSurroundings& surroundings)
    : cluster_(std::make_shared<const Cluster>(std::move(cluster))),
      options_(options),
      buckets_(BucketsOf(options)),
      surroundings_(surroundings),
      open_(cluster_->constants.size(), cluster_->argument_shapes) {}

std::string RunnableCluster::SignatureOf(absl::Span<const stablehlo::Argument> inputs) {
  std::string signature;
  for (const stablehlo::Argument& input : inputs) {
    absl::StrAppend(&signature, input.shape.ToString());
    if (input.value.initialized())
      signature.append(static_cast<const char*>(input.value.data()), input.value.bytes());
  }
  return signature;
}

ClusterRuns RunnableCluster::runs() const {
  ClusterRuns runs;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [signature, made] : programs_) {
      if (!made.ok()) continue;
      const ProgramFuture::Program* const program = (*made)->future->Get();
      runs.compiling += program == nullptr ? 1 : 0;
      runs.programs += program != nullptr && program->ok() ? 1 : 0;
    }
  }
  runs.runs = runs_;
  runs.padded_runs = padded_runs_;
  runs.ordinary_runs = ordinary_runs_;
  absl::MutexLock lock(&reason_mutex_);
  runs.reason = reason_;
  for (const auto& [dim, why_not] : dims_)
    runs.open_dims.push_back({InputName(dim.input), dim.axis, why_not});
  return runs;
}

std::string RunnableCluster::InputName(size_t input) const {
  return cluster_->graph->OutputName(cluster_->arguments[input - cluster_->constants.size()]);
}

absl::Status RunnableCluster::Named(const absl::Status& status) const {
  return Annotate(status,
                  absl::StrCat(cluster_->name, " on ", cluster_->device->short_name(), ": "));
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
  const Step step = StepFor(p);
  if (!step.ok()) return PrepareOrdinary(p, step.status());
  for (size_t i = 0; i < (*step)->results.size(); ++i)
    p.set_output_shape(static_cast<int>(i), (*step)->results[i].shape);
  p.set_scratch_bytes((*step)->padding.bytes());
  p.set_run(&RunProgramStep, *step);
  return absl::OkStatus();
}

absl::StatusOr<RunnableCluster::Inputs> RunnableCluster::InputsOf(const tenon::Prepare& p) const {
  Inputs inputs;
  for (int i = 0; i < p.num_inputs(); ++i) {
    const auto index = static_cast<size_t>(i);
    const bool constant = index < cluster_->constants.size();
    stablehlo::Argument& input = inputs.emplace_back();
    input.output = constant ? cluster_->constants[index]
                            : cluster_->arguments[index - cluster_->constants.size()];
    input.dtype = BaseType(p.input_type(i));
    input.shape = p.input_shape(i);
    // The value may go when the preparation is over.
    if (const Tensor* value = constant ? p.input_value(i) : nullptr; value != nullptr) {
      TENON_ASSIGN_OR_RETURN(input.value, value->Copy());
    }
  }
  return inputs;
}

RunnableCluster::Step RunnableCluster::StepFor(const tenon::Prepare& p) {
  TENON_ASSIGN_OR_RETURN(Inputs inputs, InputsOf(p));
  std::string signature = SignatureOf(inputs);
  absl::MutexLock lock(&mutex_);
  const auto it = steps_.find(signature);
  if (it != steps_.end() && !(it->second.ok() && FailedForNow(*(*it->second)->program)))
    return it->second;
  Step step = MakeStep(std::move(inputs));
  // The next run with these shapes may have the memory or the device that this one lacked.
  if (MayPass(step.status())) return step;
  // Plans keep their steps. What is dropped here is made again from the programs.
  if (steps_.size() >= kMostClusterSteps) steps_.clear();
  steps_.insert_or_assign(std::move(signature), step);
  return step;
}

RunnableCluster::Step RunnableCluster::MakeStep(Inputs inputs) {
  if (!buckets_.on()) return StepOf(inputs, inputs, nullptr);
  open_.Note(inputs);
  if (programs_.contains(SignatureOf(inputs))) return StepOf(inputs, inputs, nullptr);
  TENON_ASSIGN_OR_RETURN(stablehlo::Program exact,
                         LowerCluster(*cluster_, inputs, options_, /*trace=*/true));
  std::optional<PaddedInputs> padded = Pad(inputs, exact);
  if (!padded) return StepOf(inputs, inputs, &exact);
  stablehlo::Program* const lowered = padded->lowered ? &*padded->lowered : nullptr;
  TENON_ASSIGN_OR_RETURN(auto step, StepOf(inputs, padded->inputs, lowered));
  std::vector<BufferSpec> results = ResultSpecs(exact, cluster_->results.size());
  step->padding = PaddedMemory(step->inputs, SpecsOf(padded->inputs), results, step->results);
  step->results = std::move(results);
  return step;
}

absl::StatusOr<std::shared_ptr<ClusterStep>> RunnableCluster::StepOf(const Inputs& inputs,
                                                                     const Inputs& program_inputs,
                                                                     stablehlo::Program* lowered) {
  TENON_ASSIGN_OR_RETURN(const auto made, ProgramOf(program_inputs, lowered));
  auto step = std::make_shared<ClusterStep>();
  step->cluster = this;
  step->program = made->future;
  step->arguments = inputs;
  step->inputs = SpecsOf(inputs);
  step->results = ResultSpecs(made->outline, cluster_->results.size());
  return step;
}

RunnableCluster::Made RunnableCluster::ProgramOf(const Inputs& inputs,
                                                 stablehlo::Program* lowered) {
  std::string signature = SignatureOf(inputs);
  const auto it = programs_.find(signature);
  if (it != programs_.end() && !(it->second.ok() && FailedForNow(*(*it->second)->future)))
    return it->second;
  TENON_RETURN_IF_ERROR(MayCompile());
  Made made = MakeProgram(inputs, lowered);
  if (!MayPass(made.status())) programs_.insert_or_assign(std::move(signature), made);
  return made;
}

absl::Status RunnableCluster::MayCompile() {
  if (!gave_up_.ok() || compilations_ < kMostClusterPrograms) return gave_up_;
  const int64_t runs = runs_;
  if (runs >= compilations_ * kFewClusterRuns) return absl::OkStatus();
  gave_up_ = absl::UnimplementedError(absl::StrCat("it was compiled for ", compilations_,
                                                   " sets of shapes, which ran ", runs,
                                                   " times in all, and is compiled for no others"));
  return gave_up_;
}

RunnableCluster::Made RunnableCluster::MakeProgram(const Inputs& inputs,
                                                   stablehlo::Program* lowered) {
  stablehlo::Program lowered_here;
  if (lowered == nullptr) {
    TENON_ASSIGN_OR_RETURN(lowered_here, LowerCluster(*cluster_, inputs, options_, buckets_.on()));
    lowered = &lowered_here;
  }
  TENON_ASSIGN_OR_RETURN(const ProgramTarget target, TargetOf(*cluster_, options_));
  auto made = std::make_shared<MadeProgram>();
  made->outline = OutlineOf(*lowered);
  const auto compile = [cluster = cluster_, target, weights = surroundings_.weights,
                        program = std::make_shared<const stablehlo::Program>(std::move(*lowered))]()
      -> ProgramFuture::Program { return CompileCluster(*cluster, *program, target, *weights); };
  if (IsAsync(options_)) {
    ++compilations_;
    surroundings_.compiler.Add([compile, future = made->future] { future->Set(compile()); });
    return made;
  }
  ProgramFuture::Program program = compile();
  if (MayPass(program.status())) return program.status();
  ++compilations_;
  TENON_RETURN_IF_ERROR(program.status());
  made->future->Set(std::move(program));
  return made;
}

absl::Status RunnableCluster::PrepareOrdinary(tenon::Prepare& p, const absl::Status& why) {
  if (options_.errors == XlaErrors::kFail) return Named(why);
  NoteReason(why);
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(&RunOrdinaryStep, std::make_shared<OrdinaryStep>(OrdinaryStep{this, InputSpecsOf(p)}));
  return absl::OkStatus();
}

absl::Status RunnableCluster::RunStep(const ClusterStep& step, const StepArgs& args) {
  const ProgramFuture::Program* const program = step.program->Get();
  if (program == nullptr) return Replace(step, args, std::nullopt);
  if (program->ok()) return RunProgram(***program, step, args);
  return options_.errors == XlaErrors::kFail ? Named(program->status())
                                             : Replace(step, args, program->status());
}

absl::Status RunnableCluster::RunProgram(const ClusterProgram& program, const ClusterStep& step,
                                         const StepArgs& args) {
  if (program.wrong.load(std::memory_order_acquire)) {
    return options_.errors == XlaErrors::kFail ? Named(program.difference)
                                               : Replace(step, args, std::nullopt);
  }
  const bool padded = step.padding.used();
  PaddedMemory::Pointers pointers{args.in, args.out};
  if (padded) pointers = step.padding.Fill(args.in, args.out, args.scratch);
  const stablehlo::Check* failed = nullptr;
  bool in_use = false;
  absl::Status status =
      RunCompiled(program, *cluster_, pointers.in, pointers.out, &failed, &in_use);
  // Of other results a late copy could make these again.
  if (in_use) return Named(status);
  if (padded && status.ok()) step.padding.Take(args.out, pointers);
  if (status.ok() && failed == nullptr && options_.judge != nullptr &&
      !program.compared.exchange(true)) {
    status = CompareRun(program, step, args);
  }
  if (!status.ok()) {
    return options_.errors == XlaErrors::kFail ? Named(status) : Replace(step, args, status);
  }
  runs_.fetch_add(1, std::memory_order_relaxed);
  if (padded) padded_runs_.fetch_add(1, std::memory_order_relaxed);
  if (failed == nullptr) return absl::OkStatus();
  // Ordinary kernels find the exact words, or that an element of the padding is at fault.
  TENON_RETURN_IF_ERROR(Replace(step, args, std::nullopt));
  if (padded) return absl::OkStatus();
  return {failed->code, absl::StrCat("node '", failed->name, "': ", failed->message)};
}

absl::Status RunnableCluster::CompareRun(const ClusterProgram& program, const ClusterStep& step,
                                         const StepArgs& args) {
  const absl::StatusOr<std::vector<Tensor>> want = ComputeOrdinary(step.inputs, args.in);
  if (!want.ok()) {
    program.compared = false;  // so that a later run is
    return want.status();
  }
  std::vector<Tensor> got, values;
  for (size_t i = 0; i < want->size(); ++i)
    got.push_back(ViewOfMemory(step.results[i], args.out[i]));
  std::optional<std::string> difference = FirstDifference(*cluster_, *want, got, options_);
  if (!difference) return absl::OkStatus();
  for (size_t i = 0; i < step.inputs.size(); ++i)
    values.push_back(ViewOfMemory(step.inputs[i], args.in[i]));
  const auto node =
      FindWrongNode(*cluster_, step.arguments, values, options_, surroundings_.ordinary);
  program.difference = absl::InternalError(absl::StrCat(
      "its program computes other numbers than ordinary kernels, of result ", *difference,
      node.ok() && *node ? absl::StrCat("; the first wrong node is ", **node) : ""));
  program.wrong.store(true, std::memory_order_release);
  return program.difference;
}

absl::Status RunnableCluster::Replace(const ClusterStep& step, const StepArgs& args,
                                      const std::optional<absl::Status>& why) {
  if (why) NoteReason(*why);
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> results, ComputeOrdinary(step.inputs, args.in));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].bytes() != step.results[i].bytes()) {
      return Named(absl::InternalError(absl::StrCat(
          "result ", i, " of ordinary kernels has the shape ", results[i].shape().ToString(),
          ", the program's ", step.results[i].shape.ToString())));
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
      TENON_ASSIGN_OR_RETURN(ordinary_, surroundings_.ordinary(*cluster_));
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
