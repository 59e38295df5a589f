// The functions of the table: buffers, donation, events, executables, memory, devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "host.h"

namespace tenon::pjrt_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const char* const kDouble =
    "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n %r = stablehlo.add %a, %a : "
    "tensor<2xf32>\n return %r : tensor<2xf32>\n}";
const char* const kDonate =
    "func.func @main(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {\n"
    " %r = stablehlo.add %a, %a : tensor<2xf32>\n return %r : tensor<2xf32>\n}";

bool IsDeleted(const Client& client, abi::Buffer* buffer) {
  auto args = Made<abi::BufferFlagArgs>();
  args.buffer = buffer;
  EXPECT_EQ(Call(client.api(), client.api().buffer_is_deleted, &args), "");
  return args.flag;
}

void* PointerOf(const Client& client, abi::Buffer* buffer) {
  auto args = Made<abi::BufferPointerArgs>();
  args.buffer = buffer;
  EXPECT_EQ(Call(client.api(), client.api().buffer_opaque_device_memory_data_pointer, &args), "");
  return args.pointer;
}

abi::Event* ReadyEvent(const Client& client, abi::Buffer* buffer) {
  auto args = Made<abi::BufferReadyEventArgs>();
  args.buffer = buffer;
  EXPECT_EQ(Call(client.api(), client.api().buffer_ready_event, &args), "");
  return args.event;
}

bool IsReady(const Client& client, abi::Event* event) {
  auto args = Made<abi::EventIsReadyArgs>();
  args.event = event;
  EXPECT_EQ(Call(client.api(), client.api().event_is_ready, &args), "");
  return args.is_ready;
}

// Wraps memory of the test's; the event says when it is free.
abi::Buffer* Wrap(const Client& client, float* data, abi::HostBufferSemantics semantics,
                  abi::Event** done) {
  const int64_t dims[] = {2};
  auto args = Made<abi::ClientBufferFromHostBufferArgs>();
  args.client = client.get();
  args.data = data;
  args.type = abi::kF32;
  args.dims = dims;
  args.rank = 1;
  args.semantics = semantics;
  args.device = client.devices().at(0);
  EXPECT_EQ(Call(client.api(), client.api().client_buffer_from_host_buffer, &args), "");
  *done = args.done_with_host_data;
  return args.buffer;
}

TEST(PjrtReference, HasItsTable) {
  const abi::Api& api = SharedApi();
  EXPECT_EQ(api.struct_size, abi::kStructSize<abi::Api>);
  EXPECT_EQ(api.version.major, 0);
  EXPECT_EQ(api.version.minor, abi::kMinorVersion);
  auto attributes = Made<abi::PluginAttributesArgs>();
  ASSERT_EQ(Call(api, api.plugin_attributes, &attributes), "");
  ASSERT_EQ(attributes.num_attributes, 2U);
  EXPECT_EQ(std::string(attributes.attributes[0].name, attributes.attributes[0].name_size),
            "stablehlo_current_version");
  EXPECT_EQ(attributes.attributes[0].integers[0], 1);
}

TEST(PjrtReference, WhatIsNotBuiltSaysSo) {
  auto args = Made<abi::PluginInitializeArgs>();
  abi::Error* error = SharedApi().event_create(reinterpret_cast<abi::NotDeclared*>(&args));
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(TextOf(SharedApi(), error),
              AllOf(StartsWith("12: "), HasSubstr("PJRT_Event_Create")));
}

TEST(PjrtReference, SmallStructsAreRefused) {
  auto args = Made<abi::ClientCreateArgs>();
  args.head.struct_size -= 8;
  EXPECT_THAT(Call(SharedApi(), SharedApi().client_create, &args),
              AllOf(StartsWith("3: "), HasSubstr("expected 88, got 80")));
}

TEST(PjrtReference, OptionsAreChecked) {
  EXPECT_THAT([] { Client(SharedApi(), {Number("no_such_option", 1)}); },
              testing::ThrowsMessage<std::runtime_error>(StartsWith("3: ")));
  EXPECT_THAT([] { Client(SharedApi(), {Text("device_count", "many")}); },
              testing::ThrowsMessage<std::runtime_error>(HasSubstr("an integer")));
  EXPECT_THAT([] { Client(SharedApi(), {Number("minor_version", 7)}); },
              testing::ThrowsMessage<std::runtime_error>(HasSubstr("TENON_PJRT_REFERENCE")));
}

