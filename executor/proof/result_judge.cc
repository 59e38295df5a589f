// A session without passes gives the right answers. They are compared with those of sessions that
// may do a part of the rewrites, or that keep a part of the nodes on the CPU.

#include "executor/proof/result_judge.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "grappler_lite/pipeline/observer.h"

namespace tenon {
namespace {

// The keys of all rewrites that passes ask for, in their order.
class RewriteLog : public PipelineObserver {
 public:
  void OnRewrite(const RewriteEvent& event) override { keys.push_back(RewriteKey(event)); }
  std::vector<std::string> keys;
};

// Keeps the graph that the first pass of a plug-in was given, and the one that the last pass made.
// A body of a function is put into its caller, as only whole graphs can be run.
class PluginWatch : public PipelineObserver {
 public:
  bool wants_every_pass() const override { return false; }
  absl::Status CheckPass(const PassRun& run, const Graph& after, const ReplayPass&) override {
    if (!run.pass.starts_with("plugin:")) return absl::OkStatus();
    const auto whole = [&](const Graph& graph) {
      return run.caller == nullptr ? graph : run.caller->with(graph);
    };
    if (!before) before = whole(run.before);
    this->after = whole(after);
    return absl::OkStatus();
  }
  std::optional<Graph> before, after;
};

// Passes on what it observes once it has a target. Sessions get their observers when they are made,
// but only what is optimized after the inits is to be observed.
class Relay : public PipelineObserver {
 public:
  void Tell(PipelineObserver* whom) { whom_ = whom; }

  bool wants_every_pass() const override { return whom_ != nullptr && whom_->wants_every_pass(); }
  void OnRewrite(const RewriteEvent& event) override {
    if (whom_ != nullptr) whom_->OnRewrite(event);
  }
  absl::Status CheckPass(const PassRun& run, const Graph& after,
                         const ReplayPass& replay) override {
    return whom_ != nullptr ? whom_->CheckPass(run, after, replay) : absl::OkStatus();
  }

 private:
  PipelineObserver* whom_ = nullptr;
};

absl::Status CheckOneRuns(const std::vector<Answer>& answers) {
  if (std::any_of(answers.begin(), answers.end(), HasValue)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("without any pass the graph answers nothing: ",
                                                    answers.empty() || answers[0].empty()
                                                        ? "there are no inputs"
                                                        : answers[0][0].status().message()));
}

// A regular expression that only this name matches.
std::string Literally(std::string_view name) {
  std::string pattern;
  for (char c : name)
    absl::StrAppend(&pattern, absl::ascii_isalnum(c) ? "" : "\\", std::string(1, c));
  return pattern;
}

}  // namespace

ResultJudge::ResultJudge(std::vector<Device*> devices, SessionOptions options, JudgeValue judge,
                         std::function<absl::Status(Session&)> begin)
    : devices_(std::move(devices)),
      options_(std::move(options)),
      judge_(std::move(judge)),
      begin_(std::move(begin)) {
  if (options_.seed == 0) options_.seed = 1;  // 0 gives random ops another seed in each session
  options_.clusters.async = false;            // the one run of a session is to be the program's
}

SessionOptions ResultJudge::Plain() const {
  SessionOptions options = options_;
  options.opt_level = 0;
  options.pipeline.observers.clear();
  return options;
}

SessionOptions ResultJudge::OnCpu() const {
  SessionOptions options = Plain();
  options.placer.rules.insert(options.placer.rules.begin(), {".*", "CPU:0"});
  options.clusters.leave_out = [](std::string_view) { return true; };
  return options;
}

SessionOptions ResultJudge::Placed(std::set<std::string, std::less<>> away) const {
  SessionOptions options = Plain();
  for (const std::string& node : away)
    options.placer.rules.insert(options.placer.rules.begin(), {Literally(node), "CPU:0"});
  options.clusters.leave_out = [away = std::move(away)](std::string_view node) {
    return away.contains(node);
  };
  return options;
}

SessionOptions ResultJudge::Optimized(int64_t limit, absl::Span<const std::string> beyond) const {
  SessionOptions options = options_;
  options.pipeline.bisect_limit = limit;
  options.pipeline.beyond_limit.assign(beyond.begin(), beyond.end());
  return options;
}

absl::StatusOr<std::unique_ptr<Session>> ResultJudge::Begin(const FailingCase& failing,
                                                            const SessionOptions& options) const {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::Create(failing.graph, devices_, options));
  TENON_RETURN_IF_ERROR(begin_(*session));
  for (const std::string& init : failing.inits)
    TENON_RETURN_IF_ERROR(session->Run({}, {absl::StrCat("^", init)}).status());
  return session;
}

absl::StatusOr<std::vector<Tensor>> ResultJudge::RunOnce(const FailingCase& failing,
                                                         const InputSet& inputs,
                                                         const SessionOptions& options,
                                                         const std::vector<std::string>& fetches,
                                                         PipelineObserver* log) const {
  SessionOptions limited = options;
  limited.max_loop_passes = inputs.max_loop_passes;
  Relay relay;
  if (log != nullptr) limited.pipeline.observers.push_back(&relay);
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Begin(failing, limited));
  relay.Tell(log);
  return session->Run(inputs.feeds, fetches);
}

std::vector<Answer> ResultJudge::AnswersOf(const FailingCase& failing,
                                           const SessionOptions& options,
                                           PipelineObserver* log) const {
  std::vector<Answer> answers;
  for (const InputSet& inputs : failing.inputs) {
    answers.push_back(AnswerOf(
        RunOnce(failing, inputs, options, failing.fetches, answers.empty() ? log : nullptr),
        failing.fetches.size()));
  }
  return answers;
}

