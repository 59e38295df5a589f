#include "executor/cli/story.h"

namespace tenon::cli {

std::string Story(const RunOutcome&, const Options&, const Style&) { return ""; }

}  // namespace tenon::cli