TEST(PjrtReference, DescribesItsDevices) {
  const Client client(SharedApi(), {Number("device_count", 3), Text("platform", "board")});
  EXPECT_EQ(client.devices().size(), 3U);
  auto name = Made<abi::ClientTextArgs>();
  name.client = client.get();
  ASSERT_EQ(Call(client.api(), client.api().client_platform_name, &name), "");
  EXPECT_EQ(std::string(name.text, name.text_size), "board");
  auto description = Made<abi::DeviceGetDescriptionArgs>();
  description.device = client.devices()[2];
  ASSERT_EQ(Call(client.api(), client.api().device_get_description, &description), "");
  auto id = Made<abi::DescriptionNumberArgs>();
  id.description = description.description;
  ASSERT_EQ(Call(client.api(), client.api().device_description_id, &id), "");
  EXPECT_EQ(id.number, 2);
  auto memories = Made<abi::DeviceMemoriesArgs>();
  memories.device = client.devices()[2];
  ASSERT_EQ(Call(client.api(), client.api().device_addressable_memories, &memories), "");
  ASSERT_EQ(memories.num_memories, 1U);
  auto kind = Made<abi::MemoryTextArgs>();
  kind.memory = memories.memories[0];
  ASSERT_EQ(Call(client.api(), client.api().memory_kind, &kind), "");
  EXPECT_EQ(std::string(kind.text, kind.text_size), "device");
}

TEST(PjrtReference, RunsWithSeveralResults) {
  const Client client(SharedApi());
  const std::vector<Tensor> results = client.Run(
      "func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>, "
      "tensor<2xf32>) {\n"
      " %c = stablehlo.compare LT, %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>\n"
      " return %b, %c, %a : tensor<2xf32>, tensor<2xi1>, tensor<2xf32>\n}",
      {Floats({2}, {1, 5}), Floats({2}, {2, 3})});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(Numbers(results[0]), (std::vector<double>{2, 3}));
  EXPECT_EQ(Numbers(results[1]), (std::vector<double>{1, 0}));
  EXPECT_EQ(Numbers(results[2]), (std::vector<double>{1, 5}));
}

TEST(PjrtReference, ArgumentsAreChecked) {
  const Client client(SharedApi(), {Number("device_count", 2)});
  abi::LoadedExecutable* executable = client.Compiled(kDouble);
  abi::Buffer* right = client.Upload(Floats({2}, {1, 2}));
  abi::Buffer* other_type = client.Upload(Of<int32_t>(abi::kS32, {2}, {1, 2}));
  abi::Buffer* elsewhere = client.Upload(Floats({2}, {1, 2}), 1);
  std::vector<abi::Buffer*> results;
  EXPECT_THAT(client.Execute(executable, {}, &results),
              AllOf(StartsWith("3: "), HasSubstr("expected 1 buffers")));
  EXPECT_THAT(client.Execute(executable, {nullptr}, &results), HasSubstr("argument 0 is null"));
  EXPECT_THAT(client.Execute(executable, {other_type}, &results), HasSubstr("'tensor<2xi32>'"));
  EXPECT_THAT(client.Execute(executable, {elsewhere}, &results), HasSubstr("another device"));
  auto remove = Made<abi::BufferArgs>();
  remove.buffer = right;
  ASSERT_EQ(Call(client.api(), client.api().buffer_delete, &remove), "");
  EXPECT_TRUE(IsDeleted(client, right));
  EXPECT_THAT(client.Execute(executable, {right}, &results),
              AllOf(StartsWith("3: "), HasSubstr("deleted")));
  for (abi::Buffer* buffer : {right, other_type, elsewhere}) client.Destroy(buffer);
  client.Destroy(executable);
}

TEST(PjrtReference, DonatedMemoryIsTheResults) {
  const Client client(SharedApi());
  abi::LoadedExecutable* executable = client.Compiled(kDonate);
  abi::Buffer* argument = client.Upload(Floats({2}, {1, 2}));
  void* memory = PointerOf(client, argument);
  std::vector<abi::Buffer*> results;
  ASSERT_EQ(client.Execute(executable, {argument}, &results), "");
  EXPECT_TRUE(IsDeleted(client, argument));
  EXPECT_EQ(PointerOf(client, results[0]), memory);
  EXPECT_EQ(Numbers(client.Downloaded(results[0])), (std::vector<double>{2, 4}));
  std::vector<abi::Buffer*> none;
  EXPECT_THAT(client.Execute(executable, {argument}, &none), HasSubstr("donated"));
  client.Destroy(argument);
  client.Destroy(results[0]);
  client.Destroy(executable);
}

