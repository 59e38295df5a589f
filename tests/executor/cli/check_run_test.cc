// Cases of self-checking graphs that are run a second time.
#include "executor/cli/check/check_run.h"

#include <gmock/gmock.h>

#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/kernels.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/folder_test.h"

namespace tenon::cli {
namespace {

constexpr char kPlugin[] = "check_run_test";

int made = 0;  // kernels

void* MakeOnce(TF_OpKernelConstruction* construction) {
  if (made++ > 0) {
    TF_Status* const status = TF_NewStatus();
    TF_SetStatus(status, TF_INTERNAL, "made before");
    TF_OpKernelConstruction_Failure(construction, status);
    TF_DeleteStatus(status);
  }
  return nullptr;
}

void Refuse(void*, TF_OpKernelContext* context) {
  TF_Status* const status = TF_NewStatus();
  TF_SetStatus(status, TF_UNIMPLEMENTED, "not of what is fed");
  TF_OpKernelContext_Failure(context, status);
  TF_DeleteStatus(status);
}

class CheckRun : public testing::FolderTest {
 protected:
  CheckRun() {
    auto kernel = std::make_shared<KernelDef>();
    kernel->op = "Neg";
    kernel->device_type = "CPU";
    kernel->label = kPlugin;
    kernel->plugin = kPlugin;
    kernel->fns.create = MakeOnce;
    kernel->fns.compute = Refuse;
    KernelRegistry::Global().Register(std::move(kernel));
  }
  ~CheckRun() override { KernelRegistry::Global().RemovePlugin(kPlugin); }
};

// The kernel runs in the first attempt and cannot be made for the second.
TEST_F(CheckRun, TellsOfTheSecondAttemptAlone) {
  const std::string value = "tensor_shape { dim { size: 2 } } float_val: 1";
  const std::string path = Write(
      "case.pbtxt", testing::Const("c/x", "DT_FLOAT", value) +
                        testing::Node("c/op", "Neg", {"c/x"},
                                      "attr { key: '_kernel' value { s: 'check_run_test' } }") +
                        testing::Const("c/want0", "DT_FLOAT", value));
  const auto file = ReadCheckFile(path, ImportLimits());
  ASSERT_TRUE(file.ok()) << file.status();
  const auto host = Host::Open(CommonFlags());
  ASSERT_TRUE(host.ok()) << host.status();
  CaseOptions options;
  options.session.opt_level = 0;
  options.session.threads = 1;
  options.feed_constants = true;
  const CaseResult result = RunCase(*file, file->cases.at(0), **host, options);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(result.status, CaseStatus::kFailed);
  EXPECT_THAT(result.detail, ::testing::HasSubstr("made before"));
  EXPECT_TRUE(result.plugin_kernels.empty());
}

}  // namespace
}  // namespace tenon::cli
