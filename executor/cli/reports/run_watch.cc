#include "executor/cli/reports/run_watch.h"

#include "plugin/host/loading/loader.h"

namespace tenon::cli {

RunWatch::RunWatch(const RecordFlags& flags, bool for_page)
    : wanted_(!flags.traces.empty() || !flags.op_table.empty() || for_page),
      watches_streams_(!flags.traces.empty() || for_page),
      profilers_(flags.traces.empty() ? std::vector<std::shared_ptr<PluginProfiler>>()
                                      : PluginProfilers()) {}

RunRecorder* RunWatch::Begin() {
  if (!wanted_) return nullptr;
  recorder_.emplace(/*streams=*/watches_streams_);
  system_start_ = std::chrono::system_clock::now();
  profilers_.Start();
  return &*recorder_;
}

void RunWatch::End() {
  if (!wanted_) return;
  const std::chrono::nanoseconds length(recorder_->Now());
  profiles_ = profilers_.Finish();
  for (size_t i = 0; i < profiles_.size(); ++i) {
    const std::vector<std::string_view> clocks =
        AlignClocks({recorder_->start(), system_start_, length}, profiles_[i]);
    for (size_t plane = 0; plane < clocks.size(); ++plane)
      planes_.push_back({i, static_cast<int>(plane), clocks[plane]});
  }
}

}  // namespace tenon::cli