TEST(PjrtReference, SwapsDonatedArguments) {
  const Client client(SharedApi());
  abi::LoadedExecutable* executable = client.Compiled(
      "func.func @main(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2xf32> "
      "{tf.aliasing_output = 1 : i32}) -> "
      "(tensor<2xf32>, tensor<2xf32>) {\n return %b, %a : tensor<2xf32>, tensor<2xf32>\n}");
  abi::Buffer* a = client.Upload(Floats({2}, {1, 2}));
  abi::Buffer* b = client.Upload(Floats({2}, {3, 4}));
  std::vector<abi::Buffer*> results;
  ASSERT_EQ(client.Execute(executable, {a, b}, &results), "");
  EXPECT_EQ(Numbers(client.Downloaded(results[0])), (std::vector<double>{3, 4}));
  EXPECT_EQ(Numbers(client.Downloaded(results[1])), (std::vector<double>{1, 2}));
  std::vector<abi::Buffer*> none;
  EXPECT_THAT(client.Execute(executable, {results[0], results[0]}, &none), HasSubstr("twice"));
  for (abi::Buffer* buffer : {a, b, results[0], results[1]}) client.Destroy(buffer);
  client.Destroy(executable);
}

TEST(PjrtReference, WhatIsReferencedIsCopiedNotGiven) {
  const Client client(SharedApi());
  abi::LoadedExecutable* executable = client.Compiled(kDonate);
  abi::Buffer* argument = client.Upload(Floats({2}, {1, 2}));
  auto* memory = static_cast<float*>(PointerOf(client, argument));
  auto reference = Made<abi::BufferArgs>();
  reference.buffer = argument;
  ASSERT_EQ(Call(client.api(), client.api().buffer_increase_external_reference_count, &reference),
            "");
  std::vector<abi::Buffer*> results;
  ASSERT_EQ(client.Execute(executable, {argument}, &results), "");
  EXPECT_NE(PointerOf(client, results[0]), memory);
  EXPECT_EQ(Numbers(client.Downloaded(results[0])), (std::vector<double>{2, 4}));
  client.Destroy(argument);
  client.Destroy(results[0]);
  client.Destroy(executable);
}

TEST(PjrtReference, ResultsLandInTheHostsMemory) {
  alignas(64) float memory[16] = {1, 2};
  const Client client(SharedApi());
  abi::LoadedExecutable* executable = client.Compiled(kDonate);
  abi::Event* done = nullptr;
  abi::Buffer* argument = Wrap(client, memory, abi::kMutableZeroCopy, &done);
  std::vector<abi::Buffer*> results;
  ASSERT_EQ(client.Execute(executable, {argument}, &results), "");
  EXPECT_EQ(PointerOf(client, results[0]), memory);
  EXPECT_EQ(memory[1], 4);
  client.Destroy(argument);
  EXPECT_FALSE(IsReady(client, done));  // The result still uses the memory.
  client.Destroy(results[0]);
  EXPECT_EQ(client.Await(done), "");
  client.Destroy(executable);
}

TEST(PjrtReference, ImmutableHostMemoryIsNotWritten) {
  alignas(64) float memory[16] = {1, 2};
  const Client client(SharedApi());
  abi::LoadedExecutable* executable = client.Compiled(kDonate);
  abi::Event* done = nullptr;
  abi::Buffer* argument = Wrap(client, memory, abi::kZeroCopy, &done);
  EXPECT_EQ(PointerOf(client, argument), memory);
  EXPECT_FALSE(IsReady(client, done));
  std::vector<abi::Buffer*> results;
  ASSERT_EQ(client.Execute(executable, {argument}, &results), "");
  EXPECT_EQ(Numbers(client.Downloaded(results[0])), (std::vector<double>{2, 4}));
  EXPECT_EQ(memory[0], 1);
  client.Destroy(argument);
  EXPECT_EQ(client.Await(done), "");
  client.Destroy(results[0]);
  client.Destroy(executable);
}

