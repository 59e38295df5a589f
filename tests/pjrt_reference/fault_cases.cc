// Each switch for bad behaviour does what README.md says of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

#include "host.h"

namespace tenon::pjrt_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

const char* const kTwice =
    "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n %r = stablehlo.add %a, %a : "
    "tensor<2xf32>\n return %r : tensor<2xf32>\n}";

std::vector<Tensor> Doubled(const Client& client) {
  return client.Run(kTwice, {Floats({2}, {1, 2})});
}

TEST(PjrtFaults, TheTableLies) {
  const Plugin plugin(
      "minor_version=54,major_version=1,struct_size=808,version_struct_size=0,extensions=loop,null_"
      "functions=Client_Create;Buffer_Delete");
  EXPECT_EQ(plugin.api().struct_size, 808U);
  EXPECT_EQ(plugin.api().version.minor, 54);
  EXPECT_EQ(plugin.api().version.major, 1);
  EXPECT_EQ(plugin.api().version.struct_size, 0U);
  EXPECT_EQ(plugin.api().client_create, nullptr);
  EXPECT_EQ(plugin.api().buffer_delete, nullptr);
  EXPECT_NE(plugin.api().buffer_destroy, nullptr);
  ASSERT_NE(plugin.api().extensions, nullptr);
  EXPECT_EQ(plugin.api().extensions->next->next, plugin.api().extensions);
  EXPECT_EQ(Plugin("null_api=true").table(), nullptr);
}

TEST(PjrtFaults, AWrongSpellingIsToldByInitialize) {
  for (const std::string option : {"device_count=many", "fail=Client_Compile;NoSuch",
                                   "hang=NoSuch:5", "null_functions=NoSuch"}) {
    const Plugin plugin(option);
    auto args = Made<abi::PluginInitializeArgs>();
    EXPECT_THAT(Call(plugin.api(), plugin.api().plugin_initialize, &args),
                HasSubstr("TENON_PJRT_REFERENCE: option " + option.substr(0, option.find('='))));
  }
}

TEST(PjrtFaults, FunctionsFail) {
  const Plugin plugin("fail=Client_Compile:8@2;Buffer_ReadyEvent");
  const Client client(plugin.api());
  EXPECT_EQ(Numbers(Doubled(client).at(0)), (std::vector<double>{2, 4}));
  EXPECT_THAT([&] { Doubled(client); }, ThrowsMessage<std::runtime_error>(AllOf(
                                            StartsWith("8: "), HasSubstr("PJRT_Client_Compile"))));
  auto args = Made<abi::BufferReadyEventArgs>();
  EXPECT_THAT(Call(plugin.api(), plugin.api().buffer_ready_event, &args), StartsWith("13: "));
}

TEST(PjrtFaults, FunctionsThrowAndHang) {
  const Plugin plugin("throw=Client_Create,hang=Plugin_Initialize:50");
  auto create = Made<abi::ClientCreateArgs>();
  EXPECT_THROW(plugin.api().client_create(&create), std::runtime_error);
  auto initialize = Made<abi::PluginInitializeArgs>();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Call(plugin.api(), plugin.api().plugin_initialize, &initialize), "");
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));
}

TEST(PjrtFaults, ExecutionsFailLate) {
  const Client client(SharedApi(), {Text("failing_events", "execute")});
  abi::LoadedExecutable* executable = client.Compiled(kTwice);
  abi::Buffer* argument = client.Upload(Floats({2}, {1, 2}));
  std::vector<abi::Buffer*> results, more;
  abi::Event* complete = nullptr;
  ASSERT_EQ(client.Execute(executable, {argument}, &results, &complete), "");
  EXPECT_THAT(client.Await(complete), AllOf(StartsWith("13: "), HasSubstr("asked to fail")));
  Tensor tensor;
  EXPECT_THAT(client.Download(results[0], &tensor), HasSubstr("asked to fail"));
  // Who reads the result gets its error.
  ASSERT_EQ(client.Execute(executable, {results[0]}, &more, &complete), "");
  EXPECT_THAT(client.Await(complete), HasSubstr("argument 0 carries an error"));
  for (abi::Buffer* buffer : {argument, results[0], more[0]}) client.Destroy(buffer);
  client.Destroy(executable);
}

TEST(PjrtFaults, TransfersFail) {
  const Client client(SharedApi(), {Text("failing_events", "transfer")});
  EXPECT_THAT(
      [&] {
        client.Upload(Floats({2}, {1, 2}));
      },
      ThrowsMessage<std::runtime_error>(HasSubstr("the transfer was asked to fail")));
}

