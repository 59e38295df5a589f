// Cases of self-checking graphs that are run a second time.
#include "executor/cli/check/check_run.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>

#include "optimizer_api/plugin_optimizer.h"
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

// Fails before the kernel is made for the first time, and changes nothing later.
void FailAtFirst(void*, const TF_Buffer* graph, const TF_GrapplerItem*, TF_Buffer* optimized,
                 TF_Status* status) {
  if (made == 0) return TF_SetStatus(status, TF_INTERNAL, "of the first attempt");
  void* const bytes = malloc(graph->length);
  std::memcpy(bytes, graph->data, graph->length);
  optimized->data = bytes;
  optimized->length = graph->length;
  optimized->data_deallocator = [](void* data, size_t) { free(data); };
}

void InitPass(TP_OptimizerRegistrationParams* params, TF_Status*) {
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->optimize_func = FailAtFirst;
  params->device_type = "CPU";
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
    EXPECT_TRUE(RegisterPluginOptimizer(*InitPluginOptimizer(InitPass, kPlugin)).ok());
  }
  ~CheckRun() override {
    KernelRegistry::Global().RemovePlugin(kPlugin);
    RemovePluginOptimizers(kPlugin);
  }
};

// In the first attempt the pass fails and the kernel refuses; it cannot be made for the second.
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
  options.session.threads = 1;
  options.session.pipeline.passes.push_back({"plugin:*", {}});
  options.session.pipeline.min_graph_nodes = -1;
  options.feed_constants = true;
  const CaseResult result = RunCase(*file, file->cases.at(0), **host, options);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(result.status, CaseStatus::kFailed);
  EXPECT_THAT(result.detail, ::testing::HasSubstr("made before"));
  EXPECT_EQ(result.failed_pass, "");
  EXPECT_TRUE(result.plugin_kernels.empty());
}

}  // namespace
}  // namespace tenon::cli