TEST(PjrtReference, UnalignedHostMemoryIsCopied) {
  alignas(64) float memory[16] = {0, 1, 2};
  const Client client(SharedApi());
  abi::Event* done = nullptr;
  abi::Buffer* buffer = Wrap(client, memory + 1, abi::kZeroCopy, &done);
  EXPECT_EQ(client.Await(done), "");
  memory[1] = 9;
  EXPECT_EQ(Numbers(client.Downloaded(buffer)), (std::vector<double>{1, 2}));
  client.Destroy(buffer);
}

TEST(PjrtReference, ViewsTellWhenTheyGo) {
  float memory[2] = {3, 4};
  static std::atomic<int> gone{0};
  gone = 0;
  const Client client(SharedApi());
  const int64_t dims[] = {2};
  auto args = Made<abi::ClientCreateViewArgs>();
  args.client = client.get();
  args.data = memory;
  args.dims = dims;
  args.rank = 1;
  args.type = abi::kF32;
  args.device = client.devices()[0];
  // Nobody need be told.
  ASSERT_EQ(Call(client.api(), client.api().client_create_view_of_device_buffer, &args), "");
  client.Destroy(args.buffer);
  args.on_delete = [](void*, void*) { ++gone; };
  ASSERT_EQ(Call(client.api(), client.api().client_create_view_of_device_buffer, &args), "");
  EXPECT_EQ(Numbers(client.Downloaded(args.buffer)), (std::vector<double>{3, 4}));
  EXPECT_EQ(gone, 0);
  client.Destroy(args.buffer);
  // The download's task may hold the memory for a moment.
  for (int i = 0; i < 1000 && gone == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(gone, 1);
}

TEST(PjrtReference, StridesOfHostMemoryAreFollowed) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Client client(SharedApi());
  const int64_t dims[] = {3, 2}, strides[] = {4, 12};
  auto args = Made<abi::ClientBufferFromHostBufferArgs>();
  args.client = client.get();
  args.data = values.data();
  args.type = abi::kF32;
  args.dims = dims;
  args.rank = 2;
  args.byte_strides = strides;
  args.num_byte_strides = 2;
  args.device = client.devices()[0];
  ASSERT_EQ(Call(client.api(), client.api().client_buffer_from_host_buffer, &args), "");
  EXPECT_EQ(client.Await(args.done_with_host_data), "");
  EXPECT_EQ(Numbers(client.Downloaded(args.buffer)), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  client.Destroy(args.buffer);
}

TEST(PjrtReference, DownloadsAreChecked) {
  const Client client(SharedApi());
  abi::Buffer* buffer = client.Upload(Floats({2}, {1, 2}));
  char small[4];
  auto args = Made<abi::BufferToHostArgs>();
  args.buffer = buffer;
  args.data = small;
  args.size = sizeof(small);
  EXPECT_THAT(Call(client.api(), client.api().buffer_to_host_buffer, &args),
              AllOf(StartsWith("3: "), HasSubstr("8 are needed")));
  client.Destroy(buffer);
}

TEST(PjrtReference, BuffersMoveBetweenDevices) {
  const Client client(SharedApi(), {Number("device_count", 2)});
  abi::Buffer* buffer = client.Upload(Floats({2}, {1, 2}));
  auto args = Made<abi::BufferCopyToDeviceArgs>();
  args.buffer = buffer;
  args.device = client.devices()[1];
  ASSERT_EQ(Call(client.api(), client.api().buffer_copy_to_device, &args), "");
  auto where = Made<abi::BufferDeviceArgs>();
  where.buffer = args.copy;
  ASSERT_EQ(Call(client.api(), client.api().buffer_device, &where), "");
  EXPECT_EQ(where.device, client.devices()[1]);
  EXPECT_EQ(Numbers(client.Downloaded(args.copy)), (std::vector<double>{1, 2}));
  client.Destroy(args.copy);
  client.Destroy(buffer);
}

TEST(PjrtReference, RunsOnTheAssignedDevice) {
  const Client client(SharedApi(), {Number("device_count", 2)});
  abi::LoadedExecutable* executable = nullptr;
  const std::string to_second(
      "\x1a\x0f\x20\x01\x28\x01\x4a\x09\x08\x01\x10\x01\x1a\x03\x0a\x01\x01", 17);
  ASSERT_EQ(client.Compile(kDouble, &executable, to_second), "");
  abi::Buffer* argument = client.Upload(Floats({2}, {1, 2}), 1);
  std::vector<abi::Buffer*> results;
  ASSERT_EQ(client.Execute(executable, {argument}, &results), "");
  EXPECT_EQ(Numbers(client.Downloaded(results[0])), (std::vector<double>{2, 4}));
  client.Destroy(argument);
  client.Destroy(results[0]);
  client.Destroy(executable);
  const std::string to_tenth("\x1a\x0f\x20\x01\x28\x01\x4a\x09\x08\x01\x10\x01\x1a\x03\x0a\x01\x0a",
                             17);
  EXPECT_THAT(client.Compile(kDouble, &executable, to_tenth), HasSubstr("device 10"));
}

TEST(PjrtReference, CompileOptionsAreRead) {
  const Client client(SharedApi());
  abi::LoadedExecutable* executable = nullptr;
  EXPECT_THAT(client.Compile(kDouble, &executable, ""), StartsWith("3: "));
  EXPECT_THAT(client.Compile(kDouble, &executable, "\xff\xff\xff"), StartsWith("3: "));
  EXPECT_THAT(client.Compile(kDouble, &executable, std::string("\x1a\x04\x20\x02\x28\x01", 6)),
              StartsWith("12: "));
}

TEST(PjrtReference, SerializesAndLoads) {
  const Client client(SharedApi());
  abi::LoadedExecutable* loaded = client.Compiled(kDouble);
  auto get = Made<abi::LoadedGetExecutableArgs>();
  get.loaded = loaded;
  ASSERT_EQ(Call(client.api(), client.api().loaded_executable_get_executable, &get), "");
  auto serialize = Made<abi::ExecutableSerializeArgs>();
  serialize.executable = get.executable;
  ASSERT_EQ(Call(client.api(), client.api().executable_serialize, &serialize), "");
  const std::string bytes(serialize.bytes, serialize.num_bytes);
  serialize.deleter(serialize.handle);
  auto destroy = Made<abi::ExecutableDestroyArgs>();
  destroy.executable = get.executable;
  ASSERT_EQ(Call(client.api(), client.api().executable_destroy, &destroy), "");
  client.Destroy(loaded);
  const auto load = [&](const std::string& from, abi::LoadedExecutable** out) {
    auto args = Made<abi::DeserializeAndLoadArgs>();
    args.client = client.get();
    args.bytes = from.data();
    args.num_bytes = from.size();
    const std::string error =
        Call(client.api(), client.api().executable_deserialize_and_load, &args);
    *out = args.executable;
    return error;
  };
  ASSERT_EQ(load(bytes, &loaded), "");
  abi::Buffer* argument = client.Upload(Floats({2}, {1, 2}));
  std::vector<abi::Buffer*> results;
  ASSERT_EQ(client.Execute(loaded, {argument}, &results), "");
  EXPECT_EQ(Numbers(client.Downloaded(results[0])), (std::vector<double>{2, 4}));
  client.Destroy(argument);
  client.Destroy(results[0]);
  client.Destroy(loaded);
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string corrupt = bytes;
    corrupt[at] = static_cast<char>(corrupt[at] ^ 1);
    EXPECT_THAT(load(corrupt, &loaded), StartsWith("3: ")) << at;
    EXPECT_THAT(load(bytes.substr(0, at), &loaded), StartsWith("3: ")) << at;
  }
}

