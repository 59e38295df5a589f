// Calls of functions, branches and loops.
#include "graph/gradients/families.h"
#include "graph/gradients/functional/function_rules.h"

namespace tenon::gradients {
namespace {

constexpr GradientRow kFunctions[] = {
    {"Case", BranchGradient},
    {"FakeParam", nullptr},
    {"If", BranchGradient},
    {"PartitionedCall", CallGradient},
    {"StatefulPartitionedCall", CallGradient},
    {"StatelessCase", BranchGradient},
    {"StatelessIf", BranchGradient},
    {"StatelessWhile", WhileGradient},
    {"While", WhileGradient},
};

}  // namespace

absl::Span<const GradientRow> Functions() { return kFunctions; }

}  // namespace tenon::gradients