std::vector<std::string> ResultJudge::DropFailing(FailingCase& failing) const {
  for (const InputSet& inputs : failing.inputs) {
    const Answer answer = AnswerApart(failing.fetches, [&](const std::vector<std::string>& some) {
      return RunOnce(failing, inputs, Plain(), some);
    });
    if (!HasValue(answer)) continue;
    std::vector<std::string> dropped, kept;
    for (size_t i = 0; i < answer.size(); ++i) {
      const std::string& fetch = failing.fetches[i];
      if (answer[i].ok()) {
        kept.push_back(fetch);
      } else {
        dropped.push_back(absl::StrCat("output ", fetch, ": ", answer[i].status().message()));
      }
    }
    failing.fetches = std::move(kept);
    return dropped;
  }
  return {};
}

std::string ResultJudge::Compare(const FailingCase& failing, const std::vector<Answer>& right,
                                 const std::vector<Answer>& is) const {
  for (size_t set = 0; set < failing.inputs.size(); ++set) {
    const auto difference = CompareAnswers(right[set], is[set], failing.fetches, [&](size_t i) {
      return judge_(*right[set][i], *is[set][i]);
    });
    if (difference)
      return absl::StrCat(difference->what, " (inputs '", failing.inputs[set].name, "')");
  }
  return "";
}

std::string ResultJudge::OptimizedIsWrong(const FailingCase& failing) const {
  return Compare(failing, AnswersOf(failing, Plain()),
                 AnswersOf(failing, Optimized(INT64_MAX, {})));
}

std::string ResultJudge::PlacedIsWrong(const FailingCase& failing) const {
  return Compare(failing, AnswersOf(failing, OnCpu()), AnswersOf(failing, Placed({})));
}

std::string ResultJudge::FirstDifference(const FailingCase& failing,
                                         const std::vector<std::string>& faulty) const {
  PluginWatch watch;
  AnswersOf(failing, Optimized(0, faulty), &watch);
  if (!watch.before || !watch.after) return "";
  GraphRunner runner(devices_, options_);
  const absl::StatusOr<std::unique_ptr<Session>> holder = Begin(failing, Plain());
  if (holder.ok()) runner.TakeStateOf(holder->get());
  for (const InputSet& inputs : failing.inputs) {
    std::string node =
        runner.FirstDifference(*watch.before, *watch.after, inputs, Sameness::kBound);
    if (!node.empty()) return node;
  }
  return "";
}

absl::StatusOr<Bisected> ResultJudge::BisectRewrites(const FailingCase& failing) const {
  const std::vector<Answer> right = AnswersOf(failing, Plain());
  const auto trial = [&](int64_t limit,
                         absl::Span<const std::string> beyond) -> absl::StatusOr<Trial> {
    RewriteLog log;
    const std::vector<Answer> is = AnswersOf(failing, Optimized(limit, beyond), &log);
    return Trial{Compare(failing, right, is), std::move(log.keys)};
  };
  TENON_ASSIGN_OR_RETURN(Bisection found, Bisect(trial));
  // Where all fails, the error is the right answer. If it is there with the passes too, nothing was
  // compared.
  if (found.wrong.empty()) TENON_RETURN_IF_ERROR(CheckOneRuns(right));
  Bisected bisected{std::move(found), ""};
  if (!bisected.faulty.empty())
    bisected.first_different = FirstDifference(failing, bisected.faulty);
  return bisected;
}

absl::StatusOr<std::optional<Bisection>> ResultJudge::BisectPlacement(
    const FailingCase& failing) const {
  std::vector<std::string> feeds, moved;
  for (const auto& [name, value] : failing.inputs.at(0).feeds) feeds.push_back(name);
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                         Session::Create(failing.graph, devices_, Placed({})));
  TENON_ASSIGN_OR_RETURN(const Executable* executable, session->Prepare(feeds, failing.fetches));
  const std::vector<NodePlacement>& placement = PlacementReport(*executable);
  const Graph& placed = OptimizedGraph(*executable);
  std::vector<NodeId> nodes = CompiledNodes(*executable);
  for (NodeId n = 0; n < placed.num_node_ids(); ++n) {
    if (placed.alive(n) && placement[n].device != nullptr && !placement[n].device->is_host())
      nodes.push_back(n);
  }
  std::ranges::sort(nodes);
  const auto repeated = std::ranges::unique(nodes);
  nodes.erase(repeated.begin(), repeated.end());
  for (const NodeId n : nodes) moved.emplace_back(placed.name(n));
  if (moved.empty()) return std::nullopt;
  const std::vector<Answer> right = AnswersOf(failing, OnCpu());
  TENON_RETURN_IF_ERROR(CheckOneRuns(right));
  const auto trial = [&](int64_t limit, absl::Span<const std::string> beyond) {
    std::set<std::string, std::less<>> away;
    for (size_t i = 0; i < moved.size(); ++i) {
      const bool stays = static_cast<int64_t>(i) < limit ||
                         std::find(beyond.begin(), beyond.end(), moved[i]) != beyond.end();
      if (!stays) away.insert(moved[i]);
    }
    return absl::StatusOr<Trial>(
        Trial{Compare(failing, right, AnswersOf(failing, Placed(std::move(away)))), moved});
  };
  TENON_ASSIGN_OR_RETURN(Bisection bisection, Bisect(trial));
  return std::optional<Bisection>(std::move(bisection));
}

}  // namespace tenon