TEST(PjrtReference, EventsAreLateAndCallBack) {
  const Client client(SharedApi(), {Number("delay_us", 30000)});
  abi::LoadedExecutable* executable = client.Compiled(kDouble);
  abi::Buffer* argument = client.Upload(Floats({2}, {1, 2}));
  std::vector<abi::Buffer*> results;
  abi::Event* complete = nullptr;
  ASSERT_EQ(client.Execute(executable, {argument}, &results, &complete), "");
  abi::Event* ready = ReadyEvent(client, results[0]);
  EXPECT_FALSE(IsReady(client, ready));
  struct Called {
    std::mutex mutex;
    std::condition_variable changed;
    bool is = false;
    abi::Error* error = nullptr;
  } called;
  auto args = Made<abi::EventOnReadyArgs>();
  args.event = ready;
  args.user_arg = &called;
  args.callback = [](abi::Error* error, void* arg) {
    auto* state = static_cast<Called*>(arg);
    const std::lock_guard<std::mutex> lock(state->mutex);
    state->is = true;
    state->error = error;
    state->changed.notify_all();
  };
  ASSERT_EQ(Call(client.api(), client.api().event_on_ready, &args), "");
  {
    std::unique_lock<std::mutex> lock(called.mutex);
    called.changed.wait(lock, [&] { return called.is; });
  }
  EXPECT_EQ(called.error, nullptr);
  EXPECT_TRUE(IsReady(client, ready));
  called.is = false;
  ASSERT_EQ(Call(client.api(), client.api().event_on_ready, &args), "");
  EXPECT_TRUE(called.is);  // At once, on this thread.
  EXPECT_EQ(client.Await(ready), "");
  EXPECT_EQ(client.Await(complete), "");
  client.Destroy(argument);
  client.Destroy(results[0]);
  client.Destroy(executable);
}