TEST(PjrtFaults, EventsAreNeverReady) {
  const Client client(SharedApi(), {Text("unready_events", "execute")});
  abi::LoadedExecutable* executable = client.Compiled(kTwice);
  abi::Buffer* argument = client.Upload(Floats({2}, {1, 2}));
  std::vector<abi::Buffer*> results;
  abi::Event* complete = nullptr;
  ASSERT_EQ(client.Execute(executable, {argument}, &results, &complete), "");
  EXPECT_EQ(Numbers(client.Downloaded(results[0])), (std::vector<double>{2, 4}));
  auto ready = Made<abi::EventIsReadyArgs>();
  ready.event = complete;
  ASSERT_EQ(Call(client.api(), client.api().event_is_ready, &ready), "");
  EXPECT_FALSE(ready.is_ready);
  auto destroy = Made<abi::EventArgs>();
  destroy.event = complete;
  EXPECT_EQ(Call(client.api(), client.api().event_destroy, &destroy), "");
  client.Destroy(argument);
  client.Destroy(results[0]);
  client.Destroy(executable);
}

TEST(PjrtFaults, ResultsAreOfAnotherKind) {
  EXPECT_EQ(Doubled(Client(SharedApi(), {Text("wrong_results", "count")})).size(), 2U);
  EXPECT_EQ(Doubled(Client(SharedApi(), {Text("wrong_results", "type")})).at(0).type, abi::kU32);
  EXPECT_EQ(Doubled(Client(SharedApi(), {Text("wrong_results", "shape")})).at(0).dims,
            (std::vector<int64_t>{2, 2}));
}

TEST(PjrtFaults, AnOpIsWrong) {
  EXPECT_EQ(Numbers(Doubled(Client(SharedApi(), {Text("wrong_op", "stablehlo.add")})).at(0)),
            (std::vector<double>{5, 4}));
  EXPECT_EQ(Numbers(Doubled(Client(SharedApi(), {Text("wrong_op", "stablehlo.multiply")})).at(0)),
            (std::vector<double>{2, 4}));
}

TEST(PjrtFaults, AWrongOpIsWrongInRegionsToo) {
  const Client client(SharedApi(), {Text("wrong_op", "stablehlo.add")});
  const std::string text = Main("tensor<f32>",
                                "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
                                "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across "
                                "dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>\n"
                                "return %r : tensor<f32>",
                                "%a: tensor<2xf32>");
  EXPECT_NE(Numbers(client.Run(text, {Floats({2}, {1, 2})}).at(0)).at(0), 3);
}

TEST(PjrtFaults, ResultsLieInColumns) {
  const Client client(SharedApi(), {Truth("column_major")});
  abi::LoadedExecutable* executable = client.Compiled(
      "func.func @main() -> tensor<2x3xf32> {\n %m = stablehlo.constant dense<[[1.0, 2.0, 3.0], "
      "[4.0, 5.0, 6.0]]> : tensor<2x3xf32>\n return %m : tensor<2x3xf32>\n}");
  std::vector<abi::Buffer*> results;
  ASSERT_EQ(client.Execute(executable, {}, &results), "");
  auto layout = Made<abi::BufferLayoutArgs>();
  layout.buffer = results[0];
  ASSERT_EQ(Call(client.api(), client.api().buffer_get_memory_layout, &layout), "");
  ASSERT_EQ(layout.layout.tiled.rank, 2U);
  EXPECT_EQ(layout.layout.tiled.minor_to_major[0], 0);
  EXPECT_EQ(Numbers(client.Downloaded(results[0])), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  // A host that asks for rows gets them.
  const int64_t rows[] = {1, 0};
  auto wanted = Made<abi::MemoryLayout>();
  wanted.type = abi::MemoryLayout::kTiled;
  wanted.tiled.minor_to_major = rows;
  wanted.tiled.rank = 2;
  float values[6] = {};
  auto args = Made<abi::BufferToHostArgs>();
  args.buffer = results[0];
  args.layout = &wanted;
  args.data = values;
  args.size = sizeof(values);
  ASSERT_EQ(Call(client.api(), client.api().buffer_to_host_buffer, &args), "");
  EXPECT_EQ(client.Await(args.event), "");
  EXPECT_EQ(std::vector<float>(values, values + 6), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  client.Destroy(results[0]);
  client.Destroy(executable);
}

TEST(PjrtFaults, TheClientDies) {
  const Client client(SharedApi(), {Number("executions", 3)});
  Doubled(client);
  Doubled(client);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT([&] { Doubled(client); },
                ThrowsMessage<std::runtime_error>(AllOf(StartsWith("13: "), HasSubstr("dead"))));
  }
}

TEST(PjrtFaults, CompilingIsSlow) {
  const Client client(SharedApi(), {Number("compile_ms", 50)});
  const auto start = std::chrono::steady_clock::now();
  Doubled(client);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));
}

}  // namespace
}  // namespace tenon::pjrt_test
