// The turns in which bench --ab runs two executables.
#include "executor/cli/bench/compare.h"

#include <gmock/gmock.h>

#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/kernels.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::cli::compare_test {
namespace {

using ::testing::EndsWith;

constexpr char kPlugin[] = "compare_test";

std::string ran;  // by runs, in their order: how long x of the session is, as a letter

void Note(void*, TF_OpKernelContext* context) {
  TF_Status* const status = TF_NewStatus();
  TF_Tensor* input = nullptr;
  TF_GetInput(context, 0, &input, status);
  ran += static_cast<char>('`' + TF_Dim(input, 0));
  TF_SetOutput(context, 0, input, status);
  TF_DeleteTensor(input);
  TF_DeleteStatus(status);
}

class RunInTurns : public ::testing::Test {
 protected:
  RunInTurns() {
    ran.clear();
    auto kernel = std::make_shared<KernelDef>();
    kernel->op = "Neg";
    kernel->device_type = "CPU";
    kernel->label = kPlugin;
    kernel->plugin = kPlugin;
    kernel->fns.compute = Note;
    KernelRegistry::Global().Register(std::move(kernel));
  }
  ~RunInTurns() override { KernelRegistry::Global().RemovePlugin(kPlugin); }

  // A session of which each run adds the letter to `ran`: 'a' for a constant of one element.
  static std::unique_ptr<Session> SessionOf(char letter) {
    const std::string size = std::to_string(letter - '`');
    return testing::MakeSession(
        testing::Const("x", "DT_FLOAT",
                       "tensor_shape { dim { size: " + size + " } } float_val: 1") +
        testing::Node("y", "Neg", {"x"}, "attr { key: '_kernel' value { s: 'compare_test' } }"));
  }
};

// If one of the two ran behind itself more often, its caches would be the warmer ones, and equal
// executables would not take equally long.
TEST_F(RunInTurns, EachTimedRunFollowsOneOfTheOther) {
  const std::unique_ptr<Session> one = SessionOf('a'), other = SessionOf('b');
  Repeated one_runs, other_runs;
  const Contender a{*one, *one->Prepare({}, {"y"}), one_runs};
  const Contender b{*other, *other->Prepare({}, {"y"}), other_runs};
  for (const int64_t runs : {1, 2, 3, 6}) {
    ASSERT_TRUE(cli::RunInTurns(a, b, {}, {.runs = runs}, nullptr).ok());
    // The first pair is not timed.
    std::string turns = "ab";
    for (int64_t i = 0; i < runs; ++i) turns += "ab";
    EXPECT_THAT(ran, EndsWith("b" + turns));
  }
  EXPECT_EQ(one_runs.run_us.size(), 12u);
  EXPECT_EQ(other_runs.run_us.size(), 12u);
}

}  // namespace
}  // namespace tenon::cli::compare_test
