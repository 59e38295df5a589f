#include "executor/cli/watchers.h"

#include "absl/strings/str_replace.h"

namespace tenon::cli {

std::string FileWord(std::string_view pass) {
  return absl::StrReplaceAll(pass, {{":", "_"}, {"/", "_"}});
}

Watchers::Watchers(const Options& options) {
  const bool prints = !options.print_before.empty() || !options.print_after.empty() ||
                      !options.print_changed.empty();
  if (options.bisect_limit.has_value()) all_.push_back(MakeBisectLines());
  if (prints) all_.push_back(MakePassPrinter(options));
  if (!options.dump_dir.empty()) all_.push_back(MakePassDump(options, status_));
  all_.push_back(MakeReproducer(options));
  reproducer_ = all_.back().get();
  if (!options.explain_node.empty() || options.provenance || !options.report.empty())
    provenance_ = std::make_unique<Provenance>();
  if (!options.report.empty()) history_ = std::make_unique<PassHistory>();
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

void Watchers::VerifyNumbers(GraphRunner runner) {
  verifier_ = std::make_unique<NumericVerifier>(std::move(runner));
}

}  // namespace tenon::cli
