// Copies of a device's memory that fail, hang or end late.
#include "plugin/host/strict/far_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "tests/plugin/host/devices/stub_device_util.h"

namespace tenon::testing {
namespace {

// What the plug-in's functions do and saw.
SE_EventStatus answer;
bool event_fails;
int streams, records;
void* target;

class FarMemoryTest : public ::testing::Test {
 protected:
  FarMemoryTest() {
    answer = SE_EVENT_COMPLETE;
    event_fails = false;
    streams = records = 0;
    real_.create_stream = [](const SP_Device*, SP_Stream* s, TF_Status*) {
      ++streams;
      *s = new SP_Stream_st;
    };
    real_.destroy_stream = [](const SP_Device*, SP_Stream s) {
      --streams;
      delete s;
    };
    real_.create_event = [](const SP_Device*, SP_Event*, TF_Status* status) {
      if (event_fails) TF_SetStatus(status, TF_INTERNAL, "no event");
    };
    real_.record_event = [](const SP_Device*, SP_Stream, SP_Event, TF_Status*) { ++records; };
    real_.get_event_status = [](const SP_Device*, SP_Event) { return answer; };
    real_.memcpy_dtoh = [](const SP_Device*, SP_Stream, void* to, const SP_DeviceMemoryBase* from,
                           uint64_t size, TF_Status*) {
      target = to;
      std::memcpy(to, from->opaque, size);
    };
  }

  SP_Device device_{};
  SP_StreamExecutor real_ = DefaultStub().se;
  const char far_[4] = {1, 2, 3, 4};
  char near_[4] = {};
};

TEST_F(FarMemoryTest, ADeviceMayWriteLaterToACopyThatWasGivenUp) {
  CopiedMemory memory("stub.so", &device_, real_, absl::ZeroDuration());
  answer = SE_EVENT_PENDING;
  EXPECT_FALSE(memory.Read(far_, near_, 4));
  // The host never frees it.
  const std::unique_ptr<char[]> given_up(static_cast<char*>(target));
  std::memset(target, 7, 4);
  EXPECT_EQ(near_[0], 0);
  EXPECT_FALSE(memory.Read(far_, near_, 4));
  EXPECT_EQ(records, 1);  // an event that is pending is not recorded again
  answer = SE_EVENT_COMPLETE;
  EXPECT_TRUE(memory.Read(far_, near_, 4));
  EXPECT_EQ(near_[3], 4);
  memory.End({}, {});
}

TEST_F(FarMemoryTest, AStreamWithoutAnEventIsKeptAndDestroyed) {
  CopiedMemory memory("stub.so", &device_, real_);
  event_fails = true;
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(memory.Read(far_, near_, 4));
  EXPECT_EQ(streams, 1);
  memory.End({}, {});
  EXPECT_EQ(streams, 0);
}

}  // namespace
}  // namespace tenon::testing
