// The layer over a plug-in's table, on the reference plug-in.
#include "plugin/pjrt/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "graph/c_api/callback_scope.h"
#include "plugin/host/link/shared_library.h"
#include "tests/support/paths.h"

namespace tenon::pjrt_client_test {
namespace {

using pjrt::Buffer;
using pjrt::BufferSpec;
using pjrt::Client;
using pjrt::ClientOption;
using pjrt::Event;
using pjrt::Executable;
using pjrt::HostData;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kDouble[] = R"(module {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
)";

class PjrtClientTest : public ::testing::Test {
 protected:
  void Open(const std::vector<ClientOption>& options = {}) {
    const absl::StatusOr<void*> library =
        OpenLibrary(testing::Built("lib/plugins/libpjrt_reference.so"));
    ASSERT_TRUE(library.ok()) << library.status();
    auto api =
        pjrt::Api::Open("reference", FindFunction<pjrt::abi::GetApi>(*library, "GetPjrtApi"));
    ASSERT_TRUE(api.ok()) << api.status();
    ASSERT_TRUE((*api)->Initialize().ok());
    auto client = Client::Create(*api, options);
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *client;
  }

  absl::StatusOr<std::shared_ptr<Executable>> Compile(std::string_view text = kDouble) {
    return client_->Compile(text, 0, {spec_}, "node");
  }

  absl::StatusOr<Buffer> Upload() {
    return client_->Upload(values_, spec_, 0, HostData::kUntilUploaded, nullptr, "node");
  }

  const BufferSpec spec_{DataType::kFloat, Shape({4})};
  const float values_[4] = {1, 2, 3, 4};
  std::shared_ptr<Client> client_;
};

TEST_F(PjrtClientTest, CompilesRunsAndCopiesBack) {
  Open();
  const auto program = Compile();
  ASSERT_TRUE(program.ok()) << program.status();
  absl::StatusOr<Buffer> argument = Upload();
  ASSERT_TRUE(argument.ok()) << argument.status();
  Buffer result;
  Event done;
  ASSERT_TRUE((*program)->Execute({argument->get()}, {}, {&result, 1}, &done, "node").ok());
  ASSERT_TRUE(done.Await(60, "the run").ok());
  const absl::StatusOr<BufferSpec> is = result.Spec();
  ASSERT_TRUE(is.ok()) << is.status();
  EXPECT_EQ(is->type, DataType::kFloat);
  EXPECT_EQ(is->shape, Shape({4}));
  float out[4] = {};
  absl::StatusOr<Event> copied = result.ToHost(out, sizeof(out), 1, "node");
  ASSERT_TRUE(copied.ok()) << copied.status();
  ASSERT_TRUE(copied->Await(60, "a copy").ok());
  EXPECT_THAT(out, ElementsAre(2, 4, 6, 8));
}

TEST_F(PjrtClientTest, ReadsNothingIntoMemoryThatIsTooSmall) {
  Open();
  absl::StatusOr<Buffer> argument = Upload();
  ASSERT_TRUE(argument.ok()) << argument.status();
  float out[2] = {};
  const absl::Status status = argument->ToHost(out, sizeof(out), 1, "node").status();
  EXPECT_TRUE(IsPluginFault(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("16 bytes where 8"));
}

TEST_F(PjrtClientTest, OneProgramForOneText) {
  Open();
  const auto first = Compile(), second = Compile();
  ASSERT_TRUE(first.ok() && second.ok());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::string text = absl::StrCat("// ", t % 2, "\n", kDouble);
      for (int i = 0; i < 20; ++i) wrong += Compile(text).ok() ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(PjrtClientTest, AMessageOfTheCompilerNamesItsLine) {
  Open();
  const absl::Status status = Compile("module {\n  nonsense\n}\n").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("-:2:"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("PJRT_Client_Compile"));
}

TEST_F(PjrtClientTest, OtherResultsThanAskedForAreAFault) {
  Open({{"wrong_results", std::string("shape")}});
  EXPECT_TRUE(IsPluginFault(Compile().status())) << Compile().status();
}

TEST_F(PjrtClientTest, AnEventThatIsNeverReadyHasALimit) {
  Open({{"unready_events", std::string("transfer")}});
  client_->set_timeout_s(0.05);
  const absl::Status status = Upload().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("did not end within"));
}

// A table in which each call of PJRT_Error_GetCode fails with an error of its own, as in XLA where
// its arguments are too short.
TEST_F(PjrtClientTest, AnErrorWithoutACodeIsUnknown) {
  Open();
  const auto get = FindFunction<pjrt::abi::GetApi>(
      *OpenLibrary(testing::Built("lib/plugins/libpjrt_reference.so")), "GetPjrtApi");
  static const pjrt::abi::Api* real;
  static pjrt::abi::Api table;
  real = get();
  table = *real;
  table.error_get_code = [](pjrt::abi::ErrorGetCodeArgs*) {
    auto args = pjrt::Fresh<pjrt::abi::ClientDevicesArgs>();
    args.client = nullptr;  // an error of the reference plug-in
    return real->client_devices(&args);
  };
  auto api = pjrt::Api::Open("reference", [] { return const_cast<const pjrt::abi::Api*>(&table); });
  ASSERT_TRUE(api.ok()) << api.status();
  auto args = pjrt::Fresh<pjrt::abi::ClientDevicesArgs>();
  args.client = nullptr;
  const absl::Status status = (*api)->Call(pjrt::fn::Client_Devices, args);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnknown) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("client"));
}

TEST_F(PjrtClientTest, TheErrorOfAnEventIsReturned) {
  Open({{"failing_events", std::string("transfer")}});
  EXPECT_FALSE(Upload().ok());
}

TEST_F(PjrtClientTest, ATypeWithoutBuffersIsRefusedBeforeTheCall) {
  Open();
  const BufferSpec text{DataType::kString, Shape({1})};
  EXPECT_EQ(
      client_->Upload(values_, text, 0, HostData::kUntilUploaded, nullptr, "").status().code(),
      absl::StatusCode::kUnimplemented);
}

// A sanitizer's allocator ends the process where the system has no memory.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(PjrtClientTest, MapsMemoryAgainAfterTheHostHadNone) {
  Open();
  rlimit before;
  getrlimit(RLIMIT_AS, &before);
  const rlimit none = {size_t{1} << 20, before.rlim_max};
  setrlimit(RLIMIT_AS, &none);
  const bool taken(client_->mapped_memory().Take(size_t{1} << 29));
  setrlimit(RLIMIT_AS, &before);
  EXPECT_FALSE(taken);
  EXPECT_TRUE(client_->mapped_memory().Take(size_t{1} << 16));
}
#endif

}  // namespace
}  // namespace tenon::pjrt_client_test
