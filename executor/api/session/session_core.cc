#include "executor/api/session/session_core.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/api/base/device_list.h"
#include "executor/api/base/op_text.h"
#include "executor/api/base/process.h"
#include "executor/api/session/run_metadata.h"
#include "executor/api/session/run_options.h"
#include "executor/compile/request.h"
#include "executor/place/placer.h"
#include "executor/run/run_recorder.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/tensor_handles.h"
#include "graph/ir/nodes.h"
#include "tensorflow/c/logging.h"

namespace tenon::api {
namespace {

// Never destroyed: a program may leave sessions behind when it ends.
struct OpenSessions {
  absl::Mutex mutex;
  std::set<SessionCore*> all ABSL_GUARDED_BY(mutex);
};
OpenSessions& TheOpenSessions() {
  static auto* const sessions = new OpenSessions;
  return *sessions;
}

void LogInfo(std::string_view text) {
  TF_Log(TF_INFO, "%.*s", static_cast<int>(text.size()), text.data());
}

void LogDevices(absl::Span<Device* const> devices) {
  std::string text = "Device mapping:";
  for (const Device* device : devices) {
    if (!device->is_host())
      absl::StrAppend(&text, "\n", device->full_name(), " -> ", device->physical_name());
  }
  LogInfo(text == "Device mapping:" ? "Device mapping: no known devices." : text);
}

// TensorFlow's error for a placeholder that is not fed.
absl::Status NotFed(const Graph& graph, NodeId n) {
  const DataType dtype = graph.output_type({n, 0});
  const AttrValue* attr = graph.attr(n, "shape");
  const absl::StatusOr<PartialShape> shape = attr == nullptr ? PartialShape() : attr->AsShape();
  const bool has_shape = shape.ok() && shape->rank() > 0;
  return absl::InvalidArgumentError(absl::StrCat(
      "You must feed a value for placeholder tensor '", graph.name(n), "' with dtype ",
      TypeText(dtype), has_shape ? " and shape " : "", has_shape ? ShapeText(*shape) : "",
      "\n\t [[", NodeNameText(graph.name(n)), "]]"));
}

}  // namespace

absl::Status CheckTarget(std::string_view target) {
  if (target.empty()) return absl::OkStatus();
  if (absl::StartsWith(target, "grpc://")) {
    return absl::UnimplementedError(
        absl::StrCat("sessions run in this process: there is no client for '", target, "'"));
  }
  return absl::NotFoundError(
      absl::StrCat("No session factory registered for the given session options: {target: \"",
                   target, "\" config: } Registered factories are {DIRECT_SESSION}."));
}

absl::StatusOr<std::unique_ptr<SessionCore>> SessionCore::Make(const TF_SessionOptions& options) {
  TENON_RETURN_IF_ERROR(CheckTarget(options.target));
  TENON_ASSIGN_OR_RETURN(std::vector<Device*> devices, ProcessDevices(options.config.device_count));
  auto core = std::unique_ptr<SessionCore>(new SessionCore(options.config, std::move(devices)));
  SessionOptions session = core->config_.options;
  session.workers = options.workers;
  if (session.workers == nullptr && !core->config_.own_threads)
    session.workers = ProcessWorkers(session.threads);
  TENON_ASSIGN_OR_RETURN(core->session_,
                         Session::Create(Graph(), core->devices_, std::move(session)));
  for (const std::string& sentence : core->config_.without_effect)
    WarnOf(absl::UnimplementedError(sentence));
  if (core->config_.log_placement) LogDevices(core->devices_);
  OpenSessions& open = TheOpenSessions();
  absl::MutexLock lock(&open.mutex);
  open.all.insert(core.get());
  return core;
}

SessionCore::SessionCore(SessionConfig config, std::vector<Device*> devices)
    : config_(std::move(config)), devices_(std::move(devices)), incarnation_(NewIncarnation()) {
  // As in TensorFlow: what a run waits for may come at any time.
  limits_.patience = absl::InfiniteDuration();
  limits_.cancelled = &closed_;
}

SessionCore::~SessionCore() {
  OpenSessions& open = TheOpenSessions();
  absl::MutexLock lock(&open.mutex);
  open.all.erase(this);
}

void SessionCore::CloseAll() {
  OpenSessions& open = TheOpenSessions();
  absl::MutexLock lock(&open.mutex);
  for (SessionCore* core : open.all) core->Close();
}

absl::Status SessionCore::CheckOpen() const {
  return closed_.load(std::memory_order_acquire) ? absl::CancelledError("Session has been closed.")
                                                 : absl::OkStatus();
}

RunLimits SessionCore::LimitsOf(absl::Duration timeout) const {
  RunLimits limits = limits_;
  if (timeout <= absl::ZeroDuration()) timeout = config_.timeout;
  if (timeout != absl::InfiniteDuration()) limits.deadline = absl::Now() + timeout;
  return limits;
}

void SessionCore::SetGraph(Graph graph) {
  if (config_.log_placement) LogPlacement(graph, session_->graph().num_node_ids());
  session_->SetGraph(std::move(graph));
}

// A graph that cannot be placed cannot run either, and that error is the one to tell.
void SessionCore::LogPlacement(const Graph& graph, NodeId first) const {
  const absl::StatusOr<std::vector<NodePlacement>> placement =
      Place(graph, devices_, KernelRegistry::Global(), config_.options.placer);
  if (!placement.ok()) return;
  for (NodeId n = first; n < graph.num_node_ids(); ++n) {
    const Device* device = (*placement)[n].device;
    if (device != nullptr)
      LogInfo(absl::StrCat(graph.name(n), ": (", graph.op_name(n), "): ", device->full_name()));
  }
}

absl::Status CheckEnds(absl::Span<const std::string> feeds, absl::Span<const std::string> fetches) {
  if (fetches.empty())
    return absl::InvalidArgumentError("Must specify at least one target to fetch or execute.");
  absl::flat_hash_set<std::string_view> fed;
  for (const std::string& feed : feeds) {
    if (!fed.insert(feed).second)
      return absl::InvalidArgumentError(
          absl::StrCat("Endpoint \"", feed, "\" fed more than once."));
  }
  for (const std::string& fetch : fetches) {
    if (fed.contains(fetch))
      return absl::InvalidArgumentError(absl::StrCat(fetch, " is both fed and fetched."));
  }
  return absl::OkStatus();
}

absl::StatusOr<Executable*> SessionCore::Prepare(const std::vector<std::string>& feeds,
                                                 const std::vector<std::string>& fetches) {
  TENON_RETURN_IF_ERROR(CheckEnds(feeds, fetches));
  TENON_RETURN_IF_ERROR(CheckExecutorType(config_.executor_type));
  // As in TensorFlow, a placeholder that is a target runs, whether it is fed or not.
  for (const std::string& fetch : fetches) {
    if (!fetch.starts_with('^')) continue;
    const NodeId n = session_->graph().FindNode(std::string_view(fetch).substr(1));
    if (n != kNoNode && IsPlaceholder(session_->graph(), n)) return NotFed(session_->graph(), n);
  }
  absl::StatusOr<Executable*> executable = session_->Prepare(feeds, fetches);
  if (!executable.ok()) return Explained(executable.status());
  return executable;
}

absl::Status SessionCore::Explained(const absl::Status& status) const {
  const NodeId placeholder = UnfedPlaceholder(session_->graph(), status);
  return placeholder == kNoNode ? AsNoted(status) : NotFed(session_->graph(), placeholder);
}

// Most runs have neither options nor metadata nor a timeout. They borrow the session's limits, and
// nothing is recorded.
absl::Status SessionCore::Run(Executable* executable, const RunArguments& arguments) {
  absl::InlinedVector<Tensor, 8> feeds;
  feeds.reserve(arguments.inputs.size());
  for (const TF_Tensor* input : arguments.inputs) feeds.push_back(input->value());
  if (arguments.options != nullptr || arguments.metadata != nullptr ||
      config_.timeout != absl::InfiniteDuration())
    return RunRecorded(executable, feeds, arguments);
  absl::StatusOr<std::vector<Tensor>> values = session_->Run(executable, feeds, nullptr, &limits_);
  if (!values.ok()) return AsNoted(values.status());
  for (size_t i = 0; i < arguments.outputs.size(); ++i)
    arguments.outputs[i] = NewTensorHandle(std::move((*values)[i]));
  return absl::OkStatus();
}

// A run that fails tells what it did until then, too.
absl::Status SessionCore::RunRecorded(Executable* executable, absl::Span<const Tensor> feeds,
                                      const RunArguments& arguments) {
  TENON_ASSIGN_OR_RETURN(const RunWishes wishes, ReadRunOptions(arguments.options, config_));
  if (arguments.metadata != nullptr && WasDeleted(arguments.metadata))
    return absl::InvalidArgumentError("argument 'run_metadata' was deleted");
  if (arguments.metadata != nullptr && arguments.metadata->data != nullptr)
    return absl::InvalidArgumentError("Passing non-empty run_metadata is invalid.");
  RunRecorder recorder(wishes.trace_streams);
  const bool record = wishes.trace && arguments.metadata != nullptr;
  const RunLimits limits = LimitsOf(wishes.timeout);
  absl::StatusOr<std::vector<Tensor>> values =
      session_->Run(executable, feeds, record ? &recorder : nullptr, &limits);
  absl::Status status = AsNoted(values.status());
  if (arguments.metadata != nullptr) {
    const std::string metadata =
        RunMetadataOf(*executable, record ? &recorder : nullptr, wishes, config_);
    status.Update(FillBuffer(metadata, arguments.metadata));
  }
  TENON_RETURN_IF_ERROR(status);
  for (size_t i = 0; i < arguments.outputs.size(); ++i)
    arguments.outputs[i] = NewTensorHandle(std::move((*values)[i]));
  return absl::OkStatus();
}

}  // namespace tenon::api
