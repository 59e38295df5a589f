// Compute streams of a device beyond the first, and their memory.
#include <gmock/gmock.h>
#include <algorithm>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/plugin/host/devices/stub_device_util.h"

namespace tenon::compute_streams_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::seen;

constexpr int64_t kMiB = int64_t{1} << 20;

class ComputeStreamsTest : public testing::StreamExecutorTest {
 protected:
  ComputeStreamsTest() {
    stub_.se.create_stream = [](const SP_Device*, SP_Stream* stream, TF_Status* status) {
      if (seen.count == most_streams)
        return TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no stream is left");
      *stream = new SP_Stream_st{++seen.count};
    };
    stub_.se.destroy_stream = [](const SP_Device*, SP_Stream stream) {
      seen.calls.push_back(absl::StrCat("destroy ", stream->id));
      delete stream;
    };
    stub_.se.create_stream_dependency = [](const SP_Device*, SP_Stream stream, SP_Stream other,
                                           TF_Status*) {
      seen.calls.push_back(absl::StrCat(stream->id, " < ", other->id));
    };
    stub_.se.record_event = [](const SP_Device*, SP_Stream stream, SP_Event, TF_Status*) {
      seen.calls.push_back(absl::StrCat("record ", stream->id));
    };
    most_streams = 100;
  }
  void UseBfc() {
    stub_.platform.use_bfc_allocator = 1;
    stub_.platform.force_memory_growth = 1;
    stub_.se.device_memory_usage = [](const SP_Device*, int64_t* free, int64_t* total) -> TF_Bool {
      *free = *total = (255 + 16) * kMiB;  // 16 MiB beside the reserve
      return 1;
    };
  }
  int Id(int number) { return static_cast<SP_Stream>(device_->compute_stream_at(number))->id; }

  static int most_streams;
};
int ComputeStreamsTest::most_streams = 0;

TEST_F(ComputeStreamsTest, AreMadeWhenTheyAreNeeded) {
  Start();
  EXPECT_EQ(seen.count, 4);
  EXPECT_EQ(device_->MakeComputeStreams(1), 1);
  EXPECT_EQ(seen.count, 4);
  EXPECT_EQ(device_->MakeComputeStreams(3), 3);
  EXPECT_EQ(device_->MakeComputeStreams(2), 2);
  EXPECT_EQ(seen.count, 6);
  EXPECT_EQ(device_->compute_stream_at(0), device_->compute_stream());
  EXPECT_EQ(Id(1), 5);
  EXPECT_EQ(Id(2), 6);
  EXPECT_EQ(device_->MakeComputeStreams(100), kMostComputeStreams);
  seen.calls.clear();
  device_.reset();
  EXPECT_EQ(std::ranges::count_if(
                seen.calls, [](const std::string& call) { return call.starts_with("destroy "); }),
            3 + kMostComputeStreams);
}

TEST_F(ComputeStreamsTest, APluginThatMakesNoMoreIsToldOfOnce) {
  most_streams = 5;
  Start();
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(device_->MakeComputeStreams(4), 2);
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(warning, HasSubstr("no stream is left"));
  EXPECT_THAT(warning, HasSubstr("create_stream"));
  EXPECT_THAT(warning, HasSubstr("kernels go on with 2 of 4 compute streams"));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(device_->MakeComputeStreams(4), 2);
  EXPECT_EQ(device_->MakeComputeStreams(2), 2);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(ComputeStreamsTest, HaveMemoryOfTheirOwn) {
  UseBfc();
  Start();
  ASSERT_EQ(device_->MakeComputeStreams(3), 3);
  std::set<void*> mine;
  for (int i = 0; i < 3; ++i) {
    BufferRef buffer = *device_->AllocateOn(1, 1000);
    mine.insert(buffer->data());
  }
  EXPECT_EQ(mine.size(), 1u) << "given back, it is used again at once";
  // The region may be in use on the first stream; later memory of it is not.
  EXPECT_THAT(seen.calls, ElementsAre("5 < 1"));
  const BufferRef of_first = *device_->AllocateOn(0, 1000), other = *device_->AllocateOn(2, 1000);
  EXPECT_FALSE(mine.contains(of_first->data()));
  EXPECT_FALSE(mine.contains(other->data()));
  EXPECT_THAT(seen.calls, ElementsAre("5 < 1", "6 < 1"));
}

TEST_F(ComputeStreamsTest, HaveOneLimitTogether) {
  UseBfc();
  static int64_t in_use, most;
  in_use = most = 0;
  stub_.se.allocate = [](const SP_Device*, uint64_t size, int64_t, SP_DeviceMemoryBase* memory) {
    memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
    memory->opaque = std::malloc(size);
    in_use += static_cast<int64_t>(size);
    most = std::max(most, in_use);
  };
  Start();
  ASSERT_EQ(device_->MakeComputeStreams(2), 2);
  std::vector<BufferRef> held;
  absl::Status status;
  for (int i = 0; status.ok() && i < 100; ++i) {
    absl::StatusOr<BufferRef> buffer = device_->AllocateOn(i % 2, kMiB);
    status = buffer.status();
    if (buffer.ok()) held.push_back(*std::move(buffer));
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/device:GPU:0"));
  EXPECT_GE(held.size(), 8u);
  EXPECT_LE(most, 16 * kMiB);
  held.clear();
  device_.reset();
}

// Without the BFC allocator `deallocate` frees at once: no stream may have work before that.
TEST_F(ComputeStreamsTest, SingleAllocationsWaitForAllOfThem) {
  static bool complete;
  complete = false;
  stub_.se.get_event_status = [](const SP_Device*, SP_Event) {
    return complete ? SE_EVENT_COMPLETE : SE_EVENT_PENDING;
  };
  static int freed;
  freed = 0;
  stub_.se.deallocate = [](const SP_Device*, SP_DeviceMemoryBase* memory) {
    ++freed;
    std::free(memory->opaque);
  };
  Start();
  ASSERT_EQ(device_->MakeComputeStreams(2), 2);
  for (int i = 0; i < 32; ++i) (void)device_->AllocateOn(1, 100);  // 32 wait for one event each
  EXPECT_THAT(seen.calls, ElementsAre("record 1", "record 5"));
  { const BufferRef more = *device_->AllocateOn(0, 100); }
  EXPECT_EQ(freed, 0);
  complete = true;
  { const BufferRef more = *device_->AllocateOn(0, 100); }
  EXPECT_EQ(freed, 32);
}

}  // namespace
}  // namespace tenon::compute_streams_test
