// The steps of a run become the nodes of StepStats: a node of a loop once for each pass, and a copy
// or a wait, which belongs to no node, under the word for what it does.
#include "executor/api/base/step_stats.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/run/plan.h"

namespace tenon::api {
namespace {

constexpr int64_t kNanosPerMicro = 1000;

class StepStatsWriter {
 public:
  explicit StepStatsWriter(const RunRecorder& recorder)
      : epoch_ns_(
            std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count() -
            recorder.Now()) {}

  void Add(const RunSpan& run) {
    std::vector<int64_t> done_ns(run.steps.size(), 0);
    for (const RunSpan::Queued& queued : run.queued) done_ns[queued.step] = queued.done_ns->load();
    for (size_t i = 0; i < run.steps.size(); ++i) AddStep(run, run.steps[i], done_ns[i]);
  }

  void Write(pb::StepStats& stats) {
    for (auto& [device, device_stats] : devices_) {
      device_stats.set_device(device);
      stats.mutable_dev_stats()->Add(std::move(device_stats));
    }
  }

 private:
  // `done_ns`: the end of the work that the step has queued; 0: it has queued none.
  void AddStep(const RunSpan& run, const RunSpan::Step& step, int64_t done_ns) {
    const StepLabel label = LabelOf(*run.plan, step.index);
    const std::string device =
        absl::StrCat("/job:localhost/replica:0/task:0",
                     label.device.empty() ? std::string_view("/device:CPU:0") : label.device);
    pb::NodeExecStats& node = *devices_[device].add_node_stats();
    node.set_node_name(std::string(label.node.empty() ? label.what : label.node));
    node.set_timeline_label(TimelineLabel(*run.plan, step.index, label));
    node.set_thread_id(static_cast<uint32_t>(step.lane));
    const int64_t start = epoch_ns_ + step.start_ns, took = step.stop_ns - step.start_ns;
    const int64_t all = std::max(took, done_ns - step.start_ns);
    node.set_scheduled_nanos(start);
    node.set_scheduled_micros(start / kNanosPerMicro);
    node.set_all_start_nanos(start);
    node.set_all_start_micros(start / kNanosPerMicro);
    node.set_op_end_rel_nanos(took);
    node.set_op_end_rel_micros(took / kNanosPerMicro);
    node.set_all_end_rel_nanos(all);
    node.set_all_end_rel_micros(all / kNanosPerMicro);
    if (!label.node.empty()) AddOutputs(*run.plan, step.index, node);
  }

  static std::string TimelineLabel(const Plan& plan, uint32_t index, const StepLabel& label) {
    const NodeId n = plan.steps[index].node;
    if (label.node.empty() || label.what != plan.graph->op_name(n)) return label.what;
    return absl::StrCat(label.node, " = ", label.what, "(",
                        absl::StrJoin(plan.graph->inputs(n), ", ",
                                      [&](std::string* out, const Output& from) {
                                        out->append(plan.graph->OutputName(from));
                                      }),
                        ")", label.places.empty() ? "" : " at ", label.places);
  }

  // What the plan knows of the outputs before the run: types, and bytes where shapes are known.
  static void AddOutputs(const Plan& plan, uint32_t index, pb::NodeExecStats& node) {
    const Step& step = plan.steps[index];
    const size_t first = step.first_arg + step.num_inputs;
    const size_t count = std::min<size_t>(plan.ArgsEnd(index) - first,
                                          static_cast<size_t>(plan.graph->num_outputs(step.node)));
    for (size_t i = 0; i < count; ++i) {
      pb::NodeOutput& output = *node.add_output();
      output.set_slot(static_cast<int32_t>(i));
      pb::TensorDescription& tensor = *output.mutable_tensor_description();
      tensor.set_dtype(
          static_cast<pb::DataType>(plan.graph->output_type({step.node, static_cast<int32_t>(i)})));
      const int32_t storage = plan.args[first + i];
      if (storage < 0 || plan.storages[storage].bytes == 0) continue;
      pb::AllocationDescription& allocation = *tensor.mutable_allocation_description();
      allocation.set_requested_bytes(static_cast<int64_t>(plan.storages[storage].bytes));
      allocation.set_allocator_name("cpu");
    }
  }

  const int64_t epoch_ns_;  // the start of the recorder, since the epoch
  std::map<std::string, pb::DeviceStepStats> devices_;
};

}  // namespace

pb::StepStats StepStatsOf(const RunRecorder& recorder) {
  StepStatsWriter writer(recorder);
  for (const RunSpan& run : recorder.runs()) writer.Add(run);
  pb::StepStats stats;
  writer.Write(stats);
  return stats;
}

}  // namespace tenon::api
