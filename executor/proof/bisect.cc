// Searches by halves for the least number of first steps with which the result is wrong. The last
// one of these is faulty: it stays on in later searches, until the faulty steps alone make the
// result wrong.

#include "executor/proof/bisect.h"

#include "graph/base/status_macros.h"

namespace tenon {
namespace {

constexpr int64_t kAll = INT64_MAX;
constexpr size_t kMostFaulty = 8;  // a fault of more is more than a reader can use

// A search by halves is right where one more step never mends a result. Two wrong steps may hide
// each other; then some pair of neighbouring limits still differs, and that one is found.
class Search {
 public:
  explicit Search(const RunTrial& run) : run_(run) {}

  absl::StatusOr<Bisection> Run() {
    TENON_ASSIGN_OR_RETURN(Trial all, Try(kAll));
    result_.wrong = all.wrong;
    result_.steps = static_cast<int64_t>(all.asked.size());
    if (all.wrong.empty()) return std::move(result_);
    TENON_ASSIGN_OR_RETURN(const Trial none, Try(0));
    if (!none.wrong.empty()) {
      result_.without_any = true;
      return std::move(result_);
    }
    while (result_.faulty.size() < kMostFaulty) {
      TENON_RETURN_IF_ERROR(FindNext(std::move(all)));
      TENON_ASSIGN_OR_RETURN(const Trial alone, Try(0));
      result_.wrong_with_faulty = alone.wrong;
      if (!alone.wrong.empty()) break;
      TENON_ASSIGN_OR_RETURN(all, Try(wrong_ - 1));
      if (all.wrong.empty()) break;  // steps do not keep their names: nothing more can be said
    }
    return std::move(result_);
  }

 private:
  absl::StatusOr<Trial> Try(int64_t limit) {
    ++result_.trials;
    return run_(limit, result_.faulty);
  }

  // The least number of first steps with which, beside the faulty ones, it is wrong; its last one.
  absl::Status FindNext(Trial last_wrong) {
    int64_t right = 0;
    wrong_ = std::min(wrong_ - 1, static_cast<int64_t>(last_wrong.asked.size()));
    while (wrong_ - right > 1) {
      const int64_t middle = right + (wrong_ - right) / 2;
      TENON_ASSIGN_OR_RETURN(Trial trial, Try(middle));
      if (trial.wrong.empty()) {
        right = middle;
      } else {
        wrong_ = middle;
        last_wrong = std::move(trial);
      }
    }
    if (wrong_ < 1 || wrong_ > static_cast<int64_t>(last_wrong.asked.size()))
      return absl::InternalError("the same steps do not lead to the same result");
    result_.faulty.push_back(last_wrong.asked[static_cast<size_t>(wrong_ - 1)]);
    return absl::OkStatus();
  }

  const RunTrial& run_;
  Bisection result_;
  int64_t wrong_ = kAll;
};

}  // namespace

absl::StatusOr<Bisection> Bisect(const RunTrial& run) { return Search(run).Run(); }

}  // namespace tenon
