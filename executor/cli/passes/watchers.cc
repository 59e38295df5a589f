#include "executor/cli/passes/watchers.h"

#include "absl/strings/str_replace.h"

namespace tenon::cli {

std::string FileWord(std::string_view pass) {
  return absl::StrReplaceAll(pass, {{":", "_"}, {"/", "_"}});
}

Watchers::Watchers(const CompileFlags& flags) {
  const bool prints =
      !flags.print_before.empty() || !flags.print_after.empty() || !flags.print_changed.empty();
  if (flags.bisect_limit.has_value()) all_.push_back(MakeBisectLines());
  if (prints) all_.push_back(MakePassPrinter(flags));
  if (!flags.dump_dir.empty()) all_.push_back(MakePassDump(flags, status_));
  all_.push_back(MakeReproducer(flags));
  reproducer_ = all_.back().get();
  if (!flags.explain_node.empty() || flags.provenance || !flags.report.empty())
    provenance_ = std::make_unique<Provenance>();
  if (!flags.report.empty()) history_ = std::make_unique<PassHistory>();
}

std::vector<PipelineObserver*> Watchers::observers() const {
  std::vector<PipelineObserver*> observers;
  for (const auto& observer : all_) observers.push_back(observer.get());
  if (provenance_ != nullptr) observers.push_back(provenance_.get());
  if (history_ != nullptr) observers.push_back(history_.get());
  if (verifier_ != nullptr) observers.push_back(verifier_.get());
  return observers;
}

void Watchers::ForgetGraph() {
  if (provenance_ != nullptr) *provenance_ = Provenance();
  if (history_ != nullptr) *history_ = PassHistory();
}

void Watchers::VerifyNumbers(GraphRunner runner, double seconds) {
  verifier_ = std::make_unique<NumericVerifier>(std::move(runner));
  verifier_->set_time_limit(seconds);
}

}  // namespace tenon::cli
