// What bisect and reduce work on, as the command line says.
#pragma once

#include "executor/cli/workbench.h"
#include "executor/proof/suspect.h"

namespace tenon::cli {

struct Indictment {
  Workbench bench;
  Suspect suspect;
  std::unique_ptr<Court> court;
};

// The model, the inputs that --input gives (or else made-up ones: only ordinary values), and who
// judges: --rtol, --atol, --max-ulp and --equal-nan where one of them is given, else
// Sameness::kBound.
absl::StatusOr<std::unique_ptr<Indictment>> OpenIndictment(const Options& options);

}  // namespace tenon::cli