TEST(PjrtReference, BuffersAndExecutablesOutliveTheClient) {
  auto client = std::make_unique<Client>(SharedApi());
  abi::LoadedExecutable* executable = client->Compiled(kDouble);
  abi::Buffer* argument = client->Upload(Floats({2}, {1, 2}));
  std::vector<abi::Buffer*> results;
  ASSERT_EQ(client->Execute(executable, {argument}, &results), "");
  client.reset();
  auto args = Made<abi::BufferArgs>();
  for (abi::Buffer* buffer : {argument, results[0]}) {
    args.buffer = buffer;
    EXPECT_EQ(Call(SharedApi(), SharedApi().buffer_destroy, &args), "");
  }
  auto loaded = Made<abi::LoadedArgs>();
  loaded.executable = executable;
  EXPECT_EQ(Call(SharedApi(), SharedApi().loaded_executable_destroy, &loaded), "");
}

TEST(PjrtReference, ThreadsShareAClient) {
  const Client client(SharedApi(), {Number("device_count", 2)});
  abi::LoadedExecutable* executable = client.Compiled(kDouble);
  abi::Buffer* shared = client.Upload(Floats({2}, {1, 2}));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const auto first = static_cast<float>(t * 1000 + i);
        abi::Buffer* own = client.Upload(Floats({2}, {first, 2}));
        for (abi::Buffer* argument : {shared, own}) {
          std::vector<abi::Buffer*> results;
          if (!client.Execute(executable, {argument}, &results).empty()) ++wrong;
          const double expected = argument == own ? 2 * first : 2;
          if (Numbers(client.Downloaded(results[0]))[0] != expected) ++wrong;
          client.Destroy(results[0]);
        }
        client.Destroy(own);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  client.Destroy(shared);
  client.Destroy(executable);
}

TEST(PjrtReference, MemoryIsAccountedFor) {
  const Client client(SharedApi(), {Number("memory_limit", 64)});
  const auto in_use = [&] {
    auto args = Made<abi::DeviceMemoryStatsArgs>();
    args.device = client.devices()[0];
    EXPECT_EQ(Call(client.api(), client.api().device_memory_stats, &args), "");
    EXPECT_EQ(args.bytes_limit.value, 64);
    return args.bytes_in_use;
  };
  abi::LoadedExecutable* executable = client.Compiled(kDouble);
  std::vector<abi::Buffer*> held;
  for (int i = 0; i < 8; ++i) held.push_back(client.Upload(Floats({2}, {1, 2})));
  EXPECT_EQ(in_use(), 64);
  EXPECT_THAT(
      [&] {
        client.Upload(Floats({2}, {1, 2}));
      },
      testing::ThrowsMessage<std::runtime_error>(AllOf(StartsWith("8: "), HasSubstr("64 of 64"))));
  std::vector<abi::Buffer*> results;
  EXPECT_THAT(client.Execute(executable, {held[0]}, &results), StartsWith("8: "));
  client.Destroy(held.back());
  held.pop_back();
  ASSERT_EQ(client.Execute(executable, {held[0]}, &results), "");
  EXPECT_EQ(Numbers(client.Downloaded(results[0])), (std::vector<double>{2, 4}));
  client.Destroy(results[0]);
  for (abi::Buffer* buffer : held) client.Destroy(buffer);
  client.Destroy(executable);
  for (int i = 0; i < 1000 && in_use() != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(in_use(), 0);
}

}  // namespace
}  // namespace tenon::pjrt_test
