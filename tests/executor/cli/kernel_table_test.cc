#include "executor/cli/plugins/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "plugin/kernels/kernel_registry.h"

namespace tenon::cli {
namespace {

using ::testing::ElementsAre;

// The types of op Log in the table, for kernels of a plug-in with these types as constraints; an
// empty list is a kernel without a constraint.
std::vector<std::string> TypesOfLog(const std::vector<std::vector<DataType>>& kernels) {
  constexpr char kPlugin[] = "kernel_table_test.so";
  for (const std::vector<DataType>& types : kernels) {
    auto kernel = std::make_shared<KernelDef>();
    kernel->op = "Log";
    kernel->device_type = "CPU";
    kernel->plugin = kPlugin;
    if (!types.empty()) kernel->constraints.push_back({"T", types});
    KernelRegistry::Global().Register(std::move(kernel));
  }
  std::vector<std::string> found;
  for (const KernelRow& row : KernelRows()) {
    if (row.plugin == kPlugin) found = row.types;
  }
  KernelRegistry::Global().RemovePlugin(kPlugin);
  return found;
}

TEST(KernelTable, JoinsTheTypesOfAllKernelsOfARow) {
  EXPECT_THAT(TypesOfLog({{DataType::kFloat}, {DataType::kHalf}}), ElementsAre("T: f32 f16"));
  const std::vector<std::string> all = TypesOfLog({{}});
  EXPECT_NE(all, TypesOfLog({{DataType::kFloat}}));
  EXPECT_EQ(all, TypesOfLog({{DataType::kFloat}, {}}));
}

}  // namespace
}  // namespace tenon::cli
